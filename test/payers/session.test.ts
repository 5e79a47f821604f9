import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto'
import { SignJWT, UnsecuredJWT, decodeJwt, decodeProtectedHeader } from 'jose'
import t from 'tap'
import type { Test } from 'tap'
import { withHash } from '../../src/payers/contact.ts'
import { deriveKey } from '../../src/lib/derive-key.ts'
import { verifySession, startSession } from '../../src/payers/session.ts'
import { testService } from '../support/app.ts'
import type { Answer } from '../support/app.ts'
import { AUTH, paymentOf, signIn } from '../support/payers.ts'

const service = await testService(t)
const { app } = service
const merchant = await service.merchant()
const ADA = { email: 'ada@payer.example' }
await paymentOf(service, merchant, { payer_email: ADA.email })

const PARTY = 'svc payer hub'
const TYPE = 'payer-session+jwt'
const KEY = deriveKey(app.config.encryptionKey, 'payer session')
const now = (): number => Math.floor(Date.now() / 1000)

type Forged = { header?: object; claims?: object; key?: Uint8Array }

/** A session token like the service's, with changes of the test; undefined removes a claim. */
function token({ header = {}, claims = {}, key = KEY }: Forged = {}): Promise<string> {
  const all = {
    iss: PARTY,
    aud: PARTY,
    sub: ADA.email,
    jti: randomUUID(),
    iat: now(),
    exp: now() + 900,
    contact_type: 'EMAIL',
    ...claims,
  }
  const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
  return new SignJWT(kept).setProtectedHeader({ alg: 'HS256', typ: TYPE, ...header }).sign(key)
}

const list = (text: string): Promise<Answer> =>
  service.call('GET', '/api/v1/payer/payments', { headers: { authorization: `Bearer ${text}` } })

const refused = async (t: Test, text: string, why: string): Promise<void> => {
  const { status, body } = await list(text)
  t.same([status, body.code], [401, 'UNAUTHENTICATED'], why)
}

t.test('a session is a token of fifteen minutes with the contact and no other data', async (t) => {
  const made = await startSession(app, { contact: await withHash(app, { type: 'EMAIL', value: ADA.email }) })
  t.equal(made.expiresInSeconds, 900)
  t.same(decodeProtectedHeader(made.token), { alg: 'HS256', typ: TYPE })
  const { iat = 0, exp = 0, jti, ...claims } = decodeJwt(made.token)
  t.equal(exp - iat, 900)
  t.ok(jti)
  t.same(claims, { iss: PARTY, aud: PARTY, sub: ADA.email, contact_type: 'EMAIL' })
  t.match(await verifySession(app, made.token), { id: jti, contact: { type: 'EMAIL', value: ADA.email } })
  t.equal((await list(await token())).status, 200, 'the forge of this test makes what the service takes')
})

t.test('another algorithm is rejected, whatever key signed it', async (t) => {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const claims = { sub: ADA.email, jti: randomUUID(), contact_type: 'EMAIL' }
  const shaped = (jwt: SignJWT): SignJWT =>
    jwt.setIssuer(PARTY).setAudience(PARTY).setIssuedAt().setExpirationTime('15m')
  const unsecured = new UnsecuredJWT(claims).setIssuer(PARTY).setAudience(PARTY).setIssuedAt().setExpirationTime('15m')
  await refused(t, unsecured.encode(), 'alg none')
  const [head = '', body = ''] = (await token()).split('.')
  await refused(t, `${head}.${body}.`, 'no signature')
  const none = Buffer.from(JSON.stringify({ alg: 'none', typ: TYPE })).toString('base64url')
  await refused(t, `${none}.${body}.${(await token()).split('.')[2]}`, 'alg none with a signature')
  for (const alg of ['RS256', 'PS256'])
    await refused(
      t,
      await shaped(new SignJWT(claims)).setProtectedHeader({ alg, typ: TYPE }).sign(pair.privateKey),
      alg,
    )
  for (const alg of ['HS384', 'HS512']) await refused(t, await token({ header: { alg }, key: randomBytes(64) }), alg)
  const publicKey = Buffer.from(pair.publicKey.export({ type: 'spki', format: 'pem' }))
  await refused(t, await token({ key: publicKey }), 'HS256 with the text of a public key')
})

t.test('another key, issuer, audience or type is rejected', async (t) => {
  const wrong: [string, Forged][] = [
    ['another key', { key: randomBytes(32) }],
    ['the master key itself', { key: Buffer.from(app.config.encryptionKey, 'base64') }],
    ['the key of another purpose', { key: deriveKey(app.config.encryptionKey, 'mock bank') }],
    ['another audience', { claims: { aud: 'svc portal' } }],
    ['no audience', { claims: { aud: undefined } }],
    ['another issuer', { claims: { iss: 'svc' } }],
    ['no issuer', { claims: { iss: undefined } }],
    ['another kind', { header: { typ: 'JWT' } }],
    ['no kind', { header: { typ: undefined } }],
    ['no id', { claims: { jti: undefined } }],
    ['an id that is none', { claims: { jti: 'x' } }],
    ['nobody', { claims: { sub: undefined } }],
    ['no kind of contact', { claims: { contact_type: undefined } }],
    ['another kind of contact', { claims: { contact_type: 'MERCHANT' } }],
    ['no end', { claims: { exp: undefined } }],
    ['no beginning', { claims: { iat: undefined } }],
    ['a longer life', { claims: { exp: now() + 3_600 } }],
    ['issued in the future', { claims: { iat: now() + 600, exp: now() + 1_500 } }],
    ['an unknown extension', { header: { crit: ['x'], x: 1 } }],
  ]
  for (const [why, forged] of wrong) {
    const text = await token(forged).catch(() => undefined)
    // The library refuses to sign a token with an unknown extension.
    if (text === undefined) t.equal(why, 'an unknown extension')
    else await refused(t, text, why)
  }
})

t.test('a changed token is rejected', async (t) => {
  const good = await token()
  const [head = '', body = '', signature = ''] = good.split('.')
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString())
  const bea = Buffer.from(JSON.stringify({ ...claims, sub: 'bea@payer.example' })).toString('base64url')
  await refused(t, `${head}.${bea}.${signature}`, 'another payer')
  await refused(t, `${head}.${body}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`, 'another signature')
  await refused(t, `${good}.x`, 'a fourth part')
  await refused(t, 'x', 'no token')
  await refused(t, `${good}${'A'.repeat(5_000)}`, 'more than a token')
})

t.test('an expired session returns TOKEN_EXPIRED, only where its signature is valid', async (t) => {
  const past = { iat: now() - 1_000, exp: now() - 100 }
  const { status, body } = await list(await token({ claims: past }))
  t.same([status, body.code], [401, 'TOKEN_EXPIRED'])
  await refused(t, await token({ claims: past, key: randomBytes(32) }), 'another key')
  t.equal((await list(await token({ claims: { iat: now() - 840, exp: now() + 60 } }))).status, 200, 'not before')
})

t.test("a signed-out session is rejected, and the payer's other sessions work", async (t) => {
  const headers = await signIn(service, ADA)
  const other = await signIn(service, ADA)
  const { status, body } = await service.call('POST', `${AUTH}/sign-out`, { headers })
  t.same([status, body], [200, { status: 'signed_out' }])
  for (const [method, path] of [
    ['GET', '/api/v1/payer/payments'],
    ['GET', '/api/v1/payer/consents'],
    ['POST', `${AUTH}/sign-out`],
  ] as const) {
    const replayed = await service.call(method, path, { headers })
    t.same([replayed.status, replayed.body.code], [401, 'UNAUTHENTICATED'], `${method} ${path}`)
  }
  t.equal((await service.call('GET', '/api/v1/payer/payments', { headers: other })).status, 200)
})

t.test('a session outlives a change of the master key, until the old key is removed', async (t) => {
  const { token: text } = await startSession(app, { contact: await withHash(app, { type: 'EMAIL', value: ADA.email }) })
  const next = randomBytes(32).toString('base64')
  const under = (encryptionKey: string, encryptionKeysPrevious: string[]) => ({
    ...app,
    config: { ...app.config, encryptionKey, encryptionKeysPrevious },
  })
  t.match(await verifySession(under(next, [app.config.encryptionKey]), text), { contact: { value: ADA.email } })
  await t.rejects(verifySession(under(next, []), text), { code: 'UNAUTHENTICATED' })
})

t.test('a session must come in one Authorization header', async (t) => {
  const text = await token()
  const send = (headers: Record<string, string>) => service.call('GET', '/api/v1/payer/payments', { headers })
  t.equal((await send({})).status, 401)
  t.equal((await send({ authorization: text })).status, 401)
  t.equal((await send({ authorization: `Basic ${text}` })).status, 401)
  t.equal((await send({ 'x-merchant-client-id': merchant.clientId })).status, 401, 'headers prove no payer')
  t.equal((await send({ 'x-platform-user': 'ada' })).status, 401)
  t.equal((await send({ authorization: `Bearer ${text}` })).status, 200)
})

t.test("with an identity provider payers' and merchants' tokens are not interchangeable", async (t) => {
  const strict = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
  const shop = await strict.merchant()
  const made = await startSession(strict.app, { contact: await withHash(app, { type: 'EMAIL', value: ADA.email }) })
  const headers = { authorization: `Bearer ${made.token}` }
  t.equal((await strict.call('GET', '/api/v1/payer/payments', { headers })).status, 200, 'payers need no provider')
  for (const path of ['/api/v1/payments', '/api/v1/portal/consents', '/api/v1/admin/merchants', '/api/v1/whoami']) {
    t.equal((await strict.call('GET', path, { headers })).status, 401, path)
  }
  t.equal((await strict.call('GET', '/api/v1/payments', { merchant: shop })).status, 200)
  for (const proof of [{ merchant: shop }, { headers: await strict.operator() }]) {
    const { status, body } = await strict.call('GET', '/api/v1/payer/payments', proof)
    t.same([status, body.code], [401, 'UNAUTHENTICATED'])
  }
})
