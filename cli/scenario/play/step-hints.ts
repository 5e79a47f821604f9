import type { ErrorCode } from '../../../src/lib/errors.ts'

/** The step that gets past a refusal: a case's merchant and payments are its own, and gone before a command is typed. */
const STEPS: ReadonlyMap<string, string> = new Map<ErrorCode, string>([
  ['MERCHANT_NOT_APPROVED', 'kyb.approve: { reason: checked } before this step'],
  ['MERCHANT_INACTIVE', 'merchants.enable: { reason: back } before this step'],
  ['PAYOUT_HELD', 'hold.release: { reason: cleared } before this step'],
  ['KYB_TRANSITION_INVALID', 'given: { merchant: { kyb: … } } for a merchant that begins elsewhere'],
  ['IDEMPOTENCY_KEY_REUSED', 'another idempotency_key, or pay: { repeat: $p1 } for the same payment again'],
  ['PAYMENT_NOT_SETTLED', 'await: { payment: $p1, status: Settled } before this step'],
  ['PAYMENT_NOT_DISPUTABLE', 'await: { payment: $p1, status: Settled } before this step'],
  ['PAYMENT_NOT_CANCELLABLE', 'payments.cancel: { payment: $p1 } before the payer has decided at the bank'],
  ['PAYMENT_ALREADY_REFUNDED', 'a step without refund: true, for nothing is left of the payment'],
  ['CONSENT_EXPIRED', 'the payer decides before the clock is advanced so far'],
  ['DISPUTE_ALREADY_OPEN', 'disputes.resolve: or disputes.accept: the dispute before another one is raised'],
  [
    'DISPUTE_NOT_UNDER_REVIEW',
    'disputes.evidence: or disputes.escalate: before this step, or clock: { advance: 14d } past the deadline',
  ],
  ['DISPUTE_ESCALATED', 'disputes.resolve: { dispute: $d1, favour: …, note: … }: the platform decides it now'],
  ['DISPUTE_CLOSED', 'this step before the one that has decided the dispute'],
  ['DELIVERY_NOT_DEAD', 'receiver: { answers: [500] } and clock: { advance: 11h } before, so that all attempts fail'],
  ['WEBHOOK_ENDPOINT_NOT_SET', 'a step receiver before this one, or no receiver: false under given'],
  ['WEBHOOK_ENDPOINT_PAUSED', 'webhooks.endpoint.resume: {} before this step'],
  ['SECRET_OVERLAP_RUNNING', 'secret.rotate: { discard_current: true }'],
  ['CHECKOUT_TOKEN_EXPIRED', 'a checkout with a longer expires_in, or of its own'],
  ['CHECKOUT_ALREADY_PAID', 'a checkout with another order'],
  ['CHECKOUT_ATTEMPTS_USED', 'a checkout with another order'],
  ['CHECKOUT_ORIGIN_NOT_ALLOWED', 'a step origins before this one'],
  ['LINK_INVALID', 'payer.link: { as: link, contact: … } for a new link: each is good once, and for a while'],
  ['CONSENT_NOT_REVOCABLE', 'this step before the mandate has ended'],
  ['MANDATE_NOT_USABLE', 'await: { consent: $p1, status: AUTHORISED } before this step'],
  ['MANDATE_LIMIT_EXCEEDED', 'a smaller amount, or clock: { advance: … } into the next period'],
  ['RECURRING_PAYMENT_NOT_CANCELLABLE', 'this step before the last run'],
  ['PAYMENT_REQUEST_CLOSED', 'this step before the one that has ended the request'],
])

/** Commands about the service as a whole, or about who is signed in, which stay true when the case is over. */
const LASTING = /\bsvc (status|login|up|token|sandbox bank faults)\b/

/**
 * What to do about a refusal in a case: a step, where one is known. Of other hints, commands are left out: the merchant
 * they are about is the case's own.
 */
export function stepHint(code: string, hint: string | undefined): string | undefined {
  const step = STEPS.get(code)
  if (step !== undefined) return step
  const lines = (hint ?? '').split('\n').filter((line) => !/\bsvc [a-z]/.test(line) || LASTING.test(line))
  return lines.join('\n') || undefined
}
