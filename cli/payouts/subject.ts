import type { z } from 'zod'
import { getAdminPayout, getPayout, listAdminPayouts, listPayouts } from '../../src/wire/payouts.ts'
import type { Payout, PayoutWithEvents } from '../../src/wire/payouts.ts'
import { endOfId } from '../base/text.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { rowSubject } from '../kit/action.ts'
import { pagesIn } from '../kit/paging.ts'
import { idsIn, resolveId } from '../kit/resolve-id.ts'

export async function findPayout(client: Client, given: string, isOfAll: boolean): Promise<PayoutWithEvents> {
  const list = isOfAll ? listAdminPayouts : listPayouts
  const id = await resolveId(given, 'payout', () => idsIn(client, list, 'payout_id'))
  return (await call(client, isOfAll ? getAdminPayout : getPayout, { params: { id } })).body
}

type Query = z.input<typeof listAdminPayouts.query>

export function payoutPages(client: Client, isOfAll: boolean, query: Query) {
  return pagesIn(client, isOfAll ? listAdminPayouts : listPayouts, { query })
}

export const payout = rowSubject<Payout>(
  {
    noun: 'payout',
    summary: 'Its id, or at least its last 8 characters',
    id: ({ payout_id: id }) => id,
    name: ({ amount, currency }) => `the payout of ${amount} ${currency}`,
    confirmBy: ({ payout_id: id, merchant_id }) => [endOfId(id), id, merchant_id],
  },
  (client, given) => findPayout(client, given, true),
)
