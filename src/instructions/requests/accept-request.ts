import type { DatabaseTransactionConnection } from 'slonik'
import { chooseAccount, firstAccount } from '../../accounts/choose-account.ts'
import type { AccountRecord } from '../../accounts/record.ts'
import { findAccount } from '../../accounts/sql.ts'
import type { App } from '../../app.ts'
import { IBAN, SORT_CODE_ACCOUNT_NUMBER } from '../../lib/account-identification.ts'
import { invalidField } from '../../lib/errors.ts'
import { insertOrder } from '../orders/sql.ts'
import type { NewOrder } from '../orders/sql.ts'
import { lockForAcceptance } from './lock-request.ts'
import { moveRequest } from './move.ts'
import { getRequest } from './get-request.ts'
import type { RequestName } from './read-sql.ts'
import { requestClosed } from './reasons.ts'
import type { PaymentRequestRecord } from './record.ts'

/** `accountId` is the caller's account to pay from or to be paid to; default: the first one in the currency. */
export type AcceptRequestInput = RequestName & { accountId: string | undefined }

/**
 * Accepts a request, as its payer, or an offer, as its payee: the payment is ordered in the same transaction (decisions
 * 5 and 6).
 * @throws {DomainError} PAYMENT_REQUEST_NOT_FOUND, PAYMENT_REQUEST_CLOSED, VALIDATION_FAILED at `AccountId`
 */
export async function acceptRequest(
  app: App,
  { accountId, ...name }: AcceptRequestInput,
): Promise<PaymentRequestRecord> {
  const accepted = await app.pool.transaction(async (tx) => {
    const request = await lockForAcceptance(tx, name)
    if (request.status !== 'Sent') throw requestClosed(request)
    const account = await ownAccount(tx, { request, accountId })
    const orderId = app.ids.for('acceptance', request.id).uuid()
    await insertOrder(tx, orderOf(request, { orderId, own: account, makers: await makersAccount(tx, request) }))
    await moveRequest(tx, {
      id: request.id,
      from: 'Sent',
      on: 'acceptance',
      changes: { counterpartyAccountId: account.id, orderId },
    })
    return getRequest(tx, name)
  })
  app.wake.notify('execute-orders')
  return accepted
}

async function ownAccount(
  tx: DatabaseTransactionConnection,
  { request, accountId }: { request: PaymentRequestRecord; accountId: string | undefined },
): Promise<AccountRecord> {
  const { counterparty_id: customerId, currency } = request
  if (accountId !== undefined) return chooseAccount(tx, { customerId, currency, accountId })
  const first = await firstAccount(tx, { customerId, currency })
  if ('account' in first) return first.account
  throw invalidField('AccountId', 'INVALID', first.problem)
}

async function makersAccount(
  tx: DatabaseTransactionConnection,
  { customer_id: customerId, account_id: id }: PaymentRequestRecord,
): Promise<AccountRecord> {
  const account = await findAccount(tx, { customerId, id })
  if (account === null) throw new Error("a request without its maker's account")
  return account
}

type Parties = { orderId: string; own: AccountRecord; makers: AccountRecord }

/** The payment: from the payer's account to the payee's, by its number, under the request's own id. */
function orderOf(request: PaymentRequestRecord, { orderId, own, makers }: Parties): NewOrder {
  const [debtor, creditor] = request.kind === 'RequestToPay' ? [own, makers] : [makers, own]
  const reference = request.id.replaceAll('-', '')
  return {
    id: orderId,
    customerId: request.payer_id,
    instructionIdentification: reference,
    endToEndIdentification: reference,
    debtorAccountId: debtor.id,
    creditor: creditorOf(creditor),
    amountMinor: request.amount_minor,
    currency: request.currency,
    reference: request.reference,
    paymentRequestId: request.id,
  }
}

function creditorOf({ sort_code_account_number: number, iban, name }: AccountRecord): NewOrder['creditor'] {
  if (number !== null) return { scheme: SORT_CODE_ACCOUNT_NUMBER, identification: number, name }
  if (iban === null) throw new Error('an account without a number')
  return { scheme: IBAN, identification: iban, name }
}
