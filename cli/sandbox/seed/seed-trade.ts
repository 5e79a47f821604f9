import type { PaymentStatus } from '../../../src/wire/payments.ts'
import { advanceSandboxClock } from '../../../src/wire/sandbox.ts'
import { listOutbox } from '../../../src/wire/webhooks.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { CliError } from '../../base/errors.ts'
import { pagesOf } from '../../client/pages.ts'
import { pagesIn } from '../../kit/paging.ts'
import { makeDisputes } from './make-disputes.ts'
import { heldOf, makeReviews, makeShops, nameOf, seededBefore } from './make-merchants.ts'
import type { Shop } from './make-merchants.ts'
import { makePayments } from './make-payments.ts'
import type { MadePayment } from './make-payments.ts'
import { makeSettlements } from './make-settlements.ts'
import { planPayments } from './plan.ts'
import { APPLICANTS, SHOPS, SUSPENDED } from './words.ts'

export const SHOPS_MAX = SHOPS.length
export const PAYMENTS_MAX = 5_000

export type TradeSize = { seed: number; merchants: number; payments: number }

/** What a seed has made; all of it none where it was there already. */
export type Trade = {
  seed: number
  already_there: boolean
  merchants: string[]
  payments: number
  by_status: Partial<Record<PaymentStatus, number>>
  disputes: number
  settlements: number
  dead_deliveries: number
  held: string[]
  kyb_pending: string[]
}

/** Called with how many payments there are, and what is made now where that is something else. */
export type SeedProgress = (done: number, what?: string) => void

/** Six attempts, with the most that chance adds to the waits between them (contract §Delivery rules 4). */
const UNTIL_DEAD = '12h'

/** How long one request may take: time that passes has many webhooks to send. */
const REQUEST_MS = 180_000

/**
 * Fills a sandbox with demo merchants: payments in every state, disputes, settlements, undelivered webhooks, a hold,
 * merchants to review. All of it by the calls that make such things otherwise, as operator, merchant, payer and bank.
 * What was seeded under a number is not seeded again, were it only a part of it.
 * @param client acts as an operator; the merchant that it acts for, if any, gets a part of the payments
 * @throws {CliError} SEED_UNFINISHED, exit code 7
 */
export async function seedTrade(
  client: Client,
  { seed, merchants, payments }: TradeSize,
  report: SeedProgress,
): Promise<Trade> {
  const slowClient = { ...client, timeoutMs: REQUEST_MS }
  const before = await seededBefore(slowClient, seed)
  if (before === 'part') throw unfinished({ seed, merchants, payments })
  if (before === 'whole') return { ...NOTHING, seed, already_there: true }
  const shops = await makeShops(slowClient, { seed, count: merchants, onMade: (name) => report(0, `shop ${name}`) })
  const paid = [...shops, ...ownShop(slowClient)]
  const planned = planPayments({ seed, payments, shares: sharesOf(paid.length, shops) })
  const made = await makePayments(planned, {
    client: slowClient,
    shops: paid,
    onProgress: report,
  })
  report(made.length, 'disputes, webhooks and reviews')
  const disputes = await makeDisputes(slowClient, made)
  const dead = await letDie(slowClient, shops)
  const settlements = await makeSettlements(paid, { held: heldOf(shops), wrong: shops[2] })
  const { held, pending } = await makeReviews(slowClient, { seed, shops })
  return {
    seed,
    already_there: false,
    merchants: shops.map(({ name }) => name),
    payments: made.length,
    by_status: countsOf(made),
    disputes,
    settlements,
    dead_deliveries: dead,
    held,
    kyb_pending: pending,
  }
}

function unfinished(size: TradeSize): CliError {
  const { seed } = size
  return new CliError(
    'SEED_UNFINISHED',
    `seed ${seed} was begun here and has not come to its end: ${nameOf(SHOPS[0].name, seed)} is there, and not all of the rest`,
    { hint: withNextSeed(size) },
  )
}

/** The same seed under a number that is probably unused. */
export function withNextSeed({ seed, merchants, payments }: TradeSize): string {
  return `svc sandbox seed --merchants ${merchants} --payments ${payments} --seed ${seed + 1}`
}

const NOTHING: Omit<Trade, 'seed' | 'already_there'> = {
  merchants: [],
  payments: 0,
  by_status: {},
  disputes: 0,
  settlements: 0,
  dead_deliveries: 0,
  held: [],
  kyb_pending: [],
}

export function plannedTrade({ merchants, payments }: Omit<TradeSize, 'seed'>): string {
  const shops = SHOPS.slice(0, merchants).map(({ name }) => name)
  return `${payments} payments at ${shops.join(', ')}; ${SUSPENDED} suspended; ${APPLICANTS.join(', ')} to review`
}

/** The merchant that the command acts for, so that some of the payments are its own. */
function ownShop(client: Client): Shop[] {
  const { merchant } = client.credentials
  return merchant === undefined ? [] : [{ name: 'your own merchant', merchantId: undefined, client }]
}

/** Few payments go to shops without a receiver: all of their deliveries die. */
function sharesOf(count: number, shops: readonly Shop[]): number[] {
  const deaf = shops.length > 1 ? shops.length - 1 : undefined
  return Array.from({ length: count }, (_, index) => (index === deaf ? 5 : Math.floor(95 / Math.max(1, count - 1))))
}

/** Lets the retries of undelivered webhooks run out. Returns how many are dead. */
async function letDie(client: Client, shops: readonly Shop[]): Promise<number> {
  const deaf = shops.length > 1 ? shops.at(-1)?.merchantId : undefined
  if (deaf === undefined) return 0
  await call(client, advanceSandboxClock, { body: { merchant_id: deaf, by: UNTIL_DEAD } })
  const query = { merchant_id: deaf, status: 'DEAD' } as const
  let count = 0
  for await (const rows of pagesOf(pagesIn(client, listOutbox, { query }), 50)) count += rows.length
  return count
}

function countsOf(made: readonly MadePayment[]): Partial<Record<PaymentStatus, number>> {
  const counts: Partial<Record<PaymentStatus, number>> = {}
  for (const { status } of made) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
