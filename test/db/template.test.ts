import t from 'tap'
import { makeAdminConnection } from '../../src/db/connection.ts'
import { migrationStatus } from '../../src/db/migrate.ts'
import { testDatabase } from '../support/database.ts'

t.test('a test database has all migrations and functions, and shares nothing with others', async (t) => {
  const databases = await Promise.all([testDatabase(t), testDatabase(t), testDatabase(t)])
  for (const { url } of databases) {
    const status = await migrationStatus({ databaseUrl: url })
    t.ok(status.length > 0 && status.every(({ state }) => state === 'applied'))
  }
  const [one, other] = await Promise.all(
    databases.slice(0, 2).map(({ url }) => makeAdminConnection({ databaseUrl: url })),
  )
  await one?.query('create table mine (id int4)')
  t.same((await other?.query("select to_regclass('mine') as found"))?.rows, [{ found: null }])
  await Promise.all([one?.end(), other?.end()])
})
