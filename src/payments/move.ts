import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import type { DebtorAccount } from '../banks/connector.ts'
import { sealDebtorAccount } from '../consents/debtor-account.ts'
import { CONSENT_TRANSITIONS } from '../consents/states.ts'
import { failureOf } from '../lib/failure-codes.ts'
import type { FailureCode, FailureSource } from '../lib/failure-codes.ts'
import { mustMove } from '../lib/machine.ts'
import { redactPayload } from '../lib/redact-payload.ts'
import { continuedTraceparent } from '../lib/trace.ts'
import type { ChangedBy, PaymentStatus } from '../wire/payments.ts'
import type { MoveOutcome, PaymentMoveItem } from './record.ts'
import { movePaymentRow } from './sql.ts'
import { PAYMENT_TRANSITIONS } from './states.ts'
import type { PaymentTransition, PaymentTrigger } from './states.ts'

/** A change of a payment's status that a use case requests. */
export type PaymentMove = {
  merchantId: string
  paymentId: string
  from: PaymentStatus
  on: PaymentTrigger
  /** The JSON text that the audit event keeps, redacted: the request's or callback's body, or a job's `{job, reason}`. */
  rawPayload: string
  /** Overrides the actor of the transition table. */
  actor?: ChangedBy | undefined
  failureCode?: FailureCode | undefined
  failureSource?: FailureSource | undefined
  bankReference?: string | undefined
  /** The remote bank's answer when the consent was staged there. */
  staged?: { bankConsentReference: string; redirectUrl: string } | undefined
  /** The payer's account as the bank names it, which replaces the one that the merchant said. */
  payerAccount?: { consentId: string; account: DebtorAccount | undefined } | undefined
  /** Seconds until the settlement job executes an authorised payment. */
  settleInSeconds?: number | undefined
  /** The refund that completes a refunded payment; amounts as numeric(19,4) text, formatted ones as on the wire. */
  refund?: { amount: string; data: { id: string; amount: string; refundedTotal: string } } | undefined
}

/**
 * Moves a payment: guarded update, consent, audit event and webhook in one transaction. Only this module changes a
 * payment's status, and only along PAYMENT_TRANSITIONS in states.ts: that table answers, for example, from where and by
 * which actor a payment may become Settled. In the database `move_payments` is the only writer.
 * @returns `STALE` when the payment is no longer in `from`, or on the wrong side of its consent's end: nothing changed
 * @throws when the table has no such transition, which is a bug
 */
export async function movePayment(app: App, move: PaymentMove): Promise<MoveOutcome> {
  const transition = transitionOf(move)
  const outcome = await app.batches.move.run(moveItem(app, move, transition))
  if (outcome.outcome === 'MOVED') announceMove(app, transition, move.paymentId)
  return outcome
}

/** `movePayment` inside the caller's transaction; the caller calls `announceMove` after the commit. */
export async function movePaymentIn(
  tx: DatabaseTransactionConnection,
  app: MoveApp,
  move: PaymentMove,
): Promise<MoveOutcome> {
  return movePaymentRow(tx, moveItem(app, move, transitionOf(move)))
}

/** Logs and counts a committed move, and wakes the jobs that continue from it. */
export function announceMove(
  app: Pick<App, 'log' | 'metrics' | 'wake'>,
  transition: PaymentTransition,
  paymentId: string,
): void {
  const { from, to, on } = transition
  app.log.info({ payment_id: paymentId, from, to, on }, 'a payment has moved')
  app.metrics.paymentMoves.inc({ from: transition.from ?? 'none', to: transition.to })
  if (transition.webhook !== null) app.wake.notify('deliver-webhooks')
  if (transition.to === 'Authorised') app.wake.notify('settle-payments')
}

export function transitionOf({
  from,
  on,
}: {
  from: PaymentMove['from'] | null
  on: PaymentTrigger
}): PaymentTransition {
  return mustMove<PaymentTransition>(PAYMENT_TRANSITIONS, from, on)
}

/** The parts of the app that a move needs. */
export type MoveApp = Pick<App, 'ids' | 'config' | 'sealer'>

function moveItem(app: MoveApp, move: PaymentMove, transition: PaymentTransition): PaymentMoveItem {
  const consent =
    transition.consent === null ? null : mustMove(CONSENT_TRANSITIONS, 'AWAITING_AUTHORISATION', transition.consent)
  const failure = move.failureCode === undefined ? null : failureOf(move.failureCode, move.failureSource)
  if ((transition.to === 'Failed') !== (failure !== null))
    throw new Error('a failed payment has a failure code, and no other has')
  // No payment makes the same move twice, so this key is of one event only: the loser of a race writes nothing.
  const random = app.ids.for('payment move', move.paymentId, transition.from ?? '', transition.to)
  return {
    merchant_id: move.merchantId,
    payment_id: move.paymentId,
    from_status: move.from,
    to_status: transition.to,
    consent_from: consent?.from ?? null,
    consent_to: consent?.to ?? null,
    consent_window: transition.consentWindow,
    changed_by: move.actor ?? transition.actor,
    raw_payload: redactPayload(move.rawPayload),
    audit_id: random.uuid(),
    delivery_id: random.uuid(),
    event_id: random.eventId(),
    event_type: transition.webhook,
    failure_code: failure?.code ?? null,
    failure_source: failure?.source ?? null,
    failure: failure && {
      code: failure.code,
      reason: failure.reason,
      source: failure.source,
      isoCode: failure.iso_code,
    },
    ...sealDebtorAccount(app, move.payerAccount?.account ?? {}, {
      merchantId: move.merchantId,
      consentId: move.payerAccount?.consentId ?? '',
    }),
    bank_reference: move.bankReference ?? null,
    bank_consent_reference: move.staged?.bankConsentReference ?? null,
    redirect_url: move.staged?.redirectUrl ?? null,
    settle_seconds: move.settleInSeconds ?? null,
    refund: move.refund?.data ?? null,
    refund_amount: move.refund?.amount ?? null,
    test: app.config.mode === 'sandbox',
    traceparent: continuedTraceparent(),
  }
}
