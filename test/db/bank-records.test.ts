import t from 'tap'
import { makePgConnection } from '../../src/db/connection.ts'
import { testDatabase } from '../support/database.ts'

/* The schema of the records of banks can be moved to another node of Citus as a whole (decision 394). */
const { url: databaseUrl } = await testDatabase(t)
const owner = await makePgConnection({ databaseUrl, onError: () => undefined })
t.teardown(() => owner.end())

const isOfBanks = (column: string): string =>
  `${column}::regclass in (select oid from pg_class where relnamespace = 'obie'::regnamespace)`

t.test('the records of banks refer to no table of another schema, and none refers to them', async (t) => {
  const { rows } = await owner.query(
    `select conrelid::regclass::text as of, conname from pg_constraint
     where contype = 'f' and (${isOfBanks('conrelid')}) <> (${isOfBanks('confrelid')})`,
  )
  t.same(rows, [])
})

t.test('no policy is on the records of banks: on a copy elsewhere it would not limit', async (t) => {
  const { rows } = await owner.query(
    `select polrelid::regclass::text as of, polname from pg_policy where ${isOfBanks('polrelid')}`,
  )
  t.same(rows, [])
})

t.test('no trigger on the records of banks notifies: a transaction over two nodes could not be prepared', async (t) => {
  const { rows } = await owner.query(
    `select tgrelid::regclass::text as of, proname, prosrc from pg_trigger g join pg_proc p on p.oid = g.tgfoid
     where not tgisinternal and ${isOfBanks('tgrelid')}`,
  )
  t.ok(rows.length > 0, 'the append-only triggers are found')
  t.same(
    rows.filter(({ prosrc }) => /notify/i.test(prosrc)),
    [],
  )
})
