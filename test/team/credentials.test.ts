import t from 'tap'
import type { App } from '../../src/app.ts'
import { IdentityUnavailableError } from '../../src/identity/provider.ts'
import { findTokenCutoff } from '../../src/identity/token-cutoffs-sql.ts'
import {
  createApiCredential,
  listApiCredentials,
  revokeApiCredential,
  rotateApiCredential,
} from '../../src/team/api-credentials.ts'
import type { IssuedCredential } from '../../src/team/api-credentials.ts'
import { identifyMerchant } from '../../src/merchants/identify.ts'
import { testService } from '../support/app.ts'
import { fakeProvider } from '../support/fake-provider.ts'
import type { FakeProvider } from '../support/fake-provider.ts'

const service = await testService(t, { env: { SVC_IDENTITY: 'none' } })
const actor = { id: 'ada-id', name: 'ada@acme.example', role: 'ADMIN' }

type Shop = {
  app: App
  identity: FakeProvider
  merchantId: string
  clientId: string
  realm: string
  create(name?: string, role?: 'ADMIN' | 'DEVELOPER' | null): Promise<IssuedCredential>
}

const shop = async (): Promise<Shop> => {
  const { id: merchantId, realm, clientId } = await service.merchant()
  const identity = fakeProvider()
  await identity.createRealm({
    slug: realm,
    kind: 'merchant',
    displayName: 'Acme',
    registrationId: merchantId,
    roles: [],
  })
  await identity.createServiceClient(realm, { clientId, secret: 'first', roles: ['ADMIN'] })
  const app = { ...service.app, identity }
  return {
    app,
    identity,
    merchantId,
    clientId,
    realm,
    create: (name = 'ci', role = null) => createApiCredential(app, { merchantId, name, role, actor }),
  }
}

const actionsOf = async (merchantId: string): Promise<Record<string, unknown>[]> => {
  const { rows } = await service.owner.query(
    'select action, subject_id, reason, before, after from operator_actions where merchant_id = $1 order by ordinal',
    [merchantId],
  )
  return rows
}

t.test('a credential is created with a secret that is shown once and not stored', async (t) => {
  const { app, identity, merchantId, clientId, realm, create } = await shop()
  const { credential, secret, tokenEndpoint } = await create('nightly', 'DEVELOPER')
  t.match(credential.client_id, new RegExp(`^${realm}-key-[a-z0-9]{8}$`))
  t.match(credential, { kind: 'credential', role: 'DEVELOPER', name: 'nightly', created_by: 'ada@acme.example' })
  t.match(secret, /^[\w-]{43}$/, '32 bytes as base64url')
  t.equal(tokenEndpoint, `http://idp.example/realms/${realm}/protocol/openid-connect/token`)
  t.equal(identity.realm(realm).clients.get(credential.client_id), secret)
  t.match(await identifyMerchant(app, credential.client_id), { merchant_id: merchantId, role: 'DEVELOPER' })
  t.match(await listApiCredentials(app, merchantId), [
    { client_id: clientId, kind: 'server', role: 'ADMIN' },
    { client_id: credential.client_id },
  ])
  const { rows } = await service.owner.query('select c::text as row from merchant_client c')
  const { rows: actions } = await service.owner.query('select a::text as row from operator_actions a')
  t.notMatch(JSON.stringify([...rows, ...actions]), secret ?? 'none')
})

t.test('a new secret replaces the old one, also for the server client', async (t) => {
  const { app, identity, merchantId, clientId, realm, create } = await shop()
  const made = await create()
  for (const id of [made.credential.client_id, clientId]) {
    const old = identity.realm(realm).clients.get(id)
    const { secret } = await rotateApiCredential(app, { merchantId, clientId: id, actor })
    t.not(secret, old)
    t.equal(identity.realm(realm).clients.get(id), secret)
  }
  t.match(await actionsOf(merchantId), [
    { action: 'credential.create', after: { name: 'ci', role: null } },
    { action: 'credential.rotate', subject_id: made.credential.client_id },
    { action: 'credential.rotate', subject_id: clientId },
  ])
})

t.test(
  'a rotation without the database changes nothing, and one that the provider does not answer ends the tokens',
  async (t) => {
    const { app, identity, merchantId, clientId, realm } = await shop()
    const rotate = () => rotateApiCredential(app, { merchantId, clientId, actor })
    const cutoffs = async () =>
      (
        await service.owner.query('select from token_cutoffs where realm_slug = $1 and holder = $2', [
          realm,
          `client ${clientId}`,
        ])
      ).rowCount
    await service.owner.query(`
    create function refuse_cutoff() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
    create trigger refuse_cutoff before insert on token_cutoffs for each row execute function refuse_cutoff();
  `)
    await t.rejects(rotate())
    t.equal(identity.realm(realm).clients.get(clientId), 'first', 'a secret that nobody has seen was not set')
    await service.owner.query('drop function refuse_cutoff() cascade')
    for (const when of ['before', 'after'] as const) {
      await service.owner.query('delete from token_cutoffs where realm_slug = $1', [realm])
      identity.fail('rotateServiceSecret', when)
      await t.rejects(rotate(), IdentityUnavailableError)
      t.equal(await cutoffs(), 1, `tokens of before end, failing ${when}`)
    }
  },
)

t.test('a clock that was two hours ahead for a moment rejects new tokens for a minute at most', async (t) => {
  const { app, merchantId, clientId, realm } = await shop()
  const rotate = () => rotateApiCredential(app, { merchantId, clientId, actor })
  const tokensFromSeconds = async () => {
    const ofClient = { slug: realm, keyId: 'none', clientId, subject: 'none' }
    return (((await findTokenCutoff(app.pool, ofClient)) ?? 0) - Date.now()) / 1_000
  }
  const { now } = Date
  t.teardown(() => Object.assign(Date, { now }))
  Date.now = () => now() + 7_200_000
  await rotate()
  Date.now = now
  t.ok((await tokensFromSeconds()) > 30, 'tokens of a clock that is a little ahead end as well')
  t.ok((await tokensFromSeconds()) <= 60)
  const shift = "update token_cutoffs set valid_from = valid_from + interval '2 hours' where realm_slug = $1"
  await service.owner.query(shift, [realm])
  await rotate()
  t.ok((await tokensFromSeconds()) <= 0, 'a time that came into the table so is replaced')
})

t.test('a revoked credential is gone from the provider and the list, and authenticates no caller', async (t) => {
  const { app, identity, merchantId, realm, create } = await shop()
  const { credential } = await create('ci', 'ADMIN')
  const key = { merchantId, clientId: credential.client_id, actor }
  const revoked = await revokeApiCredential(app, key)
  t.match(revoked, { client_id: credential.client_id, revoked_at: /^20/ })
  t.equal(identity.realm(realm).clients.has(credential.client_id), false)
  t.equal(await identifyMerchant(app, credential.client_id), null)
  t.equal((await listApiCredentials(app, merchantId)).length, 1)
  t.same(await revokeApiCredential(app, key), revoked, 'repeatable')
  await t.rejects(rotateApiCredential(app, key), { code: 'CREDENTIAL_NOT_FOUND' })
  t.match(await actionsOf(merchantId), [{}, { action: 'credential.revoke', before: { name: 'ci', role: 'ADMIN' } }])
})

t.test('a credential that is revoked while its secret is rotated stays gone from the provider', async (t) => {
  const { app, identity, merchantId, realm, create } = await shop()
  const { client_id: clientId } = (await create()).credential
  const key = { merchantId, clientId, actor }
  identity.onCall(async (method) => {
    if (method !== 'createServiceClient') return
    identity.onCall(undefined)
    await revokeApiCredential(app, key)
  })
  await t.rejects(rotateApiCredential(app, key), { code: 'CREDENTIAL_NOT_FOUND' })
  t.equal(identity.realm(realm).clients.has(clientId), false)
})

t.test('a credential that is revoked while it is created leaves no client at the provider', async (t) => {
  const { app, identity, merchantId, realm, create } = await shop()
  identity.onCall(async (method) => {
    if (method !== 'createServiceClient') return
    identity.onCall(undefined)
    const made = (await listApiCredentials(app, merchantId)).find(({ kind }) => kind === 'credential')
    await revokeApiCredential(app, { merchantId, clientId: made?.client_id ?? '', actor })
  })
  const clients = [...identity.realm(realm).clients.keys()]
  await t.rejects(create(), { code: 'CREDENTIAL_NOT_FOUND' })
  t.same([...identity.realm(realm).clients.keys()], clients)
})

t.test("the server client can't be revoked, for the merchant is known by it", async (t) => {
  const { app, identity, merchantId, clientId, realm } = await shop()
  await t.rejects(revokeApiCredential(app, { merchantId, clientId, actor }), {
    code: 'CREDENTIAL_NOT_REVOCABLE',
    next: /rotate/,
  })
  t.equal(identity.realm(realm).clients.get(clientId), 'first')
  t.match(await identifyMerchant(app, clientId), { merchant_id: merchantId })
})

t.test('people sign in with the portal and cli clients; they are no credentials', async (t) => {
  const { app, merchantId, realm } = await shop()
  for (const clientId of [`${realm}-portal`, `${realm}-cli`]) {
    await t.rejects(revokeApiCredential(app, { merchantId, clientId, actor }), { code: 'CREDENTIAL_NOT_FOUND' })
    await t.rejects(rotateApiCredential(app, { merchantId, clientId, actor }), { code: 'CREDENTIAL_NOT_FOUND' })
  }
})

t.test('20 live credentials are the limit, for concurrent requests too', async (t) => {
  const { app, merchantId, create } = await shop()
  for (let i = 0; i < 17; i += 1) await create(`c${i}`)
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => create(`p${i}`)))
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 3)
  t.ok(
    outcomes
      .filter((each) => each.status === 'rejected')
      .every(({ reason }) => reason.code === 'CREDENTIAL_LIMIT_REACHED'),
  )
  const [, first] = await listApiCredentials(app, merchantId)
  await revokeApiCredential(app, { merchantId, clientId: first?.client_id ?? '', actor })
  await t.resolves(create('room again'))
})

t.test('a provider that fails leaves no credential that works, or that the list does not show', async (t) => {
  for (const when of ['before', 'after'] as const) {
    const { app, identity, merchantId, realm, create } = await shop()
    identity.fail('createServiceClient', when)
    await t.rejects(create(), IdentityUnavailableError)
    t.equal((await listApiCredentials(app, merchantId)).length, 1, 'the server client alone')
    t.equal(identity.realm(realm).clients.size, 1)
    t.match(await actionsOf(merchantId), [
      { action: 'credential.create' },
      { action: 'credential.revoke', reason: 'the identity provider did not create it' },
    ])
  }
  const { app, identity, merchantId, realm, create } = await shop()
  const { credential } = await create()
  const key = { merchantId, clientId: credential.client_id, actor }
  identity.fail('deleteClient')
  await t.rejects(revokeApiCredential(app, key), IdentityUnavailableError)
  t.equal(await identifyMerchant(app, key.clientId), null, 'it speaks for nobody all the same')
  await revokeApiCredential(app, key)
  t.equal(identity.realm(realm).clients.has(key.clientId), false, 'and a repetition makes up for it')
})

t.test('over HTTP, without an identity provider, credentials are rows without secrets', async (t) => {
  const merchant = await service.merchant()
  const path = '/api/v1/portal/api-credentials'
  const call = (method: 'GET' | 'POST' | 'DELETE', rest = '', body?: unknown) =>
    service.call(method, path + rest, { merchant, body })
  const made = await call('POST', '', { name: 'ci', role: 'DEVELOPER' })
  t.match(made, {
    status: 201,
    body: { kind: 'credential', role: 'DEVELOPER', name: 'ci', client_secret: null, token_endpoint: null },
  })
  t.match(await call('POST', '', { name: 'payments only' }), { status: 201, body: { role: null } })
  t.match(await call('GET'), { status: 200, body: { data: [{ kind: 'server' }, { name: 'ci' }, { role: null }] } })
  t.match(await call('POST', `/${made.body.client_id}/rotate`), { status: 200, body: { client_secret: null } })
  t.match(await call('POST', `/${made.body.client_id}/rotate`, {}), { status: 200 })
  t.match(await call('DELETE', `/${made.body.client_id}`), { status: 200, body: { revoked_at: /^20/ } })
  t.match(await call('DELETE', `/${merchant.clientId}`), { status: 409, body: { code: 'CREDENTIAL_NOT_REVOCABLE' } })
})

t.test("another merchant's credential is as unknown as one that does not exist", async (t) => {
  const mine = await service.merchant()
  const theirs = await service.merchant()
  const path = '/api/v1/portal/api-credentials'
  const { body } = await service.call('POST', path, { merchant: theirs, body: { name: 'ci' } })
  const answers = await Promise.all(
    [body.client_id, theirs.clientId, `${mine.realm}-key-00000000`, 'nonsense', '%00'].flatMap((id) => [
      service.call('DELETE', `${path}/${id}`, { merchant: mine }),
      service.call('POST', `${path}/${id}/rotate`, { merchant: mine }),
    ]),
  )
  t.equal(new Set(answers.map(({ text, body: { request_id } }) => text.replace(request_id, ''))).size, 1)
  t.ok(answers.every(({ status, body: { code } }) => status === 404 && code === 'CREDENTIAL_NOT_FOUND'))
  t.equal((await service.call('GET', path, { merchant: theirs })).body.data.length, 2)
})

t.test('bad bodies are rejected, and nothing is created', async (t) => {
  const merchant = await service.merchant()
  const path = '/api/v1/portal/api-credentials'
  for (const body of [
    {},
    { name: '' },
    { name: 'x'.repeat(101) },

    { name: 'ci', role: 'OWNER' },
    { name: 'ci', role: '' },
    { name: 'ci', client_id: 'mine' },
    { name: 'ci', client_secret: 'mine' },
    { name: 7 },
  ]) {
    t.match(await service.call('POST', path, { merchant, body }), { status: 400, body: { code: 'VALIDATION_FAILED' } })
  }
  const rotate = `${path}/${merchant.clientId}/rotate`
  t.match(await service.call('POST', rotate, { merchant, body: { client_secret: 'mine' } }), { status: 400 })
  t.equal((await service.call('GET', path, { merchant })).body.data.length, 1)
})

t.test('a client that the provider does not know works again with its new secret', async (t) => {
  const { app, identity, merchantId, clientId, realm } = await shop()
  // As a row is that was made before there was a provider.
  const { credential } = await createApiCredential(service.app, { merchantId, name: 'ci', role: 'DEVELOPER', actor })
  await identity.deleteClient(realm, clientId)
  for (const id of [credential.client_id, clientId]) {
    const { secret } = await rotateApiCredential(app, { merchantId, clientId: id, actor })
    t.match(secret, /^[\w-]{43}$/)
    t.equal(identity.realm(realm).clients.get(id), secret)
  }
  await identity.deleteRealm(realm, merchantId)
  await t.rejects(rotateApiCredential(app, { merchantId, clientId, actor }), { code: 'SERVICE_UNAVAILABLE' })
  await t.rejects(createApiCredential(app, { merchantId, name: 'x', role: null, actor }), {
    code: 'SERVICE_UNAVAILABLE',
  })
  t.equal((await listApiCredentials(app, merchantId)).length, 2, 'and no row is left of it')
})
