import { setTimeout as delay } from 'node:timers/promises'
import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../../app.ts'
import { allowancesOf, exceededCap } from '../../consents/allowances.ts'
import { storedCaps } from '../../consents/control-parameters.ts'
import { consentNotFound } from '../../consents/get-consent.ts'
import type { LockedConsent } from '../../consents/record.ts'
import { hasConsent, tryLockConsent } from '../../consents/sql.ts'
import { canonicalJson } from '../../lib/canonical-json.ts'
import { DomainError, invalidFields } from '../../lib/errors.ts'
import { sha256Hex } from '../../lib/hmac.ts'
import { redactPayload } from '../../lib/redact-payload.ts'
import { currentTraceparent } from '../../lib/trace.ts'
import { isUuid } from '../../lib/ids.ts'
import { parseAmount, toNumeric } from '../../lib/money.ts'
import type { CreatePayment } from '../../wire/new-payment.ts'
import { creationInProgress, checkAmount, checkScenario, createdPayment, createWithRetries } from '../creation-rules.ts'
import type { CreatePaymentInput, CreatePaymentResult } from '../creation-rules.ts'
import { createPaymentRow, hasPaymentWithKey } from './sql.ts'
import { announceMove, transitionOf } from '../move.ts'
import { mandateLimitExceeded } from './new-mandate.ts'
import type { CreateOutcome, NewPaymentItem } from '../record.ts'

export type CreatePaymentUnderMandateInput = CreatePaymentInput & { idempotencyKey: string; consentId: string }

/** Attempts to lock a mandate, and the wait between two: about two seconds in all, without holding a connection. */
const LOCK_ATTEMPTS_MAX = 100
const LOCK_RETRY_MS = 20

/** For items that create nothing: repeats, and payments under a mandate that is not there. */
const NONE = 'none'

const CREATION = transitionOf({ from: null, on: 'creation under a mandate' })

/**
 * Creates a payment under a mandate that was authorised before, or returns the payment that an earlier request with the
 * same key created (decision 49). The bank is asked by a job (pay-mandates.ts), so the payment begins as Initiated.
 * @throws {DomainError} as `createPayment` does, and CONSENT_NOT_FOUND, MANDATE_NOT_USABLE, MANDATE_LIMIT_EXCEEDED,
 *   SERVICE_UNAVAILABLE where other requests hold the mandate for too long
 */
export async function createPaymentUnderMandate(
  app: App,
  input: CreatePaymentUnderMandateInput,
): Promise<CreatePaymentResult> {
  checkScenario(app, input.body)
  checkAmount(input.body)
  const item = newPaymentItem(app, input)
  const outcome = await createWithRetries(item, () => createWhenUnlocked(app, { input, item }))
  const created = outcome.outcome === 'CREATED'
  const payment = await createdPayment(app, outcome, input)
  if (created) {
    announceMove(app, CREATION, payment.payment_id)
    app.wake.notify('pay-mandates')
  }
  return { created, payment }
}

type Creation = { input: CreatePaymentUnderMandateInput; item: NewPaymentItem }

/** Payments under one mandate are created one after the other. A repeat needs no lock: it creates nothing. */
async function createWhenUnlocked(app: App, creation: Creation): Promise<CreateOutcome> {
  const { input, item } = creation
  if (await hasPaymentWithKey(app.pool, keyOf(input)))
    return createPaymentRow(app.pool, { ...item, bank_connector: NONE })
  for (let attempt = 0; attempt < LOCK_ATTEMPTS_MAX; attempt += 1) {
    const outcome = await app.pool.transaction((tx) => createUnderLock(app, tx, creation))
    if (outcome !== 'BUSY') return outcome
    await delay(LOCK_RETRY_MS)
  }
  throw creationInProgress()
}

/**
 * Locks the mandate from the check of its caps until the payment is inserted. No request waits for the lock on a
 * connection: a burst on one mandate would take the connections of all other requests.
 */
async function createUnderLock(
  app: App,
  tx: DatabaseTransactionConnection,
  { input, item }: Creation,
): Promise<CreateOutcome | 'BUSY'> {
  const key = { merchantId: input.merchant.id, id: input.consentId }
  const locked = isUuid(key.id) ? await tryLockConsent(tx, key) : null
  if (locked === null) {
    if (isUuid(key.id) && (await hasConsent(tx, key))) return 'BUSY'
    throw consentNotFound()
  }
  // A request with the same key may have been faster.
  if (!(await hasPaymentWithKey(tx, keyOf(input)))) {
    checkUsable(locked, input.body)
    if (app.config.vrpCaps === 'enforce') await checkCaps(tx, { consent: locked, input })
  }
  // The bank that knows the mandate, even where new payments go to another one now.
  return createPaymentRow(tx, { ...item, bank_connector: locked.bank_connector ?? NONE })
}

function keyOf({ merchant, idempotencyKey }: CreatePaymentUnderMandateInput) {
  return { merchantId: merchant.id, idempotencyKey }
}

function checkUsable(consent: LockedConsent, { currency }: CreatePayment): void {
  const { consent_type: type, status, is_over: isOver } = consent
  if (type !== 'VARIABLE_RECURRING') throw notUsable('the consent is for a single payment and not a mandate')
  if (status !== 'AUTHORISED') throw notUsable(`the mandate is ${status}; payments need one that is AUTHORISED`)
  if (isOver) throw notUsable(`the mandate is EXPIRED: it ended at ${consent.expires_at}`)
  if (consent.currency !== currency)
    throw invalidFields([
      {
        path: 'currency',
        code: 'CONTRADICTORY',
        message: `must be the currency of the mandate, ${consent.currency}`,
        expected: consent.currency,
      },
    ])
}

function notUsable(message: string): DomainError {
  return new DomainError('MANDATE_NOT_USABLE', message, {
    next: 'set up a new mandate: POST /api/v1/payments with consent_type VARIABLE_RECURRING',
  })
}

async function checkCaps(
  tx: DatabaseTransactionConnection,
  { consent, input }: { consent: LockedConsent; input: CreatePaymentUnderMandateInput },
): Promise<void> {
  const { currency } = consent
  const caps = storedCaps(consent.control_parameters, currency)
  const mandate = { ...consent, merchant_id: input.merchant.id }
  const [allowances = []] = await allowancesOf(tx, [{ mandate, caps }])
  const exceeded = exceededCap(parseAmount(input.body.amount), { caps, allowances, currency })
  if (exceeded !== undefined) throw mandateLimitExceeded(exceeded)
}

function newPaymentItem(
  app: App,
  { merchant, body, rawBody, idempotencyKey, consentId }: CreatePaymentUnderMandateInput,
): NewPaymentItem {
  const amount = toNumeric(parseAmount(body.amount))
  const random = app.ids.for('payment', merchant.id, idempotencyKey)
  return {
    payment_id: random.uuid(),
    consent_id: isUuid(consentId) ? consentId : null,
    end_to_end_id: random.endToEndId(),
    bank_consent_id: random.state(),
    amount,
    currency: body.currency,
    metadata: body.metadata,
    remittance_reference: body.remittance_reference,
    sandbox_scenario: body.scenario,
    merchant_id: merchant.id,
    audit_id: random.uuid(),
    event_type: CREATION.webhook,
    status: CREATION.to,
    changed_by: CREATION.actor,
    idempotency_key: idempotencyKey,
    request_fingerprint: sha256Hex(canonicalJson({ ...body, amount })),
    raw_payload: redactPayload(rawBody),
    under_mandate: true,
    test: app.config.mode === 'sandbox',
    traceparent: currentTraceparent(),
  }
}
