import type { PaymentStatus } from '../../src/wire/payments.ts'
import { advanceSandboxClock } from '../../src/wire/sandbox.ts'
import { listOutbox } from '../../src/wire/webhooks.ts'
import { call } from '../client.ts'
import type { Client } from '../client.ts'
import { rowsOf } from '../pages.ts'
import { makeDisputes } from './make-disputes.ts'
import { isSeeded, makeReviews, makeShops } from './make-merchants.ts'
import type { Shop } from './make-merchants.ts'
import { makePayments } from './make-payments.ts'
import type { MadePayment } from './make-payments.ts'
import { planPayments } from './plan.ts'
import { APPLICANTS, SHOPS, SUSPENDED } from './words.ts'

export const SHOPS_MAX = SHOPS.length
export const PAYMENTS_MAX = 5_000

export type TradeWishes = { seed: number; merchants: number; payments: number }

/** What a seed has made; all of it none where it was there already. */
export type Trade = {
  seed: number
  already_there: boolean
  merchants: string[]
  payments: number
  by_status: Partial<Record<PaymentStatus, number>>
  disputes: number
  dead_deliveries: number
  held: string[]
  kyb_pending: string[]
}

/** Six attempts, with the most that chance adds to the waits between them (decision 11). */
const UNTIL_DEAD = '12h'

/** How long one request may take: time that passes has many webhooks to send. */
const REQUEST_MS = 180_000

/**
 * Fills a sandbox with shops that trade: payments in every state, disputes, webhooks that nobody took, a hold, merchants
 * to review. All of it by the calls that make such things otherwise, as operator, merchant, payer and bank. What was
 * seeded under a number is not seeded again.
 * @param client acts as an operator; the merchant that it acts for, if any, gets a part of the payments
 */
export async function seedTrade(
  client: Client,
  { seed, merchants, payments }: TradeWishes,
  onProgress: (done: number, of: number) => void,
): Promise<Trade> {
  const patient = { ...client, timeoutMs: REQUEST_MS }
  if (await isSeeded(patient, seed)) return { ...NOTHING, seed, already_there: true }
  const shops = await makeShops(patient, { seed, count: merchants })
  const paid = [...shops, ...ownShop(patient)]
  const planned = planPayments({ seed, payments, shares: sharesOf(paid.length, shops) })
  const made = await makePayments(planned, {
    client: patient,
    shops: paid,
    onProgress: (done) => onProgress(done, payments),
  })
  const disputes = await makeDisputes(patient, made)
  const dead = await letDie(patient, shops)
  const { held, pending } = await makeReviews(patient, { seed, shops })
  return {
    seed,
    already_there: false,
    merchants: shops.map(({ name }) => name),
    payments: made.length,
    by_status: countsOf(made),
    disputes,
    dead_deliveries: dead,
    held,
    kyb_pending: pending,
  }
}

const NOTHING: Omit<Trade, 'seed' | 'already_there'> = {
  merchants: [],
  payments: 0,
  by_status: {},
  disputes: 0,
  dead_deliveries: 0,
  held: [],
  kyb_pending: [],
}

/** What it would make, for `--dry-run`. */
export function plannedTrade({ merchants, payments }: Omit<TradeWishes, 'seed'>): string {
  const shops = SHOPS.slice(0, merchants).map(({ name }) => name)
  return `${payments} payments at ${shops.join(', ')}; ${SUSPENDED} suspended; ${APPLICANTS.join(', ')} to review`
}

/** The merchant that the command acts for: whoever looks at its own payments is to find some. */
function ownShop(client: Client): Shop[] {
  const { merchant } = client.credentials
  return merchant === undefined ? [] : [{ name: 'your own merchant', merchantId: undefined, client }]
}

/** Where nobody takes webhooks there are few payments: all of theirs die. */
function sharesOf(count: number, shops: readonly Shop[]): number[] {
  const deaf = shops.length > 1 ? shops.length - 1 : undefined
  return Array.from({ length: count }, (_, index) => (index === deaf ? 5 : Math.floor(95 / Math.max(1, count - 1))))
}

/** Lets the retries of webhooks that nobody takes run out. Returns how many are dead. */
async function letDie(client: Client, shops: readonly Shop[]): Promise<number> {
  const deaf = shops.length > 1 ? shops.at(-1)?.merchantId : undefined
  if (deaf === undefined) return 0
  await call(client, advanceSandboxClock, { body: { merchant_id: deaf, by: UNTIL_DEAD } })
  const query = { merchant_id: deaf, status: 'DEAD' } as const
  let count = 0
  for await (const _ of rowsOf(
    async (page) => (await call(client, listOutbox, { query: { ...query, ...page } })).body,
    50,
  ))
    count += 1
  return count
}

function countsOf(made: readonly MadePayment[]): Partial<Record<PaymentStatus, number>> {
  const counts: Partial<Record<PaymentStatus, number>> = {}
  for (const { status } of made) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
