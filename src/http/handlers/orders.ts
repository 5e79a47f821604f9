import { createOrder } from '../../instructions/orders/create-order.ts'
import { getOrder } from '../../instructions/orders/get-order.ts'
import * as wire from '../../wire/orders.ts'
import type { Handlers } from '../endpoint.ts'
import { customerOf } from '../principal.ts'
import { presentOrder } from './present-order.ts'

export const orders: Handlers<typeof wire> = {
  /** POST /open-banking/v1/payments */
  async createOrder(app, { principal, headers, body }) {
    const { customerId, clientId } = customerOf(principal)
    const order = await createOrder(app, {
      customerId,
      clientId,
      path: wire.createOrder.path,
      idempotencyKey: headers['x-idempotency-key'],
      body,
    })
    return { status: 201, body: presentOrder(order), headers: { location: `${wire.createOrder.path}/${order.id}` } }
  },

  /** GET /open-banking/v1/payments/{PaymentId} */
  async getOrder(app, { principal, params }) {
    const { customerId } = customerOf(principal)
    return { status: 200, body: presentOrder(await getOrder(app, { customerId, id: params.PaymentId })) }
  },
}
