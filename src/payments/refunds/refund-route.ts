import type { CommonQueryMethods } from 'slonik'
import type { App } from '../../app.ts'
import { openDebtorAccount } from '../../consents/debtor-account.ts'
import { DomainError } from '../../lib/errors.ts'
import type { PaymentRecord } from '../record.ts'
import type { PayerAccount } from './record.ts'
import { getPayerAccount } from './sql.ts'

const BRITISH_IBAN = /^GB\d{2}[A-Z]{4}(\d{14})$/

/**
 * The payer's account as a file for the bank names it: sort code and account number in pounds, else an IBAN. Null where the
 * consent has none that the bank could pay in this currency.
 */
export function payerAccountNumber(app: Pick<App, 'sealer'>, sealed: PayerAccount, currency: string): string | null {
  const account = openDebtorAccount(app, sealed)
  if (account === undefined) return null
  const { scheme, identification } = account
  if (scheme === 'UK.OBIE.IBAN') return (currency === 'GBP' && BRITISH_IBAN.exec(identification)?.[1]) || identification
  return currency === 'GBP' ? identification : null
}

/**
 * How a new refund goes to the bank: its end-to-end id where an operator takes it there in a file, null where the bank's
 * API is asked. A file needs no bank but ours, so it also has the refunds at banks that are not configured any more.
 * @param input.next what the caller does where no account is known, if there is more than to refund by other means
 * @throws {DomainError} REFUND_ACCOUNT_UNKNOWN
 */
export async function routeOf(
  tx: CommonQueryMethods,
  app: Pick<App, 'ids' | 'refundApis' | 'sealer'>,
  { payment, next }: { payment: PaymentRecord; next?: string | undefined },
): Promise<string | null> {
  if (app.refundApis.has(payment.bank_connector)) return null
  const account = await getPayerAccount(tx, { merchantId: payment.merchant_id, consentId: payment.consent_id })
  if (payerAccountNumber(app, account, payment.currency) !== null) return app.ids.endToEndId()
  throw new DomainError(
    'REFUND_ACCOUNT_UNKNOWN',
    `refunds at this bank need the payer's account, and no bank has confirmed the payer's account for ${payment.currency}`,
    next === undefined ? {} : { next },
  )
}
