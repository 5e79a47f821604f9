import t from 'tap'
import pg from 'pg'
import { sealAudit, sealRows } from '../../src/audit/seal.ts'
import { createPayment } from '../support/app.ts'
import { auditedService } from '../support/audit.ts'

const service = await auditedService(t)
const { app, owner } = service

type Checkpoint = { ordinal: string; chain: string; up_to: string; row_count: string; digest: string }

async function checkpoints(): Promise<Checkpoint[]> {
  const { rows } = await owner.query<Checkpoint>(
    'select ordinal::text, chain, up_to_ordinal::text as up_to, row_count::text, digest from audit_checkpoints c order by c.ordinal',
  )
  return rows
}

t.test('an empty trail gets no checkpoint', async (t) => {
  t.same(await sealAudit(app), { more: false })
  t.same(await checkpoints(), [])
})

t.test('each chain that has grown gets one checkpoint, and the others none', async (t) => {
  await service.fill()
  t.same(await sealAudit(app), { more: false })
  const made = await checkpoints()
  t.same(
    made.map(({ chain }) => chain),
    ['operator_actions', 'payment_events', 'refund_events', 'dispute_events', 'payout_events', 'ledger_entries'],
  )
  t.same(await sealAudit(app), { more: false })
  t.same(await checkpoints(), made)
  const { rows } = await owner.query(
    `select count(*)::text as count, max(ordinal)::text as last,
       encode(sha256(convert_to(repeat('0', 64) || string_agg(event_hash, '' order by ordinal), 'UTF8')), 'hex') as digest
     from payment_events`,
  )
  t.match(made[1], { row_count: rows[0].count, up_to: rows[0].last, digest: rows[0].digest })
})

t.test('an event younger than ten minutes is not sealed, nor any event numbered after it', async (t) => {
  const before = await checkpoints()
  const minutes = 10 * app.config.databaseTimeoutFactor - 1
  await owner.query(
    `alter table payment_events alter column created_at set default now() - interval '${minutes} minutes'`,
  )
  const merchant = await service.merchant()
  await createPayment(service, merchant)
  await owner.query(`alter table payment_events alter column created_at set default now() - interval '1 hour'`)
  await createPayment(service, merchant)
  await sealAudit(app)
  t.same(await checkpoints(), before)
  await service.tamper(`update payment_events set created_at = created_at - interval '2 minutes'`)
  await sealAudit(app)
  t.match((await checkpoints()).at(-1), { chain: 'payment_events', row_count: '2' })
})

t.test('many rows take several bounded checkpoints, and no row is sealed twice', async (t) => {
  await service.fill()
  t.same(await sealRows(app, 2), { more: true })
  const seal = async (): Promise<void> => {
    while ((await sealRows(app, 2)).more) continue
  }
  await Promise.all([seal(), seal(), seal()])
  await seal()
  const found = (await checkpoints()).filter(({ chain }) => chain === 'payment_events')
  const { rows } = await owner.query('select count(*)::int as count from payment_events')
  const sealed = found.reduce((sum, { row_count: count }) => sum + Number(count), 0)
  t.equal(sealed, rows[0].count)
  for (const { row_count: count } of found.slice(2)) t.ok(Number(count) <= 2)
})

t.test('one process seals at a time; another one has nothing to do meanwhile', async (t) => {
  await service.fill()
  const other = new pg.Client({ connectionString: service.databaseUrl })
  await other.connect()
  t.teardown(() => other.end())
  await other.query(`select pg_advisory_lock(hashtextextended('audit_checkpoints', 0))`)
  const before = await checkpoints()
  t.same(await sealAudit(app), { more: false })
  t.same(await checkpoints(), before)
  await other.query(`select pg_advisory_unlock(hashtextextended('audit_checkpoints', 0))`)
  await sealAudit(app)
  t.ok((await checkpoints()).length > before.length)
})

t.test("neither the service nor the table's owner can change or remove a checkpoint", async (t) => {
  const runtime = new pg.Client({ connectionString: service.databaseUrl, options: '-c role=svc_runtime' })
  await runtime.connect()
  t.teardown(() => runtime.end())
  for (const statement of [
    `update audit_checkpoints set digest = repeat('0', 64)`,
    'delete from audit_checkpoints',
    'truncate audit_checkpoints',
  ]) {
    await t.rejects(runtime.query(statement), { code: '42501' }, `the service: ${statement}`)
    await t.rejects(owner.query(statement), { code: '42501', message: /append-only/ }, `the owner: ${statement}`)
  }
  await t.rejects(
    runtime.query('alter table audit_checkpoints disable trigger append_only'),
    { code: '42501' },
    'the service can not put the trigger aside',
  )
})
