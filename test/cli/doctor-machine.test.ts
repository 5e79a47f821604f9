import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { withoutPasswords } from '../../cli/service/doctor/commands.ts'
import { nodeCheck } from '../../cli/service/doctor/machine.ts'
import { freePort } from '../support/free-port.ts'
import { fakeService, runCli } from './harness.ts'
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

t.test('a machine that is well', async (t) => {
  const stateDir = await stateDirOf(t)
  const env = { SVC_STATE_DIR: stateDir }
  t.match(await runCli(['doctor', '--only', 'machine', '-q', 'healthy'], { env }), { code: 0, stdout: 'true\n' })
  const told = await runCli(['doctor', '--only', 'machine'], { env: { ...env, PATH: process.env['PATH'] } })
  t.match(told.stdout, /^Healthy +yes: 3 ok, 0 skipped\n\nThis machine\nnode +ok: Node\.js 2\d/)
})

t.test('Node.js that is too old', async (t) => {
  t.match(nodeCheck({ running: 'v22.1.0', shell: undefined }), { state: 'finding', fix: 'npm ci' })
  t.match(nodeCheck({ running: 'v24.1.0', shell: 'v18.0.0' }), {
    state: 'ok',
    text: /v18\.0\.0, which the launcher passes over/,
  })
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
})

t.test('a configuration file that no command can read is named', async (t) => {
  const cwd = t.testdir({})
  const file = join(cwd, 'config.yaml')
  for (const [text, why] of [
    ['api_url: [', 'not valid YAML'],
    ['output: c4n4ry', 'is none of table'],
  ] as const) {
    writeFileSync(file, text)
    const { code, stderr } = await runCli(['doctor'], { cwd, env: { SVC_CONFIG_DIR: cwd } })
    t.equal(code, 2)
    t.match(stderr, file)
    t.match(stderr, why)
  }
})

t.test('no password of an address is printed', async (t) => {
  t.equal(
    withoutPasswords('at postgres://ada:c4n4@ry@db/x and smtp://u:c4n4ry@h'),
    'at postgres://ada:***@db/x and smtp://u:***@h',
  )
  t.equal(withoutPasswords('http://127.0.0.1:8080/x'), 'http://127.0.0.1:8080/x')
})

provesLeaves(t, import.meta.filename)
