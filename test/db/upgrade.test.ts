import { join } from 'node:path'
import t from 'tap'
import { startApi } from '../../src/api.ts'
import { makeApp } from '../../src/app.ts'
import { migrateUp, requireMigrated } from '../../src/db/migrate.ts'
import { packageVersion } from '../../src/lib/package-root.ts'
import { isNewerVersion } from '../../src/lib/versions.ts'
import { startWorker } from '../../src/worker.ts'
import { authorisedPayment, createPayment, testService, untilStatus } from '../support/app.ts'
import { copyNextMigrations, nextVersion } from '../support/installed-release.ts'

const NEXT = nextVersion()
const [major = 0, minor = 0] = packageVersion().split('.').map(Number)

t.test('a release goes on, and starts again, on the database of the next one', async (t) => {
  t.ok(isNewerVersion(NEXT, packageVersion()))
  const service = await testService(t, { worker: true })
  const { databaseUrl, app } = service
  const merchant = await service.merchant()
  const settled = async (): Promise<void> => {
    const { id } = await authorisedPayment(service, merchant)
    await untilStatus(service, merchant, id, 'Settled')
  }
  await settled()

  // Payments are taken while the next release migrates.
  let stopped = false
  const taken = (async () => {
    const statuses: number[] = []
    for (; !stopped;) statuses.push((await createPayment(service, merchant)).status)
    return statuses
  })()
  const folder = copyNextMigrations(join(t.testdir({}), 'migrations'))
  const { applied } = await migrateUp({ databaseUrl, folder, version: NEXT, log: () => undefined })
  t.same(applied, ['9000_next', 'functions/move_payments'])
  stopped = true
  const statuses = await taken
  t.ok(statuses.length > 0)
  t.same(
    statuses.filter((status) => status !== 201),
    [],
    'no request fails meanwhile',
  )
  await settled()

  t.test('an old process that restarts there serves', async (t) => {
    await requireMigrated({ databaseUrl })
    const again = await makeApp({ ...app.config, port: 0 })
    t.teardown(() => again.close())
    const api = await startApi(again)
    t.teardown(() => api.stop())
    const worker = startWorker(again)
    t.teardown(() => worker.stop())
    const answer = await fetch(`${api.url}/readyz`)
    t.equal(answer.status, 200)
    await answer.body?.cancel()
    await settled()
  })

  t.test('but a release older than that does not start, and an old one migrates nothing', async (t) => {
    await service.owner.query(
      `update schema_migrations set version = '${major}.${minor + 2}.0' where name = '9000_next'`,
    )
    await t.rejects(requireMigrated({ databaseUrl }), { name: 'NewerDatabaseError' })
    await t.rejects(migrateUp({ databaseUrl, log: () => undefined }), { name: 'NewerDatabaseError' })
  })
})
