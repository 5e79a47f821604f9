import type { App } from '../app.ts'
import { BankUnavailableError, bankOf } from '../banks/connector.ts'
import type { ConsentRequest } from '../banks/connector.ts'
import { openDebtorAccount } from '../consents/debtor-account.ts'
import { storedCaps } from '../consents/control-parameters.ts'
import { DomainError } from '../lib/errors.ts'
import { inSpan } from '../lib/trace.ts'
import type { ChangedBy, PaymentStatus } from '../wire/payments.ts'
import { paymentNotFound } from './get-payment.ts'
import { movePayment } from './move.ts'
import { mandateRequest } from './mandates/new-mandate.ts'
import type { UnstagedPayment } from './record.ts'
import { claimUnstagedPayments, findUnstagedPayment } from './claim-sql.ts'

/** How long a bank may take to stage a consent. */
const STAGE_TIMEOUT_MS = 5_000

/** Age of a payment at which the job stages it in place of the request that created it. */
const ABANDONED_SECONDS = 30
const ABANDONED_MAX = 50

const SPAN = { name: 'stage payment' }

/** How long no other worker claims a claimed payment, and the wait before a silent bank is asked again. */
const LEASE_SECONDS = 30

/**
 * Stages a payment at a remote bank, outside any transaction, and moves it to AwaitingAuthorisation (decision 17).
 * Repeating it is safe: the bank knows the payment by its id, and the move is guarded.
 * @param rawBody the request's body as it was received, for the audit event
 * @throws {DomainError} BANK_UNAVAILABLE when the bank gives no answer; the payment stays Initiated for the job
 */
export async function stagePayment(
  app: App,
  { rawBody, ...key }: { merchantId: string; id: string; rawBody: string },
): Promise<{ status: PaymentStatus; redirect_url: string | null }> {
  const unstaged = await findUnstagedPayment(app.pool, key)
  if (unstaged !== null) await stageAtBank(app, unstaged, { actor: 'MERCHANT_API', rawPayload: rawBody })
  const payment = await app.batches.find.run({ merchant_id: key.merchantId, id: key.id })
  if (payment.id === null) throw paymentNotFound()
  return { status: payment.status, redirect_url: payment.redirect_url }
}

/** Stages payments that a crash or a silent bank left Initiated. A job. */
export async function stagePayments(app: App): Promise<{ more: boolean }> {
  const unstaged = await claimUnstagedPayments(app.pool, {
    limit: ABANDONED_MAX,
    olderThanSeconds: ABANDONED_SECONDS,
    leaseSeconds: LEASE_SECONDS,
  })
  const rawPayload = JSON.stringify({
    job: 'stage-payments',
    reason: 'the request that created the payment did not stage it',
  })
  const outcomes = await Promise.allSettled(
    unstaged.map((payment) =>
      inSpan(SPAN, payment.traceparent, () => stageAtBank(app, payment, { actor: 'BATCH_JOB', rawPayload })),
    ),
  )
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected')
      app.log.warn({ err: outcome.reason }, 'a payment could not be staged; it is tried again')
  }
  return { more: unstaged.length === ABANDONED_MAX }
}

async function stageAtBank(
  app: App,
  payment: UnstagedPayment,
  by: { actor: ChangedBy; rawPayload: string },
): Promise<void> {
  try {
    const staged = await bankOf(app.banks, payment.bank_connector).stage(
      {
        paymentId: payment.id,
        consentId: payment.consent_id,
        endToEndId: payment.end_to_end_id,
        state: payment.bank_consent_id,
        amount: payment.gross_amount,
        currency: payment.currency,
        payeeId: payment.merchant_id,
        payeeName: payment.trading_name,
        redirectUri: payment.redirect_uri,
        debtorBankId: payment.debtor_bank_id ?? undefined,
        debtorAccount: openDebtorAccount(app, payment),
        remittanceReference: payment.remittance_reference ?? undefined,
        scenario: payment.sandbox_scenario ?? undefined,
        mandate: mandateRequestOf(payment),
      },
      AbortSignal.timeout(STAGE_TIMEOUT_MS),
    )
    await movePayment(app, {
      merchantId: payment.merchant_id,
      paymentId: payment.id,
      from: 'Initiated',
      on: 'staging',
      staged,
      ...by,
    })
  } catch (error) {
    if (!(error instanceof BankUnavailableError)) throw error
    throw new DomainError('BANK_UNAVAILABLE', 'the bank does not answer', {
      cause: error,
      next: 'repeat the request with the same X-Idempotency-Key',
    })
  }
}

function mandateRequestOf({
  control_parameters: parameters,
  valid_to: validTo,
  currency,
}: UnstagedPayment): ConsentRequest['mandate'] {
  if (validTo === null) return undefined
  return mandateRequest(storedCaps(parameters, currency), validTo)
}
