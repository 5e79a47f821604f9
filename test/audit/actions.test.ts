import { setTimeout as delay } from 'node:timers/promises'
import { randomUUID } from 'node:crypto'
import t from 'tap'
import pg from 'pg'
import { listAudit } from '../../src/audit/list-audit.ts'
import { recordAction } from '../../src/audit/record-action.ts'
import { EXAMINED_MAX, listActionRows } from '../../src/audit/sql.ts'
import { verifyChain } from '../../src/lib/verify-chain.ts'
import { testService } from '../support/app.ts'

const actor = { id: 'sub-1', name: 'olga', role: 'OPS' }
const { app, owner, databaseUrl } = await testService(t)

type Row = Record<string, string | null> & { ordinal: string; prev_hash: string; action_hash: string }

async function trail(): Promise<Row[]> {
  const { rows } = await owner.query<Row>(`
    select ordinal::text, id, actor_id, actor_name, actor_role, action, merchant_id, subject_id, reason,
      before::text as before, after::text as after, prev_hash, action_hash,
      to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US') as created_at
    from operator_actions order by operator_actions.ordinal
  `)
  return rows
}

/** The first broken link, found without the database's own function; undefined where the chain holds. */
function brokenAt(rows: Row[]): string | undefined {
  const verifier = verifyChain('operator_actions')
  for (const row of rows) verifier.add(row)
  return verifier.end().broken?.ordinal
}

function record(changes: Partial<Parameters<typeof recordAction>[2]> = {}): Promise<void> {
  const action = { actor, action: 'merchant.kyb', merchantId: null, subjectId: 'x', ...changes }
  return app.pool.transaction((tx) => recordAction(app, tx, action))
}

t.test('concurrent actions form one chain, whatever their text', async (t) => {
  await Promise.all(Array.from({ length: 30 }, (_, number) => record({ subjectId: String(number) })))
  await record({ reason: 'a "quoted" | reason\nof two lines, é', before: { a: null }, after: { a: [1, 'x|y'] } })
  await record({ reason: '' })
  const rows = await trail()
  t.equal(rows.length, 32)
  t.equal(brokenAt(rows), undefined)
  t.equal(new Set(rows.map(({ prev_hash }) => prev_hash)).size, 32, 'no branches')
  t.same(
    rows.map(({ ordinal }) => Number(ordinal)),
    Array.from({ length: 32 }, (_, index) => index + 1),
    'and no gaps',
  )
})

t.test('a rolled back action leaves no gap in the chain', async (t) => {
  const failing = app.pool.transaction(async (tx) => {
    await recordAction(app, tx, { actor, action: 'merchant.kyb', merchantId: null, subjectId: 'gone' })
    throw new Error('changed my mind')
  })
  await t.rejects(failing, { message: 'changed my mind' })
  await record()
  t.equal(brokenAt(await trail()), undefined)
})

t.test("neither the service nor the table's owner can change or remove an action", async (t) => {
  const runtime = new pg.Client({ connectionString: databaseUrl, options: '-c role=svc_runtime' })
  await runtime.connect()
  t.teardown(() => runtime.end())
  for (const statement of [
    `update operator_actions set reason = 'another'`,
    'delete from operator_actions',
    'truncate operator_actions',
  ]) {
    await t.rejects(runtime.query(statement), { code: '42501' }, `the service: ${statement}`)
    await t.rejects(owner.query(statement), { message: /append-only|refuse/i }, `the owner: ${statement}`)
  }
  t.ok((await trail()).length > 0)
})

t.test('an edit by a superuser that bypasses the triggers is detected', async (t) => {
  const rows = await trail()
  const [first, second, ...rest] = rows
  if (first === undefined || second === undefined) throw new Error('there are actions')
  t.equal(brokenAt([{ ...first, actor_name: 'otto' }, second, ...rest]), first.ordinal)
  t.equal(brokenAt([first, ...rest]), rest[0]?.ordinal, 'one action is missing')
  t.equal(brokenAt([second, first, ...rest]), second.ordinal, 'two actions are swapped')
})

t.test('the trail is listed newest first, by merchant, action and actor, in pages', async (t) => {
  const merchantId = randomUUID()
  await owner.query(
    `insert into merchants (id, client_id, legal_name, trading_name, name, fee_percentage, fee_flat, webhook_signing_secret)
     values ($1, 'm', 'm', 'm', 'm', 0, 0, 'v1.x')`,
    [merchantId],
  )
  const otto = { id: 'sub-2', name: 'otto', role: 'OWNER' }
  for (const action of ['merchant.kyb', 'merchant.hold', 'merchant.kyb']) {
    await record({ merchantId, action, actor: otto })
    // Their times are read to the millisecond, and have to differ.
    await delay(5)
  }
  const all = await listAudit(app, { merchant_id: merchantId, limit: 50 })
  t.match(all, { actions: [{ action: 'merchant.kyb' }, { action: 'merchant.hold' }, { action: 'merchant.kyb' }] })
  t.equal((await listAudit(app, { merchant_id: merchantId, action: 'merchant.hold', limit: 50 })).actions.length, 1)
  t.equal((await listAudit(app, { actor: 'otto', limit: 50 })).actions.length, 3, 'by name')
  t.equal((await listAudit(app, { actor: 'sub-2', limit: 50 })).actions.length, 3, 'by id')
  t.same(await listAudit(app, { merchant_id: 'nonsense', limit: 50 }), { actions: [], nextCursor: null })
  const [newest, between, oldest] = all.actions
  const inTime = { merchant_id: merchantId, from: between?.created_at, to: newest?.created_at, limit: 50 }
  t.same((await listAudit(app, inTime)).actions, [between], 'from the first time, and before the second')
  const before = await listAudit(app, { merchant_id: merchantId, to: between?.created_at, limit: 50 })
  t.same(before.actions, [oldest])
  t.same(await listAudit(app, { from: '2999-01-01T00:00:00.000Z', limit: 50 }), { actions: [], nextCursor: null })
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const page = await listAudit(app, { limit: 7, cursor })
    seen.push(...page.actions.map(({ ordinal }) => ordinal.toString()))
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  t.same(seen, (await trail()).map(({ ordinal }) => ordinal).toReversed())
  for (const bad of ['', 'x', '0', '99999999999999999999']) {
    const given = Buffer.from(bad).toString('base64url')
    await t.rejects(listAudit(app, { limit: 7, cursor: given }), { code: 'VALIDATION_FAILED' }, bad)
  }
})

t.test('a rare filter examines part of a long trail at a time, and finds what is at its end', async (t) => {
  const find = { action: 'merchant.hold', limit: 1 }
  const { actions } = await listAudit(app, find)
  await owner.query('begin')
  await owner.query('set local session_replication_role = replica')
  await owner.query(`
    insert into operator_actions (ordinal, id, actor_id, actor_name, actor_role, action, subject_id, prev_hash, action_hash)
    select (select max(ordinal) from operator_actions) + n, gen_random_uuid(), 'a', 'a', 'OPS', 'merchant.kyb', 'x', '', ''
    from generate_series(1, ${EXAMINED_MAX}) n`)
  await owner.query('commit')
  t.match(await listActionRows(app.pool, find), [{ matches: false, is_last_examined: true }], 'the newest have none')
  let page = await listAudit(app, find)
  while (page.actions.length === 0 && page.nextCursor !== null)
    page = await listAudit(app, { ...find, cursor: page.nextCursor })
  t.same(page.actions, actions)
  t.equal((await listActionRows(app.pool, { limit: 3 })).length, 3, 'without a filter no more than is asked for')
})
