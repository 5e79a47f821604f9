import type { DatabaseTransactionConnection } from 'slonik'
import { firstAccount } from '../../accounts/choose-account.ts'
import type { App } from '../../app.ts'
import { invalidFields } from '../../lib/errors.ts'
import type { FieldError } from '../../lib/errors.ts'
import { minorUnitsOf } from '../../lib/minor-units.ts'
import type { CurrencyAmount } from '../../wire/open-banking.ts'
import { createOnce } from '../create-once.ts'
import { deliverRequest } from './deliver.ts'
import { isUnknownIdentifier, lookUp, wrongIdentifier } from './directory.ts'
import { insertFailedLookUp } from './limits-sql.ts'
import { limitOpenRequests, limitDirectoryLookups } from './limits.ts'
import { getRequest } from './get-request.ts'
import type { PaymentRequestKind, PaymentRequestRecord } from './record.ts'
import { wrongDueDate } from './rules.ts'
import { SIDES } from './sides.ts'
import { insertRequest } from './sql.ts'

/** How long an offer is valid [own] (decision 6). */
const OFFER_DAYS = 30

export type CreateRequestInput = {
  kind: PaymentRequestKind
  customerId: string
  clientId: string
  idempotencyKey: string | undefined
  /** The parsed request body, which the idempotency key identifies. */
  body: unknown
  /** The requester's display name, and the identifier of the other side. */
  name: string
  identifier: string
  amount: CurrencyAmount
  dueDate: string | undefined
  reference: string | undefined
}

/**
 * Creates a request to pay or an offer to pay: recorded, and sent to the other side by mail, once for each key. The
 * money goes to, or comes from, the requester's first account in the currency (decision 59).
 * @throws {DomainError} VALIDATION_FAILED with every broken field; IDEMPOTENCY_KEY_REUSED; RATE_LIMITED
 */
export async function createRequest(app: App, input: CreateRequestInput): Promise<PaymentRequestRecord> {
  const { kind, customerId, clientId, idempotencyKey, body } = input
  const key = { customerId, clientId, path: SIDES[kind].path, idempotencyKey, body }
  const id = await createOnce(app, key, (tx, newId) => sendRequest(tx, app, { id: newId, input })).catch(
    async (error: unknown) => {
      // After the transaction, which has been rolled back.
      if (isUnknownIdentifier(error)) await insertFailedLookUp(app.pool, customerId)
      throw error
    },
  )
  return getRequest(app.pool, { kind, customerId, id })
}

async function sendRequest(
  tx: DatabaseTransactionConnection,
  app: App,
  { id, input }: { id: string; input: CreateRequestInput },
): Promise<void> {
  const { kind, customerId, name, identifier, amount, dueDate = null, reference = null } = input
  const { amountField, identifierField } = SIDES[kind]
  const errors: FieldError[] = []
  const first = await firstAccount(tx, { customerId, currency: amount.Currency })
  if ('problem' in first) errors.push({ path: `${amountField}.Currency`, code: 'INVALID', message: first.problem })
  const wrongForm = wrongIdentifier(identifier)
  if (wrongForm !== undefined) errors.push({ path: identifierField, ...wrongForm })
  const wrongDay = dueDate === null ? undefined : wrongDueDate(dueDate, new Date())
  if (wrongDay !== undefined) errors.push({ path: 'DueDate', ...wrongDay })
  if ('problem' in first || errors.length > 0) throw invalidFields(errors)
  const { account } = first
  await limitDirectoryLookups(app, tx, customerId)
  await limitOpenRequests(tx, { customerId })
  // Last: a request that would be rejected anyway must not reveal who is a customer.
  const found = await lookUp(tx, { identifier, customerId })
  if ('code' in found) throw invalidFields([{ path: identifierField, ...found }])
  await limitOpenRequests(tx, { customerId, counterpartyId: found.id })
  await insertRequest(tx, {
    id,
    customerId,
    counterpartyId: found.id,
    kind,
    name,
    identifier,
    amountMinor: minorUnitsOf(amount),
    currency: amount.Currency,
    reference,
    accountId: account.id,
    payerId: kind === 'RequestToPay' ? found.id : customerId,
    dueDate,
    offerDays: OFFER_DAYS,
  })
  const request = await getRequest(tx, { kind, customerId, id })
  await deliverRequest(tx, app, { request, email: found.email, holder: account.name })
}
