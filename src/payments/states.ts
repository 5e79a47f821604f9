import type { Transition } from '../lib/machine.ts'
import type { ConsentTrigger } from '../consents/states.ts'
import type { ChangedBy, PaymentStatus } from '../wire/payments.ts'

export type PaymentTrigger =
  | 'creation'
  | 'creation at a remote bank'
  | 'staging'
  | 'authorisation'
  | 'denial'
  | 'cancellation'
  | 'expiry'
  | 'settlement'
  | 'execution rejected'
  | 'refund'
  | 'creation under a mandate'
  | 'mandate staging'
  | 'mandate authorisation'
  | 'mandate rejection'

/**
 * One row is the whole rule of a move: its actor, the webhook that announces it, the consent's move that belongs to it,
 * and whether it is allowed before or after the consent's end.
 */
export type PaymentTransition = Transition<PaymentStatus, PaymentTrigger> & {
  actor: ChangedBy
  /** The webhook that announces it; null where nothing is announced. */
  webhook: string | null
  /** The trigger of the consent's move in CONSENT_TRANSITIONS. */
  consent: ConsentTrigger | null
  /** `open`: only before the consent's end; `ended`: only after it. */
  consentWindow: 'open' | 'ended' | null
}

/**
 * Every allowed change of a payment's status (contract §Payment status; decisions 16 to 18, 21, 49, 52 and 425). A
 * payment may become Settled in one row only: from Authorised, by the settlement job. The tests and the database hold
 * the same table.
 */
export const PAYMENT_TRANSITIONS = [
  {
    from: null,
    on: 'creation',
    to: 'AwaitingAuthorisation',
    actor: 'MERCHANT_API',
    webhook: 'payment.initiated',
    consent: 'payment creation',
    consentWindow: null,
  },
  {
    from: null,
    on: 'creation at a remote bank',
    to: 'Initiated',
    actor: 'MERCHANT_API',
    webhook: null,
    consent: 'payment creation',
    consentWindow: null,
  },
  {
    from: 'Initiated',
    on: 'staging',
    to: 'AwaitingAuthorisation',
    actor: 'MERCHANT_API',
    webhook: 'payment.initiated',
    consent: null,
    consentWindow: 'open',
  },
  {
    from: 'Initiated',
    on: 'cancellation',
    to: 'Failed',
    actor: 'MERCHANT_API',
    webhook: 'payment.failed',
    consent: 'cancellation',
    consentWindow: 'open',
  },
  {
    from: 'Initiated',
    on: 'expiry',
    to: 'Failed',
    actor: 'BATCH_JOB',
    webhook: 'payment.failed',
    consent: 'expiry',
    consentWindow: 'ended',
  },
  {
    from: 'AwaitingAuthorisation',
    on: 'authorisation',
    to: 'Authorised',
    actor: 'BANK_CALLBACK',
    webhook: 'payment.authorized',
    consent: 'bank authorisation',
    consentWindow: 'open',
  },
  {
    from: 'AwaitingAuthorisation',
    on: 'denial',
    to: 'Failed',
    actor: 'BANK_CALLBACK',
    webhook: 'payment.failed',
    consent: 'denial',
    consentWindow: 'open',
  },
  {
    from: 'AwaitingAuthorisation',
    on: 'cancellation',
    to: 'Failed',
    actor: 'MERCHANT_API',
    webhook: 'payment.failed',
    consent: 'cancellation',
    consentWindow: 'open',
  },
  {
    from: 'AwaitingAuthorisation',
    on: 'expiry',
    to: 'Failed',
    actor: 'BATCH_JOB',
    webhook: 'payment.failed',
    consent: 'expiry',
    consentWindow: 'ended',
  },
  {
    from: 'Authorised',
    on: 'settlement',
    to: 'Settled',
    actor: 'BATCH_JOB',
    webhook: 'payment.settled',
    consent: null,
    consentWindow: null,
  },
  {
    from: 'Authorised',
    on: 'execution rejected',
    to: 'Failed',
    actor: 'BATCH_JOB',
    webhook: 'payment.failed',
    consent: null,
    consentWindow: null,
  },
  {
    from: 'Settled',
    on: 'refund',
    to: 'Refunded',
    actor: 'MERCHANT_API',
    webhook: 'payment.refunded',
    consent: null,
    consentWindow: null,
  },
  // Under a mandate that was authorised before: no payer is redirected, and the mandate stays AUTHORISED (decision 49).
  {
    from: null,
    on: 'creation under a mandate',
    to: 'Initiated',
    actor: 'MERCHANT_API',
    webhook: null,
    consent: null,
    consentWindow: null,
  },
  {
    from: 'Initiated',
    on: 'mandate staging',
    to: 'AwaitingAuthorisation',
    actor: 'BATCH_JOB',
    webhook: 'payment.initiated',
    consent: null,
    consentWindow: 'open',
  },
  {
    from: 'AwaitingAuthorisation',
    on: 'mandate authorisation',
    to: 'Authorised',
    actor: 'BATCH_JOB',
    webhook: 'payment.authorized',
    consent: null,
    consentWindow: 'open',
  },
  {
    from: 'Initiated',
    on: 'mandate rejection',
    to: 'Failed',
    actor: 'BATCH_JOB',
    webhook: 'payment.failed',
    consent: null,
    consentWindow: null,
  },
  {
    from: 'AwaitingAuthorisation',
    on: 'mandate rejection',
    to: 'Failed',
    actor: 'BATCH_JOB',
    webhook: 'payment.failed',
    consent: null,
    consentWindow: null,
  },
] as const satisfies readonly PaymentTransition[]

const MANDATE_TRIGGERS: readonly PaymentTrigger[] = [
  'creation under a mandate',
  'mandate staging',
  'mandate authorisation',
  'mandate rejection',
]
const PAYER_TRIGGERS: readonly PaymentTrigger[] = [
  'creation',
  'creation at a remote bank',
  'staging',
  'authorisation',
  'denial',
  'cancellation',
  'expiry',
]

/** Whether a trigger applies to a payment of this kind: made under a mandate, or authorised by its payer. */
export function isPossibleMove({ underMandate }: { underMandate: boolean }, on: PaymentTrigger): boolean {
  return !(underMandate ? PAYER_TRIGGERS : MANDATE_TRIGGERS).includes(on)
}
