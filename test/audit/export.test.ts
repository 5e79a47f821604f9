import t from 'tap'
import { listChainRows } from '../../src/audit/chains-sql.ts'
import { AUDIT_CHAINS } from '../../src/lib/audit-chain.ts'
import { auditedService } from '../support/audit.ts'
import { serviceWithRealms } from '../support/realms.ts'

const service = await auditedService(t)
await service.fill()
await service.seal()
// Many events of one payment stand for events of many.
await service.owner.query('drop index payment_events__path')
const headers = await service.operator('OWNER')

async function page(query: string) {
  const { status, body } = await service.call('GET', `/api/v1/admin/audit/export?${query}`, { headers })
  return { status, body }
}

t.test('every chain is exported from its beginning, in pages of the requested size', async (t) => {
  for (const chain of AUDIT_CHAINS) {
    const whole = await page(`chain=${chain}`)
    t.match(whole, { status: 200, body: { chain, has_more: false, next_cursor: null } })
    const seen: unknown[] = []
    let query = `chain=${chain}&limit=2`
    for (let more = true; more;) {
      const { body } = await page(query)
      t.ok(body.data.length > 0 && body.data.length <= 2, 'no page is empty')
      seen.push(...body.data)
      more = body.has_more
      query = `chain=${chain}&limit=2&cursor=${body.next_cursor}`
    }
    t.same(seen, whole.body.data, chain)
    t.ok(seen.length >= 3)
  }
  t.equal((await page('limit=3')).body.chain, 'operator_actions', 'operator actions are the default chain')
})

t.test('each column is the hashed text: JSON as received, times to the microsecond', async (t) => {
  const { rows } = await service.owner.query('select raw_payload::text as text from payment_events order by ordinal')
  const { body } = await page('chain=payment_events')
  t.same(
    body.data.map((row: Record<string, string>) => row['raw_payload']),
    rows.map(({ text }) => text),
  )
  for (const row of body.data) t.match(row.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/)
  t.equal(body.data[0].previous_status, null)
})

t.test('an export ends before the first event that is too young, and continues there later', async (t) => {
  const { rows } = await service.owner.query('select max(ordinal)::text as last from payment_events')
  const [first] = (await page('chain=payment_events')).body.data
  const add = (age: string) =>
    service.tamper(
      `insert into payment_events (id, merchant_id, payment_intent_id, previous_status, new_status, changed_by, raw_payload,
         raw_payload_sha256, prev_hash, event_hash, created_at)
       values (gen_random_uuid(), $1, $2, 'Initiated', 'Failed', 'BATCH_JOB', '{}', '', '', '', now() - $3::interval)`,
      [first.merchant_id, first.payment_intent_id, age],
    )
  // As long as the transactions of this service may take, whose limits are multiplied.
  await add(`${30 * service.app.config.databaseTimeoutFactor - 5} seconds`)
  // Begun earlier, and numbered later.
  await add('1 hour')
  const before = await page('chain=payment_events')
  t.equal(before.body.data.at(-1).ordinal, rows[0].last)
  t.equal(before.body.next_cursor, null, 'no more rows for now')
  const all = { chain: 'payment_events', afterOrdinal: '0', limit: 1_000, bytesMax: 1_000_000, ageSeconds: 0 } as const
  const later = await listChainRows(service.app.pool, all)
  t.equal(later.rows.length, before.body.data.length + 2, 'a little later both rows are exported')
})

t.test('a clock that was set back hides no sealed row', async (t) => {
  const future = { chain: 'payment_events', afterOrdinal: '0', limit: 1_000, bytesMax: 1_000_000 } as const
  const { rows } = await listChainRows(service.app.pool, { ...future, ageSeconds: 7_200 })
  const { rows: sealed } = await service.owner.query(
    `select max(up_to_ordinal)::text as last from audit_checkpoints where chain = 'payment_events'`,
  )
  t.equal(rows.at(-1)?.['ordinal'], sealed[0].last)
})

t.test('a page of large payloads ends early, but has at least one row', async (t) => {
  const all = { chain: 'payment_events', afterOrdinal: '0', limit: 1_000, ageSeconds: 60 } as const
  const { rows, more } = await listChainRows(service.app.pool, { ...all, bytesMax: 1 })
  t.same([rows.length, more], [1, true])
  const ends = await listChainRows(service.app.pool, { ...all, bytesMax: 300 })
  t.ok(ends.rows.length > 1 && ends.more)
})

t.test('large payloads are exported in pages of about 4 MiB, without gaps', async (t) => {
  const [first] = (await page('chain=payment_events&limit=1')).body.data
  await service.tamper(
    `insert into payment_events (id, merchant_id, payment_intent_id, previous_status, new_status, changed_by, raw_payload,
       raw_payload_sha256, prev_hash, event_hash)
     select gen_random_uuid(), $1, $2, 'Initiated', 'Failed', 'BATCH_JOB', to_json(repeat('x', 100 * 1024)), '', '', ''
     from generate_series(1, 100)`,
    [first.merchant_id, first.payment_intent_id],
  )
  await service.tamper(`update payment_events set created_at = now() - interval '1 hour'`)
  const sizes: number[] = []
  let large = 0
  let cursor: string | null = ''
  while (cursor !== null) {
    const { body } = await page(`chain=payment_events${cursor === '' ? '' : `&cursor=${cursor}`}`)
    sizes.push(Buffer.byteLength(JSON.stringify(body)))
    large += body.data.filter((row: Record<string, string>) => (row['raw_payload'] ?? '').length > 100_000).length
    cursor = body.next_cursor
  }
  t.same([large, sizes.length], [100, 3])
  t.ok(Math.max(...sizes) < 4.5 * 1024 * 1024, `${sizes}`)
})

t.test('an invalid chain, cursor or page size is rejected', async (t) => {
  for (const query of ['chain=merchants', 'limit=0', 'limit=1001', 'limit=x', 'cursor=x', 'cursor=', 'other=1'])
    t.match(await page(query), { status: 400, body: { code: 'VALIDATION_FAILED' } }, query)
  const negative = Buffer.from('-1').toString('base64url')
  t.match(await page(`cursor=${negative}`), { status: 400, body: { errors: [{ path: 'cursor' }] } })
})

t.test('one action is found by its ordinal; unknown and malformed ones are the same 404', async (t) => {
  const get = async (ordinal: string) => service.call('GET', `/api/v1/admin/audit/${ordinal}`, { headers })
  const { status, body } = await get('2')
  t.equal(status, 200)
  t.match(body, { ordinal: '2', action: 'merchant.kyb', actor: 'olga "o"', reason: /two lines/, before: null })
  const { body: list } = await service.call('GET', '/api/v1/admin/audit', { headers })
  t.same(
    body,
    list.data.find((row: { ordinal: string }) => row.ordinal === '2'),
    'as the list shows it',
  )
  const { body: unknown } = await get('999')
  for (const ordinal of ['999', '0', '-1', '02', '1.0', 'x', '99999999999999999999', '%00']) {
    const answer = await get(ordinal)
    t.match(answer, { status: 404, body: { code: 'AUDIT_ENTRY_NOT_FOUND' } }, ordinal)
    t.equal(answer.body.error, unknown.error, 'the error is the same')
  }
})

t.test('only an OWNER can export, because payloads contain payer data', async (t) => {
  const { service: guarded, operator } = await serviceWithRealms(t)
  for (const role of ['OPS', 'SUPPORT'])
    for (const path of ['/api/v1/admin/audit/export', '/api/v1/admin/audit/1'])
      t.match(await guarded.call('GET', path, { headers: operator({ roles: [role] }) }), { status: 403 }, role)
  const owner = operator({ roles: ['OWNER'] })
  t.match(await guarded.call('GET', '/api/v1/admin/audit/export', { headers: owner }), { status: 200 })
  t.match(await guarded.call('GET', '/api/v1/admin/audit/export'), { status: 401 })
})
