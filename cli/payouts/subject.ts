import type { z } from 'zod'
import { getAdminPayout, getPayout, listAdminPayouts, listPayouts } from '../../src/wire/payouts.ts'
import type { Payout, PayoutWithEvents } from '../../src/wire/payouts.ts'
import { endOfId } from '../base/text.ts'
import type { Client } from '../client/call.ts'
import type { Subject } from '../kit/action.ts'

export async function findPayout(client: Client, given: string, isOfAll: boolean): Promise<PayoutWithEvents> {
  const [{ call }, { idsIn, resolveId }] = await Promise.all([
    import('../client/call.ts'),
    import('../kit/resolve-id.ts'),
  ])
  const list = isOfAll ? listAdminPayouts : listPayouts
  const id = await resolveId(given, 'payout', () => idsIn(client, list, 'payout_id'))
  return (await call(client, isOfAll ? getAdminPayout : getPayout, { params: { id } })).body
}

type Query = z.input<typeof listAdminPayouts.query>

export async function payoutPage(client: Client, isOfAll: boolean, query: Query) {
  const { call } = await import('../client/call.ts')
  return (await call(client, isOfAll ? listAdminPayouts : listPayouts, { query })).body
}

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
