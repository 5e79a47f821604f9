import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { makeVerifier } from '../../src/identity/verifier.ts'
import { DomainError } from '../../src/lib/errors.ts'
import { encoded, makeKeyPair, makeInProcessIdp, publicJwk, signed } from '../support/in-process-idp.ts'
import type { InProcessIdp, TokenInput } from '../support/in-process-idp.ts'

const AUTH_URL = 'https://idp.example'
const idp = makeInProcessIdp(AUTH_URL)
for (const slug of ['acme', 'other', 'platform'])
  await idp.createRealm({ slug, kind: 'merchant', displayName: slug, registrationId: randomUUID(), roles: [] })

/** The clients that the service's own tables have. */
const CLIENTS = new Set(['acme acme-server', 'acme acme-portal', 'other other-server', 'platform platform-cli'])
const clock = { seconds: () => Date.now() / 1000, monotonicMs: () => performance.now() }
const verifierOf = (provider: InProcessIdp, time = clock) =>
  makeVerifier({ provider, clock: time, knows: async (slug, clientId) => CLIENTS.has(`${slug} ${clientId}`) })
/** The time, which stands still here: some tokens end within seconds. */
const now = Math.floor(Date.now() / 1000)
const verifier = verifierOf(idp, { seconds: () => now, monotonicMs: () => performance.now() })

/** An issuer of an attacker's, with a genuine key set, that must never hear of us. */
const stranger = await makeKeyPair()
let connections = 0
const canary = createServer((_req, res) => void res.end(JSON.stringify({ keys: [publicJwk(stranger)] })))
canary.on('connection', () => connections++)
await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve))
const canaryUrl = `http://127.0.0.1:${(canary.address() as AddressInfo).port}`
t.teardown(() => canary.close())

const acme = (input: TokenInput = {}): string =>
  idp.mint('acme', { ...input, claims: { iat: now, exp: now + 900, ...input.claims } })
const withClaims = (claims: Record<string, unknown>): string => acme({ claims })
const withIssuer = (iss: unknown): string => acme({ claims: { iss } })
const [head = '', body = '', tail = ''] = acme().split('.')
const payload: Record<string, unknown> = { ...idp.claimsOf('acme'), iat: now, exp: now + 900 }
const header = { alg: 'PS256', kid: idp.keyOf('acme').kid }

/** Tokens that prove nothing; every one of them is a good token but for what it is named after. */
const BAD: Record<string, string> = {
  // The signature.
  'alg none, no signature': `${encoded({ alg: 'none' })}.${body}.`,
  'alg none in other case': `${encoded({ ...header, alg: 'NoNe' })}.${body}.`,
  'alg none with the old signature': `${encoded({ ...header, alg: 'none' })}.${body}.${tail}`,
  'alg empty': `${encoded({ ...header, alg: '' })}.${body}.${tail}`,
  'alg missing': `${encoded({ kid: header.kid })}.${body}.${tail}`,
  'alg as a list': `${encoded({ ...header, alg: ['PS256'] })}.${body}.${tail}`,
  'alg in lower case': `${encoded({ ...header, alg: 'ps256' })}.${body}.${tail}`,
  'HS256 with the public key': acme({ header: { alg: 'HS256' } }),
  'HS384 with the public key': acme({ header: { alg: 'HS384' } }),
  'HS512 with the public key': acme({ header: { alg: 'HS512' } }),
  'RS256 with the right key': acme({ header: { alg: 'RS256' } }),
  'RS512 with the right key': acme({ header: { alg: 'RS512' } }),
  'PS384 with the right key': acme({ header: { alg: 'PS384' } }),
  'PS512 with the right key': acme({ header: { alg: 'PS512' } }),
  'RS256 signature that says PS256': `${head}.${body}.${acme({ header: { alg: 'RS256' } }).split('.')[2]}`,
  "a stranger's key under the right kid": acme({ key: stranger, header: { kid: header.kid } }),
  "a stranger's key under its own kid": acme({ key: stranger }),
  "another realm's key under its own kid": acme({ key: idp.keyOf('other') }),
  'no kid': acme({ header: { kid: undefined } }),
  'kid as a number': acme({ header: { kid: 1 } }),
  'kid that is a path': acme({ header: { kid: '../../../../dev/null' } }),
  'signature of another token': `${head}.${body}.${acme({ subject: 'x' }).split('.')[2]}`,
  'payload of another token': `${head}.${encoded({ ...payload, realm_access: { roles: ['ADMIN'] } })}.${tail}`,
  'signature cut short': `${head}.${body}.${tail.slice(0, -4)}`,
  'signature with a bit more': `${head}.${body}.${tail}AAAA`,
  'signature missing': `${head}.${body}.`,
  'signature of zeros': `${head}.${body}.${'A'.repeat(tail.length)}`,

  // Where the key comes from.
  jku: acme({ key: stranger, header: { jku: `${canaryUrl}/certs` } }),
  'jku with the right key': acme({ header: { jku: `${AUTH_URL}/realms/acme/protocol/openid-connect/certs` } }),
  x5u: acme({ key: stranger, header: { x5u: `${canaryUrl}/cert.pem` } }),
  x5c: acme({ key: stranger, header: { x5c: ['MIIB'] } }),
  jwk: acme({ key: stranger, header: { jwk: publicJwk(stranger) } }),
  'jwk with the right key': acme({ header: { jwk: publicJwk(idp.keyOf('acme')) } }),
  'crit of something': acme({ header: { crit: ['exp'] } }),
  'crit of nothing': acme({ header: { crit: [] } }),
  'b64 false': acme({ header: { b64: false, crit: ['b64'] } }),
  zip: acme({ header: { zip: 'DEF' } }),

  // The issuer.
  'foreign issuer': acme({ key: stranger, claims: { iss: `${canaryUrl}/realms/acme` } }),
  'foreign issuer with our path': withIssuer('https://evil.example/realms/acme'),
  'issuer with a slash at the end': withIssuer(`${AUTH_URL}/realms/acme/`),
  'issuer in other case': withIssuer('https://IDP.example/realms/acme'),
  'realm in other case': withIssuer(`${AUTH_URL}/realms/ACME`),
  'issuer with userinfo': withIssuer('https://idp.example@evil.example/realms/acme'),
  'issuer with a user': withIssuer('https://me@idp.example/realms/acme'),
  'issuer with its port': withIssuer('https://idp.example:443/realms/acme'),
  'issuer with another scheme': withIssuer('http://idp.example/realms/acme'),
  'issuer with a query': withIssuer(`${AUTH_URL}/realms/acme?x=1`),
  'issuer with a fragment': withIssuer(`${AUTH_URL}/realms/acme#x`),
  'issuer with dots': withIssuer(`${AUTH_URL}/realms/other/../acme`),
  'issuer with an escape': withIssuer(`${AUTH_URL}/realms/%61cme`),
  'issuer with a newline': withIssuer(`${AUTH_URL}/realms/acme\n`),
  'issuer of the provider alone': withIssuer(AUTH_URL),
  'issuer of no realm': withIssuer(`${AUTH_URL}/realms/`),
  'issuer of an unknown realm': acme({ clientId: 'ghost-server', claims: { iss: `${AUTH_URL}/realms/ghost` } }),
  'issuer as a list': withIssuer([`${AUTH_URL}/realms/acme`]),
  'issuer missing': withIssuer(undefined),
  'issuer of the other realm': withIssuer(`${AUTH_URL}/realms/other`),

  // The client.
  'the client of another realm': acme({ clientId: 'other-server' }),
  "another realm's token for our client": idp.mint('other', { clientId: 'acme-server' }),
  "another realm's token for the platform's client": acme({ clientId: 'platform-cli' }),
  'an unknown client': acme({ clientId: 'acme-admin' }),
  'the client in other case': acme({ clientId: 'ACME-server' }),
  'no azp': acme({ clientId: null }),
  'azp as a list': withClaims({ azp: ['acme-server'] }),
  'azp empty': withClaims({ azp: '' }),
  'azp with a NUL': withClaims({ azp: 'acme-server\0' }),
  'client_id instead of azp': acme({ clientId: null, claims: { client_id: 'acme-server' } }),

  // What kind of token it is.
  'an ID token': withClaims({ typ: 'ID', nonce: 'n' }),
  'a refresh token': withClaims({ typ: 'Refresh' }),
  'an offline token': withClaims({ typ: 'Offline' }),
  'typ missing': withClaims({ typ: undefined }),
  'typ in other case': withClaims({ typ: 'bearer' }),
  'typ as a list': withClaims({ typ: ['Bearer'] }),
  'typ in the header alone': acme({ header: { typ: 'Bearer' }, claims: { typ: undefined } }),
  'an expired ID token': withClaims({ typ: 'ID', iat: now - 1000, exp: now - 100 }),

  // Times.
  'no exp': withClaims({ exp: undefined }),
  'exp null': withClaims({ exp: null }),
  'exp as text': withClaims({ exp: String(now + 900) }),
  'exp ten years ahead': withClaims({ exp: now + 315_360_000 }),
  'exp a little too far ahead': withClaims({ exp: now + 961 }),
  'all of it ten years ahead': withClaims({ iat: now + 315_360_000, exp: now + 315_360_900 }),
  'expired, and never good for so long': withClaims({ iat: now - 5000, exp: now - 100 }),
  'no iat': withClaims({ iat: undefined }),
  'iat as text': withClaims({ iat: String(now) }),
  'iat in a minute': withClaims({ iat: now + 60 }),
  'nbf in a minute': withClaims({ nbf: now + 60 }),
  'nbf as text': withClaims({ nbf: 'now' }),

  // The rest of the claims.
  'no sub': withClaims({ sub: undefined }),
  'sub empty': withClaims({ sub: '' }),
  'sub as a number': withClaims({ sub: 7 }),
  'sub with a NUL': withClaims({ sub: 'a\0b' }),
  'sub without an end': withClaims({ sub: 's'.repeat(256) }),
  'roles as text': withClaims({ realm_access: { roles: 'ADMIN' } }),
  'roles of numbers': withClaims({ realm_access: { roles: [1] } }),

  // No token at all.
  empty: '',
  garbage: 'abc',
  dots: '..',
  'two parts': `${head}.${body}`,
  'four parts': `${head}.${body}.${tail}.${tail}`,
  'five parts, as if encrypted': `${head}.${body}.${tail}.${tail}.${tail}`,
  'header is no JSON': `${encoded('{')}.${body}.${tail}`,
  'header is a list': `${encoded([])}.${body}.${tail}`,
  'header is null': `${encoded(null)}.${body}.${tail}`,
  'payload is no JSON': `${head}.${encoded('{')}.${tail}`,
  'payload is text': signed(header, '"text"', idp.keyOf('acme')),
  'payload is a list': signed(header, [payload], idp.keyOf('acme')),
  'payload is no UTF-8': `${head}.${Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url')}.${tail}`,
  'base64 with padding': `${head}=.${body}.${tail}`,
  'base64 of the other alphabet': `${head}.${body}.${tail.slice(0, -2)}+/`,
  'white space within': `${head}. ${body}.${tail}`,
  'a NUL at the end': `${acme()}\0`,
  'a quoted token': `"${acme()}"`,
  oversized: acme({ claims: { padding: 'x'.repeat(8_192) } }),
}

t.test(`none of ${Object.keys(BAD).length} bad tokens is accepted, and their errors are equal`, async (t) => {
  t.ok(Object.keys(BAD).length >= 60)
  const answers = new Set<string>()
  for (const [name, token] of Object.entries(BAD)) {
    const error = await verifier.verify(token).catch((thrown: unknown) => thrown)
    if (!(error instanceof DomainError)) {
      t.fail(`${name}: ${error instanceof Error ? error.stack : 'accepted'}`)
      continue
    }
    t.equal(error.code, 'UNAUTHENTICATED', name)
    answers.add(JSON.stringify([error.message, error.next]))
  }
  t.equal(answers.size, 1)
  t.equal(connections, 0, "nobody called the attacker's server")
})

t.test('bad tokens are rejected after a good one was accepted, too', async (t) => {
  await verifier.verify(acme())
  for (const [name, token] of Object.entries(BAD))
    await t.rejects(verifier.verify(token), { code: 'UNAUTHENTICATED' }, name)
})

t.test('an unknown realm or client causes no fetch', async (t) => {
  const fresh = makeInProcessIdp(AUTH_URL)
  const own = verifierOf(fresh)
  const strangers = ['an unknown client', 'issuer of an unknown realm', 'foreign issuer', 'the client of another realm']
  for (const name of strangers) await t.rejects(own.verify(BAD[name] ?? ''), { code: 'UNAUTHENTICATED' }, name)
  t.equal(fresh.fetches.size, 0)
})

const GOOD: Record<string, string> = {
  'as the provider issues it': acme({ roles: ['ADMIN', 'offline_access'], claims: { email: 'ada@acme.example' } }),
  'aud as a list': withClaims({ aud: ['account', 'somebody-else'] }),
  'no aud': withClaims({ aud: undefined }),
  'another type in the header': acme({ header: { typ: 'at+jwt' } }),
  'no type in the header': acme({ header: { typ: undefined } }),
  'no roles': withClaims({ realm_access: undefined }),
  'issued three seconds from now, by a clock ahead of ours': withClaims({ iat: now + 3, exp: now + 903 }),
  'ended three seconds ago': withClaims({ iat: now - 903, exp: now - 3 }),
  'nbf now': withClaims({ nbf: now }),
  'a minute more than agreed': withClaims({ exp: now + 960 }),
}

t.test('valid tokens are accepted with their content', async (t) => {
  for (const [name, token] of Object.entries(GOOD)) {
    t.match(await verifier.verify(token), { slug: 'acme', clientId: 'acme-server', subject: 'acme-server' }, name)
  }
  t.same(await verifier.verify(GOOD['as the provider issues it'] ?? ''), {
    slug: 'acme',
    keyId: header.kid,
    clientId: 'acme-server',
    subject: 'acme-server',
    roles: ['ADMIN', 'offline_access'],
    email: 'ada@acme.example',
    scopes: [],
    expiresAt: payload['exp'],
    issuedAtMs: now * 1_000 + 999,
  })
})

t.test('an expired genuine token is reported as such, a forged one is not', async (t) => {
  const past = { iat: now - 1000, exp: now - 100 }
  await t.rejects(verifier.verify(withClaims(past)), { code: 'TOKEN_EXPIRED' })
  await t.rejects(verifier.verify(acme({ claims: past, key: stranger })), { code: 'UNAUTHENTICATED' })
  await t.rejects(verifier.verify(acme({ claims: past, clientId: 'other-server' })), { code: 'UNAUTHENTICATED' })
})

t.test(
  'an expired token that is sent without end is looked up and checked once, and a clock that went back is believed',
  async (t) => {
    let seconds = now
    let looks = 0
    const timed = makeVerifier({
      provider: idp,
      knows: async () => (looks += 1) > 0,
      clock: { seconds: () => seconds, monotonicMs: () => 0 },
    })
    const past = withClaims({ iat: now - 900, exp: now - 5 })
    for (let count = 0; count < 5; count += 1) await t.rejects(timed.verify(past), { code: 'TOKEN_EXPIRED' })
    t.equal(looks, 1)
    seconds = now - 10
    t.ok(await timed.verify(past))
  },
)

t.test('a gate rejects a token before it is looked up, and is asked for no token that is cached', async (t) => {
  let looks = 0
  const own = makeVerifier({ provider: idp, knows: async () => (looks += 1) > 0 })
  const asked: string[] = []
  const open = {
    enter: (client: string) => void asked.push(client),
    passed: (client: string) => void asked.push(client),
  }
  const shut = {
    enter: () => {
      throw new DomainError('RATE_LIMITED', 'too many')
    },
    passed: () => t.fail('nothing passes'),
  }
  const token = idp.mint('acme')
  await t.rejects(own.verify(token, shut), { code: 'RATE_LIMITED' })
  t.equal(looks, 0)
  await own.verify(token, open)
  t.same(asked, ['acme acme-server', 'acme acme-server'])
  t.ok(await own.verify(token, shut))
  t.equal(looks, 1)
})

t.test('an accepted token ends exactly at its expiry', async (t) => {
  let seconds = now
  const timed = makeVerifier({
    provider: idp,
    knows: async () => true,
    clock: { seconds: () => seconds, monotonicMs: () => seconds * 1000 },
  })
  const token = acme()
  for (seconds of [now, now + 450, now + 899, now + 902]) t.ok(await timed.verify(token), String(seconds - now))
  seconds = now + 906
  await t.rejects(timed.verify(token), { code: 'TOKEN_EXPIRED' })
})

t.test('a token is verified again within a minute, so a removed key takes effect', async (t) => {
  const own = makeInProcessIdp(AUTH_URL)
  await own.createRealm({ slug: 'acme', kind: 'merchant', displayName: 'A', registrationId: randomUUID(), roles: [] })
  let ms = 0
  const timed = makeVerifier({
    provider: own,
    knows: async () => true,
    clock: { seconds: () => now, monotonicMs: () => ms },
  })
  const token = own.mint('acme')
  await timed.verify(token)
  await own.rotate('acme')
  ms += 5_000
  t.ok(await timed.verify(token))
  t.ok(await timed.verify(own.mint('acme')), 'the new key verifies at once')
  await own.rotate('acme', { forget: true })
  ms += 600_001
  await t.rejects(timed.verify(token), { code: 'UNAUTHENTICATED' })
})

t.test('during an outage an unknown realm is undecided; a known one verifies', async (t) => {
  const own = makeInProcessIdp(AUTH_URL)
  for (const slug of ['acme', 'other'])
    await own.createRealm({ slug, kind: 'merchant', displayName: slug, registrationId: randomUUID(), roles: [] })
  const away = verifierOf(own)
  await away.verify(own.mint('acme'))
  own.down = true
  t.ok(await away.verify(own.mint('acme')))
  await t.rejects(away.verify(own.mint('other')), { code: 'IDP_UNAVAILABLE' })
  await t.rejects(away.verify(own.mint('other', { clientId: 'acme-server' })), { code: 'UNAUTHENTICATED' })
})

t.test('without a provider no token is valid', async (t) => {
  const none = makeVerifier({ provider: { authUrl: null, keys: async () => null }, knows: async () => true })
  await t.rejects(none.verify(acme()), { code: 'UNAUTHENTICATED' })
  await t.rejects(none.verify(acme({ claims: { iss: 'null/realms/acme' } })), { code: 'UNAUTHENTICATED' })
})
