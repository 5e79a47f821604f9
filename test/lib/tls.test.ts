import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import t from 'tap'
import { request } from 'undici'
import { isPrivateAddress, lacksTls } from '../../src/lib/tls.ts'
import { clientCredentials, embeddedHarness, makeRealm } from '../support/identity.ts'

function from(address: string, headers: Record<string, string> = {}): IncomingMessage {
  const socket = new Socket()
  Object.defineProperty(socket, 'remoteAddress', { value: address })
  return Object.assign(new IncomingMessage(socket), { headers })
}

const PUBLIC = '203.0.113.5'

t.test('addresses that routers do not forward are private, in every notation', async (t) => {
  const addresses = ['127.0.0.1', '127.8.8.8', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.1.1']
  for (const each of [...addresses, '::1', '::ffff:10.0.0.1', 'fd00::1', 'fe80::1%eth0'])
    t.ok(isPrivateAddress(each), each)
  const outside = [PUBLIC, '172.32.0.1', '172.15.0.1', '11.0.0.1', '192.169.0.1', '2001:db8::1', '::ffff:203.0.113.5']
  for (const each of [...outside, '', 'unknown', '10.0.0', 'localhost']) t.notOk(isPrivateAddress(each), each)
})

t.test('external: plain HTTP from outside is rejected', async (t) => {
  const config = { sslRequired: 'external', trustProxy: false } as const
  t.equal(lacksTls(from(PUBLIC), config), true)
  t.equal(lacksTls(from('10.0.0.1'), config), false)
  t.equal(lacksTls(from(PUBLIC, { 'x-forwarded-proto': 'https' }), config), true, 'anyone can write the header')
  t.equal(lacksTls(from(PUBLIC, { 'x-forwarded-for': '10.0.0.1' }), config), true, 'and so is this one')
})

t.test('external behind a proxy: the proxy reports the protocol and the client address', async (t) => {
  const config = { sslRequired: 'external', trustProxy: true } as const
  const proxy = '10.0.0.1'
  t.equal(lacksTls(from(proxy, { 'x-forwarded-proto': 'https', 'x-forwarded-for': PUBLIC }), config), false)
  t.equal(lacksTls(from(proxy, { 'x-forwarded-proto': 'http', 'x-forwarded-for': PUBLIC }), config), true)
  t.equal(lacksTls(from(proxy, { 'x-forwarded-for': PUBLIC }), config), true)
  t.equal(
    lacksTls(from(proxy, { 'x-forwarded-for': `10.9.9.9, ${PUBLIC}` }), config),
    true,
    'only its own entry counts',
  )
  t.equal(lacksTls(from(proxy, { 'x-forwarded-proto': 'https, http', 'x-forwarded-for': PUBLIC }), config), true)
})

t.test('all: plain HTTP is always rejected; none: it is always accepted', async (t) => {
  t.equal(lacksTls(from('127.0.0.1'), { sslRequired: 'all', trustProxy: false }), true)
  const forwarded = from('127.0.0.1', { 'x-forwarded-proto': 'https' })
  t.equal(lacksTls(forwarded, { sslRequired: 'all', trustProxy: true }), false)
  t.equal(lacksTls(from(PUBLIC), { sslRequired: 'none', trustProxy: false }), false)
})

t.test('a request in clear to a realm that requires TLS is answered 403, as the contract says', async (t) => {
  const harness = await embeddedHarness(t, { env: { SVC_SSL_REQUIRED: 'all', SVC_TRUST_PROXY: 'true' } })
  const realm = await makeRealm(harness)
  const { status, body } = await clientCredentials(harness.authUrl, realm)
  t.equal(status, 403)
  t.same(body, { error: 'invalid_request', error_description: 'HTTPS required' })
  const url = `${harness.authUrl}/realms/${realm.slug}/.well-known/openid-configuration`
  const answer = await request(url, { headers: { 'x-forwarded-proto': 'https' } })
  await answer.body.dump()
  t.equal(answer.statusCode, 200)
})
