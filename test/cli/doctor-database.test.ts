import { cpSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { versionCheck } from '../../cli/service/doctor/database.ts'
import { migrateUp } from '../../src/db/migrate.ts'
import { freePort } from '../support/free-port.ts'
import { kidOfKey } from '../../src/lib/seal.ts'
import { packageRoot } from '../../src/lib/package-root.ts'
import { ensurePlatform } from '../../src/staff/ensure-platform.ts'
import { createPayment, testService, until } from '../support/app.ts'
import type { TestService } from '../support/app.ts'
import { emptyDatabase } from '../support/database.ts'
import { newKey } from '../support/keys.ts'
import { smtpSink } from '../support/smtp-sink.ts'
import { runCli } from './harness.ts'
import { makeDead } from './real-service.ts'

type Check = { check: string; group: string; state: string; text: string; fix: string | null }
type DoctorRun = { code: number; stdout: string; checks: Record<string, Check> }

/** What a busy machine kept from answering in time is looked at again. */
async function lookOver(env: NodeJS.ProcessEnv, only?: string): Promise<DoctorRun> {
  const words = ['doctor', '--json', ...(only === undefined ? [] : ['--only', only])]
  return until(async () => {
    const { code, stdout } = await runCli(words, { env })
    const checks: Check[] = JSON.parse(stdout).checks
    if (checks.some(({ text }) => /no answer within|does not answer in time/.test(text))) return undefined
    return { code, stdout, checks: Object.fromEntries(checks.map((each) => [each.check, each])) }
  })
}

const KEY = newKey()

function envOf({ databaseUrl, url }: TestService): NodeJS.ProcessEnv {
  return { SVC_DATABASE_URL: databaseUrl, SVC_ENCRYPTION_KEY: KEY, SVC_PORT: new URL(url).port, SVC_PUBLIC_URL: url }
}

t.test('a service that is well has no findings, and each check a group', async (t) => {
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded', SVC_ENCRYPTION_KEY: KEY }, worker: true })
  await ensurePlatform(service.app)
  await service.merchant()
  const { url: SVC_SMTP_URL } = await smtpSink(t)
  const { code, stdout, checks } = await lookOver({ ...envOf(service), SVC_SMTP_URL })
  t.equal(code, 0, stdout)
  for (const name of ['running', 'port', 'worker', 'migrations', 'runtime rights', 'migrating rights', 'master keys'])
    t.equal(checks[name]?.state, 'ok', name)
  for (const name of ['mail server', 'dead deliveries', 'registrations']) t.equal(checks[name]?.state, 'ok', name)
  t.same(
    [...new Set(Object.values(checks).map(({ group }) => group))],
    ['machine', 'service', 'banks', 'database', 'identity', 'mail', 'webhooks'],
  )
})

t.test('of one service: each finding is made, and found', async (t) => {
  const service = await testService(t, { env: { SVC_ENCRYPTION_KEY: KEY } })
  const { owner } = service
  const env = { ...envOf(service), SVC_IDENTITY: 'none' }
  const merchant = await service.merchant({ webhookUrl: 'http://127.0.0.1:1/hook' })
  await createPayment(service, merchant)

  t.test('logins that are no members, and what does not own the tables', async (t) => {
    const login = `doctor_${process.pid}`
    await owner.query(`create role ${login} login password 'c4n4ry'`)
    t.teardown(() => owner.query(`drop owned by ${login}; drop role ${login}`))
    const url = new URL(service.databaseUrl)
    Object.assign(url, { username: login, password: 'c4n4ry' })
    const other = await lookOver({ ...env, SVC_DATABASE_URL: url.href }, 'database')
    t.notMatch(other.stdout, 'c4n4ry')
    t.match(other.checks, {
      'runtime rights': { state: 'finding', fix: new RegExp(`-c 'grant svc_merchant to "${login}"'$`) },
      'migrating rights': { state: 'skipped' },
    })
    await owner.query(`grant svc_merchant to ${login}`)
    const member = await lookOver({ ...env, SVC_DATABASE_URL: url.href }, 'database')
    t.match(member.checks, { 'runtime rights': { state: 'ok' }, migrations: { state: 'ok' } })
    const migrating = await lookOver({ ...env, SVC_MIGRATION_DATABASE_URL: url.href }, 'database')
    t.match(migrating.checks['migrating rights'], { state: 'finding', text: /belong to/, fix: /-c 'grant "/ })
    url.password = 'wrong-c4n4ry'
    const refused = await lookOver({ ...env, SVC_MIGRATION_DATABASE_URL: url.href }, 'database')
    t.match(refused.checks['migrating rights'], { state: 'finding', fix: /^export SVC_MIGRATION_DATABASE_URL=/ })
    t.notMatch(refused.stdout, 'c4n4ry')
  })

  t.test('tables without their policies, and the command that gives these back', async (t) => {
    const policies = async () => (await lookOver(env, 'database')).checks['merchant policies']
    t.match(await policies(), { state: 'ok' })
    const before = await policiesOf(owner)
    await owner.query('alter table disputes disable row level security')
    for (const { tablename: table, policyname: name } of before)
      if (['mails', 'merchants', 'payouts'].includes(table)) await owner.query(`drop policy ${name} on ${table}`)
    await owner.query(`create policy one_merchant on payouts to svc_merchant using (true)`)
    const names = ['disputes', 'mails', 'merchants', 'payouts']
    for (const [index, name] of names.entries()) {
      const found = await policies()
      t.match(found, { state: 'finding' })
      t.match(found?.text, `of ${names.slice(index).join(', ')}: `)
      const [, statements = ''] = /^psql "\$SVC_MIGRATION_DATABASE_URL" -c "(.*)"$/.exec(found?.fix ?? '') ?? []
      t.match(statements, name)
      await owner.query(statements)
    }
    t.match(await policies(), { state: 'ok' })
    t.same(await policiesOf(owner), before)
  })

  t.test('tables that Citus has taken: none of merchants may be', async (t) => {
    // Its catalog as Citus 13 has it, in as far as it is read.
    await owner.query('create table pg_dist_partition (logicalrelid regclass)')
    t.teardown(() => owner.query('drop table pg_dist_partition'))
    await owner.query(`insert into pg_dist_partition values ('obie.payments')`)
    t.match((await lookOver(env, 'database')).checks['merchant policies'], { state: 'ok' })
    await owner.query(`insert into pg_dist_partition values ('payment_events')`)
    t.match((await lookOver(env, 'database')).checks['merchant policies'], {
      state: 'finding',
      text: /^Citus has taken payment_events, /,
      fix: /undistribute_table\('payment_events'\)/,
    })
  })

  t.test('secrets that open under no key that is here', async (t) => {
    const { code, stdout, checks } = await lookOver({ ...env, SVC_ENCRYPTION_KEY: newKey() }, 'database')
    t.equal(code, 1)
    t.match(checks['master keys'], { state: 'finding', fix: /^export SVC_ENCRYPTION_KEY_PREVIOUS=/ })
    t.match(checks['master keys']?.text, kidOfKey(KEY))
    t.notMatch(stdout, KEY)
  })

  t.test('no worker', async (t) => {
    t.match((await lookOver(env, 'service')).checks['worker'], { state: 'ok' })
    await owner.query("update webhook_queue set due_at = now() - interval '1 hour'")
    const { checks } = await lookOver(env, 'service')
    t.match(checks['worker'], {
      state: 'finding',
      text: /jobs have been due for 60 min/,
      fix: 'svc worker',
    })
  })

  t.test('DEAD deliveries by merchant, and an endpoint that has gone', async (t) => {
    const { rows } = await owner.query('select id from webhook_deliveries')
    const [{ id }] = rows
    await makeDead(service, [id])
    t.match((await lookOver(env, 'webhooks')).checks, {
      'dead deliveries': {
        state: 'remark',
        text: /^1 of /,
        fix: `svc webhooks replay --status DEAD --merchant ${merchant.realm}`,
      },
      endpoints: { state: 'ok' },
    })
    await owner.query('update webhook_deliveries set last_http_status = 410 where id = $1', [id])
    t.match((await lookOver(env, 'webhooks')).checks, {
      'dead deliveries': { state: 'ok' },
      endpoints: { state: 'finding', fix: `svc merchants show ${merchant.realm}` },
    })
  })

  t.test('a mail server that is away, and one that rejects the login', async (t) => {
    t.match((await lookOver(env, 'mail')).checks['mail server'], { state: 'skipped' })
    const dead = `smtp://ada:c4n4ry@127.0.0.1:${await freePort()}`
    const away = await lookOver({ ...env, SVC_SMTP_URL: dead }, 'mail')
    t.match(away.checks['mail server'], { state: 'finding', text: /connection failed/, fix: /^export SVC_SMTP_URL=/ })
    t.notMatch(away.stdout, 'c4n4ry')
    const refuse = await smtpSink(t, {
      onAuth: (_auth, _session, done) => done(new Error('no')),
      allowInsecureAuth: true,
    })
    const SVC_SMTP_URL = refuse.url.replace('//', '//ada:c4n4ry@')
    const { stdout, checks } = await lookOver({ ...env, SVC_SMTP_URL }, 'mail')
    t.match(checks['mail server'], { state: 'finding', text: /login refused/ })
    t.notMatch(stdout, 'c4n4ry')
  })

  t.test('a registration that was left half-made', async (t) => {
    await owner.query(`insert into registration (id, slug, status, company_name, trading_name, admin_email, locked_until)
      values (gen_random_uuid(), 'half-ltd', 'PROVISIONING', 'Half', 'Half', 'a@half.example', now() - interval '1 hour')`)
    const { checks } = await lookOver(env, 'identity')
    t.match(checks['registrations'], { state: 'finding', text: /incomplete/, fix: 'svc merchants repair half-ltd' })
  })
})

t.test('an older database, and one that is none of ours', async (t) => {
  const { url } = await emptyDatabase(t)
  const env = { SVC_DATABASE_URL: url, SVC_ENCRYPTION_KEY: KEY, SVC_PORT: String(await freePort()) }
  t.match((await lookOver(env, 'database')).checks, {
    migrations: { state: 'finding', text: /not been migrated/, fix: 'svc migrate up' },
    'master keys': { state: 'skipped' },
  })
  await migrateUp({ databaseUrl: url, folder: firstMigrations(t, 15), log: () => undefined })
  const { code, checks } = await lookOver(env)
  t.equal(code, 1)
  t.match(checks, {
    migrations: { state: 'finding', text: /lacks 0016_/, fix: 'svc migrate up' },
    'runtime rights': { state: 'ok' },
    provider: { state: 'skipped', text: /older than this version/ },
    running: { state: 'finding', fix: 'svc serve' },
  })
})

t.test('a database restored from another server, and one of a later release', async (t) => {
  const service = await testService(t, { env: { SVC_ENCRYPTION_KEY: KEY } })
  await createPayment(service, await service.merchant())
  const migrations = async () => (await lookOver(envOf(service), 'database')).checks['migrations']
  t.match(await migrations(), { state: 'ok' })
  await service.owner.query(`update webhook_deliveries set feed_xid = (feed_xid::text::bigint + 5000000)::text::xid8`)
  t.match(await migrations(), { state: 'finding', text: /restored from another server/, fix: 'svc migrate up' })
  await migrateUp({ databaseUrl: service.databaseUrl, log: () => undefined })
  await service.owner.query(`insert into schema_migrations (name, version) values ('9999_later', '99.0.0')`)
  t.match(await migrations(), { state: 'finding', text: /carries 9999_later/, fix: 'svc migrate status' })
})

type Policy = { tablename: string; policyname: string; permissive: string; qual: string; with_check: string | null }

async function policiesOf(owner: TestService['owner']): Promise<Policy[]> {
  const { rows } = await owner.query<Policy>(
    'select tablename, policyname, permissive, qual, with_check from pg_policies order by 1, 2',
  )
  return rows
}

/** A folder with the first of the package's migrations. */
function firstMigrations(t: Test, count: number): string {
  const all = join(packageRoot(), 'migrations')
  const folder = join(t.testdir({}), 'migrations')
  mkdirSync(folder)
  for (const file of readdirSync(all).toSorted().slice(0, count)) cpSync(join(all, file), join(folder, file))
  return folder
}

t.test('servers that are too old or too new', async (t) => {
  t.match(versionCheck({ version: 180_004, version_text: '18.4' }), { state: 'ok' })
  t.match(versionCheck({ version: 140_011, version_text: '14.11' }), { state: 'finding', text: /14\.11.*15 to 18/ })
  t.match(versionCheck({ version: 190_000, version_text: '19.0' }), { state: 'finding' })
})
