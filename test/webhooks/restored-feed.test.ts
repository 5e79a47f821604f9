import t from 'tap'
import { migrateUp, requireMigrated } from '../../src/db/migrate.ts'
import { createPayment, testService, until } from '../support/app.ts'
import type { TestMerchant, TestService } from '../support/app.ts'

const quiet = { log: () => undefined }

type Page = { data: { event_id: string }[]; next_cursor: string }

async function feed(service: TestService, merchant: TestMerchant, after = '', count = 0): Promise<Page> {
  return until(async () => {
    const path = `/api/v1/portal/events${after === '' ? '' : `?after=${after}`}`
    const { body } = await service.call('GET', path, { merchant })
    return body.data.length >= count && body
  })
}

const idsOf = ({ data }: Page): string[] => data.map(({ event_id: id }) => id)

/** What a dump and restore to a younger server leaves: rows of transactions that this server has not begun. */
async function restoreElsewhere({ owner }: TestService, by: number): Promise<void> {
  await owner.query(`update webhook_deliveries set feed_xid = (feed_xid::text::bigint + ${by})::text::xid8`)
}

t.test('after a restore to a younger server the feed goes on, for readers from before too', async (t) => {
  const service = await testService(t)
  const { databaseUrl } = service
  const merchant = await service.merchant()
  for (let count = 0; count < 3; count += 1) await createPayment(service, merchant)
  for (const [at, by] of [5_000_000, 9_000_000].entries()) {
    const before = await feed(service, merchant, '', 3 + at)
    await restoreElsewhere(service, by)
    await t.rejects(requireMigrated({ databaseUrl }), { name: 'UnmigratedDatabaseError', message: /restored/ })
    t.same(await migrateUp({ databaseUrl, ...quiet }), { applied: [] })
    await requireMigrated({ databaseUrl })
    const old = await feed(service, merchant, '', before.data.length)
    t.same(idsOf(old), idsOf(before), 'the restored events are all listed, in their order')
    await createPayment(service, merchant)
    const next = await feed(service, merchant, old.next_cursor, 1)
    t.equal(next.data.length, 1, 'a new event follows them')
    const all = await feed(service, merchant, '', before.data.length + 1)
    t.equal(all.data.at(-1)?.event_id, next.data[0]?.event_id)
  }
})

const PAST_THE_BACKUP = 200_000n

const cursorAt = (xid: bigint): string => Buffer.from(`${xid}.9223372036854775807`).toString('base64url')

async function newestXid({ owner }: TestService): Promise<bigint> {
  const { rows } = await owner.query<{ xid: string }>('select max(feed_xid)::text as xid from webhook_deliveries')
  return BigInt(rows[0]?.xid ?? 0)
}

for (const [where, isRestored] of [
  ['on a younger server', false],
  ['on the same server, to a moment before', true],
] as const)
  t.test(`a reader that had read past a back-up gets what comes after its restore ${where}`, async (t) => {
    const service = await testService(t)
    const merchant = await service.merchant()
    await createPayment(service, merchant)
    if (!isRestored) await restoreElsewhere(service, 1_000_000)
    const cursor = cursorAt((await newestXid(service)) + PAST_THE_BACKUP)
    await migrateUp({ databaseUrl: service.databaseUrl, isRestored, ...quiet })
    await createPayment(service, merchant)
    t.equal((await feed(service, merchant, cursor, 1)).data.length, 1)
    t.match(String(await newestXid(service)), /^\d{16}$/, 'a cursor may have 19 digits')
  })

t.test('the same back-up, restored a second time, goes on behind what was read after the first', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  await createPayment(service, merchant)
  const dumped = await service.owner.query('select id, feed_xid::text as xid from webhook_deliveries')
  await migrateUp({ databaseUrl: service.databaseUrl, isRestored: true, ...quiet })
  await createPayment(service, merchant)
  const { next_cursor: read } = await feed(service, merchant, '', 2)
  await service.owner.query('update webhook_deliveries set feed_xid = $1::text::xid8', [dumped.rows[0].xid])
  await service.owner.query('update feed_offset set added = 0')
  await migrateUp({ databaseUrl: service.databaseUrl, isRestored: true, ...quiet })
  await createPayment(service, merchant)
  t.equal((await feed(service, merchant, read, 1)).data.length, 1)
})

t.test('a cursor ahead of the feed is rejected, and one that was just given out never is', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  await createPayment(service, merchant)
  const ahead = cursorAt((await newestXid(service)) + PAST_THE_BACKUP)
  for (const path of ['/api/v1/portal/events', '/api/v1/events/stream']) {
    const { status, body } = await service.call('GET', `${path}?after=${ahead}`, { merchant })
    t.equal(status, 400, path)
    t.match(body.errors, [{ path: 'after', code: 'INVALID', message: /latest/ }])
  }
  for (const during of ['select pg_current_xact_id()', 'select 1']) {
    await service.owner.query(`begin; ${during}`)
    const { next_cursor: latest } = await feed(service, merchant, 'latest')
    t.same((await feed(service, merchant, latest)).data, [], during)
    await service.owner.query('commit')
    t.same((await feed(service, merchant, latest)).data, [], during)
  }
})

t.test('a database that was not restored is left as it is', async (t) => {
  const service = await testService(t)
  await createPayment(service, await service.merchant())
  await migrateUp({ databaseUrl: service.databaseUrl, ...quiet })
  t.same((await service.owner.query('select added from feed_offset')).rows, [{ added: '0' }])
})
