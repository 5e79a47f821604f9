import t from 'tap'
import { identityOf } from '../../../cli/service/up/plan.ts'
import { freePort } from '../../support/free-port.ts'
import { runCli } from '../harness.ts'

const SECRET = { SVC_KEYCLOAK_CLIENT_SECRET: 'c4n4ry' }
const URL = 'http://127.0.0.1:8081'

t.test('a Keycloak needs its address, by flag or environment, and a secret that is no flag', async (t) => {
  const plan = { identity: 'keycloak', authUrl: URL }
  t.same(identityOf({ idp: 'keycloak', authUrl: URL }, SECRET), plan)
  t.same(identityOf({ authUrl: URL }, { ...SECRET, SVC_IDENTITY: 'keycloak' }), { identity: undefined, authUrl: URL })
  const inFile = { SVC_AUTH_URL: URL, SVC_KEYCLOAK_CLIENT_SECRET_FILE: '/run/secrets/svc' }
  t.same(identityOf({ idp: 'keycloak' }, inFile), { identity: 'keycloak', authUrl: undefined })
  t.same(identityOf({}, {}), { identity: undefined, authUrl: undefined })
})

const REFUSED: [title: string, words: string[], env: NodeJS.ProcessEnv, told: RegExp][] = [
  ['without an address', ['--idp', 'keycloak'], SECRET, /where Keycloak is has to be said[^]*--auth-url/],
  ['without its secret', ['--idp', 'keycloak', '--auth-url', URL], {}, /SVC_KEYCLOAK_CLIENT_SECRET is not set/],
  ['at what is no address', ['--idp', 'keycloak', '--auth-url', 'id.example.com'], SECRET, /invalid address/],
  ['that is not used', ['--auth-url', URL], SECRET, /none is used[^]*--idp keycloak/],
  ['beside another', ['--idp', 'embedded', '--auth-url', URL], SECRET, /none is used/],
]

for (const [title, words, env, told] of REFUSED) {
  t.test(`a Keycloak ${title} is refused before anything starts`, async (t) => {
    const up = await runCli(['up', '--port', '0', ...words], { env })
    t.match(up, { code: 2, stderr: told })
    const run = await runCli(['sandbox', 'run', 'happy-path', '--ephemeral', ...words], { env })
    t.match(run, { code: 2, stderr: told })
    t.notMatch(up.stderr + run.stderr, 'c4n4ry')
  })
}

t.test('--auth-url is of a service of its own run alone', async (t) => {
  const run = await runCli(['sandbox', 'run', 'happy-path', '--auth-url', URL], { env: SECRET })
  t.match(run, { code: 2, stderr: /--ephemeral/ })
})

t.test('a Keycloak that does not answer is reported, and nothing is left running', async (t) => {
  const away = `http://127.0.0.1:${await freePort()}`
  const run = ['sandbox', 'run', 'happy-path', '--ephemeral', '--idp', 'keycloak', '--auth-url', away]
  const outcome = await runCli(run, { env: { ...SECRET, SVC_LOG_LEVEL: 'silent' } })
  t.match(outcome, { code: 8, stderr: /identity provider could not[^]*SVC_AUTH_URL/ })
})
