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

/** Payments of one customer that may wait to be carried out [own]. */
const OPEN_MAX = 1_000
const RETRY_SECONDS = 10

export type CreateOrderInput = IdempotentRequest & { body: PaymentInitiation }

/**
 * Orders a payment from the account that is named, or else from the customer's first one in the currency (decision 59).
 * It is Pending until a worker carries it out; whether there is money for it is found out then. A repeat under the same
 * key answers what has become of it.
 * @throws {DomainError} VALIDATION_FAILED, IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
 */
export async function createOrder(app: App, input: CreateOrderInput): Promise<OrderRecord> {
  const made: { order?: OrderRecord | null } = {}
  const id = await createOnce(app, input, async (tx, newId) => {
    made.order = await orderPayment(tx, { id: newId, input })
  })
  if (made.order == null) return getOrder(app, { customerId: input.customerId, id })
  app.wake.notify('execute-orders')
  // As it was made, and not read again: a worker may have it already.
  return made.order
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
  throw new DomainError('RATE_LIMITED', `${OPEN_MAX} of your payments wait to be carried out`, {
    retryAfterSeconds: RETRY_SECONDS,
    next: 'order again when some of them are done',
  })
}
