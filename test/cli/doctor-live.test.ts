import t from 'tap'
import type { Test } from 'tap'
import { LIVE_CHECKS } from '../../cli/service/doctor/live.ts'
import { makePgConnection } from '../../src/db/connection.ts'
import { emptyDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { newKey } from '../support/keys.ts'
import { liveEnv } from '../support/live.ts'
import { chapterOf, readPage, tableAfter } from '../support/markdown.ts'
import { smtpSink } from '../support/smtp-sink.ts'
import { testService } from '../support/app.ts'
import { tlsProxy } from '../support/tls-proxy.ts'
import { addStaff } from '../../src/staff/add-staff.ts'
import { BANK, STATEMENT, inDays } from './bank-setup.ts'
import { fakeService, refusal, runCli, serviceInfo } from './harness.ts'

type Check = { check: string; group: string; state: string; text: string; fix: string | null }
type Checks = Record<string, Check>

/** What a busy machine makes of any check; none of these tests expects it. */
const TOO_LATE = /no answer within|nothing answers|no certificate was seen|timed out/
const ATTEMPTS_MAX = 2

async function lookOver(
  env: NodeJS.ProcessEnv,
  attempt = 1,
): Promise<{ code: number; stdout: string; healthy: boolean | null; checks: Checks }> {
  const { code, stdout } = await runCli(['doctor', '--live', '--json'], { env })
  const { healthy, checks }: { healthy: boolean | null; checks: Check[] } = JSON.parse(stdout)
  if (checks.some(({ text }) => TOO_LATE.test(text)) && attempt < ATTEMPTS_MAX) return lookOver(env, attempt + 1)
  return { code, stdout, healthy, checks: Object.fromEntries(checks.map((each) => [each.check, each])) }
}

const CHECKLIST = '## What do I check before the first payment?'

t.test('the list of the documentation has each check, in its order, and no other', async (t) => {
  const page = readPage('docs/operators/running.md')
  t.same(
    tableAfter(page, CHECKLIST).map((row) => row.split('|')[1]?.trim()),
    Object.keys(LIVE_CHECKS),
  )
  t.match(chapterOf(page, CHECKLIST), 'svc doctor --live')
  t.match(await runCli(['doctor', '--live', '--only', 'mail']), { code: 2, stderr: /leave out --only/ })
})

t.test('where nothing is configured', async (t) => {
  const { code, checks } = await lookOver({})
  t.equal(code, 1)
  t.match(checks['settings'], { state: 'finding', group: 'live' })
  t.same(Object.keys(checks), Object.keys(LIVE_CHECKS))
})

/** An installation in live mode behind TLS, with logins of its own, of which `env` is the environment. */
async function liveInstallation(t: Test) {
  const proxy = await tlsProxy(t)
  const key = newKey()
  const mails = await smtpSink(t)
  const live = { ...(await liveEnv()), SVC_PUBLIC_URL: proxy.url, SVC_SMTP_URL: mails.url, SVC_ENCRYPTION_KEY: key }
  const service = await testService(t, { env: live })
  proxy.leadTo(service.url)
  const { owner } = service
  const logins = ['api', 'owner'].map((name) => `live_${name}_${process.pid}`)
  for (const login of logins) await owner.query(`create role ${login} login password 'c4n4ry'`)
  t.teardown(() => owner.query(`drop owned by ${logins.join(', ')}; drop role ${logins.join(', ')}`))
  const [api = '', migrator = ''] = logins
  await owner.query(`grant svc_merchant to ${api}`)
  const urlOf = (username: string): string =>
    Object.assign(new URL(service.databaseUrl), { username, password: 'c4n4ry' }).href
  const metrics = await fakeService(t, () => ({ text: 'svc_up 1' }))
  const env: NodeJS.ProcessEnv = {
    ...live,
    SVC_DATABASE_URL: urlOf(api),
    SVC_MIGRATION_DATABASE_URL: urlOf(migrator),
    SVC_OBSERVE_PORT: new URL(metrics.url).port,
    SVC_ALERT_MAIL: 'ops@pay.example',
  }
  return { service, proxy, env, api, owner }
}

t.test('an installation in live mode: each condition, as it is not and as it is', async (t) => {
  const { service, proxy, env, api, owner } = await liveInstallation(t)
  const before = await lookOver(env)
  t.equal(before.code, 1)
  t.notMatch(before.stdout, /c4n4ry/)
  const ok = ['settings', 'public address', 'certificate', 'metrics', 'database logins', 'migrations', 'master key']
  for (const name of [...ok, 'mail', 'alerts', 'mandates']) t.equal(before.checks[name]?.state, 'ok', name)
  t.match(before.checks, {
    worker: { state: 'finding', text: /no svc worker is connected/, fix: 'svc worker' },
    banks: { state: 'finding', text: /no bank is configured/, fix: 'export SVC_BANK_PROFILES=<file>' },
    'bank certificates': { state: 'skipped' },
    operators: { state: 'finding', fix: /^svc staff bootstrap --email/ },
    'second factor': { state: 'skipped' },
    'back-up': { state: 'finding', text: /no dump was verified yet/, fix: /^svc backup verify svc\.dump --record/ },
  })

  t.test('what is set otherwise', async (t) => {
    const otherwise = async (changes: NodeJS.ProcessEnv): Promise<Checks> =>
      (await lookOver({ ...env, ...changes })).checks
    t.match(await otherwise({ SVC_MODE: 'sandbox', SVC_PUBLIC_URL: service.url }), {
      settings: { state: 'finding', fix: 'export SVC_MODE=live' },
      'public address': { state: 'finding', text: /without encryption/, fix: 'export SVC_PUBLIC_URL=https://<host>' },
      certificate: { state: 'skipped' },
    })
    t.match(await otherwise({ SVC_VRP_CAPS: undefined, SVC_ENCRYPTION_KEY: undefined }), {
      settings: { state: 'finding', text: /SVC_ENCRYPTION_KEY/, fix: 'svc config check' },
      'master key': { state: 'finding', fix: 'svc config keys create' },
      mandates: { state: 'finding', fix: 'export SVC_VRP_CAPS=enforce' },
    })
    const dead = `smtp://127.0.0.1:${await freePort()}`
    t.match(await otherwise({ SVC_OBSERVE_PORT: undefined, SVC_ALERT_MAIL: undefined, SVC_SMTP_URL: dead }), {
      metrics: { state: 'finding', text: /no port serves them/, fix: 'export SVC_OBSERVE_PORT=9090' },
      alerts: { state: 'remark', fix: /^export SVC_ALERT_MAIL=/ },
      mail: { state: 'finding', text: /connection failed/, fix: /^export SVC_SMTP_URL=/ },
    })
    const { url: empty } = await emptyDatabase(t)
    t.match(await otherwise({ SVC_DATABASE_URL: empty }), {
      migrations: { state: 'finding', fix: 'svc migrate up' },
      'database logins': {
        state: 'finding',
        text: /is a superuser.*use another login/,
        fix: /-c 'create role svc_api login in role svc_merchant'$/,
      },
    })
    t.match(await otherwise({ SVC_MIGRATION_DATABASE_URL: service.databaseUrl }), {
      'database logins': { state: 'finding', fix: /-c 'create role svc_owner login in role/ },
    })
    await owner.query(`alter role ${api} bypassrls`)
    t.match(await otherwise({}), { 'database logins': { state: 'finding', fix: /nosuperuser nobypassrls'$/ } })
    await owner.query(`alter role ${api} nobypassrls`)
    const away = `postgres://svc@127.0.0.1:${await freePort()}/svc`
    t.match(await otherwise({ SVC_MIGRATION_DATABASE_URL: away }), {
      'database logins': { state: 'finding', fix: /^export SVC_MIGRATION_DATABASE_URL=/ },
    })
    const { url: other } = await fakeService(t, () => refusal(404, 'NOT_FOUND'))
    t.match(await otherwise({ SVC_OBSERVE_PORT: new URL(other).port }), {
      metrics: { state: 'finding', text: /answers 404: another program/ },
    })
    t.match(await otherwise({ SVC_OBSERVE_PORT: String(await freePort()) }), {
      metrics: { state: 'skipped', text: /svc serve does not run here/ },
    })
    await owner.query(`create table live_owned (); alter table live_owned owner to ${api}`)
    t.match(await otherwise({}), { 'database logins': { state: 'remark', text: /owns the tables/ } })
    await owner.query('drop table live_owned')
  })

  t.test('the proxy', async (t) => {
    const shown = async (name: string): Promise<Check | undefined> => (await lookOver(env)).checks[name]
    await proxy.show({ validDays: 13 })
    t.match(await shown('certificate'), { state: 'finding', text: /in 1[23] days/, fix: /^curl -vI https:/ })
    await proxy.show({ validDays: 90, isTrusted: false })
    t.match(await shown('certificate'), { state: 'finding', text: /do not accept/ })
    await proxy.show({ validDays: 90 })
    proxy.leadTo(undefined)
    t.match(await shown('public address'), { state: 'finding', text: /answers 502/, fix: /^curl -i https:/ })
    t.match(await shown('metrics'), { state: 'skipped', text: /answers 502/ })
    const { url: open } = await fakeService(t, () => ({ text: 'svc_up 1' }))
    proxy.leadTo(open)
    t.match(await shown('metrics'), { state: 'finding', text: /anyone can read/ })
    proxy.leadTo(service.url)
  })

  t.test('a worker', async (t) => {
    const worker = await makePgConnection({
      databaseUrl: service.databaseUrl,
      applicationName: 'svc worker',
      onError: () => undefined,
    })
    t.match((await lookOver(env)).checks['worker'], { state: 'ok' }, 'seen by a login without rights')
    await worker.end()
  })

  t.test('people', async (t) => {
    const actor = { id: 'test', name: 'test', role: 'OWNER' }
    for (const [email, role] of [
      ['ada@pay.example', 'OWNER'],
      ['bob@pay.example', 'OPS'],
      ['eve@pay.example', 'SUPPORT'],
    ] as const)
      await addStaff(service.app, { email, role, actor })
    t.match((await lookOver(env)).checks, {
      operators: { state: 'remark', text: 'ada@pay.example is the only OWNER', fix: /^svc staff invite/ },
      'second factor': {
        state: 'finding',
        text: /^not set up by ada@pay\.example, bob@pay\.example: /,
        fix: 'svc login --second-factor',
      },
    })
    await addStaff(service.app, { email: 'dan@pay.example', role: 'OWNER', actor })
    await owner.query(
      `insert into idp.second_factors (user_id) select id from idp.users where realm = 'platform' and email !~ '^eve'`,
    )
    t.match((await lookOver(env)).checks, { operators: { state: 'ok' }, 'second factor': { state: 'ok' } })
  })

  t.test('back-ups', async (t) => {
    const verified = async (values: string): Promise<Check | undefined> => {
      await owner.query(
        `insert into backup_verification (id, verified_at, is_whole) values ('last', ${values})
         on conflict (id) do update set verified_at = excluded.verified_at, is_whole = excluded.is_whole`,
      )
      return (await lookOver(env)).checks['back-up']
    }
    t.match(await verified(`now() - interval '9 hours', true`), { state: 'ok', text: /9 hours ago/ })
    t.match(await verified(`now() - interval '8 days', true`), { state: 'finding', text: /8 days ago/ })
    t.match(await verified('now(), false'), { state: 'finding', text: /not whole/ })

    // An event of four days ago, which no payment has: only its time is read.
    await owner.query('set session_replication_role = replica')
    await owner.query(
      `insert into payment_events (id, merchant_id, payment_intent_id, previous_status, new_status, changed_by, raw_payload,
         raw_payload_sha256, prev_hash, event_hash, created_at)
       values (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'Settled', 'Refunded', 'BATCH_JOB', '{}', '', '', '',
         now() - interval '4 days')`,
    )
    await owner.query('reset session_replication_role')
    await owner.query(`update backup_verification set newest_event_at = now() - interval '5 days'`)
    t.match(await verified('now(), true'), { state: 'finding', text: /lacked events that were older than two days/ })
    await owner.query('update backup_verification set newest_event_at = (select max(created_at) from payment_events)')
    t.match(await verified('now(), true'), { state: 'ok' }, 'it has the last one')
  })
})

t.test('a service that is named: what it says, and what only its environment does', async (t) => {
  const lookAt = async (banks: readonly object[], statement: object | null): Promise<Checks> => {
    const { url } = await fakeService(t, ({ path }) => {
      if (path === '/api/v1/service') return { json: serviceInfo({ mode: 'live', vrp_caps: 'enforce' }) }
      if (path === '/api/v1/admin/banks') return { json: { data: banks, software_statement: statement } }
      return path === '/healthz' ? { json: { status: 'ok' } } : refusal(404, 'NOT_FOUND')
    })
    return (await lookOver({ SVC_API_URL: url, SVC_PLATFORM_USER: 'ada' })).checks
  }
  t.match(await lookAt([BANK], STATEMENT), {
    settings: { state: 'ok' },
    'public address': { state: 'finding', text: /without encryption/ },
    'database logins': { state: 'skipped' },
    migrations: { state: 'skipped' },
    'master key': { state: 'skipped' },
    banks: { state: 'ok' },
    'bank certificates': { state: 'ok' },
    mandates: { state: 'ok', text: /rejected/ },
    'back-up': { state: 'skipped' },
  })
  t.match(await lookAt([{ ...BANK, client_id: null }], STATEMENT), {
    banks: { state: 'finding', fix: /^svc banks connect model/ },
  })
  t.match(await lookAt([{ ...BANK, is_proven: false, last_test: null }], STATEMENT), {
    banks: { state: 'remark', fix: 'svc banks test model' },
  })
  t.match(await lookAt([{ ...BANK, available: false }], { ...STATEMENT, certificate_ends_at: inDays(20) }), {
    banks: { state: 'finding', text: /no answer/ },
    'bank certificates': { state: 'finding', text: /in 20 days/, fix: /^svc banks rotate-keys/ },
  })
  t.match(await lookAt([BANK], null), { banks: { state: 'finding', fix: /^svc banks software-statement set/ } })
})

const PERSON = {
  id: '0199a1b2-0000-7000-8000-000000000001',
  email: 'ada@pay.example',
  keycloak_user_id: '0199a1b2-0000-7000-8000-000000000002',
  display_name: 'Ada',
  role: 'OWNER',
  is_active: true,
  second_factor: null,
  created_at: '2026-11-22T10:00:00.000Z',
  last_seen_at: null,
}

t.test('without a finding, and with something that could not be checked, it is not known to be ready', async (t) => {
  const proxy = await tlsProxy(t)
  const { url } = await fakeService(t, ({ path }) => {
    if (path === '/api/v1/service') return { json: serviceInfo({ mode: 'live', vrp_caps: 'enforce' }) }
    if (path === '/api/v1/admin/staff') return { json: { data: [PERSON], has_more: false, next_cursor: null } }
    if (path === '/api/v1/admin/banks') return { json: { data: [BANK], software_statement: STATEMENT } }
    return path === '/healthz' ? { json: { status: 'ok' } } : refusal(404, 'NOT_FOUND')
  })
  proxy.leadTo(url)
  const { code, healthy, checks } = await lookOver({ SVC_API_URL: proxy.url, SVC_PLATFORM_USER: 'ada' })
  t.same(
    Object.values(checks).filter(({ state }) => state === 'finding'),
    [],
  )
  t.match(checks, { settings: { state: 'ok' }, 'public address': { state: 'ok' }, migrations: { state: 'skipped' } })
  t.match(checks['second factor'], { state: 'remark', fix: 'svc docs keycloak' }, 'a provider that does not say it')
  t.match({ code, healthy }, { code: 1, healthy: null })
})
