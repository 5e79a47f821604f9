import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../../app.ts'
import { DomainError } from '../../lib/errors.ts'
import { minorUnitsOf } from '../../lib/minor-units.ts'
import type { PaymentInitiation } from '../../wire/orders.ts'
import { chooseDebtor } from '../choose-debtor.ts'
import { createOnce } from '../create-once.ts'
import type { IdempotentRequest } from '../create-once.ts'
import { getOrder } from './get-order.ts'
import { countOpen } from './open-sql.ts'
import type { OrderRecord } from './record.ts'
import { findOrder, insertOrder } from './sql.ts'

/** Payments of one customer that may wait for execution [own]. */
const OPEN_MAX = 1_000
const RETRY_SECONDS = 10

export type CreateOrderInput = IdempotentRequest & { body: PaymentInitiation }

/**
 * Orders a payment from the named account, otherwise from the customer's first one in the currency (decision 59). It is
 * Pending until a worker executes it; the account's funds are checked then. A repeat under the same key returns the order
 * as it is now.
 * @throws {DomainError} VALIDATION_FAILED, IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
 */
export async function createOrder(app: App, input: CreateOrderInput): Promise<OrderRecord> {
  const created: { order?: OrderRecord | null } = {}
  const id = await createOnce(app, input, async (tx, newId) => {
    created.order = await orderPayment(tx, { id: newId, input })
  })
  if (created.order == null) return getOrder(app, { customerId: input.customerId, id })
  app.wake.notify('execute-orders')
  // As it was inserted, and not read again: a worker may have claimed it already.
  return created.order
}

async function orderPayment(
  tx: DatabaseTransactionConnection,
  { id, input: { customerId, body } }: { id: string; input: CreateOrderInput },
): Promise<OrderRecord | null> {
  const { InstructedAmount, CreditorAccount } = body
  await limitOpenOrders(tx, customerId)
  const debtor = await chooseDebtor(tx, { customerId, body })
  await insertOrder(tx, {
    id,
    customerId,
    instructionIdentification: body.InstructionIdentification,
    endToEndIdentification: body.EndToEndIdentification,
    debtorAccountId: debtor.id,
    creditor: {
      scheme: CreditorAccount.SchemeName,
      identification: CreditorAccount.Identification,
      name: CreditorAccount.Name ?? null,
    },
    amountMinor: minorUnitsOf(InstructedAmount),
    currency: InstructedAmount.Currency,
    reference: body.RemittanceInformation?.Reference ?? null,
  })
  return findOrder(tx, { customerId, id })
}

async function limitOpenOrders(tx: DatabaseTransactionConnection, customerId: string): Promise<void> {
  if ((await countOpen(tx, { customerId, max: OPEN_MAX })) < OPEN_MAX) return
  throw new DomainError('RATE_LIMITED', `${OPEN_MAX} of your payments wait to be executed`, {
    retryAfterSeconds: RETRY_SECONDS,
    next: 'order again when some of them are done',
  })
}
