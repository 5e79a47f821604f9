import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  globSync,
  mkdtempSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import type { Test } from 'tap'
import { startApi } from '../../src/api.ts'
import { makeApp } from '../../src/app.ts'
import { readConfig } from '../../src/config/read.ts'
import { makeAdminConnection } from '../../src/db/connection.ts'
import { freePort } from '../support/free-port.ts'
import { migrateUp } from '../../src/db/migrate.ts'
import { serverUser } from '../../src/db/postgres-files.ts'
import { checkMasterKey } from '../../src/keys/check-master-key.ts'
import { until } from '../support/app.ts'
import { newKey } from '../support/keys.ts'
import { runCli } from './harness.ts'
import { provesLeaves } from './ran.ts'
import { LAUNCHER, cleanEnv, nodeCommand } from './service.ts'

/** The tools and the server of PostgreSQL that the machine has, newest last: pg_dump reads no newer server. */
const BIN = globSync('/usr/lib/postgresql/*/bin/pg_dump').toSorted().map(dirname).at(-1)
const LEFT = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('svc-scratch-'))

/** What pg_dump writes last into a plain dump. */
const END = '-- PostgreSQL database dump complete'

/** A PostgreSQL of the machine, of which nothing stays. */
async function startServer(t: Test, { bin, data }: { bin: string; data: string }): Promise<string> {
  const [user, port] = [serverUser(), await freePort()]
  mkdirSync(data, { mode: 0o700 })
  if (user !== undefined) chownSync(data, user.uid, user.gid)
  const run = { ...user, cwd: '/', env: { LC_ALL: 'C' }, stdio: 'ignore' } as const
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'svc_owner', '-A', 'trust', '-E', 'UTF8', '--no-sync'], run)
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', 'timezone=UTC']
  const words = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]
  const server = spawn(join(bin, 'postgres'), words, run)
  t.teardown(async () => {
    const ended = once(server, 'exit')
    server.kill('SIGQUIT')
    await ended
  })
  const urlOf = (database: string): string => `postgres://svc_owner@127.0.0.1:${port}/${database}`
  const admin = await until(() => makeAdminConnection({ databaseUrl: urlOf('postgres') }).catch(() => undefined))
  await admin.query('create database svc')
  await admin.end()
  return urlOf('svc')
}

/** A server of that version with a database of svc in it, in which a payment was authorised. */
async function startSource(t: Test, bin: string) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-backup-'))
  chmodSync(folder, 0o711)
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const url = await startServer(t, { bin, data: join(folder, 'data') })
  await migrateUp({ databaseUrl: url, log: () => undefined })
  const key = newKey()
  const app = await makeApp(
    readConfig({
      SVC_DATABASE_URL: url,
      SVC_ENCRYPTION_KEY: key,
      SVC_IDENTITY: 'none',
      SVC_LOG_LEVEL: 'silent',
      SVC_PORT: String(await freePort()),
    }),
  )
  await checkMasterKey(app)
  const api = await startApi(app)
  const call = async (path: string, headers: Record<string, string>, body: object) => {
    const answer = await fetch(`${api.url}/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    t.ok(answer.ok, path)
    return (await answer.json()) as Record<string, string>
  }
  const merchant = await call('/sandbox/merchants', {}, { name: 'Dumped' })
  const headers = { 'x-merchant-client-id': merchant['client_id'] ?? '', 'x-idempotency-key': 'dump-1' }
  const order = { amount: '50.00', currency: 'GBP', redirect_uri: 'https://shop.example/return' }
  const { payment_id: id } = await call('/payments', headers, order)
  await call(`/sandbox/payments/${id}/advance`, {}, { to: 'Authorised' })
  await api.stop()
  await app.close()
  const dump = (name: string, ...flags: string[]): string => {
    const file = join(folder, name)
    execFileSync(join(bin, 'pg_dump'), [...flags, '-f', file, url])
    return file
  }
  return { url, key, folder, dump }
}

t.test('dumps of each kind are restored and verified', { skip: BIN === undefined && 'no pg_dump' }, async (t) => {
  const bin = BIN ?? ''
  const source = await startSource(t, bin)
  const before = LEFT()
  const PATH = `${bin}:${process.env['PATH']}`
  const verify = (dump: string, words: string[] = [], env: Record<string, string> = {}) =>
    runCli(['backup', 'verify', dump, ...words], { env: { PATH, ...env } })
  const onServer = ['--server', source.url]
  const custom = source.dump('svc.dump', '-Fc')

  t.test('on a PostgreSQL that is started for it', async (t) => {
    const { code, stdout } = await verify(custom, ['--json'], { SVC_ENCRYPTION_KEY: source.key })
    t.equal(code, 0, stdout)
    const found = JSON.parse(stdout)
    t.match(found, {
      format: 'custom',
      is_whole: true,
      migrated: [],
      violations: [],
      sealed_under_unknown_keys: 0,
    })
    t.ok(found.sealed_values > 0)
    t.match(found.newest_event_at, /^\d{4}-/)
    const rows = new Map(found.chains.map((chain: { chain: string; rows: number }) => [chain.chain, chain.rows]))
    t.ok(Number(rows.get('payment_events')) >= 2, 'the newest events too')
  })

  t.test('without one to start, as in an installation of production packages, it says how to name one', async (t) => {
    t.intercept(process, 'arch', { value: 'mips' })
    const { code, stderr } = await verify(custom)
    t.match(
      { code, stderr },
      { code: 1, stderr: /no PostgreSQL binaries[^]*backup verify \S+svc\.dump --server postgres:/ },
    )
    t.notMatch(stderr, 'SVC_DATABASE_URL')
  })

  t.test('on a server that is named, as plain text, as a folder and as a tar archive', async (t) => {
    for (const dump of [source.dump('svc.sql'), source.dump('folder', '-Fd'), source.dump('svc.tar', '-Ft')]) {
      const { code, stdout, stderr } = await verify(dump, onServer)
      t.match(
        { code, stdout },
        { code: 0, stdout: /payment_events +whole, \d+ rows[^]*Invariants and books +all hold/ },
        stderr,
      )
      t.match(stdout, /not tried: SVC_ENCRYPTION_KEY/)
    }
  })

  t.test('a server without the roles of the service is named, and not the dump', async (t) => {
    const data = join(source.folder, 'without-roles')
    const onOther = ['--server', await startServer(t, { bin, data }), '--record']
    const env = { SVC_DATABASE_URL: source.url }
    const roles = ['svc_runtime; create role svc_merchant in role svc_runtime', 'svc_merchant in role svc_runtime']
    const server = await makeAdminConnection({ databaseUrl: onOther[1] ?? '' })
    for (const [at, create] of roles.entries()) {
      const { code, stderr } = await verify(custom, onOther, env)
      t.equal(code, 1)
      t.match(stderr, `psql <server> -c 'create role ${create}'`)
      await server.query(at === 0 ? 'create role svc_runtime' : 'create role svc_merchant in role svc_runtime')
    }
    await server.end()
    const owner = await makeAdminConnection({ databaseUrl: source.url })
    t.same((await owner.query('select from backup_verification')).rowCount, 0, 'nothing is recorded of the dump')
    await owner.end()
    t.match(await verify(custom, onOther.slice(0, 2)), { code: 0 })
  })

  t.test('a dump that would leave the scratch database is not run', async (t) => {
    const count = async (): Promise<unknown> => {
      const owner = await makeAdminConnection({ databaseUrl: source.url })
      const { rows } = await owner.query('select oid, (select count(*) from payment_events) from pg_database')
      await owner.end()
      return rows
    }
    const all = join(source.folder, 'all.sql')
    execFileSync(join(bin, 'pg_dumpall'), ['-f', all, '-d', source.url])
    const shell = join(source.folder, 'shell.sql')
    writeFileSync(shell, '-- PostgreSQL database dump\n\\! touch run-by-psql\n')
    const was = await count()
    for (const dump of [source.dump('create.sql', '-C'), source.dump('clean.sql', '-C', '--clean'), all, shell])
      t.match(await verify(dump, onServer), { code: 1, stdout: '', stderr: /(-C or by pg_dumpall|not a dump)/ }, dump)
    t.same(await count(), was, 'no database was made, dropped or written')
    for (const name of ['dbname=svc', 'service=live', 'host=live', 'password=secret']) {
      const { code, stderr } = await verify(custom, ['--server', `${source.url}?${name}`])
      t.match({ code, stderr }, { code: 2, stderr: /--server: \w+ is before the question mark/ })
    }
  })

  t.test('a login that may not create databases is reported', async (t) => {
    const owner = await makeAdminConnection({ databaseUrl: source.url })
    await owner.query('create role reader login')
    await owner.end()
    const { code, stderr } = await verify(custom, ['--server', source.url.replace('svc_owner', 'reader')])
    t.match({ code, stderr }, { code: 1, stderr: /may not create databases\. Allow it to: alter role .* in --server/ })
  })

  t.test('an interrupt within the restoring ends it, and drops what is there', async (t) => {
    const slow = join(source.folder, 'slow.sql')
    const fast = readFileSync(source.dump('fast.sql'), 'utf8')
    writeFileSync(slow, fast.replace(END, `select pg_sleep(600);\n\n${END}`))
    const [file, words] = nodeCommand([LAUNCHER, 'backup', 'verify', slow, ...onServer])
    const child = spawn(file, words, { env: cleanEnv({ PATH }), stdio: ['ignore', 'ignore', 'pipe'] })
    t.teardown(() => child.kill('SIGKILL'))
    const ended = once(child, 'close')
    let said = ''
    child.stderr.on('data', (chunk) => void (said += chunk))
    const owner = await makeAdminConnection({ databaseUrl: source.url })
    t.teardown(() => owner.end())
    const asked = `select from pg_stat_activity where datname like 'svc_scratch%' and query ~ '^select pg_sleep'`
    await until(async () => (await owner.query(asked)).rowCount === 1)
    child.kill('SIGINT')
    const [code] = await ended
    t.equal(code, 130, said)
    t.match(said, /the scratch database was dropped; nothing was verified/)
    t.equal((await owner.query(`select from pg_database where datname like 'svc_scratch%'`)).rowCount, 0)
    t.equal((await owner.query(asked)).rowCount, 0)
  })

  t.test('the result is recorded where that is asked for, and whole or not', async (t) => {
    const owner = await makeAdminConnection({ databaseUrl: source.url })
    t.teardown(() => owner.end())
    const recorded = async () =>
      (await owner.query('select is_whole, newest_event_at is not null as has_event from backup_verification')).rows
    const { code, stderr } = await verify(custom, [...onServer, '--record'])
    t.match({ code, stderr }, { code: 2, stderr: /--record: SVC_DATABASE_URL is not set/ })
    t.same(await recorded(), [], 'nor by the verifications before')
    const env = { SVC_DATABASE_URL: source.url }
    t.match(await verify(custom, [...onServer, '--record'], env), { code: 0 })
    t.same(await recorded(), [{ is_whole: true, has_event: true }])
    const another = { ...env, SVC_ENCRYPTION_KEY: newKey() }
    t.match(await verify(custom, [...onServer, '--record'], another), { code: 3 })
    t.same(await recorded(), [{ is_whole: false, has_event: true }])
    const recordedAt = async () => (await owner.query('select verified_at::text as at from backup_verification')).rows
    t.match(await verify(custom, [...onServer, '--record'], env), { code: 0 })
    const lastAt = await recordedAt()
    t.match(await verify(join(source.folder, 'nowhere'), [...onServer, '--record'], env), { code: 1 })
    t.same(await recordedAt(), lastAt, 'a name that is mistyped says nothing of a dump')
    const cut = join(source.folder, 'cut-short.dump')
    writeFileSync(cut, readFileSync(custom).subarray(0, 2_000))
    t.match(await verify(cut, [...onServer, '--record'], env), { code: 1, stderr: /could not restore/ })
    t.same(await recorded(), [{ is_whole: false, has_event: false }])
    const away = { SVC_DATABASE_URL: `postgres://svc_owner@127.0.0.1:${await freePort()}/svc` }
    const { code: exit, stdout, stderr: said } = await verify('/nowhere', [...onServer, '--record'], away)
    t.match(
      { exit, stdout, said },
      { exit: 1, stdout: '', said: /nothing accepts connections there/ },
      'before the dump',
    )
  })

  t.test('a plain dump that was cut off is not restored, wherever the end of it is', async (t) => {
    const whole = readFileSync(source.dump('long.sql'), 'utf8')
    const file = join(source.folder, 'cut.sql')
    // After the rows, where indexes and triggers come, a shorter script has no error in it.
    const ends = [whole.indexOf('CREATE INDEX'), whole.lastIndexOf('CREATE TRIGGER'), whole.lastIndexOf(END)]
    for (const end of ends) {
      t.ok(end > 0)
      writeFileSync(file, whole.slice(0, end))
      t.match(await verify(file, onServer), { code: 1, stdout: '', stderr: /cut\.sql is cut off.*dump complete/ })
    }
    writeFileSync(file, `${whole.slice(0, ends[0])}${END}\nselect 1;\n`)
    t.match(await verify(file, onServer), { code: 1, stderr: /is cut off/ }, 'nor one with something behind its end')
  })

  t.test('another key opens nothing', async (t) => {
    const { code, stdout } = await verify(custom, onServer, { SVC_ENCRYPTION_KEY: newKey() })
    t.match({ code, stdout }, { code: 3, stdout: /ANOTHER KEY/ })
  })

  t.test('what is no dump is said to be none', async (t) => {
    const file = (name: string, content: string | Buffer): string => {
      writeFileSync(join(source.folder, name), content)
      return join(source.folder, name)
    }
    const wrong: [string, RegExp][] = [
      [join(source.folder, 'nowhere'), /can't read .*nowhere/],
      [file('empty', ''), /is empty: not a dump/],
      [file('notes.txt', 'buy milk'), /not a dump of pg_dump.*pg_dump -Fc/],
      [file('svc.sql.gz', gzipSync('-- PostgreSQL database dump')), /compressed with gzip: gunzip/],
      [source.folder, /without toc\.dat/],
      [file('cut.dump', Buffer.concat([Buffer.from('PGDMP'), Buffer.alloc(20)])), /pg_restore could not restore/],
      [file('other.sql', `-- PostgreSQL database dump\ncreate table t (a int);\n${END}\n`), /not of a database of svc/],
      [file('bad.sql', `-- PostgreSQL database dump\nselect 1/0;\n${END}\n`), /could not restore[^]*division by zero/],
    ]
    for (const [dump, message] of wrong)
      t.match(await verify(dump, onServer), { code: 1, stdout: '', stderr: message }, dump)
    t.match(await verify('/nowhere', ['--json']), { code: 1, stderr: /"DUMP_NOT_RESTORED"/ })
    t.match(await verify(custom, ['--server', 'ops@db']), { code: 2, stderr: /--server/ })
    const { code, stderr } = await runCli(['backup', 'verify', custom, ...onServer], { env: { PATH: source.folder } })
    t.match({ code, stderr }, { code: 1, stderr: /pg_restore is not installed.*postgresql-client/ })
  })

  t.test('a trail that was changed before the dump is found in it', async (t) => {
    const owner = await makeAdminConnection({ databaseUrl: source.url })
    await owner.query('alter table payment_events disable trigger all')
    await owner.query(
      `update payment_events set gross_amount = 5 where ordinal = (select min(ordinal) from payment_events)`,
    )
    await owner.query('alter table payment_events enable trigger all')
    await owner.end()
    const { code, stdout } = await verify(source.dump('changed.dump', '-Fc'), onServer)
    t.match({ code, stdout }, { code: 3, stdout: /payment_events +BROKEN at ordinal/ })
  })

  t.test('and so are webhooks that no worker would send', async (t) => {
    const owner = await makeAdminConnection({ databaseUrl: source.url })
    t.ok((await owner.query('delete from webhook_waiting')).rowCount)
    await owner.end()
    const { code, stdout } = await verify(source.dump('unsent.dump', '-Fc'), [...onServer, '--json'])
    t.match({ code, stdout }, { code: 3, stdout: /"is_whole":false/ })
    t.ok(JSON.parse(stdout).violations.length > 0, stdout)
  })

  t.test('nothing is left behind', async (t) => {
    const owner = await makeAdminConnection({ databaseUrl: source.url })
    t.same((await owner.query(`select datname from pg_database where datname like 'svc_scratch%'`)).rows, [])
    await owner.end()
    // Another run on this machine may have folders too, which it removes itself.
    await until(async () => LEFT().every((name) => before.includes(name)))
  })
})

provesLeaves(t, import.meta.filename)
