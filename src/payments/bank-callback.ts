import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { applyAuthorisation } from './apply-authorisation.ts'
import { expirePayment } from './expire-consents.ts'
import { paymentNotFound, isPastConsentEnd } from './get-payment.ts'
import { findPaymentByState } from './sql.ts'

export type BankCallbackInput = {
  /** Id of the bank connector, from the path. */
  connector: string
  headers: Readonly<Record<string, string | undefined>>
  rawBody: Buffer
}

/**
 * Receives a bank's own report on an authorisation (decision 54). A report that was received before changes nothing.
 * @throws {DomainError} CONNECTOR_NOT_FOUND, UNAUTHENTICATED where the report's signature is not the bank's,
 *   PAYMENT_NOT_FOUND
 */
export async function bankCallback(
  app: App,
  { connector, headers, rawBody }: BankCallbackInput,
): Promise<'accepted' | 'already_known'> {
  const bank = app.banks.get(connector)
  if (bank?.readCallback === undefined) throw new DomainError('CONNECTOR_NOT_FOUND', 'bank connector not found')
  const callback = bank.readCallback({ headers, rawBody })
  if (callback === undefined)
    throw new DomainError('UNAUTHENTICATED', "the callback does not carry this bank's signature")
  const payment = await findPaymentByState(app.pool, callback.state)
  if (payment === null || payment.bank_connector !== bank.id) throw paymentNotFound()
  const { outcome } = await applyAuthorisation(app, payment, {
    authorisation: callback.result,
    rawPayload: rawBody.toString('utf8'),
  })
  if (outcome === 'MOVED') return 'accepted'
  await expireIfPastEnd(app, callback.state)
  return 'already_known'
}

/** A report that came after the consent's end authorises nothing: the payment expires now, without waiting for the job. */
async function expireIfPastEnd(app: App, state: string): Promise<void> {
  const payment = await findPaymentByState(app.pool, state)
  if (payment !== null && isPastConsentEnd(payment)) await expirePayment(app, payment)
}
