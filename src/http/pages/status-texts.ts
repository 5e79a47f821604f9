import type { PaymentStatus } from '../../wire/payments.ts'

type StatusText = {
  /** The current status. */
  now: string
  /** The change to that status. */
  happened: string
}

/** Payment statuses in words for payers, the same as in the payer hub. */
export const STATUS_TEXTS: Readonly<Record<PaymentStatus, StatusText>> = {
  Initiated: { now: 'Started', happened: 'Payment started' },
  AwaitingAuthorisation: { now: 'Waiting for your approval', happened: 'Waiting for your approval at the bank' },
  Authorised: { now: 'On its way', happened: 'Approved' },
  Settled: { now: 'Paid', happened: 'Paid to the merchant' },
  Failed: { now: 'Did not go through', happened: 'Did not go through' },
  Refunded: { now: 'Refunded', happened: 'Refunded in full' },
}
