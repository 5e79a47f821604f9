import t from 'tap'
import { setPayoutHold } from '../../src/merchant-status/set-payout-hold.ts'
import { listMerchants } from '../../src/merchants/list-merchants.ts'
import { registerMerchant } from '../../src/registrations/register-merchant.ts'
import { setMerchantActive } from '../../src/merchant-status/set-merchant-active.ts'
import { setKybStatus } from '../../src/merchant-status/set-kyb-status.ts'
import { testService } from '../support/app.ts'
import { registrationInput } from '../support/registrations.ts'

const actor = { id: 'sub-1', name: 'olga', role: 'OPS' }
const { app, owner } = await testService(t)
const ids: string[] = []
for (const company_name of ['Alpha Ltd', 'Beta 100% Ltd', 'Gamma_Delta', 'Back\\slash', 'Epsilon Ltd']) {
  const { merchant_id } = await registerMerchant(app, registrationInput({ company_name, trading_name: 'Shop' }))
  ids.push(merchant_id)
}
const [alpha = '', beta = '', gamma = ''] = ids

type Query = Partial<Parameters<typeof listMerchants>[1]>
const list = (query: Query = {}) => listMerchants(app, { order: 'newest', limit: 50, ...query })
const idsOf = async (query: Query) => (await list(query)).merchants.map(({ id }) => id)

t.test('merchants come newest first, or oldest first, in pages that miss and repeat none', async (t) => {
  // Made in the same moment: the id decides.
  await owner.query('update merchants set created_at = now()')
  for (const order of ['newest', 'oldest'] as const) {
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await list({ order, limit: 2, cursor })
      seen.push(...page.merchants.map(({ id }) => id))
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    t.same(seen, order === 'oldest' ? ids : ids.toReversed(), order)
  }
  t.equal((await list({ limit: 5 })).nextCursor, null, 'a page that ends the list says so')
})

t.test('they are found by status, hold, activity and part of a name, taken literally', async (t) => {
  await setKybStatus(app, { id: alpha, kybStatus: 'APPROVED', actor })
  await setPayoutHold(app, { id: beta, payoutHeld: true, actor })
  await setMerchantActive(app, { id: gamma, isActive: false, actor })
  t.same(await idsOf({ kyb_status: 'APPROVED' }), [alpha])
  t.same(await idsOf({ payout_held: true }), [beta])
  t.same(await idsOf({ is_active: false }), [gamma])
  t.same(await idsOf({ is_active: true, payout_held: false, kyb_status: 'PENDING', search: 'epsilon' }), [ids[4]])
  t.same(await idsOf({ search: 'ALPHA' }), [alpha])
  t.same(await idsOf({ search: '100%' }), [beta])
  t.same(await idsOf({ search: '%' }), [beta], 'not everything')
  t.same(await idsOf({ search: '_' }), [gamma])
  t.same(await idsOf({ search: '\\' }), [ids[3]])
  t.same(await idsOf({ search: 'gamma-delta' }), [gamma], 'by the realm')
  t.equal((await idsOf({ search: 'shop' })).length, 5)
  t.same(await idsOf({ search: `x' or true --` }), [])
})

t.test('the administrator is the one of the team, as it is now', async (t) => {
  t.match(await list({ search: 'Alpha' }), {
    merchants: [{ admin_email: 'ada@acme.example', fee_percentage: '0.0100' }],
  })
  await owner.query('update team_members set is_active = false where merchant_id = $1', [alpha])
  t.match(await list({ search: 'Alpha' }), { merchants: [{ admin_email: null }] })
})

t.test('a cursor of another list is rejected', async (t) => {
  for (const cursor of ['', 'x', Buffer.from('1').toString('base64url')]) {
    await t.rejects(list({ cursor }), { code: 'VALIDATION_FAILED', errors: [{ path: 'cursor' }] }, cursor)
  }
})
