import t from 'tap'
import { makePgConnection } from '../../src/db/connection.ts'
import { until } from '../support/app.ts'
import { openStream } from '../support/event-stream.ts'
import type { OpenStream } from '../support/event-stream.ts'
import { serviceWithRealms } from '../support/realms.ts'
import { plantDead, plantDeliveries } from '../support/webhooks.ts'

/* That a delivery is DEAD, or is none any more: who is told, who is not, and what is told after a silence. */

const { service, person, program, operator } = await serviceWithRealms(t, {
  overrides: { streamLimits: { gapMs: 20, fallbackMs: 60_000 } },
})
const one = await service.merchant()
const two = await service.merchant()
const open = (headers: Record<string, string>) => openStream(t, service.url, { headers })
const changed = ({ frames }: OpenStream): string[] =>
  frames.filter(({ event }) => event === 'changed').flatMap(({ data }) => data.of)

async function die(ids: readonly string[]): Promise<void> {
  await service.owner.query(
    `update webhook_deliveries set status = 'DEAD', attempt_count = 6, next_retry_at = 'infinity', last_error = 'http_500'
     where id = any($1::uuid[])`,
    [ids],
  )
}

t.test('operators get all DEAD changes, a merchant its own, only roles that manage webhooks', async (t) => {
  const own = await plantDeliveries(service.owner, one.id, { count: 3 })
  const streams = {
    operator: await open(operator({ roles: ['SUPPORT'] })),
    admin: await open(person(one, { roles: ['ADMIN'] })),
    developer: await open(await program(one, 'DEVELOPER')),
    finance: await open(person(one, { roles: ['FINANCE'] })),
    program: await open(await program(one, null)),
    other: await open(person(two, { roles: ['ADMIN'] })),
  }
  const { operator: platform, admin, developer, finance, program: payments, other } = streams
  await die(own)
  await until(async () => [platform, admin, developer].every((stream) => changed(stream).includes('deliveries')))
  const dead = changed(admin).length
  const replayed = await service.call('POST', `/api/v1/portal/webhooks/${own[0]}/replay`, { merchant: one })
  t.equal(replayed.status, 200)
  await until(async () => changed(admin).length > dead)
  // What comes behind the hints shows that nothing is still on its way to the others.
  await plantDeliveries(service.owner, two.id)
  await plantDeliveries(service.owner, one.id)
  service.app.wake.notify('deliver-webhooks')
  await Promise.all([finance.events(1), payments.events(1), other.events(1)])
  t.same(
    [finance, payments, other].flatMap(changed),
    [],
    'neither roles without webhooks nor other merchants are notified',
  )
  t.same(
    new Set([...changed(admin), ...changed(developer)]),
    new Set(['deliveries']),
    'the merchant is notified of nothing else',
  )
})

t.test('only DEAD is announced, once for each transaction', async (t) => {
  const heard: string[] = []
  const listener = await makePgConnection({ databaseUrl: service.databaseUrl, onError: () => undefined })
  t.teardown(() => listener.end())
  listener.on('notification', ({ payload }) => heard.push(payload ?? ''))
  await listener.query('listen svc_wake')
  const [arriving, failing, ...dying] = await plantDeliveries(service.owner, two.id, { count: 6 })
  await service.owner.query(
    `update webhook_deliveries set status = 'DELIVERED', attempt_count = 1, delivered_at = now() where id = $1`,
    [arriving],
  )
  await service.owner.query(`update webhook_deliveries set status = 'FAILED', attempt_count = 1 where id = $1`, [
    failing,
  ])
  await die(dying)
  await service.owner.query(`update webhook_deliveries set status = 'DEAD' where id = any($1::uuid[])`, [dying])
  await service.owner.query(`select pg_notify('svc_wake', 'end')`)
  await until(async () => heard.includes('end'))
  t.same(
    heard.filter((name) => name.startsWith('console:')),
    [`console:deliveries:${two.id}`],
  )
})

t.test('after a gap in listening, all kinds of changes are reported', async (t) => {
  const platform = await open(operator({ roles: ['OPS'] }))
  const admin = await open(person(one, { roles: ['ADMIN'] }))
  const finance = await open(person(one, { roles: ['FINANCE'] }))
  const { rowCount } = await service.owner.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
       and query ilike 'listen svc_wake' and application_name = 'svc'`,
  )
  t.ok(rowCount !== null && rowCount > 0)
  await until(async () => changed(platform).length >= 4 && changed(admin).length > 0)
  t.same(new Set(changed(platform)), new Set(['merchants', 'disputes', 'audit', 'deliveries']))
  t.same(new Set(changed(admin)), new Set(['deliveries']))
  await plantDeliveries(service.owner, one.id)
  service.app.wake.notify('deliver-webhooks')
  await finance.events(1)
  t.same(changed(finance), [])
})

t.test('the merchant list counts how the newest deliveries ended, on request', async (t) => {
  const merchant = await service.merchant()
  const fresh = await service.merchant()
  const list = async (query: string) =>
    (await service.call('GET', `/api/v1/admin/merchants${query}`, { headers: operator({ roles: ['SUPPORT'] }) })).body
  await plantDead(service.owner, merchant.id, { count: 60 })
  const ids = await plantDeliveries(service.owner, merchant.id, { count: 40, createdAt: '2026-01-02T00:00:00Z' })
  await service.owner.query(
    `update webhook_deliveries set status = 'DELIVERED', attempt_count = 1, delivered_at = now()
     where id = any($1::uuid[])`,
    [ids.slice(0, 36)],
  )
  const { data } = await list('?include=recent_deliveries&limit=2')
  t.match(data, [
    { id: fresh.id, recent_deliveries: { delivered: 0, dead: 0 } },
    { id: merchant.id, recent_deliveries: { delivered: 36, dead: 10 } },
  ])
  const plain = (await list('?limit=2')).data
  t.notOk('recent_deliveries' in plain[0])
  t.same((await list('?include=recent_deliveries&search=nobody-has-this')).data, [])
  t.match(await list('?include=everything'), { code: 'VALIDATION_FAILED', errors: [{ path: 'include' }] })
})
