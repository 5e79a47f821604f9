import type { z } from 'zod'
import { getAdminPayout, getPayout, listAdminPayouts, listPayouts } from '../../src/wire/payouts.ts'
import type { Payout, PayoutWithEvents } from '../../src/wire/payouts.ts'
import { endOfId } from '../base/text.ts'
import type { Client } from '../client/call.ts'
import type { Subject } from '../kit/action.ts'

// How far back a part of an id is looked for.
const PAGES_MAX = 10

/** A payout of the merchant's own, or for operators of any merchant. */
export async function findPayout(client: Client, given: string, isOfAll: boolean): Promise<PayoutWithEvents> {
  const { call } = await import('../client/call.ts')
  const { resolveId } = await import('../kit/resolve-id.ts')
  const id = await resolveId(given, 'payout', () => payoutIds(client, isOfAll))
  return (await call(client, isOfAll ? getAdminPayout : getPayout, { params: { id } })).body
}

type Query = z.input<typeof listAdminPayouts.query>

/** A page of payouts: the merchant's own, or for operators of all or of one. */
export async function payoutPage(client: Client, isOfAll: boolean, query: Query) {
  const { call } = await import('../client/call.ts')
  return (await call(client, isOfAll ? listAdminPayouts : listPayouts, { query })).body
}

/** Ids of payouts, the newest first. */
export async function* payoutIds(client: Client, isOfAll: boolean): AsyncGenerator<string> {
  const { rowsOf } = await import('../client/pages.ts')
  const pages = rowsOf((query) => payoutPage(client, isOfAll, query), PAGES_MAX)
  for await (const { payout_id } of pages) yield payout_id
}

/** A payout of any merchant. */
export const payout: Subject<Payout> = {
  noun: 'payout',
  summary: 'Its id, or at least its last 8 characters',
  async find(client, given) {
    const thing = await findPayout(client, given, true)
    return { thing, isExact: thing.payout_id === given.toLowerCase() }
  },
  id: ({ payout_id: id }) => id,
  name: ({ amount, currency }) => `the payout of ${amount} ${currency}`,
  handle: ({ payout_id: id }) => id,
  confirmBy: ({ payout_id: id, merchant_id }) => [endOfId(id), id, merchant_id],
}
