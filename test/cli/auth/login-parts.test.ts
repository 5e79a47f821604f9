import t from 'tap'
import { browserCommand, openBrowser, startLoopback } from '../../../cli/client/auth/login-browser.ts'
import { claimsOf, realmOfIssuer } from '../../../cli/client/auth/token-source.ts'
import { configDirOf } from '../../../cli/client/auth/config-dir.ts'
import { pollDevice } from '../../../cli/client/auth/login-device.ts'
import { makeConnections } from '../../../cli/client/call.ts'
import { fakeIdentity, fakeToken } from './fake-identity.ts'
import { visit } from './running.ts'

const URL = 'https://pay.example/auth?a=1&b=2'

t.test('the browser: $BROWSER, then what the system has, and none without a display', async (t) => {
  const cases: [env: NodeJS.ProcessEnv, platform: NodeJS.Platform, command: string[] | undefined][] = [
    [{ BROWSER: 'firefox' }, 'linux', ['firefox', URL]],
    [{ BROWSER: 'firefox --new-tab %s --quiet' }, 'linux', ['firefox', '--new-tab', URL, '--quiet']],
    [{ BROWSER: 'firefox', SSH_CONNECTION: '10.0.0.1' }, 'linux', ['firefox', URL]],
    [{}, 'darwin', ['open', URL]],
    [{}, 'win32', ['rundll32', 'url.dll,FileProtocolHandler', URL]],
    [{ DISPLAY: ':0' }, 'linux', ['xdg-open', URL]],
    [{ WAYLAND_DISPLAY: 'wayland-0' }, 'linux', ['xdg-open', URL]],
    [{ DISPLAY: ':0', SSH_CONNECTION: '10.0.0.1' }, 'linux', undefined],
    [{}, 'linux', undefined],
  ]
  for (const [env, platform, command] of cases) t.same(browserCommand(env, platform, URL), command)
  t.equal(await openBrowser(['/bin/true']), true)
  t.equal(await openBrowser(['/nowhere/browser']), false)
})

t.test(
  'a provider that asks to slow down is asked five seconds less often, and a short outage is waited out',
  async (t) => {
    let asked = 0
    const fake = await fakeIdentity(t, {
      answer: ({ path }) => (path.endsWith('/token') && (asked += 1) === 3 ? { status: 503 } : undefined),
    })
    fake.deviceAnswers.push('authorization_pending', 'slow_down')
    const http = makeConnections(5_000)
    t.teardown(() => http.close())
    const waits: number[] = []
    const tokens = await pollDevice(
      http,
      { authUrl: fake.url, realm: 'acme-ltd' },
      {
        clientId: 'acme-ltd-cli',
        deviceCode: 'device-secret',
        verifier: 'verifier',
        intervalSeconds: 5,
        expiresAt: Date.now() + 600_000,
        wait: async (ms) => void waits.push(ms),
      },
    )
    t.same(waits, [5_000, 5_000, 10_000, 15_000])
    t.ok(tokens.refresh_token)
  },
)

t.test('a code that was not confirmed in time is asked for again on another device', async (t) => {
  const fake = await fakeIdentity(t)
  fake.deviceAnswers.push('expired_token')
  const http = makeConnections(5_000)
  t.teardown(() => http.close())
  const realm = { authUrl: fake.url, realm: 'acme-ltd' }
  const code = { clientId: 'acme-ltd-cli', deviceCode: 'device-secret', verifier: 'verifier', intervalSeconds: 5 }
  const options = { hint: 'to begin again: svc login --device' }
  for (const expiresAt of [Date.now(), Date.now() + 600_000])
    await t.rejects(pollDevice(http, realm, { ...code, expiresAt, wait: async () => undefined }), {
      code: 'LOGIN_TIMED_OUT',
      options,
    })
})

t.test('the page of a login says nothing that a stranger could use, and answers one return', async (t) => {
  const loopback = await startLoopback({ state: 'right', issuer: 'https://pay.example/realms/acme-ltd' })
  t.teardown(() => loopback.close())
  const first = visit(`${loopback.redirectUri}?code=c-1&state=right&iss=https%3A%2F%2Fpay.example%2Frealms%2Facme-ltd`)
  t.same(await loopback.returned, { code: 'c-1' })
  t.match(await visit(`${loopback.redirectUri}?code=c-2&state=right`), { status: 409 })
  loopback.finish(true)
  t.match(await first, { status: 200, text: /You can close this page/ })
  t.match((await first).text, '<link rel="icon" href="data:,">', 'browsers ask for no other')
  t.notMatch((await first).text, /c-1|right/)
})

t.test('what a token says of itself is read, and what is none says nothing', async (t) => {
  t.match(claimsOf(fakeToken({ iss: 'x', exp: 1 })), { iss: 'x', exp: 1 })
  for (const text of ['', 'a.b', 'a.b.c.d', 'a.!.c', `a.${Buffer.from('[]').toString('base64url')}.c`])
    t.equal(claimsOf(text), undefined, text)
  t.same(realmOfIssuer('https://pay.example/auth/realms/acme-ltd'), {
    authUrl: 'https://pay.example/auth',
    realm: 'acme-ltd',
  })
  for (const issuer of [undefined, '', 'https://pay.example', 'https://pay.example/realms/', 'ftp://x/realms/a'])
    t.equal(realmOfIssuer(issuer), undefined)
})

t.test('the configuration lies where the user keeps such things', async (t) => {
  t.equal(configDirOf({ SVC_CONFIG_DIR: '/a', XDG_CONFIG_HOME: '/b', HOME: '/c' }), '/a')
  t.equal(configDirOf({ SVC_CONFIG_DIR: '', XDG_CONFIG_HOME: '/b', HOME: '/c' }), '/b/svc')
  t.equal(configDirOf({ HOME: '/c' }), '/c/.config/svc')
})
