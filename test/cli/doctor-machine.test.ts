import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { withoutPasswords } from '../../cli/service/doctor/commands.ts'
import { nodeCheck, spaceCheck } from '../../cli/service/doctor/machine.ts'
import { terminalCheck } from '../../cli/service/doctor/client-setup.ts'
import { freePort } from '../../src/db/free-port.ts'
import { fakeService, runCli } from './harness.ts'
import { nodeCommand } from './service.ts'
import { provesLeaves } from './ran.ts'

type Checks = Record<string, { state: string; text: string; fix: string | null }>

async function lookOver(stateDir: string, more: NodeJS.ProcessEnv = {}): Promise<Checks> {
  const env = { SVC_STATE_DIR: stateDir, ...more }
  const { stdout } = await runCli(['doctor', '--only', 'machine', '--json'], { env })
  return Object.fromEntries(JSON.parse(stdout).checks.map((each: { check: string }) => [each.check, each]))
}

/** A state directory, and the port that it listened on last. */
async function stateDirOf(t: Test, port?: number): Promise<string> {
  const stateDir = join(t.testdir({}), 'state')
  mkdirSync(stateDir, { mode: 0o711 })
  writeFileSync(join(stateDir, 'port'), `${port ?? (await freePort())}\n`)
  return stateDir
}

function writeSecret(stateDir: string, name: string, text: string): string {
  const file = join(stateDir, name)
  writeFileSync(file, text, { mode: 0o600 })
  return file
}

function writeService(stateDir: string, pid: number, more: object = {}): void {
  const merchant = { id: 'm', client_id: 'c', webhook_secret: 's' }
  const urls = {
    api_url: 'http://127.0.0.1:1',
    auth_url: null,
    demo_url: 'http://127.0.0.1:1',
    database_url: 'postgres://x',
  }
  const state = { ...urls, state_dir: stateDir, pid, merchant, operator: null, customer: null, ...more }
  writeSecret(stateDir, 'svc.json', JSON.stringify(state))
}

t.test('a machine that is well', async (t) => {
  const stateDir = await stateDirOf(t)
  writeSecret(stateDir, 'master.key', 'k')
  const env = { SVC_STATE_DIR: stateDir }
  t.match(await runCli(['doctor', '--only', 'machine', '-q', 'healthy'], { env }), { code: 0, stdout: 'true\n' })
  const told = await runCli(['doctor', '--only', 'machine'], { env: { ...env, PATH: process.env['PATH'] } })
  t.match(told.stdout, /^Healthy +yes; 6 ok, 2 not looked at\n\nThis machine\nnode +ok: Node\.js 2\d/)
})

t.test('Node.js that is too old, and a disk without room', async (t) => {
  t.match(nodeCheck({ running: 'v22.1.0', shell: undefined }), { state: 'finding', fix: 'npm ci' })
  t.match(nodeCheck({ running: 'v24.1.0', shell: 'v18.0.0' }), {
    state: 'ok',
    text: /v18\.0\.0, which the launcher passes over/,
  })
  t.match(spaceCheck('/s', 100 * 2 ** 20), { state: 'finding', text: /only 100 MB/, fix: /^svc up --state-dir/ })
  t.match(spaceCheck('/s', 5 * 2 ** 30), { state: 'ok' })
})

t.test('a secret that others can read is told with its chmod, and stays as it is', async (t) => {
  const stateDir = await stateDirOf(t)
  const config = join(stateDir, 'config')
  mkdirSync(config)
  const key = writeSecret(stateDir, 'master.key', 'k')
  const credentials = writeSecret(config, 'credentials.json', '{"version":1,"entries":{}}')
  for (const file of [key, credentials]) chmodSync(file, 0o644)
  const env = { SVC_CONFIG_DIR: config, SVC_STATE_DIR: stateDir }
  const found = await lookOver(stateDir, env)
  t.match(found['file permissions'], { state: 'finding', fix: `chmod 600 ${key} ${credentials}` })
  const session = await runCli(['doctor', '--only', 'you', '-o', 'json'], {
    env: { ...env, SVC_API_URL: 'http://127.0.0.1:1' },
  })
  t.match(session, { code: 0, stdout: /"check":"session"[^}]*others can read/ })
  for (const file of [key, credentials]) t.equal(statSync(file).mode & 0o777, 0o644)

  for (const file of [key, credentials]) chmodSync(file, 0o600)
  chmodSync(stateDir, 0o777)
  t.match((await lookOver(stateDir, env))['file permissions'], { state: 'finding', fix: `chmod go-w ${stateDir}` })
})

t.test('who holds the port of the API', async (t) => {
  const other = await fakeService(t, () => ({ json: { hello: 'world' } }))
  const port = Number(new URL(other.url).port)
  const stateDir = await stateDirOf(t, port)
  t.match((await lookOver(stateDir))['port'], { state: 'finding', text: /another program/, fix: 'svc up --port 0' })
  const env = { SVC_DATABASE_URL: 'postgres://127.0.0.1:1/x', SVC_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64') }
  const configured = await lookOver(stateDir, { ...env, SVC_PORT: String(port) })
  t.match(configured['port'], { state: 'finding', fix: /^export SVC_PORT=\d+$/ })

  const svc = await fakeService(t, () => ({ json: { name: 'svc' } }))
  const own = Number(new URL(svc.url).port)
  t.match((await lookOver(stateDir, { ...env, SVC_PORT: String(own) }))['port'], { state: 'ok' })
  t.match((await lookOver(await stateDirOf(t, own)))['port'], { state: 'finding', text: /another svc/ })
  const elsewhere = await lookOver(await stateDirOf(t), { SVC_PORT: String(own) })
  t.match(elsewhere['port'], { text: `(SVC_PORT is for svc serve; svc up takes --port ${own})` })
  writeService(stateDir, process.pid, { api_url: other.url })
  t.match((await lookOver(stateDir))['port'], { state: 'finding', fix: 'svc down && svc up --port 0 --detach' })
})

t.test('what a service left that was killed', async (t) => {
  const stateDir = await stateDirOf(t)
  const gone = spawn(...nodeCommand(['-e', '']), { stdio: 'ignore' })
  await new Promise((resolve) => gone.once('exit', resolve))
  writeService(stateDir, gone.pid ?? 0)
  t.match((await lookOver(stateDir))['process'], { state: 'finding', text: /has ended/, fix: 'svc down' })
  writeSecret(stateDir, 'svc.json', '{')
  t.match((await lookOver(stateDir))['process'], { state: 'finding', text: /damaged/, fix: 'svc down' })
})

t.test('a database that outlived its service, and one that its service outlived', async (t) => {
  const stateDir = await stateDirOf(t)
  const dataDirectory = join(stateDir, 'postgres')
  mkdirSync(dataDirectory)
  const kept = { password: 'a'.repeat(32), port: 5999, dataDirectory }
  writeSecret(stateDir, 'postgres.json', JSON.stringify(kept))
  t.match((await lookOver(stateDir))['embedded database'], { state: 'ok', text: /stopped/ })

  // By its command line it is the server of this directory.
  const server = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', 'postgres', dataDirectory], {
    stdio: 'ignore',
    env: {},
  })
  t.teardown(() => void server.kill('SIGKILL'))
  writeFileSync(join(dataDirectory, 'postmaster.pid'), `${server.pid}\n`)
  t.match((await lookOver(stateDir))['embedded database'], { state: 'finding', text: /still runs/, fix: 'svc down' })

  writeService(stateDir, process.pid, { database_url: 'postgres://svc_owner:x@127.0.0.1:5999/svc' })
  t.match((await lookOver(stateDir))['embedded database'], { state: 'finding', text: /takes no connections/ })
  writeFileSync(join(dataDirectory, 'postmaster.pid'), '')
  const ended = (await lookOver(stateDir))['embedded database']
  t.match(ended, { state: 'finding', text: /has ended/, fix: 'svc down && svc up --detach' })

  const keys = await runCli(['doctor', '--only', 'database', '--json'], { env: { SVC_STATE_DIR: stateDir } })
  t.match(keys.stdout, /"check":"master keys","group":"database","state":"finding","text":"[^"]*master\.key is missing/)
})

t.test('a configuration file that no command can read is a finding, and all else is looked at', async (t) => {
  const cwd = t.testdir({ '.svc': {} })
  const file = join(cwd, '.svc', 'config.yaml')
  for (const [text, why] of [
    ['api_url: [', 'this is no YAML'],
    ['output: c4n4ry', 'is none of table'],
    ['client_secret: c4n4ry', 'holds no secrets'],
  ] as const) {
    writeFileSync(file, text)
    const { code, stdout } = await runCli(['doctor', '--json'], { cwd })
    t.equal(code, 1)
    const checks = Object.fromEntries(JSON.parse(stdout).checks.map((each: { check: string }) => [each.check, each]))
    t.match(checks['config files'], { state: 'finding', text: `${file}: `, fix: `"\${EDITOR:-nano}" ${file}` }, why)
    t.match(checks['config files'].text, why)
    t.match(checks['node'], { state: 'ok' })
  }
  t.equal((await runCli(['payments', 'list'], { cwd })).code, 2)
  writeFileSync(file, 'output: json\n')
  // Of a service that is named, the machine's port is not looked at.
  t.match(await runCli(['doctor', '--only', 'machine'], { cwd, env: { SVC_API_URL: 'http://127.0.0.1:1' } }), {
    code: 0,
    stdout: /"check":"config files"[^}]*"ok"/,
  })
})

t.test('the terminal, and the editor in it', async (t) => {
  const stdout = { isTTY: true, columns: 80, rows: 24, write: () => undefined }
  const env = { LANG: 'en_GB.UTF-8', TERM: 'xterm' }
  t.match(terminalCheck({ stdout, env }), { state: 'ok', text: /80 columns and 24 rows/ })
  t.match(terminalCheck({ stdout: { ...stdout, columns: 50 }, env }), { state: 'finding', fix: /^resize -s/ })
  t.match(terminalCheck({ stdout, env: { ...env, TERM: 'dumb' } }), { state: 'finding', fix: /TERM=/ })
  t.match(terminalCheck({ stdout, env: { ...env, LC_ALL: 'C' } }), { state: 'finding', fix: 'export LC_ALL=C.UTF-8' })

  const PATH = process.env['PATH']
  const typed = { typed: '', env: { ...env, PATH } }
  const unset = await runCli(['doctor', '--only', 'you'], typed)
  t.match(unset, {
    code: 0,
    stdout: /yes; 1 ok, 1 remark, [^]*VISUAL and EDITOR [^]*export EDITOR=nano/,
  })
  const missing = await runCli(['doctor', '--only', 'you'], {
    ...typed,
    env: { ...typed.env, EDITOR: 'no-such-editor -w' },
  })
  t.match(missing, { code: 1, stdout: /there is no no-such-editor here/ })
  t.match(await runCli(['doctor', '--only', 'you'], { ...typed, env: { ...typed.env, EDITOR: 'sh' } }), { code: 0 })
})

t.test('no password of an address is told', async (t) => {
  t.equal(
    withoutPasswords('at postgres://ada:c4n4@ry@db/x and smtp://u:c4n4ry@h'),
    'at postgres://ada:***@db/x and smtp://u:***@h',
  )
  t.equal(withoutPasswords('http://127.0.0.1:8080/x'), 'http://127.0.0.1:8080/x')
})

provesLeaves(t, import.meta.filename)
