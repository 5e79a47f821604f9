import type { Transition } from '../lib/machine.ts'
import type { ConsentStatus } from '../wire/payments.ts'

export type ConsentTrigger =
  | 'payment creation'
  | 'bank authorisation'
  | 'denial'
  | 'cancellation'
  | 'expiry'
  | 'payer revocation'
  | 'merchant revocation'

/** Every allowed change of a consent's status (contract §Consent status; decision 18). Rows on recurring consents say so. */
export const CONSENT_TRANSITIONS = [
  { from: null, on: 'payment creation', to: 'AWAITING_AUTHORISATION' },
  { from: 'AWAITING_AUTHORISATION', on: 'bank authorisation', to: 'AUTHORISED' },
  { from: 'AWAITING_AUTHORISATION', on: 'denial', to: 'REJECTED' },
  { from: 'AWAITING_AUTHORISATION', on: 'cancellation', to: 'REJECTED' },
  { from: 'AWAITING_AUTHORISATION', on: 'expiry', to: 'EXPIRED' },
  // Recurring consents only: a single one is finished with its payment.
  { from: 'AUTHORISED', on: 'payer revocation', to: 'REVOKED' },
  { from: 'AUTHORISED', on: 'merchant revocation', to: 'REVOKED' },
  { from: 'AUTHORISED', on: 'expiry', to: 'EXPIRED' },
] as const satisfies readonly Transition<ConsentStatus, ConsentTrigger>[]
