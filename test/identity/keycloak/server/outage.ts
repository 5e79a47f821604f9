import { randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import { decodeJwt } from 'jose'
import t from 'tap'
import { IdentityUnavailableError } from '../../../../src/identity/provider.ts'
import { makeLog } from '../../../../src/observe/log.ts'
import { clientCredentials, realmSpec } from '../../../support/identity.ts'
import { orderKeycloak, runningKeycloak } from '../../../support/keycloak.ts'
import { testService } from '../../../support/app.ts'
import type { TestService } from '../../../support/app.ts'
import { until } from '../../../support/until.ts'

/*
 * The service on a Keycloak that goes away in the middle, and comes back. Runs alone: it stops the server that the
 * other tests use.
 */
const { authUrl, clientId, clientSecret } = runningKeycloak()

const mark = randomUUID().slice(0, 8)
const [HERE, NOWHERE] = [`here-${mark}`, `nowhere-${mark}`]

let logged = ''
const log = makeLog(
  'trace',
  new Writable({
    write: (chunk, _encoding, done) => {
      logged += String(chunk)
      done()
    },
  }),
)

const service = await testService(t, {
  env: {
    SVC_IDENTITY: 'keycloak',
    SVC_AUTH_URL: authUrl,
    SVC_KEYCLOAK_CLIENT_ID: clientId,
    SVC_KEYCLOAK_CLIENT_SECRET: clientSecret,
  },
  overrides: { log },
})
const { app } = service
const tokens: string[] = []

async function tokenOf(merchant: { realm: string; clientId: string; clientSecret: string }): Promise<string> {
  const server = { clientId: merchant.clientId, secret: merchant.clientSecret }
  const { body } = await clientCredentials(authUrl, { slug: merchant.realm, server })
  tokens.push(body.access_token)
  return body.access_token
}

function payments(token: string) {
  return service.call('GET', '/api/v1/payments', { headers: { authorization: `Bearer ${token}` } })
}

function register(companyName: string): ReturnType<TestService['call']> {
  return service.call('POST', '/api/v1/portal/register', {
    body: { company_name: companyName, trading_name: companyName, admin_email: 'ada@acme.example' },
  })
}

t.test('a registered merchant gets a realm of Keycloak, and its server client reads its payments', async (t) => {
  const answer = await register(HERE)
  t.equal(answer.status, 201, answer.text)
  t.same(answer.body.warnings, [])
  t.equal(answer.body.issuer, `${authUrl}/realms/${HERE}`)
  const server = { clientId: answer.body.client_id, secret: answer.body.client_secret }
  const { status, body } = await clientCredentials(authUrl, { slug: answer.body.realm_slug, server })
  t.equal(status, 200)
  t.equal(decodeJwt(body.access_token)['azp'], `${HERE}-server`)
  tokens.push(body.access_token, server.secret)
  t.equal((await payments(body.access_token)).status, 200)
  const again = await register(HERE)
  t.equal(again.status, 409)
  t.equal(again.body.code, 'REALM_EXISTS')
})

t.test('while Keycloak is away', async (t) => {
  const [known, unknown] = [await service.merchant(), await service.merchant()]
  const [knownToken, unknownToken] = [await tokenOf(known), await tokenOf(unknown)]
  t.equal((await payments(knownToken)).status, 200)

  await orderKeycloak('stop')
  t.teardown(() => orderKeycloak('start'))

  t.equal((await payments(knownToken)).status, 200, 'keys that are known go on verifying')
  const refused = await payments(unknownToken)
  t.equal(refused.status, 503, 'a token that nobody can check is no bad token')
  t.equal(refused.body.code, 'IDP_UNAVAILABLE')
  const began = performance.now()
  const registration = await register(NOWHERE)
  t.equal(registration.status, 503)
  t.equal(registration.body.code, 'IDP_UNAVAILABLE')
  t.ok(performance.now() - began < 10_000, 'it is told at once')
  await t.rejects(app.identity.health(), { name: 'IdentityUnavailableError' })
  await t.rejects(app.identity.createRealm(realmSpec()), { name: 'IdentityUnavailableError' })
  const { rows } = await service.owner.query('select id from merchants where realm_slug = $1', [NOWHERE])
  t.same(rows, [], 'there is no merchant')
})

t.test('after the outage nothing is left behind, and everything works', async (t) => {
  // It listens before it is warm: on a busy machine its first answers may take longer than the service waits for one.
  await until('Keycloak is healthy again', isHealthy, 60_000)
  t.equal(await app.identity.realmExists(NOWHERE), false)
  const { rows } = await service.owner.query('select id from merchants where realm_slug = $1', [NOWHERE])
  t.same(rows, [])
})

/** Whether it answers in time; what else goes wrong is thrown. */
function isHealthy(): Promise<boolean> {
  return app.identity.health().then(
    () => true,
    (error: unknown) => {
      if (error instanceof IdentityUnavailableError) return false
      throw error
    },
  )
}

t.test('no secret of Keycloak and no token was logged', async (t) => {
  t.ok(logged.length > 0)
  t.notOk(logged.includes(clientSecret), 'the secret of the admin client')
  t.notMatch(logged, /eyJ[\w-]+\.eyJ/, 'any token')
  for (const secret of tokens) t.notOk(logged.includes(secret))
})
