import type { App } from '../app.ts'
import { BankUnavailableError, bankOf } from '../banks/connector.ts'
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

/** How long a bank may take to exchange a code. */
const EXCHANGE_TIMEOUT_MS = 5_000

export type CompleteScaInput = {
  id: string
  body: ScaComplete
  /** The request's body as it was received, for the audit event. */
  rawBody: string
}

/**
 * Completes strong customer authentication with the parameters that the bank's redirect carried. The `state` is the
 * credential; the outcome comes from the bank, by exchanging the code, never from the browser (decision 15). Repeating a
 * finished call returns the payment as it is now.
 * @throws {DomainError} PAYMENT_NOT_FOUND, STATE_MISMATCH, CODE_INVALID, CONSENT_EXPIRED, BANK_UNAVAILABLE
 */
export async function completeSca(app: App, { id, body, rawBody }: CompleteScaInput): Promise<PaymentRecord> {
  const payment = await findPayment(app, id)
  if (!constantTimeEqual(body.state, payment.bank_consent_id)) {
    throw new DomainError('STATE_MISMATCH', "the state is not the one given to this payment's bank")
  }
  if (payment.status !== 'AwaitingAuthorisation') return checkNotExpired(payment)
  if (isPastConsentEnd(payment)) return expireAndRead(app, payment)
  const authorisation =
    'code' in body
      ? await exchangeCode(app, { ...body, connector: payment.bank_connector })
      : { outcome: 'rejected' as const, failureCode: failureOfRedirectError(body.error) }
  const { outcome } = await applyAuthorisation(app, payment, { authorisation, rawPayload: rawBody })
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

type ExchangeCodeInput = { state: string; code: string; connector: string }

async function exchangeCode(app: App, { state, code, connector }: ExchangeCodeInput): Promise<Authorisation> {
  try {
    const signal = AbortSignal.timeout(EXCHANGE_TIMEOUT_MS)
    const result = await bankOf(app.banks, connector).exchangeCode({ state, code }, signal)
    if (result.outcome !== 'code-invalid') return result
  } catch (error) {
    if (!(error instanceof BankUnavailableError)) throw error
    throw new DomainError('BANK_UNAVAILABLE', 'the bank does not answer; nothing has changed', {
      cause: error,
      next: 'repeat the request in a few seconds',
      retryAfterSeconds: 5,
    })
  }
  throw new DomainError('CODE_INVALID', 'the bank does not know this code', {
    errors: [{ path: 'code', code: 'CODE_INVALID', message: 'was not issued by the bank for this payment' }],
  })
}
