import t from 'tap'
import { makePgConnection } from '../../src/db/connection.ts'
import { readMigrationFiles } from '../../src/db/migration-files.ts'
import { testDatabase } from '../support/database.ts'

/* The schema of the records of banks can be moved to another node of Citus as a whole (decision 394). */
const { url: databaseUrl } = await testDatabase(t)
const owner = await makePgConnection({ databaseUrl, onError: () => undefined })
t.teardown(() => owner.end())

const isOfBanks = (column: string): string =>
  `${column}::regclass in (select oid from pg_class where relnamespace = 'obie'::regnamespace)`

const ON_OBIE = /create (?:or replace )?trigger [^;]* on obie\./i

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

t.test('a trigger on the records of banks is alone in its file: others change without it', async (t) => {
  const files = (await readMigrationFiles()).filter(({ kind, text }) => kind === 'function' && ON_OBIE.test(text))
  t.same(
    files.map(({ name }) => name),
    ['functions/append_only_calls', 'functions/keep_recent_calls'],
  )
  for (const { name, text } of files) t.equal(text.split(';').length, 2, `${name} is one statement`)
  const { rows } = await owner.query(`select tgname from pg_trigger where ${isOfBanks('tgrelid')} and not tgisinternal`)
  t.equal(rows.length, files.length, 'and no trigger is made elsewhere')
})
