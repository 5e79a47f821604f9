import { createOrder } from '../../instructions/orders/create.ts'
import { getOrder } from '../../instructions/orders/get.ts'
import * as wire from '../../wire/orders.ts'
import type { Handler } from '../endpoint.ts'
import { customerOf } from '../principal.ts'
import { presentOrder } from './present-order.ts'

/** POST /open-banking/v1/payments */
export const create: Handler<typeof wire.createOrder> = async (app, { principal, headers, body }) => {
  const { customerId, clientId } = customerOf(principal)
  const order = await createOrder(app, {
    customerId,
    clientId,
    path: wire.createOrder.path,
    idempotencyKey: headers['x-idempotency-key'],
    body,
  })
  return { status: 201, body: presentOrder(order), headers: { location: `${wire.createOrder.path}/${order.id}` } }
}

/** GET /open-banking/v1/payments/{PaymentId} */
export const get: Handler<typeof wire.getOrder> = async (app, { principal, params }) => {
  const { customerId } = customerOf(principal)
  return { status: 200, body: presentOrder(await getOrder(app, { customerId, id: params.PaymentId })) }
}
