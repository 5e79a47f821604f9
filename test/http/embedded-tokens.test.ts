import { createPrivateKey, randomUUID } from 'node:crypto'
import { SignJWT, decodeJwt } from 'jose'
import t from 'tap'
import { clientIdsOf } from '../../src/lib/realms.ts'
import { paymentBody, serviceToken, testService } from '../support/app.ts'
import type { Answer } from '../support/app.ts'
import { CALLBACK, PASSWORD, PORTAL, ask, exchange, refresh, signIn, signInForCode } from '../support/identity.ts'
import type { SignInInput, SignedIn, Tokens } from '../support/identity.ts'
import { until } from '../support/until.ts'
import { UserAgent } from '../support/user-agent.ts'
import { openSigningKeys } from '../../src/identity/embedded/realms/keys.ts'
import { createActionLink } from '../../src/identity/embedded/users/action-tokens.ts'

/* The tokens that the embedded provider really issues, at the doors of the API. */
const service = await testService(t, { env: { SVC_IDENTITY: 'embedded', SVC_PORTAL_URL: PORTAL } })
const { app } = service
const ops = await service.operator('OPS')

type Registered = { id: string; realm: string; clientId: string; secret: string; email: string }

async function register(name: string): Promise<Registered> {
  const email = `ada@${randomUUID().slice(0, 8)}.example`
  const { body, status, text } = await service.call('POST', '/api/v1/portal/register', {
    body: { company_name: `${name} ${randomUUID().slice(0, 8)}`, trading_name: name, admin_email: email },
  })
  if (status !== 201) throw new Error(text)
  const userId = await app.identity.findUser(body.realm_slug, email)
  await app.identity.setPassword(body.realm_slug, userId ?? '', PASSWORD)
  return { id: body.merchant_id, realm: body.realm_slug, clientId: body.client_id, secret: body.client_secret, email }
}

async function atPortal({ realm, email }: Registered): Promise<Tokens> {
  const clientId = clientIdsOf(realm).portal
  const { tokens } = await signIn({ authUrl: app.publicUrl, realm, clientId, email, redirectUri: CALLBACK })
  return tokens
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })
const byServer = async ({ realm, clientId, secret }: Registered): Promise<Record<string, string>> =>
  bearer(await serviceToken(app.publicUrl, { realm, clientId, secret }))

function pay(headers: Record<string, string>): Promise<Answer> {
  return service.call('POST', '/api/v1/payments', {
    headers: { ...headers, 'x-idempotency-key': randomUUID() },
    body: paymentBody(),
  })
}

const [acme, other] = [await register('Acme'), await register('Other')]

t.test('from registration to the first payment: approved it is, on hold it is not', async (t) => {
  const server = await byServer(acme)
  t.match(await pay(server), { status: 403, body: { code: 'MERCHANT_NOT_APPROVED' } })
  const path = `/api/v1/admin/merchants/${acme.id}`
  const approve = { kyb_status: 'APPROVED', reason: 'papers are in order' }
  t.match(await service.call('PUT', `${path}/kyb`, { headers: server, body: approve }), { status: 403 })
  t.match(await service.call('PUT', `${path}/kyb`, { headers: ops, body: approve }), { status: 200 })
  t.match(await pay(server), { status: 201 })
  await service.call('PUT', `${path}/hold`, { headers: ops, body: { payout_held: true } })
  t.match(await pay(server), { status: 403, body: { code: 'PAYOUT_HELD' } })
  await service.call('PUT', `${path}/hold`, { headers: ops, body: { payout_held: false } })
  t.match(await pay(server), { status: 201 })
})

t.test('the first administrator signs in and runs the team; the server may only pay', async (t) => {
  const admin = bearer((await atPortal(acme)).access_token)
  t.match((await service.call('GET', '/api/v1/whoami', { headers: admin })).body, {
    kind: 'merchant',
    realm: acme.realm,
    client_id: clientIdsOf(acme.realm).portal,
    name: acme.email,
    role: 'ADMIN',
    merchant: { id: acme.id },
  })
  t.match(await service.call('GET', '/api/v1/portal/team', { headers: admin }), {
    status: 200,
    body: { data: [{ email: acme.email, role: 'ADMIN' }] },
  })
  t.match(await service.call('GET', '/api/v1/portal/team', { headers: await byServer(acme) }), {
    status: 403,
    body: { code: 'FORBIDDEN_ROLE' },
  })
})

t.test('only access tokens are bearer tokens: not the ID token, not the refresh token, not the code', async (t) => {
  const tokens = await atPortal(acme)
  t.match(await service.call('GET', '/api/v1/payments', { headers: bearer(tokens.access_token) }), { status: 200 })
  for (const wrong of [tokens.id_token, tokens.refresh_token, randomUUID()]) {
    t.match(await service.call('GET', '/api/v1/payments', { headers: bearer(wrong) }), {
      status: 401,
      body: { code: 'UNAUTHENTICATED' },
    })
  }
})

t.test("a realm's tokens reach its own merchant's data and no other", async (t) => {
  const { body: payment } = await pay(await byServer(acme))
  const path = `/api/v1/payments/${payment.payment_id}`
  t.equal((await service.call('GET', path, { headers: await byServer(acme) })).status, 200)
  for (const headers of [await byServer(other), bearer((await atPortal(other)).access_token)]) {
    const [foreign, unknown] = [
      await service.call('GET', path, { headers }),
      await service.call('GET', `/api/v1/payments/${randomUUID()}`, { headers }),
    ]
    t.equal(foreign.status, 404)
    t.equal(
      foreign.text.replace(foreign.body.request_id, ''),
      unknown.text.replace(unknown.body.request_id, ''),
      'it is indistinguishable from one that does not exist',
    )
  }
})

t.test('realms are separate: merchants are not operators, operators are not merchants', async (t) => {
  const admin = bearer((await atPortal(acme)).access_token)
  t.match(await service.call('GET', '/api/v1/admin/merchants', { headers: admin }), {
    status: 403,
    body: { code: 'WRONG_REALM' },
  })
  t.match(await service.call('GET', '/api/v1/payments', { headers: ops }), {
    status: 403,
    body: { code: 'WRONG_REALM' },
  })
})

t.test('a client of one realm gets no token of another', async (t) => {
  const form = { grant_type: 'client_credentials', client_id: acme.clientId, client_secret: acme.secret }
  for (const realm of [other.realm, 'platform', 'customers']) {
    const { status } = await ask(app.publicUrl, realm, 'token', form)
    t.equal(status, 401, realm)
  }
})

t.test('tokens of before and after a new signing key are good at once', async (t) => {
  const before = bearer((await atPortal(acme)).access_token)
  t.equal((await service.call('GET', '/api/v1/payments', { headers: before })).status, 200)
  await app.identity.rotateSigningKey?.(acme.realm)
  const after = bearer((await atPortal(acme)).access_token)
  t.equal((await service.call('GET', '/api/v1/payments', { headers: after })).status, 200)
  t.equal((await service.call('GET', '/api/v1/payments', { headers: before })).status, 200)
})

t.test('a stolen signing key opens nothing once it is revoked, though the process has it cached', async (t) => {
  const { realm, clientId, secret, email } = await register('Stolen')
  const { rows } = await service.owner.query(`select slug, signing_keys from idp.realms where slug = $1`, [realm])
  const [stolen] = openSigningKeys(app, rows[0])
  const before = bearer(await serviceToken(app.publicUrl, { realm, clientId, secret }))
  const genuine = decodeJwt(before.authorization?.slice(7) ?? '')
  // Whoever holds the key chooses every claim, among them the time of issue.
  const forge = async (laterSeconds = 0): Promise<Record<string, string>> => {
    const issuedAt = Math.floor(Date.now() / 1_000) + laterSeconds
    return bearer(
      await new SignJWT({ ...genuine, iat: issuedAt, exp: issuedAt + 900, svc_iat_ms: issuedAt * 1_000 + 999 })
        .setProtectedHeader({ alg: 'PS256', kid: stolen?.kid ?? '', typ: 'at+jwt' })
        .sign(createPrivateKey({ key: { ...stolen }, format: 'jwk' })),
    )
  }
  const read = (headers: Record<string, string>) => service.call('GET', '/api/v1/payments', { headers })
  const session = {
    authUrl: app.publicUrl,
    realm,
    clientId: clientIdsOf(realm).portal,
    email,
    redirectUri: CALLBACK,
  }
  const { tokens } = await signIn(session)
  for (const headers of [before, await forge(), bearer(tokens.access_token)])
    t.match(await read(headers), { status: 200 })
  const path = `/api/v1/admin/realms/${realm}/rotate-keys`
  const revoked = await service.call('POST', path, {
    headers: await service.operator('OWNER'),
    body: { revoke_now: true, reason: 'the key was stolen' },
  })
  t.match(revoked, { status: 200, body: { realm, key_ids: { length: 1 } } })
  t.not(revoked.body.key_ids[0], stolen?.kid)
  // What has a lasting effect reads the row each time; the rest remembers it for ten seconds.
  const lasting = (headers: Record<string, string>) =>
    service.call('POST', '/api/v1/portal/team', { headers, body: { email: 'thief@else.example', role: 'ADMIN' } })
  for (const headers of [before, await forge(), await forge(2), bearer(tokens.access_token)])
    t.match(await lasting(headers), { status: 401, body: { code: 'UNAUTHENTICATED' } })
  await until('reads reject it too', async () => (await read(before)).status === 401)
  const { body: renewed } = await refresh(
    app.publicUrl,
    { slug: realm, portal: session.clientId },
    tokens.refresh_token,
  )
  t.match(await read(bearer(renewed.access_token)), { status: 200 }, 'nobody has to sign in again')
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: secret }
  const { body: fresh } = await ask(app.publicUrl, realm, 'token', form)
  t.match(await read(bearer(fresh.access_token)), { status: 200 })
  const { rows: actions } = await service.owner.query(
    `select before, after from operator_actions where action = 'realm.rotate_keys' and subject_id = $1`,
    [realm],
  )
  t.match(actions, [{ before: { key_ids: [stolen?.kid] }, after: { revoked_key_ids: [stolen?.kid] } }])
})

t.test('a removed team member is rejected within seconds, with a token that is valid for minutes', async (t) => {
  const { body: invited } = await service.call('POST', '/api/v1/portal/team', {
    headers: bearer((await atPortal(other)).access_token),
    body: { email: `dev@${randomUUID().slice(0, 8)}.example`, role: 'DEVELOPER' },
  })
  await app.identity.setPassword(other.realm, invited.id, PASSWORD)
  const developer = bearer((await atPortal({ ...other, email: invited.email })).access_token)
  t.equal((await service.call('GET', '/api/v1/portal/webhooks', { headers: developer })).status, 200)
  t.equal((await service.call('GET', '/api/v1/portal/team', { headers: developer })).status, 403)
  const removed = await service.call('DELETE', `/api/v1/portal/team/${invited.id}`, {
    headers: bearer((await atPortal(other)).access_token),
  })
  t.equal(removed.status, 200)
  await new Promise((resolve) => setTimeout(resolve, 10_100))
  t.match(await service.call('GET', '/api/v1/portal/webhooks', { headers: developer }), { status: 401 })
})

type Session = { input: SignInInput; signedIn: SignedIn; tokens: Tokens }

/** What ends a person's sign-in; each returns the password that works afterwards. */
const ENDS: Readonly<Record<string, (session: Session) => Promise<string>>> = {
  'a password reset': async ({ input: { realm, email, clientId } }) => {
    const password = `quite another secret sentence ${randomUUID()}`
    const userId = (await app.identity.findUser(realm, email)) ?? ''
    const link = await createActionLink(app, app.pool, {
      realm,
      userId,
      purpose: 'reset',
      clientId,
      lifespanSeconds: 60,
    })
    const agent = new UserAgent(app.publicUrl)
    t.equal((await agent.send(await agent.open(link), { password, repeated: password })).status, 200)
    return password
  },
  'signing out': async ({ input: { realm }, signedIn: { agent }, tokens }) => {
    const url = new URL(`${app.publicUrl}/realms/${realm}/protocol/openid-connect/logout`)
    url.search = new URLSearchParams({
      id_token_hint: tokens.id_token,
    }).toString()
    t.match(await agent.send(await agent.open(url)), { status: 200 })
    return PASSWORD
  },
  'a code that is used again': async ({ input, signedIn }) => {
    t.equal((await exchange(input, signedIn)).status, 400)
    return PASSWORD
  },
  'a refresh token that is used again': async ({ input: { realm, clientId }, tokens }) => {
    const renew = () => refresh(app.publicUrl, { slug: realm, portal: clientId }, tokens.refresh_token)
    t.equal((await renew()).status, 200)
    t.equal((await renew()).status, 400)
    return PASSWORD
  },
  'a client that ends its refresh token': async ({ input: { realm, clientId }, tokens }) => {
    const revoked = await ask(app.publicUrl, realm, 'revoke', { client_id: clientId, token: tokens.refresh_token })
    t.equal(revoked.status, 200)
    return PASSWORD
  },
}

for (const [what, end] of Object.entries(ENDS)) {
  t.test(`${what} ends the access token at once, and signing in again works at once`, async (t) => {
    const { realm, email } = await register('Ending')
    const input = { authUrl: app.publicUrl, realm, clientId: clientIdsOf(realm).portal, email, redirectUri: CALLBACK }
    const signedIn = await signInForCode({ ...input, password: PASSWORD })
    const { body: tokens } = await exchange(input, signedIn)
    // A permanent way back in, for whoever has stolen the token.
    const makeCredential = (token: string) =>
      service.call('POST', '/api/v1/portal/api-credentials', {
        headers: bearer(token),
        body: { name: randomUUID(), role: 'ADMIN' },
      })
    t.equal((await makeCredential(tokens.access_token)).status, 201)
    const userinfo = (token: string) =>
      service.call('GET', `/realms/${realm}/protocol/openid-connect/userinfo`, { headers: bearer(token) })
    t.match(await userinfo(tokens.access_token), { status: 200, body: { email } })
    const password = await end({ input, signedIn, tokens })
    for (const answer of [
      await makeCredential(tokens.access_token),
      await service.call('GET', '/api/v1/whoami', { headers: bearer(tokens.access_token) }),
    ])
      t.match(answer, { status: 401, body: { code: 'UNAUTHENTICATED' } })
    t.match(await userinfo(tokens.access_token), { status: 401, body: { error: 'invalid_token' } })
    const again = await signIn({ ...input, password })
    t.equal((await makeCredential(again.tokens.access_token)).status, 201)
    t.equal((await userinfo(again.tokens.access_token)).status, 200)
  })
}

t.test("a new secret ends the tokens of the old one, and only the client's own", async (t) => {
  const admin = bearer((await atPortal(other)).access_token)
  const credential = { name: randomUUID(), role: 'ADMIN' }
  const { body: made } = await service.call('POST', '/api/v1/portal/api-credentials', {
    headers: admin,
    body: credential,
  })
  const tokenOf = async (secret: string) =>
    bearer(await serviceToken(app.publicUrl, { realm: other.realm, clientId: made.client_id, secret }))
  const team = (headers: Record<string, string>) =>
    service.call('POST', '/api/v1/portal/team', {
      headers,
      body: { email: `x@${randomUUID().slice(0, 8)}.example`, role: 'DEVELOPER' },
    })
  const stolen = await tokenOf(made.client_secret)
  t.equal((await team(stolen)).status, 201)
  const path = `/api/v1/portal/api-credentials/${made.client_id}/rotate`
  const { body: rotated, status } = await service.call('POST', path, { headers: admin })
  t.equal(status, 200)
  t.match(await team(stolen), { status: 401, body: { code: 'UNAUTHENTICATED' } })
  t.equal((await team(await tokenOf(rotated.client_secret))).status, 201)
  t.equal((await team(admin)).status, 201)
})
