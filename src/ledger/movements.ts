/** The accounts of the ledger, each per merchant and currency; migrations/0028_ledger.sql says what each means. */
export const LEDGER_ACCOUNTS = [
  'bank',
  'clearing',
  'merchant_payable',
  'held',
  'payouts_in_transit',
  'fees_earned',
  'rounding',
] as const
export type LedgerAccount = (typeof LEDGER_ACCOUNTS)[number]

type Sides = { debit: LedgerAccount; credit: LedgerAccount }

/** What a correction is booked against: money at the bank, or the platform's fees. */
export type CorrectedAgainst = 'bank' | 'fees_earned'
type CorrectionSides = { debit: CorrectedAgainst; credit: 'clearing' } | { debit: 'clearing'; credit: CorrectedAgainst }

/**
 * Every movement of money, with the account that it debits and the one that it credits. A correction names its own two,
 * of which one is clearing.
 * `move_payments` posts `payment_settled` and `fee_taken`. The database holds the same table.
 */
export const MOVEMENTS = {
  payment_settled: { debit: 'bank', credit: 'clearing' },
  fee_taken: { debit: 'clearing', credit: 'fees_earned' },
  payment_refunded: { debit: 'clearing', credit: 'bank' },
  dispute_refunded: { debit: 'clearing', credit: 'bank' },
  settlement_closed: { debit: 'clearing', credit: 'merchant_payable' },
  rounded_up: { debit: 'rounding', credit: 'clearing' },
  rounded_down: { debit: 'clearing', credit: 'rounding' },
  balance_held: { debit: 'merchant_payable', credit: 'held' },
  balance_released: { debit: 'held', credit: 'merchant_payable' },
  payout_sent: { debit: 'merchant_payable', credit: 'payouts_in_transit' },
  payout_paid: { debit: 'payouts_in_transit', credit: 'bank' },
  payout_failed: { debit: 'payouts_in_transit', credit: 'merchant_payable' },
  payout_returned: { debit: 'bank', credit: 'merchant_payable' },
  debt_deducted: { debit: 'merchant_payable', credit: 'clearing' },
  debt_restored: { debit: 'clearing', credit: 'merchant_payable' },
  correction: null,
} as const satisfies Record<string, Sides | null>

export type Movement = keyof typeof MOVEMENTS

/** A movement to post. Its subject is what moved the money: a payment, a refund, a settlement, a payout, a correction. */
export type Posting = {
  merchantId: string
  subjectId: string
  /** numeric(19,4) text, greater than 0. */
  amount: string
  currency: string
} & ({ movement: Exclude<Movement, 'correction'> } | ({ movement: 'correction' } & CorrectionSides))

export function sidesOf(posting: Posting): Sides {
  return posting.movement === 'correction' ? posting : MOVEMENTS[posting.movement]
}
