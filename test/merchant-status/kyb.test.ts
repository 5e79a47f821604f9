import { randomUUID } from 'node:crypto'
import t from 'tap'
import { setKybStatus } from '../../src/merchant-status/set-kyb-status.ts'
import { KYB_TRANSITIONS, kybMove } from '../../src/merchants/states.ts'
import { KybStatus } from '../../src/wire/admin.ts'
import { createPayment, testService } from '../support/app.ts'
import { breakTable } from '../support/registrations.ts'

const actor = { id: 'sub-1', name: 'olga', role: 'OPS' }
const service = await testService(t)
const { app, owner } = service

async function plant(status: string): Promise<string> {
  const { id } = await service.merchant()
  await owner.query('update merchants set kyb_status = $2::kyb_status where id = $1', [id, status])
  return id
}

async function trail(id: string) {
  const { rows } = await owner.query(
    'select action, actor_name, actor_role, reason, before, after from operator_actions where merchant_id = $1 order by ordinal',
    [id],
  )
  return rows
}

t.test('a merchant moves as decision 19 says, and nowhere else', async (t) => {
  const allowed = KYB_TRANSITIONS.filter(({ from }) => from !== null).map(({ from, to }) => `${from} ${to}`)
  t.same(allowed.toSorted(), ['APPROVED SUSPENDED', 'PENDING APPROVED', 'PENDING SUSPENDED', 'SUSPENDED APPROVED'])
  for (const from of KybStatus.options) {
    for (const to of KybStatus.options) {
      const id = await plant(from)
      const moving = setKybStatus(app, { id, kybStatus: to, reason: 'papers', actor })
      const name = `${from} to ${to}`
      if (from === to) {
        t.match(await moving, { kyb_status: to }, name)
        t.same(await trail(id), [], 'no change, no record')
      } else if (kybMove(from, to) === undefined) {
        await t.rejects(moving, { code: 'KYB_TRANSITION_INVALID', next: String }, name)
        t.same(await trail(id), [])
      } else {
        t.match(await moving, { kyb_status: to }, name)
        const told = { action: 'merchant.kyb', actor_name: 'olga', actor_role: 'OPS', reason: 'papers' }
        t.same(await trail(id), [{ ...told, before: { kyb_status: from }, after: { kyb_status: to } }], name)
      }
    }
  }
})

t.test('an unknown id is not found', async (t) => {
  for (const id of [randomUUID(), 'nonsense', '']) {
    await t.rejects(setKybStatus(app, { id, kybStatus: 'APPROVED', actor }), { code: 'MERCHANT_NOT_FOUND' }, id)
  }
})

t.test('of twenty that approve at once, one is recorded', async (t) => {
  const id = await plant('PENDING')
  const all = await Promise.all(
    Array.from({ length: 20 }, () => setKybStatus(app, { id, kybStatus: 'APPROVED', actor })),
  )
  t.ok(all.every(({ kyb_status }) => kyb_status === 'APPROVED'))
  t.equal((await trail(id)).length, 1)
})

t.test('of two different moves at once each begins where the other ended', async (t) => {
  const id = await plant('APPROVED')
  await Promise.allSettled(
    Array.from({ length: 10 }, (_, n) => setKybStatus(app, { id, kybStatus: n % 2 ? 'APPROVED' : 'SUSPENDED', actor })),
  )
  const rows = await trail(id)
  for (const [index, row] of rows.entries()) {
    t.same(row.before, index === 0 ? { kyb_status: 'APPROVED' } : rows[index - 1].after)
  }
})

t.test('a change that cannot be recorded does not happen', async (t) => {
  const id = await plant('PENDING')
  const repairTable = await breakTable(owner, { table: 'operator_actions', on: 'insert' })
  await t.rejects(setKybStatus(app, { id, kybStatus: 'APPROVED', actor }))
  const { rows } = await owner.query('select kyb_status from merchants where id = $1', [id])
  t.match(rows, [{ kyb_status: 'PENDING' }])
  await repairTable()
})

t.test('suspension stops new payments from the next request on, but not reading', async (t) => {
  const merchant = await service.merchant()
  const { status, body } = await createPayment(service, merchant)
  t.equal(status, 201)
  await setKybStatus(app, { id: merchant.id, kybStatus: 'SUSPENDED', actor })
  t.match(await createPayment(service, merchant), { status: 403, body: { code: 'MERCHANT_NOT_APPROVED' } })
  t.match(await service.call('GET', `/api/v1/payments/${body.payment_id}`, { merchant }), { status: 200 })
  await setKybStatus(app, { id: merchant.id, kybStatus: 'APPROVED', actor })
  t.match(await createPayment(service, merchant), { status: 201 })
})
