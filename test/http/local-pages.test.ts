import t from 'tap'
import { testService } from '../support/app.ts'
import { rawRequest } from '../support/raw-http.ts'
import { serviceWithRealms } from '../support/realms.ts'

const service = await testService(t, { env: { SVC_IDENTITY: 'none' } })
const merchant = await service.merchant()

/** Asks for a merchant's payments as a browser's bytes would. */
async function ask(host: string, lines: readonly string[] = [], path = '/api/v1/payments') {
  const head = [`GET ${path} HTTP/1.1`, `Host: ${host}`, `X-Merchant-Client-Id: ${merchant.clientId}`, ...lines]
  return rawRequest(
    service.app.config.port,
    [...head, 'X-Platform-User: ada', 'Connection: close', '', ''].join('\r\n'),
  )
}

const LOCAL = ['localhost', 'LOCALHOST:8080', '127.0.0.1', '127.0.0.1:1', '127.8.9.1:65535', '[::1]', '[::1]:8080']

/** Names that a page from elsewhere can have, and those that only look like this machine. */
const FOREIGN = [
  'evil.example',
  'evil.example:8080',
  'localhost.evil.example',
  'evil-localhost',
  '127.0.0.1.evil.example',
  '127.0.0.1.nip.io:8080',
  '128.0.0.1',
  '10.0.0.1',
  '192.168.1.2:8080',
  '0.0.0.0',
  '2130706433',
  '0x7f.1',
  '[::2]',
  '[::ffff:127.0.0.1]',
  '[2001:db8::1]:8080',
  'localhost@evil.example',
  'localhost:8080.evil.example',
  'x',
  '',
]

t.test('without a provider, the service accepts only host names of this machine', async (t) => {
  for (const host of LOCAL) t.equal((await ask(host)).status, 200, host)
  for (const host of FOREIGN) {
    const { status, text } = await ask(host)
    t.equal(status, 401, host)
    t.match(text, /accepts requests to this machine only","code":"UNAUTHENTICATED"/)
    t.notMatch(text, /"data"/)
  }
})

t.test('pages of other origins are rejected', async (t) => {
  for (const host of LOCAL) t.equal((await ask('localhost', [`Origin: http://${host}`])).status, 200, host)
  for (const host of FOREIGN) t.equal((await ask('localhost', [`Origin: http://${host}`])).status, 401, host)
  for (const origin of ['null', 'https://evil.example', 'file://', 'chrome-extension://abc', 'http://localhost/x', ''])
    t.equal((await ask('localhost', [`Origin: ${origin}`])).status, 401, origin)
})

t.test('the same holds for operators and the sandbox', async (t) => {
  const paths = ['/api/v1/admin/merchants', '/api/v1/admin/staff', '/api/v1/sandbox/mails', '/api/v1/whoami']
  for (const path of paths) {
    t.equal((await ask('localhost:8080', [], path)).status, 200, path)
    t.equal((await ask('evil.example', [], path)).status, 401, path)
    t.equal((await ask('localhost', ['Origin: https://evil.example'], path)).status, 401, path)
  }
})

t.test('operations without a caller, and with a token, can be called by any host name', async (t) => {
  for (const path of ['/api/v1/service', '/healthz', '/openapi.json'])
    t.equal((await ask('shop.example', [], path)).status, 200)
  const { service: withTokens, person } = await serviceWithRealms(t)
  const { authorization } = person(await withTokens.merchant(), { roles: ['ADMIN'] })
  const answer = await rawRequest(
    withTokens.app.config.port,
    `GET /api/v1/payments HTTP/1.1\r\nHost: pay.example\r\nOrigin: https://shop.example\r\nAuthorization: ${authorization}\r\nConnection: close\r\n\r\n`,
  )
  t.equal(answer.status, 200)
})
