import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { makeAdminConnection } from '../../src/db/connection.ts'
import { migrateUp, migrationStatus, requireMigrated } from '../../src/db/migrate.ts'
import { emptyDatabase, testDatabase } from '../support/database.ts'

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

/** Functions whose order by name is not the order of their needs. */
const functions = {
  'a_total.sql': `-- The sum of the two below.
-- needs: functions/b_twice, functions/c_once
create or replace function a_total() returns int4 language sql as $$ select b_twice() + c_once() $$;
`,
  'b_twice.sql': `-- needs: functions/c_once
create or replace function b_twice() returns int4 language sql as $$ select 2 * c_once() $$;
`,
  'c_once.sql': 'create or replace function c_once() returns int4 language sql as $$ select 1 $$;\n',
}
const functionNames = ['functions/c_once', 'functions/b_twice', 'functions/a_total']

const names = ['0001_room', '0002_colour', '0003_room_colour']

t.test('all migrations are applied once, in order; a second run applies nothing', async (t) => {
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

t.test('five processes at once all succeed, and each file is applied once', async (t) => {
  const { url } = await emptyDatabase(t)
  const folder = folderWith(t, all)
  const runs = await Promise.all(Array.from({ length: 5 }, () => migrateUp({ databaseUrl: url, folder, log: note })))
  t.same(
    runs.flatMap(({ applied }) => applied),
    names,
  )
})

t.test('the status lists applied and pending migrations, and changes nothing', async (t) => {
  const { url } = await emptyDatabase(t)
  const before = folderWith(t, all)
  t.same(
    await migrationStatus({ databaseUrl: url, folder: before }),
    names.map((name) => ({ name, state: 'pending', appliedAt: null })),
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

t.test('a database that a newer version has migrated is rejected and left unchanged', async (t) => {
  const { url } = await emptyDatabase(t)
  await migrateUp({ databaseUrl: url, folder: folderWith(t, all), log: note })
  const older = t.testdir({ '0001_room.sql': first, '0004_other.sql': 'create table other (id int4);' })
  const refusal = { name: 'NewerDatabaseError', message: /0002_colour, 0003_room_colour.*newer version/ }
  await t.rejects(migrateUp({ databaseUrl: url, folder: older, log: note }), refusal)
  const status = await migrationStatus({ databaseUrl: url, folder: older })
  t.equal(status.find(({ name }) => name === '0004_other')?.appliedAt, null)
})

t.test('a migration that fails is rolled back, keeps the ones before it, and can be corrected', async (t) => {
  const { url } = await emptyDatabase(t)
  const broken = {
    '0001_room.sql': first,
    '0002_broken.sql': 'create table half (id int4); select no_such_function();',
  }
  const lines: string[] = []
  await t.rejects(migrateUp({ databaseUrl: url, folder: folderWith(t, broken), log: (line) => lines.push(line) }), {
    name: 'MigrationError',
    message: /^The database rejected the migration 0002_broken: function no_such_function\(\) does not exist\. None/,
  })
  t.match(lines.join('\n'), /no_such_function\(\);\n +\^{4}$/)
  const corrected = { ...broken, '0002_broken.sql': 'create table half (id int4);' }
  t.same(await migrateUp({ databaseUrl: url, folder: folderWith(t, corrected), log: note }), {
    applied: ['0002_broken'],
  })
})

t.test('a migration inserted before an applied one is rejected', async (t) => {
  const { url } = await emptyDatabase(t)
  await migrateUp({ databaseUrl: url, folder: t.testdir({ '0002_colour.sql': second }), log: note })
  const late = t.testdir({ '0001_room.sql': first, '0002_colour.sql': second })
  await t.rejects(migrateUp({ databaseUrl: url, folder: late, log: note }), {
    name: 'MigrationError',
    message: /has the migration 0002_colour, but not 0001_room before it/,
  })
})

t.test('the migrations are found from the sources and from the compiled output', (t) => {
  const module = join(import.meta.dirname, '../../src/lib/package-root.ts')
  const script = `import { packageRoot } from ${JSON.stringify(module)};
    console.log(packageRoot() === packageRoot(${JSON.stringify(join(import.meta.dirname, '../../dist/src/lib'))}));`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', cwd: '/' })
  t.equal(stdout.trim(), 'true')
  t.end()
})

const total = async (url: string): Promise<unknown> => {
  const client = await makeAdminConnection({ databaseUrl: url })
  try {
    return (await client.query('select a_total() as total')).rows[0]?.total
  } finally {
    await client.end()
  }
}

const records = async (url: string): Promise<unknown[]> => {
  const client = await makeAdminConnection({ databaseUrl: url })
  try {
    return (await client.query('select name, sha256, version, applied_at from schema_functions order by name')).rows
  } finally {
    await client.end()
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

t.test('functions are applied after what they need, and again when their text changes', async (t) => {
  const { url } = await emptyDatabase(t)
  const options = { databaseUrl: url, version: '0.1.0', log: note }
  t.same(await migrateUp({ ...options, folder: t.testdir({ ...all, functions }) }), {
    applied: [...names, ...functionNames],
  })
  t.equal(await total(url), 3)
  const before = await records(url)
  t.match(
    before,
    Object.entries(functions).map(([file, text]) => ({
      name: file.replace('.sql', ''),
      sha256: sha256(text),
      version: '0.1.0',
    })),
  )
  t.same(await migrateUp({ ...options, folder: t.testdir({ ...all, functions }) }), { applied: [] })
  t.same(await records(url), before, 'nothing is applied while no text has changed')
  const windows = Object.fromEntries(
    Object.entries(functions).map(([file, text]) => [file, text.replaceAll('\n', '\r\n')]),
  )
  t.same(await migrateUp({ ...options, folder: t.testdir({ ...all, functions: windows }) }), { applied: [] })

  const changed = { ...functions, 'c_once.sql': functions['c_once.sql'].replace('select 1', 'select 10') }
  const folder = t.testdir({ ...all, functions: changed })
  const states = await migrationStatus({ databaseUrl: url, folder })
  t.same(
    states.filter(({ state }) => state !== 'applied').map(({ name, state }) => ({ name, state })),
    [{ name: 'functions/c_once', state: 'changed' }],
  )
  await t.rejects(requireMigrated({ databaseUrl: url, folder, version: '0.1.0' }), {
    name: 'UnmigratedDatabaseError',
    message: /older than this version of svc: it lacks functions\/c_once\.$/,
  })
  const lines: string[] = []
  t.same(await migrateUp({ ...options, folder, log: (line) => lines.push(line) }), { applied: ['functions/c_once'] })
  t.same(lines, ['1 function applied'])
  t.equal(await total(url), 30)
  await t.resolves(requireMigrated({ databaseUrl: url, folder, version: '0.1.0' }))
  const [, , hash] = await records(url)
  t.match(hash, { name: 'c_once', sha256: sha256(changed['c_once.sql']) })
})

t.test(
  "the service's own functions can all be applied again, and keep their rights, settings and triggers",
  async (t) => {
    const { url: databaseUrl } = await emptyDatabase(t)
    await migrateUp({ databaseUrl, log: note })
    const client = await makeAdminConnection({ databaseUrl })
    t.teardown(() => client.end())
    const describe = async () =>
      (
        await client.query<{ name: string; definition: string; rights: string }>(`
        select p.oid::regprocedure::text as name, pg_get_functiondef(p.oid) as definition, p.proacl::text as rights
        from pg_proc p
        where p.pronamespace in ('public'::regnamespace, 'mock_bank'::regnamespace)
        union all
        select t.tgrelid::regclass || ' ' || t.tgname, pg_get_triggerdef(t.oid), t.tgenabled::text
        from pg_trigger t
        where not t.tgisinternal
        order by 1
      `)
      ).rows
    const before = await describe()
    t.ok(before.length > 50)
    const { rowCount } = await client.query("update schema_functions set sha256 = repeat('0', 64)")
    const { applied } = await migrateUp({ databaseUrl, log: note })
    t.equal(applied.length, rowCount)
    t.same(await describe(), before)
  },
)

t.test('a function that returns other columns than before is replaced', async (t) => {
  const { url } = await testDatabase(t)
  const client = await makeAdminConnection({ databaseUrl: url })
  t.teardown(() => client.end())
  await client.query(`
    drop function erase_payer(payer_contact_type, text);
    create function erase_payer(kind payer_contact_type, hash text)
    returns table (consents integer, accounts integer, open_consents integer) language sql as 'select 0, 0, 0';
    update schema_functions set sha256 = repeat('0', 64) where name = 'erase_payer'`)
  t.same(await migrateUp({ databaseUrl: url, log: note }), { applied: ['functions/erase_payer'] })
  const { rows } = await client.query("select * from erase_payer('EMAIL', 'nobody')")
  t.match(rows, [{ consents: 0, payments: [] }])
})

t.test('a migration gets the functions that it needs before it, in its own transaction', async (t) => {
  const { url } = await emptyDatabase(t)
  const files = {
    '0001_room.sql': first,
    '0002_meter.sql': '-- needs: functions/b_twice\ncreate table meter (value int4 not null default b_twice());',
  }
  const log: string[] = []
  const broken = { ...files, '0002_meter.sql': `${files['0002_meter.sql']} select no_such_function();` }
  await t.rejects(
    migrateUp({ databaseUrl: url, folder: t.testdir({ ...broken, functions }), log: (line) => log.push(line) }),
    { name: 'MigrationError', message: /0002_meter/ },
  )
  t.same(await records(url), [], 'no function is left')
  t.same(await migrateUp({ databaseUrl: url, folder: t.testdir({ ...files, functions }), log: note }), {
    applied: ['functions/c_once', 'functions/b_twice', '0002_meter', 'functions/a_total'],
  })
})

t.test('a function file that fails leaves all functions as they were, and can be corrected', async (t) => {
  const { url } = await emptyDatabase(t)
  await migrateUp({ databaseUrl: url, folder: t.testdir({ ...all, functions }), log: note })
  const before = await records(url)
  const broken = {
    'a_total.sql': `${functions['a_total.sql']}select no_such_function();\n`,
    'b_twice.sql': functions['b_twice.sql'],
    'c_once.sql': functions['c_once.sql'].replace('select 1', 'select 10'),
  }
  const lines: string[] = []
  await t.rejects(
    migrateUp({ databaseUrl: url, folder: t.testdir({ ...all, functions: broken }), log: (line) => lines.push(line) }),
    {
      name: 'MigrationError',
      message:
        /^The database rejected the function functions\/a_total: function no_such_function\(\) does not exist\. None of the functions/,
    },
  )
  t.match(lines.join('\n'), /^migrations\/functions\/a_total\.sql:4:\n.*\nselect no_such_function\(\);\n +\^{4}$/)
  t.equal(await total(url), 3)
  t.same(await records(url), before)
  t.same(await migrateUp({ databaseUrl: url, folder: t.testdir({ ...all, functions }), log: note }), { applied: [] })
})

t.test('functions of a newer version are not replaced by an older one, nor run by it', async (t) => {
  const { url } = await emptyDatabase(t)
  const folder = t.testdir({ ...all, functions })
  await migrateUp({ databaseUrl: url, folder, version: '1.10.0', log: note })
  const older = t.testdir({
    old: { ...all, functions: { ...functions, 'c_once.sql': `${functions['c_once.sql']}-- old\n` } },
  })
  const options = { databaseUrl: url, folder: join(older, 'old'), version: '1.8.0' }
  const newer = {
    name: 'NewerDatabaseError',
    message: /carries functions\/c_once, which this version of svc \(1\.8\.0\)/,
  }
  await t.rejects(migrateUp({ ...options, log: note }), newer)
  await t.rejects(requireMigrated(options), newer)
  t.equal(await total(url), 3)
  await t.resolves(
    requireMigrated({ ...options, folder: t.testdir({ ...all, functions }) }),
    'the same text is no newer',
  )
})

t.test('a version starts on a database of the next release, and not on that of a later one', async (t) => {
  const { url } = await emptyDatabase(t)
  const folders = t.testdir({
    old: { ...all, functions },
    // Adds a table, replaces a function and removes one that its predecessor no longer calls.
    next: {
      ...all,
      '0004_other.sql': 'create table other (id int4); drop function a_total();',
      functions: {
        'b_twice.sql': functions['b_twice.sql'],
        'c_once.sql': functions['c_once.sql'].replace('select 1', 'select 10'),
      },
    },
  })
  const migrate = (folder: string, version: string) =>
    migrateUp({ databaseUrl: url, folder: join(folders, folder), version, log: note })
  const old = (version: string) => requireMigrated({ databaseUrl: url, folder: join(folders, 'old'), version })
  await migrate('old', '1.9.0')
  await migrate('next', '1.10.2')
  for (const version of ['1.9.0', '1.9.7', '1.10.1']) await t.resolves(old(version), version)
  for (const version of ['1.8.9', '0.10.0'])
    await t.rejects(old(version), { name: 'NewerDatabaseError', message: /carries 0004_other/ }, version)
  await t.rejects(old('1.10.2'), { name: 'NewerDatabaseError' }, 'the same version knows its own files')
  await t.rejects(migrate('old', '1.9.0'), { name: 'NewerDatabaseError' }, 'it never migrates such a database')
})

t.test('a database of before the versions of migrations were recorded is read and migrated', async (t) => {
  const { url } = await emptyDatabase(t)
  await migrateUp({ databaseUrl: url, folder: folderWith(t, all), log: note })
  const client = await makeAdminConnection({ databaseUrl: url })
  t.teardown(() => client.end())
  await client.query('alter table schema_migrations drop column version')
  const folder = t.testdir({ ...all, '0004_other.sql': 'create table other (id int4);' })
  await t.rejects(requireMigrated({ databaseUrl: url, folder }), { name: 'UnmigratedDatabaseError', message: /0004/ })
  t.same(await migrateUp({ databaseUrl: url, folder, log: note }), { applied: ['0004_other'] })
})

t.test('the record of a removed function goes with its file', async (t) => {
  const { url } = await emptyDatabase(t)
  await migrateUp({ databaseUrl: url, folder: t.testdir({ ...all, functions }), log: note })
  const { 'a_total.sql': _removed, ...rest } = functions
  const files = { ...all, '0004_no_total.sql': 'drop function a_total();', functions: rest }
  const folder = t.testdir(files)
  t.same(await migrateUp({ databaseUrl: url, folder, log: note }), { applied: ['0004_no_total'] })
  t.match(await records(url), [{ name: 'b_twice' }, { name: 'c_once' }])
  await t.resolves(requireMigrated({ databaseUrl: url, folder }))
})

t.test('a database of a preview, whose migrations no longer exist, is rejected', async (t) => {
  const { url } = await emptyDatabase(t)
  const client = await makeAdminConnection({ databaseUrl: url })
  t.teardown(() => client.end())
  await client.query('create table schema_migrations (id serial primary key, name text, run_on timestamp)')
  const folder = t.testdir(all)
  const refusal = { name: 'ObsoleteDatabaseError', message: /created by a preview of svc.*Create a new database/ }
  await t.rejects(migrateUp({ databaseUrl: url, folder, log: note }), refusal)
  await t.rejects(requireMigrated({ databaseUrl: url, folder }), refusal)
  await t.rejects(migrationStatus({ databaseUrl: url, folder }), refusal)
})

t.test('a login that may not create roles migrates, where an administrator made the role', async (t) => {
  await testDatabase(t)
  const { url } = await emptyDatabase(t)
  const database = new URL(url).pathname.slice(1)
  const login = `plain_${process.pid}`
  const admin = await makeAdminConnection({ databaseUrl: url })
  t.teardown(() => admin.end())
  await admin.query(`create role ${login} login password 'pl41n' nocreaterole`)
  await admin.query(`alter database ${database} owner to ${login}`)
  const own = Object.assign(new URL(url), { username: login, password: 'pl41n' }).href
  await migrateUp({ databaseUrl: own, log: note })
  t.ok((await migrationStatus({ databaseUrl: own })).every(({ state }) => state === 'applied'))
  await admin.query(`alter database ${database} owner to current_user; reassign owned by ${login} to current_user`)
  await admin.query(`drop owned by ${login}; drop role ${login}`)
})
