import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeAdminConnection } from '../../src/db/connection.ts'
import { migrateUp, migrationStatus } from '../../src/db/migrate.ts'
import { packageRoot } from '../../src/lib/package-root.ts'
import { emptyDatabase } from '../support/database.ts'

const first = `-- Rooms, with a function whose body holds semicolons.
create table room (id int4 primary key, note text not null default '{braces} and $dollars');
create function room_count() returns int4 language plpgsql as $$
begin
  perform 1;
  return (select count(*) from room);
end;
$$;
`
const second = `create type colour as enum ('red');
alter type colour add value 'blue';
`
const third = `alter table room add column colour colour not null default 'blue';
-- the last line is a comment`

const log: string[] = []
const note = (line: string): void => void log.push(line)

const folderWith = (t: Tap, files: Record<string, string>): string => t.testdir(files)
type Tap = { testdir: (files: Record<string, string>) => string }

const all = {
  '0001_room.sql': first,
  '0002_colour.sql': second,
  '0003_room_colour.sql': third,
  'README.md': 'not a migration',
}

const names = ['0001_room', '0002_colour', '0003_room_colour']

t.test('all migrations run once, in order; a second run does no harm', async (t) => {
  const { url } = await emptyDatabase(t)
  const folder = folderWith(t, all)
  t.same(await migrateUp({ databaseUrl: url, folder, log: note }), { applied: names })
  t.same(await migrateUp({ databaseUrl: url, folder, log: note }), { applied: [] })
  const client = await makeAdminConnection({ databaseUrl: url })
  t.teardown(() => client.end())
  t.same((await client.query('insert into room values (1) returning note, colour, room_count() as n')).rows, [
    { note: '{braces} and $dollars', colour: 'blue', n: 1 },
  ])
})

t.test('five processes at once all succeed, and each migration runs once', async (t) => {
  const { url } = await emptyDatabase(t)
  const folder = folderWith(t, all)
  const runs = await Promise.all(Array.from({ length: 5 }, () => migrateUp({ databaseUrl: url, folder, log: note })))
  t.same(
    runs.flatMap(({ applied }) => applied),
    names,
  )
})

t.test('the status lists what is applied and what is not, without changing anything', async (t) => {
  const { url } = await emptyDatabase(t)
  const before = folderWith(t, all)
  t.same(
    await migrationStatus({ databaseUrl: url, folder: before }),
    names.map((name) => ({ name, appliedAt: null })),
  )
  const fewer = t.testdir({ '0001_room.sql': first })
  await migrateUp({ databaseUrl: url, folder: fewer, log: note })
  const status = await migrationStatus({ databaseUrl: url, folder: folderWith(t, all) })
  t.same(
    status.map(({ name }) => name),
    names,
  )
  t.match(status[0]?.appliedAt, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
  t.ok(Math.abs(Date.parse(status[0]?.appliedAt ?? '') - Date.now()) < 60_000, 'in UTC')
  t.equal(status[1]?.appliedAt, null)
})

t.test('a database that a newer version has migrated is refused and left alone', async (t) => {
  const { url } = await emptyDatabase(t)
  await migrateUp({ databaseUrl: url, folder: folderWith(t, all), log: note })
  const older = t.testdir({ '0001_room.sql': first, '0004_other.sql': 'create table other (id int4);' })
  const refusal = { name: 'NewerDatabaseError', message: /0002_colour, 0003_room_colour.*newer version/ }
  await t.rejects(migrateUp({ databaseUrl: url, folder: older, log: note }), refusal)
  const status = await migrationStatus({ databaseUrl: url, folder: older })
  t.equal(status.find(({ name }) => name === '0004_other')?.appliedAt, null)
})

t.test('a migration that fails leaves nothing of itself, keeps the ones before, and can be corrected', async (t) => {
  const { url } = await emptyDatabase(t)
  const broken = {
    '0001_room.sql': first,
    '0002_broken.sql': 'create table half (id int4); select no_such_function();',
  }
  const lines: string[] = []
  await t.rejects(migrateUp({ databaseUrl: url, folder: folderWith(t, broken), log: (line) => lines.push(line) }), {
    name: 'MigrationError',
    message: /^The database refuses the migration 0002_broken: function no_such_function\(\) does not exist\. Nothing/,
  })
  t.match(lines.join('\n'), /no_such_function\(\);\n +\^{4}$/)
  const corrected = { ...broken, '0002_broken.sql': 'create table half (id int4);' }
  t.same(await migrateUp({ databaseUrl: url, folder: folderWith(t, corrected), log: note }), {
    applied: ['0002_broken'],
  })
})

t.test('a migration inserted before an applied one is refused', async (t) => {
  const { url } = await emptyDatabase(t)
  await migrateUp({ databaseUrl: url, folder: t.testdir({ '0002_colour.sql': second }), log: note })
  const late = t.testdir({ '0001_room.sql': first, '0002_colour.sql': second })
  await t.rejects(migrateUp({ databaseUrl: url, folder: late, log: note }), /preceding/)
})

t.test('the migrations are found from the sources and from the compiled output', (t) => {
  const module = join(import.meta.dirname, '../../src/lib/package-root.ts')
  const script = `import { packageRoot } from ${JSON.stringify(module)};
    console.log(packageRoot() === packageRoot(${JSON.stringify(join(import.meta.dirname, '../../dist/src/lib'))}));`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', cwd: '/' })
  t.equal(stdout.trim(), 'true')
  t.end()
})

t.test('payments from before the played disputes are left in peace', async (t) => {
  const { url } = await emptyDatabase(t)
  const folder = join(packageRoot(), 'migrations')
  const before = readdirSync(folder).filter((file) => file < '0035')
  const files = before.map((file) => [file, readFileSync(join(folder, file), 'utf8')])
  await migrateUp({ databaseUrl: url, folder: t.testdir(Object.fromEntries(files)), log: note })
  const client = await makeAdminConnection({ databaseUrl: url })
  t.teardown(() => client.end())
  await client.query(
    `insert into mock_bank.authorisations (
       state, consent_reference, end_to_end_id, amount, currency, payee_name, scenario, decision, code, bank_reference
     )
     select s, s, s, 1, 'GBP', 'Acme', s, 'approve', s, s from unnest(array['dispute-lost', 'success']) s`,
  )
  await migrateUp({ databaseUrl: url, folder, log: note })
  const { rows } = await client.query(
    'select scenario, story_ended_at is not null as is_ended from mock_bank.authorisations order by 1',
  )
  t.same(rows, [
    { scenario: 'dispute-lost', is_ended: true },
    { scenario: 'success', is_ended: false },
  ])
})
