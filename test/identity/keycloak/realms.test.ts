import t from 'tap'
import type { Test } from 'tap'
import { makeKeycloakProvider } from '../../../src/identity/keycloak/provider.ts'
import { IdentityUnavailableError, RealmExistsError } from '../../../src/identity/provider.ts'
import type { IdentityProvider } from '../../../src/identity/provider.ts'
import { makeIds } from '../../../src/lib/ids.ts'
import { makeLog } from '../../../src/observe/log.ts'
import { mailServerOf } from '../../../src/identity/keycloak/mail-server.ts'
import { FAKE_SECRET, fakeKeycloak } from '../../support/fake-keycloak.ts'
import type { Answerer, RecordedRequest, FakeKeycloak } from '../../support/fake-keycloak.ts'
import { realmSpec } from '../../support/identity.ts'

/** The steps of Keycloak's flows that the service changes. */
const FLOW = ['auth-username-password-form', 'auth-otp-form', 'reset-credential-email', 'reset-otp'].map(
  (providerId) => ({ id: providerId, providerId, level: 1 }),
)

const { service: _service, admin: _admin, ...SPEC } = realmSpec()

async function setUp(t: Test, answer: Answerer): Promise<{ fake: FakeKeycloak; identity: IdentityProvider }> {
  const fake = await fakeKeycloak(t, answer)
  const mail = {
    sslRequired: 'none',
    smtpUrl: undefined,
    mailFrom: 'svc <svc@example.com>',
    secondFactorRoles: new Set<string>(),
  } as const
  const settings = { authUrl: fake.url, clientId: 'svc-provisioner', clientSecret: FAKE_SECRET, ...mail }
  return { fake, identity: makeKeycloakProvider({ settings, ids: makeIds(), log: makeLog('silent') }) }
}

/** The attributes of the realm that was asked for. */
function attributesOf({ requests }: FakeKeycloak): unknown {
  return JSON.parse(requests.find(({ method }) => method === 'POST')?.body ?? '{}').attributes
}

const deletes = (requests: RecordedRequest[]): string[] =>
  requests.filter(({ method }) => method === 'DELETE').map(({ path }) => path)

t.test('a realm created without a response is found by its attempt and deleted', async (t) => {
  let looks = 0
  const { fake, identity } = await setUp(t, ({ method }, res) => {
    if (method === 'POST') {
      res.destroy()
      return undefined
    }
    if (method === 'DELETE') return { status: 204 }
    looks += 1
    // It comes to be only after it was looked for.
    return looks === 1 ? { status: 404 } : { status: 200, json: { realm: SPEC.slug, attributes: attributesOf(fake) } }
  })
  await t.rejects(identity.createRealm(SPEC), IdentityUnavailableError)
  t.same(deletes(fake.requests), [`/admin/realms/${SPEC.slug}`])
})

t.test("another's realm of the name is left alone, even of the same registration", async (t) => {
  const attributes = { svcRegistrationId: SPEC.registrationId, svcAttempt: 'another' }
  const { fake, identity } = await setUp(t, ({ method }) =>
    method === 'POST'
      ? { status: 400, json: { errorMessage: 'Database operation failed' } }
      : { status: 200, json: { realm: SPEC.slug, attributes } },
  )
  await t.rejects(identity.createRealm(SPEC), RealmExistsError)
  t.same(deletes(fake.requests), [])
})

t.test('a conflict deletes nothing', async (t) => {
  const { fake, identity } = await setUp(t, () => ({ status: 409, json: { errorMessage: 'Realm exists' } }))
  await t.rejects(identity.createRealm(SPEC), RealmExistsError)
  t.equal(fake.requests.length, 1)
})

t.test('a role that cannot be assigned is reported, and the registration succeeds (decision 48)', async (t) => {
  const { admin } = realmSpec({ slug: SPEC.slug })
  const { identity } = await setUp(t, ({ method, path }) => {
    if (method === 'POST' && path === '/admin/realms') return { status: 201 }
    if (path.includes('/role-mappings/')) return { status: 500, json: {} }
    if (method === 'GET' && path.endsWith('/executions')) return { status: 200, json: FLOW }
    return { status: 200, json: [{ id: 'user-1', email: admin?.email }] }
  })
  t.same(await identity.createRealm({ ...SPEC, ...(admin === undefined ? {} : { admin }) }), {
    adminUserId: 'user-1',
    adminRoleAssigned: false,
  })
})

t.test('a Keycloak without the steps of its flows gets no realm with a weaker sign-in', async (t) => {
  const { fake, identity } = await setUp(t, ({ method, path }) => {
    if (method === 'POST' && path === '/admin/realms') return { status: 201 }
    if (path.endsWith('/executions')) return { status: 200, json: [] }
    return { status: 200, json: { realm: SPEC.slug, attributes: attributesOf(fake) } }
  })
  await t.rejects(identity.createRealm(SPEC), IdentityUnavailableError)
  t.same(deletes(fake.requests), [`/admin/realms/${SPEC.slug}`], 'it is deleted again')
})

t.test('an invalid specification is rejected before any request', async (t) => {
  const { fake, identity } = await setUp(t, () => ({ status: 201 }))
  for (const changes of [{ slug: 'No Slug' }, { registrationId: '1' }])
    await t.rejects(identity.createRealm({ ...SPEC, ...changes }), TypeError)
  t.equal(fake.requests.length, 0)
})

t.test("a mail server's address is sent in Keycloak's format", async (t) => {
  t.equal(mailServerOf({ smtpUrl: undefined, mailFrom: 'svc <a@b.example>' }), undefined)
  t.match(mailServerOf({ smtpUrl: 'smtps://us%40er:p%3Ass@mail.example', mailFrom: 'svc <a@b.example>' }), {
    host: 'mail.example',
    port: '465',
    ssl: 'true',
    starttls: 'false',
    auth: 'true',
    user: 'us@er',
    password: 'p:ss',
    from: 'a@b.example',
    fromDisplayName: 'svc',
  })
  t.match(mailServerOf({ smtpUrl: 'smtp://mail.example', mailFrom: 'a@b.example' }), {
    port: '587',
    ssl: 'false',
    starttls: 'true',
    auth: 'false',
    from: 'a@b.example',
  })
  t.match(mailServerOf({ smtpUrl: 'smtp://[::1]:2525', mailFrom: 'a@b.example' }), { host: '::1', starttls: 'false' })
})
