import { parseAmount, toNumeric } from '../lib/money.ts'
import { BankError } from './bank-error.ts'
import type { Account, Consent, Payment } from './books.ts'
import type { ResourceRequest } from './resource.ts'

/** The ISO external status reason of an account without enough money. */
const INSUFFICIENT_FUNDS = 'AM04'

/** Enters a payment: refused at once without money, else settled at once, later, or rejected later (faults.ts). */
export function acceptPayment(
  request: ResourceRequest,
  consent: Consent,
  order: {
    id: string
    amount: { Amount: string; Currency: string }
    endToEndId: string
    data: Record<string, unknown>
    risk: Record<string, unknown>
  },
): Payment {
  const account = accountOf(consent)
  const at = new Date()
  const payment: Payment = {
    id: order.id,
    kind: consent.kind,
    consentId: consent.id,
    clientId: consent.clientId,
    status: 'ACSC',
    amount: order.amount.Amount,
    currency: order.amount.Currency,
    endToEndId: order.endToEndId,
    createdAt: at.toISOString(),
    statusAt: at.toISOString(),
    data: order.data,
    risk: order.risk,
    account,
  }
  if (hasFunds(consent, order.amount.Amount)) {
    debit(account, order.amount.Amount)
    delay(request, payment, at.getTime())
  } else {
    payment.status = 'RJCT'
    payment.reasonCode = INSUFFICIENT_FUNDS
  }
  request.books.payments.set(payment.id, payment)
  return payment
}

function delay({ faults }: ResourceRequest, payment: Payment, at: number): void {
  const operation = payment.kind === 'domestic-vrp' ? 'createVrp' : 'createPayment'
  const late = faults.take('late_settlement', operation)
  const rejected = faults.take('rejected_after_acceptance', operation)
  if (rejected !== undefined) {
    const { seconds, reason_code: reasonCode } = rejected
    payment.status = 'ACSP'
    payment.due = { at: at + seconds * 1_000, status: 'RJCT', reasonCode }
  } else if (late !== undefined) {
    payment.status = 'ACSP'
    payment.due = { at: at + late.seconds * 1_000, status: 'ACSC' }
  }
}

export function hasFunds(consent: Consent, amount: string): boolean {
  return parseAmount(accountOf(consent).balance) >= parseAmount(amount)
}

/** Gives a payment whose time has come its last status. There is no timer: whatever looks at it lets it happen. */
export function settleIfDue(payment: Payment): void {
  const { due } = payment
  if (due === undefined || due.at > Date.now()) return
  delete payment.due
  payment.status = due.status
  payment.statusAt = new Date(due.at).toISOString()
  if (due.status === 'ACSC') return
  payment.reasonCode = due.reasonCode
  payment.account.balance = toNumeric(parseAmount(payment.account.balance) + parseAmount(payment.amount))
}

function debit(account: Account, amount: string): void {
  account.balance = toNumeric(parseAmount(account.balance) - parseAmount(amount))
}

function accountOf({ account }: Consent): Account {
  if (account === undefined) throw new BankError('UK.OBIE.Resource.InvalidConsentStatus', 'no account was chosen')
  return account
}
