import { spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import pg from 'pg'
import t from 'tap'
import type { Test } from 'tap'
import { claimPort } from '../../cli/up/ports.ts'
import {
  LAUNCHER,
  cleanEnv,
  databaseProcesses,
  nodeCommand,
  stateDirOf,
  svc,
  until,
  upDetached,
  upForeground,
} from './service.ts'

/** An empty database on the server of a service that runs for this test. */
async function emptyDatabase(t: Test): Promise<string> {
  const { database_url: owner } = await upDetached(stateDirOf(t))
  const name = `svc_${randomUUID().replaceAll('-', '')}`
  const client = new pg.Client({ connectionString: owner })
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  return owner.replace(/\/svc$/, `/${name}`)
}

function startPart(t: Test, word: string, env: NodeJS.ProcessEnv) {
  const child = spawn(...nodeCommand([LAUNCHER, word]), { env: cleanEnv(env), stdio: ['ignore', 'ignore', 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => void (said += chunk))
  return { child, said: () => said, ended: once(child, 'exit') }
}

t.test('migrate, serve and worker run the parts from the environment, and end well on SIGTERM', async (t) => {
  const databaseUrl = await emptyDatabase(t)
  const port = await claimPort(0)
  const env = {
    SVC_DATABASE_URL: databaseUrl,
    SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    SVC_PORT: String(port),
  }
  t.match(await svc(['migrate', 'status'], { env }), { code: 3, stdout: /not yet/ })
  t.match(await svc(['migrate', 'up', '--json'], { env }), { code: 0, stdout: /"0001_roles"/ })
  t.match(await svc(['migrate', 'up', '--json'], { env }), { code: 0, stdout: '{"applied":[]}\n' })
  t.match(await svc(['migrate', 'status'], { env }), { code: 0 })

  const api = startPart(t, 'serve', env)
  const worker = startPart(t, 'worker', env)
  await until('the API listens', () => api.said().includes(`http://127.0.0.1:${port}`))
  await until('the worker runs', () => worker.said().includes('The worker runs.'))
  t.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).status, 200)
  t.match(
    await svc(['payments', 'list', '--api-url', `http://127.0.0.1:${port}`, '--client-id', 'nobody'], { cwd: '/' }),
    { code: 4 },
  )
  t.match(await svc(['status', '-q', 'ready'], { cwd: '/', env: { SVC_API_URL: `http://127.0.0.1:${port}` } }), {
    code: 0,
    stdout: 'true\n',
  })
  t.match(await svc(['serve'], { env }), { code: 1, stderr: new RegExp(`port ${port} [^]*SVC_PORT`) })
  for (const { child, ended } of [api, worker]) {
    child.kill('SIGTERM')
    t.same(await ended, [0, null])
  }
})

t.test('up over a database from outside starts no database of its own', async (t) => {
  const databaseUrl = await emptyDatabase(t)
  const stateDir = stateDirOf(t)
  const state = await upDetached(stateDir, ['--db', databaseUrl])
  t.equal(state.database_url, databaseUrl)
  t.same(databaseProcesses(stateDir), [])
  t.equal(
    (
      await svc(['payments', 'create', '--amount', '1.00', '--currency', 'GBP', '--approve', '--wait'], {
        env: { SVC_STATE_DIR: stateDir },
      })
    ).code,
    0,
  )
  t.match(await svc(['up', '--state-dir', stateDir, '--db', databaseUrl]), { code: 7 })
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
