import { spawnSync } from 'node:child_process'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { findService } from '../../cli/client/find-service.ts'
import {
  readServiceState,
  removeServiceState,
  serviceFile,
  stateDirOf,
  writeServiceState,
} from '../../cli/client/service-state.ts'
import type { ServiceState } from '../../cli/client/service-state.ts'
import { runCli } from './harness.ts'

function stateOf(stateDir: string, more: Partial<ServiceState> = {}): ServiceState {
  return {
    api_url: 'http://127.0.0.1:4000',
    auth_url: null,
    demo_url: 'http://127.0.0.1:4000/dev/merchant-harness',
    database_url: 'postgres://svc_owner:secret@127.0.0.1:5000/svc',
    state_dir: stateDir,
    pid: process.pid,
    merchant: {
      id: 'm',
      client_id: 'demo-server',
      client_secret: null,
      realm: 'demo',
      webhook_secret: 's',
      email: null,
      password: null,
    },
    operator: null,
    customer: null,
    ...more,
  }
}

const NO_PROFILES = { SVC_CONFIG_DIR: '/nowhere/config' }

t.test('the service of ./.svc is found without any setting', async (t) => {
  const cwd = t.testdir({ '.svc': {} })
  writeServiceState(join(cwd, '.svc'), stateOf(join(cwd, '.svc')))
  t.match(findService({ flags: {}, env: NO_PROFILES, cwd }), {
    apiUrl: 'http://127.0.0.1:4000',
    profile: undefined,
    state: { merchant: { client_id: 'demo-server' } },
  })
})

t.test('a flag wins over the environment, which wins over the state file', async (t) => {
  const cwd = t.testdir({ '.svc': {} })
  writeServiceState(join(cwd, '.svc'), stateOf(join(cwd, '.svc')))
  const env = { ...NO_PROFILES, SVC_API_URL: 'http://127.0.0.1:4001/' }
  t.match(findService({ flags: {}, env, cwd }), { apiUrl: 'http://127.0.0.1:4001' })
  t.match(findService({ flags: { apiUrl: 'https://pay.example' }, env, cwd }), { apiUrl: 'https://pay.example' })
})

t.test('what svc.json knows is not used for another service than its own', async (t) => {
  const cwd = t.testdir({ '.svc': {} })
  writeServiceState(join(cwd, '.svc'), stateOf(join(cwd, '.svc')))
  const env = NO_PROFILES
  t.equal(findService({ flags: { apiUrl: 'http://127.0.0.1:4001' }, env, cwd }).state, undefined)
  t.ok(findService({ flags: { apiUrl: 'http://127.0.0.1:4000' }, env, cwd }).state)
})

t.test('another name of this machine is the same service, by the address that is known of it', async (t) => {
  const cwd = t.testdir({ '.svc': {}, config: { 'config.yaml': profilesOf('http://localhost:4002') } })
  writeServiceState(join(cwd, '.svc'), stateOf(join(cwd, '.svc')))
  const env = NO_PROFILES
  for (const apiUrl of [
    'http://localhost:4000',
    'http://localhost:4000/',
    'http://[::1]:4000',
    'HTTP://LOCALHOST:4000',
  ])
    t.match(findService({ flags: { apiUrl }, env, cwd }), { apiUrl: 'http://127.0.0.1:4000', state: Object }, apiUrl)
  for (const apiUrl of [
    'http://localhost:4001',
    'https://localhost:4000',
    'http://localhost:4000/x',
    'http://other:4000',
  ])
    t.match(findService({ flags: { apiUrl }, env, cwd }), { apiUrl, state: undefined }, apiUrl)
  const own = { SVC_CONFIG_DIR: join(cwd, 'config'), SVC_API_URL: 'http://127.0.0.1:4002', SVC_PROFILE: 'acme' }
  t.match(findService({ flags: {}, env: own, cwd }), { apiUrl: 'http://localhost:4002', profile: { name: 'acme' } })
})

function profilesOf(apiUrl: string): string {
  return `profiles:\n  acme: {api_url: '${apiUrl}', auth_url: null, realm: acme, client_id: acme-cli, mode: sandbox, kind: merchant, role: null, subject: null}\n`
}

t.test('the state directory: flag, SVC_STATE_DIR, ./.svc, always absolute', async (t) => {
  t.equal(stateDirOf({ flag: 'a', env: { SVC_STATE_DIR: '/b' }, cwd: '/c' }), '/c/a')
  t.equal(stateDirOf({ flag: undefined, env: { SVC_STATE_DIR: '/b' }, cwd: '/c' }), '/b')
  t.equal(stateDirOf({ flag: undefined, env: { SVC_STATE_DIR: '' }, cwd: '/c' }), '/c/.svc')
})

t.test(
  'nothing found says svc up, with exit code 8; so does the file of a dead process, and a damaged one',
  async (t) => {
    const cwd = t.testdir({ '.svc': {} })
    const notRunning = { code: 'NOT_RUNNING', options: { exit: 8, hint: /svc up/ } }
    t.throws(() => findService({ flags: {}, env: NO_PROFILES, cwd }), notRunning)
    const { pid } = spawnSync(process.execPath, ['-e', ''])
    writeServiceState(join(cwd, '.svc'), stateOf(join(cwd, '.svc'), { pid }))
    t.throws(() => findService({ flags: {}, env: NO_PROFILES, cwd }), notRunning)
    writeFileSync(serviceFile(join(cwd, '.svc')), '{"api_url":')
    t.throws(() => findService({ flags: {}, env: NO_PROFILES, cwd }), notRunning)
  },
)

t.test('an address that is none is a usage error', async (t) => {
  for (const apiUrl of ['nonsense', 'ftp://host', 'file:///etc/passwd']) {
    t.throws(() => findService({ flags: { apiUrl }, env: NO_PROFILES, cwd: '/nowhere' }), {
      code: 'USAGE',
      options: { exit: 2 },
    })
  }
})

t.test('an address with a user name or password in it is rejected everywhere, and not repeated', async (t) => {
  const cwd = t.testdir({ '.svc': {} })
  const addresses = ['http://ada:hunter2@127.0.0.1:9', 'https://hunter2@pay.example', 'ada:hunter2@pay.example']
  for (const address of [...addresses, 'http:/\\ada:hunter2@pay.example', '//ada:hunter2@pay.example']) {
    for (const words of [['status'], ['payments', 'list'], ['profile', 'create', 'acme', '--realm', 'acme']]) {
      const flagged = await runCli([...words, '--api-url', address], { cwd, env: NO_PROFILES })
      const ofEnvironment = await runCli(words, { cwd, env: { ...NO_PROFILES, SVC_API_URL: address } })
      for (const { code, stdout, stderr } of [flagged, ofEnvironment]) {
        t.equal(code, 2, `${words.join(' ')}: ${address}`)
        t.match(stderr, /no user name and no password/)
        t.notMatch(stdout + stderr, /hunter2/)
      }
    }
  }
  const project = t.testdir({ 'config.yaml': 'api_url: "http://ada:hunter2@127.0.0.1:9"\n' })
  const { code, stderr } = await runCli(['payments', 'list'], {
    env: { SVC_CONFIG_DIR: project },
  })
  t.match({ code, stderr }, { code: 2, stderr: /api_url: must hold no user name/ })
  t.notMatch(stderr, /hunter2/)
})

t.test('svc.json is readable by its owner alone, and only its own process removes it', async (t) => {
  const stateDir = join(t.testdir({}), 'state')
  mkdirSync(stateDir)
  writeServiceState(stateDir, stateOf(stateDir))
  t.equal(statSync(serviceFile(stateDir)).mode & 0o777, 0o600)
  removeServiceState(stateDir, process.pid + 1)
  t.ok(readServiceState(stateDir))
  removeServiceState(stateDir, process.pid)
  t.notOk(readServiceState(stateDir))
})
