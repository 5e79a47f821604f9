import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import t from 'tap'
import { isRunning } from '../../cli/client/service-state.ts'
import { freePort } from '../support/free-port.ts'
import { runCli } from './harness.ts'
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
import { provesLeaves } from './ran.ts'

/** One directory for all that may go on where another test has stopped: a first start makes a database, a later one not. */
const stateDir = stateDirOf(t)

t.test(
  'up --detach --json prints one object once everything answers, down stops it all, and a second start keeps the data',
  async (t) => {
    const state = await upDetached(stateDir)
    t.match(state, {
      api_url: /^http:\/\/127\.0\.0\.1:\d+$/,
      auth_url: state.api_url,
      database_url: /^postgres:\/\//,
      state_dir: stateDir,
      merchant: {
        client_id: 'demo-server',
        client_secret: /^\S{40,}$/,
        realm: 'demo',
        webhook_secret: /^[0-9a-f]{64}$/,
        email: 'admin@demo.example',
        password: /^\S{16,}$/,
      },
      operator: {
        realm: 'platform',
        client_id: /^platform-key-/,
        client_secret: /^\S{40,}$/,
        role: 'OWNER',
        email: /@/,
        password: /^\S{16,}$/,
      },
      customer: {
        id: 'customer-demo',
        name: 'Grace Demo',
        email: 'grace@demo.example',
        password: /^\S{16,}$/,
        client_id: /^customers-key-/,
        client_secret: /^\S{40,}$/,
        realm: 'customers',
        account_id: String,
      },
    })
    t.equal(state.demo_url, `${state.api_url}/dev/merchant-harness`)
    t.equal((await fetch(`${state.api_url}/readyz`)).status, 200)
    t.equal((await fetch(state.demo_url)).status, 200)
    t.same(JSON.parse(readFileSync(join(stateDir, 'svc.json'), 'utf8')), state)
    for (const file of ['svc.json', 'master.key', 'svc.log'])
      t.equal(statSync(join(stateDir, file)).mode & 0o777, 0o600, file)

    const env = { SVC_STATE_DIR: stateDir }
    const made = await runCli(
      ['payments', 'create', '--amount', '50.00', '--currency', 'GBP', '--approve', '--wait', 'Settled', '--json'],
      { env },
    )
    t.equal(made.code, 0)
    const payment = JSON.parse(made.stdout)
    t.match(payment, { status: 'Settled', gross_amount: '50.00', fee_amount: '0.70' })
    t.match(await runCli(['status', '-q', 'running'], { env }), { code: 0, stdout: 'true\n' })
    t.match(await runCli(['migrate', 'status'], { env }), { code: 0, stdout: /0001_roles/ })
    t.match(await runCli(['up', '--port', '0', '--detach'], { env }), {
      code: 7,
      stderr: new RegExp(`process ${state.pid}, ${state.api_url}[^]*svc down`),
    })

    t.match(await svc(['down'], { env }), { code: 0, stdout: new RegExp(String(state.pid)) })
    t.notOk(isRunning(state.pid))
    t.same(databaseProcesses(stateDir), [])
    t.notOk(existsSync(join(stateDir, 'svc.json')))
    t.match(await runCli(['down'], { env }), { code: 0, stdout: /no service was running/ })
    t.match(await runCli(['status'], { env }), { code: 8, stdout: /not running/ })

    const again = await upDetached(stateDir)
    t.same(again.merchant, state.merchant)
    t.equal(again.api_url, state.api_url, 'addresses that were given out stay good')
    t.match(await runCli(['payments', 'show', payment.payment_id, '-q', 'status'], { env }), {
      code: 0,
      stdout: 'Settled\n',
    })
  },
)

t.test('two services run side by side, each with its own payments', async (t) => {
  const [one, two] = [stateDir, stateDirOf(t)]
  const first = JSON.parse(readFileSync(join(one, 'svc.json'), 'utf8'))
  const second = await upDetached(two)
  t.not(first.api_url, second.api_url)
  t.equal((await runCli(['payments', 'create', '--amount', '1.00', '--currency', 'GBP', '--state-dir', one])).code, 0)
  t.match(JSON.parse((await runCli(['payments', 'list', '--json', '--state-dir', one])).stdout), [
    { gross_amount: '1.00' },
    { gross_amount: '50.00' },
  ])
  t.same(JSON.parse((await runCli(['payments', 'list', '--json', '--state-dir', two])).stdout), [])
})

t.test(
  'a service killed with SIGKILL counts as stopped; down clears its database, and up starts over it',
  async (t) => {
    const first = JSON.parse(readFileSync(join(stateDir, 'svc.json'), 'utf8'))
    process.kill(first.pid, 'SIGKILL')
    await until('the service is gone', () => !isRunning(first.pid))
    t.match(await runCli(['status', '--state-dir', stateDir]), { code: 8 })
    const second = await upDetached(stateDir)
    t.not(second.pid, first.pid)
    t.same(second.merchant, first.merchant)

    process.kill(second.pid, 'SIGKILL')
    await until('the service is gone', () => !isRunning(second.pid))
    t.not(databaseProcesses(stateDir).length, 0, 'its database outlives it')
    t.match(await svc(['down', '--state-dir', stateDir, '--json']), {
      code: 0,
      stdout: /"pid":null,"leftover_pid":\d+/,
    })
    t.same(databaseProcesses(stateDir), [])
  },
)

t.test('a taken port is named, with a port to take instead, and leaves nothing behind', async (t) => {
  const stateDir = stateDirOf(t)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  for (const more of [[], ['--detach']]) {
    const { code, stdout, stderr } = await svc([
      'up',
      '--port',
      String(port),
      '--state-dir',
      stateDir,
      '--json',
      ...more,
    ])
    t.equal(code, 1)
    t.equal(stdout, '')
    t.match(JSON.parse(stderr), {
      error: { code: 'PORT_TAKEN', message: new RegExp(`port ${port} `), hint: /--port 0/ },
    })
  }
  t.same(databaseProcesses(stateDir), [])
  t.notOk(existsSync(join(stateDir, 'svc.json')))
})

t.test(
  'Ctrl+C of a foreground service stops everything and succeeds; copies of the signal do not force it',
  async (t) => {
    const { child, state, ended } = await upForeground(t, ['--port', '0', '--state-dir', stateDir])
    t.equal(state.pid, child.pid)
    child.kill('SIGINT')
    child.kill('SIGINT')
    t.equal(await ended, 0)
    t.same(databaseProcesses(stateDir), [])
    t.notOk(existsSync(join(stateDir, 'svc.json')))
  },
)

t.test('a signal while it starts stops what was started', async (t) => {
  const stopEarly = async () => {
    const stateDir = stateDirOf(t)
    const child = spawn(...nodeCommand([LAUNCHER, 'up', '--port', '0', '--state-dir', stateDir]), {
      env: cleanEnv(),
      stdio: 'ignore',
    })
    t.teardown(() => child.kill('SIGKILL'))
    const ended = once(child, 'exit')
    await until('the database starts', () => databaseProcesses(stateDir).length > 0)
    const isUp = existsSync(join(stateDir, 'svc.json'))
    child.kill('SIGTERM')
    const [code] = await ended
    t.same(databaseProcesses(stateDir), [])
    t.notOk(existsSync(join(stateDir, 'svc.json')))
    return { code, isUp }
  }
  // A test that stood still meanwhile came too late: the service was up.
  let stopped = await stopEarly()
  for (let again = 0; again < 3 && stopped.isUp; again += 1) stopped = await stopEarly()
  t.same(stopped, { code: 143, isUp: false })
})

t.test(
  'a database that ends by itself is started again; one that keeps ending ends the service, with exit code 1',
  async (t) => {
    const { ended, said } = await upForeground(t, ['--port', '0', '--state-dir', stateDir])
    const { dataDirectory } = JSON.parse(readFileSync(join(stateDir, 'postgres.json'), 'utf8'))
    // Its lines have the process first, and "ready" last once it accepts connections.
    const readyServer = (): number | undefined => {
      const file = join(dataDirectory, 'postmaster.pid')
      const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
      return lines.at(-1)?.trim() === 'ready' ? Number(lines[0]) : undefined
    }
    let killed: number | undefined
    for (let times = 0; times < 6; times += 1) {
      await until('another server runs', () => ![undefined, killed].includes(readyServer()))
      killed = readyServer()
      if (killed !== undefined) process.kill(killed, 'SIGQUIT')
    }
    t.equal(await ended, 1)
    await until('it says why', () => /PART_ENDED/.test(said()))
    t.notOk(existsSync(join(stateDir, 'svc.json')))
  },
)

t.test(
  "an ordinary user gets the reason why a directory can't be used",
  { skip: process.getuid?.() === 0 ? false : 'needs root to become another user' },
  async (t) => {
    const stateDir = stateDirOf(t)
    mkdirSync(join(stateDir, 'locked'))
    chmodSync(stateDir, 0o755)
    chmodSync(join(stateDir, 'locked'), 0o555)
    for (const more of [[], ['--detach']]) {
      const { code, stderr } = await svc(
        ['up', '--port', '0', '--state-dir', join(stateDir, 'locked'), '--json', ...more],
        { uid: 65_534, cwd: '/' },
      )
      t.equal(code, 1, stderr)
      t.match(JSON.parse(stderr), { error: { code: 'STATE_DIRECTORY', message: /may not write there/ } })
    }
  },
)

t.test('--port 0 takes a port that no outgoing connection is given, and another when that is taken', async (t) => {
  const taken = await freePort()
  // The look for a free port is on 127.0.0.1: there this one seems free, until the API listens on its own address.
  const server = createServer().listen(taken, '::1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  writeFileSync(join(stateDir, 'port'), `${taken}\n`)
  const { api_url } = await upDetached(stateDir, [], { env: { SVC_HOST: '::1' } })
  const port = Number(new URL(api_url).port)
  t.not(port, taken)
  t.ok(port >= 20_000 && port < 32_000, String(port))
  t.equal(readFileSync(join(stateDir, 'port'), 'utf8'), `${port}\n`)
  t.equal((await fetch(`${api_url}/readyz`)).status, 200)
})

t.test('a state directory that is a file is said to be one, by every command that uses it', async (t) => {
  const stateDir = join(t.testdir({ 'a-file': '' }), 'a-file')
  for (const words of [['up'], ['up', '--detach'], ['down']]) {
    const { code, stderr } = await runCli([...words, '--state-dir', stateDir, '--json'])
    t.equal(code, 1, words.join(' '))
    t.match(JSON.parse(stderr), { error: { code: 'STATE_DIRECTORY', message: /it is a file, not a directory/ } })
  }
})

t.test('wrong choices are usage errors before anything starts', async (t) => {
  for (const words of [
    ['--port', '65536'],
    ['--port', 'x'],
    ['--db', 'mysql://x'],
    ['--idp', 'nonsense'],
  ]) {
    t.match(await runCli(['up', ...words, '--state-dir', '/nowhere/svc']), { code: 2 }, words.join(' '))
  }
  t.match(await runCli(['serve'], { cwd: '/' }), { code: 2, stderr: /SVC_DATABASE_URL/ })
  t.match(await runCli(['worker'], { cwd: '/' }), { code: 2, stderr: /SVC_ENCRYPTION_KEY/ })
  t.match(await runCli(['migrate', 'up'], { cwd: '/' }), { code: 2, stderr: /no database is named/ })
})

t.test('a database from outside that does not answer is reported without its password', async (t) => {
  const stateDir = stateDirOf(t)
  const words = ['up', '--port', '0', '--state-dir', stateDir, '--db', 'postgres://me:s3cret@127.0.0.1:1/svc']
  for (const more of [[], ['--detach']]) {
    const { code, stdout, stderr } = await svc([...words, ...more])
    t.equal(code, 1)
    t.match(`${stdout}${stderr}`, /nothing accepts connections there/)
    t.notMatch(`${stdout}${stderr}`, 's3cret')
  }
})

provesLeaves(t, import.meta.filename)
