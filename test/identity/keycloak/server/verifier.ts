import { createHmac, randomUUID } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import t from 'tap'
import { testService } from '../../../support/app.ts'
import { PASSWORD, clientCredentials, signIn } from '../../../support/identity.ts'
import { runningKeycloak } from '../../../support/keycloak.ts'

/*
 * What the service accepts of a real Keycloak's tokens, and what it refuses: contracts 33 to 35. Runs alone, for
 * it uses the platform's realm.
 */
const { authUrl, clientId, clientSecret } = runningKeycloak()

const service = await testService(t, {
  env: {
    SVC_IDENTITY: 'keycloak',
    SVC_AUTH_URL: authUrl,
    SVC_KEYCLOAK_CLIENT_ID: clientId,
    SVC_KEYCLOAK_CLIENT_SECRET: clientSecret,
  },
})
const { app } = service

async function statusOf(path: string, token: string): Promise<number> {
  const { status } = await service.call('GET', path, { headers: { authorization: `Bearer ${token}` } })
  return status
}

/** A registered merchant, and what its administrator gets by signing in at the portal. */
async function register() {
  const name = `kc-${randomUUID().slice(0, 8)}`
  const { body } = await service.call('POST', '/api/v1/portal/register', {
    body: { company_name: name, trading_name: name, admin_email: `ada@${name}.example` },
  })
  const { rows } = await service.owner.query<{ id: string }>('select id from team_members where merchant_id = $1', [
    body.merchant_id,
  ])
  await app.identity.setPassword(name, rows[0]?.id ?? '', PASSWORD)
  const { tokens } = await signIn({
    authUrl,
    realm: name,
    clientId: `${name}-portal`,
    email: `ada@${name}.example`,
    redirectUri: `${app.publicUrl}/portal/callback`,
  })
  return { slug: name, server: { clientId: String(body.client_id), secret: String(body.client_secret) }, tokens }
}

/** The token's own claims under another header, signed as told. */
function forged(token: string, header: Record<string, unknown>, sign: (input: string) => string): string {
  const input = `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${token.split('.')[1]}`
  return `${input}.${sign(input)}`
}

const [first, second] = [await register(), await register()]

t.test('33: only an access token is one, and only as it was signed', async (t) => {
  const { access_token: access, id_token: id, refresh_token: refresh } = first.tokens
  t.equal(await statusOf('/api/v1/portal/team', access), 200)
  t.equal(decodeJwt(id)['typ'], 'ID', 'an ID token has the same key, issuer and client')
  t.equal(await statusOf('/api/v1/portal/team', id), 401)
  t.equal(await statusOf('/api/v1/portal/team', refresh), 401)
  const { kid } = decodeProtectedHeader(access)
  const publicKey = JSON.stringify((await app.identity.keys(first.slug))?.keys.find((key) => key.kid === kid))
  t.equal(
    await statusOf(
      '/api/v1/portal/team',
      forged(access, { alg: 'none', kid }, () => ''),
    ),
    401,
  )
  const hs256 = forged(access, { alg: 'HS256', kid }, (input) =>
    createHmac('sha256', publicKey).update(input).digest('base64url'),
  )
  t.equal(await statusOf('/api/v1/portal/team', hs256), 401)
  const foreign = forged(access, decodeProtectedHeader(access), () => second.tokens.access_token.split('.')[2] ?? '')
  t.equal(await statusOf('/api/v1/portal/team', foreign), 401)
})

t.test("34: a client of another realm with the merchant's client id is rejected", async (t) => {
  const secret = app.ids.token()
  await app.identity.createServiceClient(second.slug, { clientId: first.server.clientId, secret, roles: ['ADMIN'] })
  const impostor = { slug: second.slug, server: { clientId: first.server.clientId, secret } }
  const { status, body } = await clientCredentials(authUrl, impostor)
  t.equal(status, 200, 'Keycloak itself gives it a token')
  t.equal(decodeJwt(body.access_token)['azp'], first.server.clientId)
  t.equal(await statusOf('/api/v1/payments', body.access_token), 401)
})

t.test("35: a merchant's token gives no access to the platform, nor the reverse", async (t) => {
  t.equal(await statusOf('/api/v1/admin/merchants', first.tokens.access_token), 403)
  const operator = await service.operator('OPS')
  t.equal((await service.call('GET', '/api/v1/admin/merchants', { headers: operator })).status, 200)
  t.equal((await service.call('GET', '/api/v1/payments', { headers: operator })).status, 403)
  t.equal(
    (await service.call('GET', '/api/v1/admin/staff', { headers: operator })).status,
    403,
    'nor more than OPS may',
  )
})
