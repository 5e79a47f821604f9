import { randomUUID } from 'node:crypto'
import t from 'tap'
import { setPayoutHold } from '../../src/merchant-status/set-payout-hold.ts'
import { createPayment, testService } from '../support/app.ts'

const actor = { id: 'sub-1', name: 'olga', role: 'OPS' }
const service = await testService(t)
const { app, owner } = service

t.test("a hold has the operator's name, a release clears both, and the audit trail keeps them", async (t) => {
  const { id } = await service.merchant()
  const held = await setPayoutHold(app, { id, payoutHeld: true, reason: 'odd refunds', actor })
  t.match(held, { payout_held: true, payout_held_by: 'olga', payout_held_at: /^\d{4}-.*Z$/ })
  const again = await setPayoutHold(app, { id, payoutHeld: true, actor: { ...actor, name: 'otto' } })
  t.same(again, held, 'the same again changes nothing')
  const released = await setPayoutHold(app, { id, payoutHeld: false, reason: 'explained', actor })
  t.match(released, { payout_held: false, payout_held_by: null, payout_held_at: null })
  t.same((await setPayoutHold(app, { id, payoutHeld: false, actor })).updated_at, released.updated_at)
  const { rows } = await owner.query(
    'select action, actor_name, reason, before, after from operator_actions where merchant_id = $1 order by ordinal',
    [id],
  )
  const whole = { payout_held: true, payout_held_at: held.payout_held_at, payout_held_by: 'olga' }
  const none = { payout_held: false, payout_held_at: null, payout_held_by: null }
  t.same(rows, [
    { action: 'merchant.hold', actor_name: 'olga', reason: 'odd refunds', before: none, after: whole },
    { action: 'merchant.hold', actor_name: 'olga', reason: 'explained', before: whole, after: none },
  ])
})

t.test('a held merchant creates no payments until it is released', async (t) => {
  const merchant = await service.merchant()
  await setPayoutHold(app, { id: merchant.id, payoutHeld: true, actor })
  t.match(await createPayment(service, merchant), { status: 403, body: { code: 'PAYOUT_HELD' } })
  await setPayoutHold(app, { id: merchant.id, payoutHeld: false, actor })
  t.match(await createPayment(service, merchant), { status: 201 })
})

t.test('an unknown id is not found', async (t) => {
  for (const id of [randomUUID(), 'nonsense']) {
    await t.rejects(setPayoutHold(app, { id, payoutHeld: true, actor }), { code: 'MERCHANT_NOT_FOUND' })
  }
})
