import type { App } from '../app.ts'
import { BankUnavailableError, bankOf } from '../banks/connector.ts'
import type { BankConnector } from '../banks/connector.ts'
import { DomainError } from '../lib/errors.ts'
import { failureOfRedirectError } from '../lib/failure-codes.ts'
import { constantTimeEqual } from '../lib/hmac.ts'
import { isUuid } from '../lib/ids.ts'
import type { ScaComplete } from '../wire/payments.ts'
import { applyAuthorisation } from './apply-authorisation.ts'
import type { Authorisation } from './apply-authorisation.ts'
import { expirePayment } from './expire-consents.ts'
import { paymentNotFound, isPastConsentEnd } from './get-payment.ts'
import type { PaymentRecord } from './record.ts'
import { findPaymentById } from './sql.ts'

/** How long a bank may take to exchange a code, or to show a consent. */
const ASK_TIMEOUT_MS = 5_000

/** A payment after the return of its payer: what the response has of it. */
export type Completed = Pick<PaymentRecord, 'id' | 'status' | 'end_to_end_id' | 'failure_code' | 'failure_source'>

export type CompleteScaInput = {
  id: string
  body: ScaComplete
  /** The request's body as it was received, for the audit event. */
  rawBody: string
}

/**
 * Completes strong customer authentication with the parameters that the bank's redirect carried. The `state` is the
 * credential; the outcome comes from the bank, never from the browser: a code is exchanged, and before an error ends the
 * payment, the bank is asked for the consent (decision 15). Repeating a finished call returns the payment as it is now.
 * @throws {DomainError} PAYMENT_NOT_FOUND, STATE_MISMATCH, CODE_INVALID, CONSENT_EXPIRED, BANK_UNAVAILABLE
 */
export async function completeSca(app: App, { id, body, rawBody }: CompleteScaInput): Promise<Completed> {
  const payment = await findPayment(app, id)
  if (!constantTimeEqual(body.state, payment.bank_consent_id)) {
    throw new DomainError('STATE_MISMATCH', "the state is not the one given to this payment's bank")
  }
  if (payment.status !== 'AwaitingAuthorisation') return checkNotExpired(payment)
  if (isPastConsentEnd(payment)) return expireAndRead(app, payment)
  const authorisation =
    'code' in body ? await exchangeCode(app, { ...body, payment }) : await afterError(app, { ...body, payment })
  if (authorisation === undefined) return payment
  const { outcome } = await applyAuthorisation(app, payment, { authorisation, rawPayload: rawBody })
  if (outcome === 'MOVED' && authorisation.outcome === 'authorised') return { ...payment, status: 'Authorised' }
  const current = await findPayment(app, id)
  // The move was rejected although the payment waits: its consent ended between the read and the move.
  if (outcome === 'STALE' && isPastConsentEnd(current)) return expireAndRead(app, current)
  return checkNotExpired(current)
}

async function findPayment(app: App, id: string): Promise<PaymentRecord> {
  const payment = isUuid(id) ? await findPaymentById(app.pool, id) : null
  if (payment === null) throw paymentNotFound()
  return payment
}

function checkNotExpired(payment: PaymentRecord): PaymentRecord {
  if (payment.failure_code === 'CONSENT_EXPIRED') throw consentExpired()
  return payment
}

/** An authorisation that began before the end may still win the race; the payment is returned as it is afterwards. */
async function expireAndRead(app: App, payment: PaymentRecord): Promise<PaymentRecord> {
  await expirePayment(app, { id: payment.id, merchant_id: payment.merchant_id, status: payment.status })
  return checkNotExpired(await findPayment(app, payment.id))
}

function consentExpired(): DomainError {
  return new DomainError('CONSENT_EXPIRED', 'the consent expired before it was authorised', {
    next: 'create a new payment under a new idempotency key',
  })
}

type ExchangeCodeInput = { state: string; code: string; payment: PaymentRecord }

async function exchangeCode(app: App, { state, code, payment }: ExchangeCodeInput): Promise<Authorisation> {
  const result = await askBank(app, payment, (bank, signal) => bank.exchangeCode({ state, code }, signal))
  if (result.outcome !== 'code-invalid') return result
  throw new DomainError('CODE_INVALID', 'the bank does not know this code', {
    errors: [{ path: 'code', code: 'CODE_INVALID', message: 'was not issued by the bank for this payment' }],
  })
}

/**
 * What an error in the payer's browser is worth. Undefined if the payer has authorised the payment at the bank: nothing
 * ends, and its code or the bank's own report may still come. A failure has the bank as its source only if the bank says
 * so.
 */
async function afterError(
  app: App,
  { state, error, payment }: { state: string; error: string; payment: PaymentRecord },
): Promise<Authorisation | undefined> {
  const consent = await askBank(app, payment, (bank, signal) => bank.readConsent({ state }, signal))
  if (consent.status === 'authorised') return undefined
  if (consent.status === 'rejected') return { outcome: 'rejected', failureCode: consent.failureCode }
  return { outcome: 'rejected', failureCode: failureOfRedirectError(error), failureSource: 'PAYER' }
}

async function askBank<T>(
  app: App,
  payment: PaymentRecord,
  ask: (bank: BankConnector, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  try {
    return await ask(bankOf(app.banks, payment.bank_connector), AbortSignal.timeout(ASK_TIMEOUT_MS))
  } catch (error) {
    if (!(error instanceof BankUnavailableError)) throw error
    throw new DomainError('BANK_UNAVAILABLE', 'the bank does not answer; nothing has changed', {
      cause: error,
      next: 'repeat the request in a few seconds',
      retryAfterSeconds: 5,
    })
  }
}
