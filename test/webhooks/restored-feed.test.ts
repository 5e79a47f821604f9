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

t.test('a database that was not restored is left as it is', async (t) => {
  const service = await testService(t)
  await createPayment(service, await service.merchant())
  await migrateUp({ databaseUrl: service.databaseUrl, ...quiet })
  t.same((await service.owner.query('select added from feed_offset')).rows, [{ added: '0' }])
})
