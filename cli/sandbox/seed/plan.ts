import { seededRandom } from '../../../src/lib/seeded-random.ts'
import type { SeededRandom } from '../../../src/lib/seeded-random.ts'
import type { AdvanceTarget } from '../../../src/wire/sandbox-faults.ts'
import { PAYERS } from './words.ts'

/** What becomes of a payment: how its bank behaves, where its payer leads it, and what its merchant does then. */
export type Ending = {
  scenario?: string
  /** Undefined where its payer never comes to the bank. */
  to?: AdvanceTarget
  after?: 'part-refund' | 'cancel'
}

/** Of a hundred payments so many end so. Each of them happens once before any happens twice. */
const ENDINGS: readonly (readonly [share: number, ending: Ending])[] = [
  [60, { to: 'Settled' }],
  [6, { to: 'Refunded' }],
  [4, { to: 'Settled', after: 'part-refund' }],
  [6, { scenario: 'insufficient-funds', to: 'Settled' }],
  [6, {}],
  [4, { scenario: 'success-slow-settle:2h', to: 'Authorised' }],
  [4, { scenario: 'payer-cancels', to: 'Authorised' }],
  [3, { after: 'cancel' }],
  [3, { scenario: 'limit-exceeded', to: 'Authorised' }],
  [2, { scenario: 'fraud-stop', to: 'Settled' }],
  [2, { scenario: 'settlement-fails', to: 'Settled' }],
]

export type PlannedPayment = {
  /** Which of the merchants is paid, counted from 0. */
  merchant: number
  /** Of its idempotency key; the same in each run of the same number. */
  key: string
  body: {
    amount: string
    currency: 'GBP' | 'EUR'
    payer_name: string
    payer_email: string
    remittance_reference: string
    metadata: { order: string }
    scenario?: string
  }
  ending: Ending
}

export type Plan = {
  seed: number
  payments: number
  /** For each merchant, how its share of the payments compares with the others'. */
  shares: readonly number[]
}

/** The payments of a seed: the same number makes the same ones. */
export function planPayments({ seed, payments, shares }: Plan): PlannedPayment[] {
  const random = seededRandom(`trade ${seed}`)
  return Array.from({ length: payments }, (_, index) => {
    const ending = ENDINGS[index]?.[1] ?? drawn(random, ENDINGS)
    const [name, email] = random.pick(PAYERS)
    const order = String(1000 + index)
    return {
      // The first of each ending are the first merchants' in turn; later it is chance.
      merchant:
        index < shares.length
          ? index
          : drawn(
              random,
              shares.map((share, at) => [share, at] as const),
            ),
      key: `seed-${seed}-${index}`,
      body: {
        amount: amountOf(random),
        currency: random.chance(85) ? 'GBP' : 'EUR',
        payer_name: name,
        payer_email: email,
        remittance_reference: `Order ${order}`,
        metadata: { order },
        ...(ending.scenario === undefined ? {} : { scenario: ending.scenario }),
      },
      ending,
    }
  })
}

/** Most of what people buy is small. */
function amountOf(random: SeededRandom): string {
  const pence = String(random.chance(80) ? random.between(250, 9_999) : random.between(10_000, 80_000))
  return `${pence.slice(0, -2)}.${pence.slice(-2)}`
}

function drawn<T>(random: SeededRandom, shared: readonly (readonly [share: number, item: T])[]): T {
  let left = random.below(shared.reduce((sum, [share]) => sum + share, 0))
  for (const [share, item] of shared) {
    if (left < share) return item
    left -= share
  }
  throw new RangeError('there is nothing to draw from')
}
