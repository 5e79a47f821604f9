import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import pg from 'pg'
import t from 'tap'
import type { Test } from 'tap'
import type { App } from '../../src/app.ts'
import { runPart } from '../../cli/service/up/part.ts'
import { ofEveryMerchant } from '../../src/db/merchant-scope.ts'
import { sql } from '../../src/db/sql.ts'
import { freePort } from '../support/free-port.ts'
import { clusterUrl } from '../support/cluster.ts'
import { liveEnv } from '../support/live.ts'
import { emptyDatabase, testDatabase } from '../support/database.ts'
import { runCli } from './harness.ts'
import { noteRan, provesLeaves } from './ran.ts'
import { until } from '../support/until.ts'
import {
  LAUNCHER,
  cleanEnv,
  databaseProcesses,
  nodeCommand,
  stateDirOf,
  svc,
  upDetached,
  upForeground,
} from './service.ts'

/* What runs until it is stopped is a process, and so is what makes one; what only ends with an answer runs in this one. */
function startPart(t: Test, word: string, env: NodeJS.ProcessEnv) {
  const child = spawn(...nodeCommand([LAUNCHER, word]), { env: cleanEnv(env), stdio: ['ignore', 'ignore', 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => void (said += chunk))
  const ended = once(child, 'exit')
  void ended.then(([code]) => noteRan([word], code))
  return { child, said: () => said, ended }
}

t.test('a migration that the database refuses is named, with what to look at', async (t) => {
  const { url: databaseUrl } = await emptyDatabase(t)
  const owner = new pg.Client(databaseUrl)
  await owner.connect()
  await owner.query("create type kyb_status as enum ('NONE')")
  await owner.end()
  const env = { SVC_DATABASE_URL: databaseUrl, SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64') }
  const { code, stdout, stderr } = await runCli(['migrate', 'up'], { env })
  t.same([code, stdout], [1, ''])
  t.match(stderr, /^Error: The database rejected the migration 0002_merchants: type "kyb_status" already exists\. /m)
  t.match(stderr, /Try: which are applied: .*svc migrate status\n/)
  t.notMatch(stderr, /Check SVC_DATABASE_URL/, 'its address is right')
})

t.test('a database that goes away while a part starts is named as that, and no other failure is', async (t) => {
  const { url } = await testDatabase(t)
  const key = randomBytes(32).toString('base64')
  const env = { SVC_DATABASE_URL: url, SVC_ENCRYPTION_KEY: key, SVC_LOG_LEVEL: 'silent' }
  const startWith = (fail: (app: App) => Promise<unknown>): Promise<void> =>
    runPart(
      env,
      () => undefined,
      (app) => fail(app).then(() => ({ what: 'It runs.', stop: async () => undefined })),
    )
  const owner = new pg.Client(url)
  await owner.connect()
  const ended = startWith((app) => ofEveryMerchant(() => app.pool.query(sql.unsafe`select pg_sleep(600)`)))
  const end = `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like '%(600)'`
  await Promise.all([
    t.rejects(ended, {
      code: 'DATABASE',
      message: /: the server is starting or stopping\. Try again in a few seconds\.$/,
    }),
    until('its statement is ended', async () => (await owner.query(end)).rowCount === 1),
  ])
  await owner.end()
  const wrong = new TypeError('nothing is not a function')
  await t.rejects(
    startWith(() => Promise.reject(wrong)),
    wrong,
    'a fault of our own is none of the database',
  )
})

t.test('an address that is not one of this machine is named as SVC_HOST', async (t) => {
  const { url } = await testDatabase(t)
  const key = randomBytes(32).toString('base64')
  // Reserved for documentation, so no machine has it (RFC 3849).
  const env = {
    SVC_DATABASE_URL: url,
    SVC_ENCRYPTION_KEY: key,
    SVC_PORT: String(await freePort()),
    SVC_HOST: '2001:db8::1',
  }
  const { code, stderr } = await runCli(['serve'], { env })
  t.equal(code, 2, stderr)
  t.match(stderr, 'Error: SVC_HOST: "2001:db8::1" does not resolve to an address of this machine')
  t.notMatch(stderr, /PostgreSQL|SVC_DATABASE_URL/)
})

t.test('in live mode without a bank, serve says what is missing, and goes on', async (t) => {
  const { url: databaseUrl } = await testDatabase(t)
  const live = await liveEnv()
  const env = {
    ...live,
    SVC_DATABASE_URL: databaseUrl,
    SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  }
  const api = startPart(t, 'serve', env)
  await until('the API listens', () => api.said().includes('The API listens on'))
  await until('it says what is missing', () => /But no bank is configured: .*SVC_BANK_PROFILES/.test(api.said()))
  t.match(await (await fetch(`http://127.0.0.1:${live['SVC_PORT']}/readyz`)).json(), { status: 'ready', banks: 'none' })
})

t.test('migrate, serve and worker run the parts from the environment, and end well on SIGTERM', async (t) => {
  const { url: databaseUrl } = await emptyDatabase(t)
  const port = await freePort()
  const env = {
    SVC_DATABASE_URL: databaseUrl,
    SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    SVC_PORT: String(port),
  }
  t.match(await runCli(['migrate', 'status'], { env }), { code: 3, stdout: /not yet/ })
  for (const word of ['serve', 'worker']) {
    const { code, stderr } = await runCli([word], { env, calledAs: 'npx svc' })
    t.equal(code, 1, word)
    t.match(stderr, /^Error: The database has not been migrated yet\.\nTry: .*npx svc migrate up/, word)
  }
  t.match(await svc(['migrate', 'up', '--json'], { env }), { code: 0, stdout: /"0001_roles"/ })
  t.match(await runCli(['migrate', 'up', '--json'], { env }), { code: 0, stdout: '{"applied":[]}\n' })
  const restored = await runCli(['migrate', 'up', '--restored'], { env })
  t.match(restored, { code: 0, stderr: /new events follow all that were read before the restore/ })
  t.match(await runCli(['migrate', 'status'], { env }), { code: 0 })
  t.match(await svc(['worker', '--once', '--concurrency', '4', '--json'], { env }), {
    code: 0,
    stdout: '{"failed":[]}\n',
  })
  t.match(await runCli(['worker', '--concurrency', '0'], { env }), {
    code: 2,
    stderr: /--concurrency: must be a whole/,
  })

  const api = startPart(t, 'serve', env)
  const probes = `http://127.0.0.1:${await freePort()}`
  const worker = startPart(t, 'worker', { ...env, SVC_OBSERVE_PORT: new URL(probes).port })
  await until('the API listens', () => api.said().includes(`http://127.0.0.1:${port}`))
  await until('the worker runs', () => worker.said().includes(`The worker runs; ${probes} has its probes and metrics.`))
  for (const url of [`http://127.0.0.1:${port}`, probes]) t.equal((await fetch(`${url}/readyz`)).status, 200)
  t.match(await (await fetch(`${probes}/metrics`)).text(), /^svc_job_runs_total\{job="settle-payments"/m)
  t.match(
    await runCli(['payments', 'list', '--api-url', `http://127.0.0.1:${port}`, '--client-id', 'nobody'], { cwd: '/' }),
    { code: 4 },
  )
  t.match(await runCli(['status', '-q', 'ready'], { cwd: '/', env: { SVC_API_URL: `http://127.0.0.1:${port}` } }), {
    code: 0,
    stdout: 'true\n',
  })
  t.match(await runCli(['serve'], { env }), { code: 1, stderr: new RegExp(`port ${port} [^]*SVC_PORT`) })
  for (const { child, ended } of [api, worker]) {
    child.kill('SIGTERM')
    t.same(await ended, [0, null])
  }
})

t.test('up over a database from outside starts no database of its own', async (t) => {
  const { url: databaseUrl } = await emptyDatabase(t)
  const stateDir = stateDirOf(t)
  const state = await upDetached(stateDir, ['--db', databaseUrl])
  t.equal(state.database_url, databaseUrl)
  t.same(databaseProcesses(stateDir), [])
  t.equal(
    (
      await runCli(['payments', 'create', '--amount', '1.00', '--currency', 'GBP', '--approve', '--wait'], {
        env: { SVC_STATE_DIR: stateDir },
      })
    ).code,
    0,
  )
  t.match(await runCli(['up', '--state-dir', stateDir, '--db', databaseUrl]), { code: 7 })
  t.match(await svc(['down', '--state-dir', stateDir]), { code: 0, stdout: new RegExp(String(state.pid)) })
  const {
    child,
    state: again,
    ended,
  } = await upForeground(t, ['--port', '0', '--state-dir', stateDir], { env: { SVC_DATABASE_URL: databaseUrl } })
  t.same(again.merchant, state.merchant)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

async function query(databaseUrl: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(text)
  await client.end()
}

const key = (): string => randomBytes(32).toString('base64')

t.test('no part runs on a database that is older or newer than its code', async (t) => {
  const { url: databaseUrl } = await testDatabase(t)
  const env = { SVC_DATABASE_URL: databaseUrl, SVC_ENCRYPTION_KEY: key(), SVC_PORT: '0' }
  t.match(await runCli(['migrate', 'status'], { env }), { code: 0 })
  await query(databaseUrl, "insert into schema_migrations (name) values ('9999_later')")
  for (const word of ['serve', 'worker'])
    t.match(
      await runCli([word], { env, calledAs: 'npx svc' }),
      { code: 1, stderr: /9999_later.*Run that version or a newer one/ },
      word,
    )
  await query(databaseUrl, "delete from schema_migrations where name in ('9999_later', '0022_refunds')")
  for (const word of ['serve', 'worker'])
    t.match(
      await runCli([word], { env, calledAs: 'npx svc' }),
      { code: 1, stderr: /lacks 0022_refunds\.\nTry: .*npx svc migrate up/ },
      word,
    )
})

t.test('what is wrong with the login that migrates is said of its own variable', async (t) => {
  const { url: databaseUrl } = await emptyDatabase(t)
  const wrong = new URL(databaseUrl)
  wrong.pathname = '/no_such_database'
  for (const words of [['up'], ['up', '--dry-run'], ['status']]) {
    const own = await runCli(['migrate', ...words], {
      env: { SVC_DATABASE_URL: databaseUrl, SVC_MIGRATION_DATABASE_URL: wrong.href },
    })
    t.match(own, { code: 1, stderr: /after the last slash of SVC_MIGRATION_DATABASE_URL\./ }, words.join(' '))
  }
  const other = await runCli(['migrate', 'up'], { env: { SVC_DATABASE_URL: wrong.href } })
  t.match(other, { code: 1, stderr: /after the last slash of SVC_DATABASE_URL\./ })
})

t.test("a login that is no more than a member of the service's roles may see that all is migrated", async (t) => {
  const login = `svc_login_${randomBytes(4).toString('hex')}`
  // The server is shared, so what is its own and not the database's goes as well.
  t.teardown(async () => query(await clusterUrl(), `drop role if exists ${login}`))
  const { url: databaseUrl } = await emptyDatabase(t)
  t.match(await runCli(['migrate', 'up'], { env: { SVC_MIGRATION_DATABASE_URL: databaseUrl } }), { code: 0 })
  // Without inheritance: what the role may do, the login may only after it has taken the role on.
  await query(databaseUrl, `create role ${login} login noinherit password 'p' in role svc_runtime`)
  const url = new URL(databaseUrl)
  url.username = login
  url.password = 'p'
  const env = { SVC_DATABASE_URL: url.href, SVC_ENCRYPTION_KEY: key(), SVC_PORT: '0' }
  t.match(
    await runCli(['serve'], { env }),
    { code: 1, stderr: /is not a member of it[^]*grant svc_merchant to this user/ },
    'a request of a merchant would fail',
  )
  await query(databaseUrl, `grant svc_merchant to ${login}`)
  for (const word of ['serve', 'worker']) {
    const part = startPart(t, word, env)
    await until(`${word} runs`, () => /The (API listens|worker runs)/.test(part.said()) || part.child.exitCode !== null)
    t.equal(part.child.exitCode, null, part.said())
    part.child.kill('SIGTERM')
    await part.ended
  }
  await query(databaseUrl, 'revoke select on schema_migrations from svc_runtime')
  t.match(await runCli(['worker'], { env, calledAs: 'npx svc' }), {
    code: 1,
    stderr: /may not see which migrations[^]*Try: .*npx svc migrate up/,
  })
})

t.test(
  'with another key than the one of the data nothing starts, and the message says so without any key',
  async (t) => {
    const { url: databaseUrl } = await testDatabase(t)
    const [right, wrong] = [key(), key()]
    const env = { SVC_DATABASE_URL: databaseUrl, SVC_PORT: '0' }
    const stateDir = stateDirOf(t)
    await upDetached(stateDir, [], { env: { ...env, SVC_ENCRYPTION_KEY: right } })
    t.match(await svc(['down', '--state-dir', stateDir]), { code: 0 })
    for (const words of [['serve'], ['worker'], ['up', '--port', '0', '--state-dir', stateDir]]) {
      const { code, stdout, stderr } = await runCli(words, { env: { ...env, SVC_ENCRYPTION_KEY: wrong } })
      t.equal(code, 1, words.join(' '))
      t.match(
        stderr,
        /Error: SVC_ENCRYPTION_KEY \([0-9a-f]{8}\) is not the key [^]*\nTry: SVC_ENCRYPTION_KEY with the key of/,
      )
      t.notOk(`${stdout}${stderr}`.includes(wrong))
    }
    const worker = startPart(t, 'worker', { ...env, SVC_ENCRYPTION_KEY: right })
    await until('the worker runs', () => worker.said().includes('The worker runs.'))
    worker.child.kill('SIGTERM')
    t.same(await worker.ended, [0, null])

    // Its demo logins are known, and no bank has moved its balances.
    const live = { ...(await liveEnv()), SVC_DATABASE_URL: databaseUrl, SVC_ENCRYPTION_KEY: right }
    for (const words of [['serve'], ['worker', '--once'], ['staff', 'bootstrap', '--email', 'a@b.example']]) {
      const { code, stderr } = await runCli(words, { env: live })
      t.equal(code, 1, words.join(' '))
      t.match(
        stderr,
        /^Error: SVC_MODE is live, and this database was first started in sandbox\s+mode\.?\nTry: SVC_MODE as the database has it/m,
      )
    }
    t.match(await runCli(['doctor', '--only', 'database'], { env: live }), {
      stdout: /mode +.*first started in sandbox mode/,
    })
  },
)

t.test('a database of live mode is started in no sandbox', async (t) => {
  const { url: databaseUrl } = await testDatabase(t)
  const env = { SVC_DATABASE_URL: databaseUrl, SVC_ENCRYPTION_KEY: key() }
  t.match(await runCli(['worker', '--once'], { env }), { code: 0 }, 'a task decides nothing')
  const worker = startPart(t, 'worker', { ...(await liveEnv()), ...env })
  await until('the worker runs', () => worker.said().includes('The worker runs'))
  worker.child.kill('SIGTERM')
  await worker.ended
  for (const words of [['serve'], ['up', '--port', '0', '--state-dir', stateDirOf(t)]])
    t.match(
      await runCli(words, { env }),
      { code: 1, stderr: /SVC_MODE is sandbox, and this database was first started in live mode/ },
      words.join(' '),
    )
})

provesLeaves(t, import.meta.filename)
