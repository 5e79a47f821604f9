import { randomUUID } from 'node:crypto'
import t from 'tap'
import { request } from 'undici'
import { makeEmbeddedProvider } from '../../../src/identity/embedded/provider.ts'
import { PLATFORM_REALM, clientIdsOf, portalAddressesOf } from '../../../src/lib/realms.ts'
import { ensurePlatform } from '../../../src/staff/ensure-platform.ts'
import { startHandler } from '../../support/handler.ts'
import {
  CALLBACK,
  PORTAL,
  atPortal,
  authorizationUrl,
  embeddedHarness,
  makeRealm,
  signIn,
} from '../../support/identity.ts'
import { asksForPassword, UserAgent } from '../../support/user-agent.ts'

const HOME = 'https://home.example'
const harness = await embeddedHarness(t, { env: { SVC_PORTAL_URL: HOME } })
const { app, authUrl } = harness

/** Where the service is by now: another port and another portal. */
const MOVED = { publicUrl: 'https://pay.example', portalUrl: 'https://portal.moved.example' }

async function moved() {
  const config = { ...app.config, portalUrl: MOVED.portalUrl }
  return startHandler(t, makeEmbeddedProvider({ ...app, config, publicUrl: MOVED.publicUrl }))
}

/** Whether signing in may come back here. */
async function leadsBackTo(redirectUri: string, { url, realm }: { url: string; realm: string }): Promise<boolean> {
  const { url: address } = authorizationUrl({
    authUrl: url,
    realm,
    clientId: clientIdsOf(realm).portal,
    redirectUri,
  })
  const { statusCode, body } = await request(address)
  await body.dump()
  return statusCode === 303
}

async function mayRead(origin: string, { url, realm }: { url: string; realm: string }): Promise<boolean> {
  const { headers, body } = await request(`${url}/realms/${realm}/protocol/openid-connect/token`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST' },
  })
  await body.dump()
  return headers['access-control-allow-origin'] === origin
}

const slug = `r-${randomUUID().slice(0, 8)}`
const before = { publicUrl: app.publicUrl, portalUrl: app.config.portalUrl }
const realm = await makeRealm(harness, {
  slug,
  portal: { clientId: clientIdsOf(slug).portal, ...portalAddressesOf(slug, before) },
})
const movedUrl = await moved()

t.test("a portal's address follows the configuration, even for older realms", async (t) => {
  const [old = ''] = portalAddressesOf(slug, before).redirectUris
  t.equal(await leadsBackTo(old, { url: authUrl, realm: slug }), true)
  t.equal(await leadsBackTo(`${MOVED.portalUrl}/callback`, { url: movedUrl, realm: slug }), true)
  t.equal(await leadsBackTo(old, { url: movedUrl, realm: slug }), false, 'and no longer where it was')
  t.equal(await leadsBackTo(`${MOVED.portalUrl}/callback`, { url: authUrl, realm: slug }), false)
})

t.test('so do the origins that may read responses', async (t) => {
  t.equal(await mayRead(HOME, { url: authUrl, realm: slug }), true)
  t.equal(await mayRead(MOVED.portalUrl, { url: authUrl, realm: slug }), false)
  t.equal(await mayRead(MOVED.portalUrl, { url: movedUrl, realm: slug }), true)
  t.equal(await mayRead(HOME, { url: movedUrl, realm: slug }), false)
  const { tokens } = await signIn({ ...atPortal(harness, realm), redirectUri: `${HOME}/callback` })
  const { headers, body } = await request(`${authUrl}/realms/${slug}/protocol/openid-connect/userinfo`, {
    headers: { authorization: `Bearer ${tokens.access_token}`, origin: HOME },
  })
  await body.dump()
  t.equal(headers['access-control-allow-origin'], HOME)
})

t.test("the platform's own pages move with its address, not with the portal", async (t) => {
  await ensurePlatform(app)
  const at = { url: movedUrl, realm: PLATFORM_REALM }
  t.equal(await leadsBackTo(`${MOVED.publicUrl}/admin/callback`, at), true)
  t.equal(await leadsBackTo(`${MOVED.portalUrl}/callback`, at), false)
  t.equal(await leadsBackTo(`${app.publicUrl}/admin/callback`, at), false)
  t.equal(await leadsBackTo(`${app.publicUrl}/admin/callback`, { url: authUrl, realm: PLATFORM_REALM }), true)
})

t.test('a foreign portal keeps its own addresses', async (t) => {
  const other = await makeRealm(harness)
  for (const url of [authUrl, movedUrl]) {
    t.equal(await leadsBackTo(CALLBACK, { url, realm: other.slug }), true)
    t.equal(await leadsBackTo(`${MOVED.portalUrl}/callback`, { url, realm: other.slug }), false)
    t.equal(await mayRead(PORTAL, { url, realm: other.slug }), true)
  }
  t.equal(await mayRead(HOME, { url: authUrl, realm: other.slug }), false)
  const page = await new UserAgent(authUrl).open(authorizationUrl(atPortal(harness, other)).url)
  t.ok(asksForPassword(page))
})
