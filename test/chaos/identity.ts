import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type pg from 'pg'
import { MERCHANT_ROLES } from '../../src/lib/permissions.ts'
import { clientIdsOf } from '../../src/lib/realms.ts'
import { encoded, makeInProcessIdp, makeKeyPair } from '../support/in-process-idp.ts'
import type { KeyPair } from '../support/in-process-idp.ts'

/** How old a token may be before its shop gets another. Where it gets none, it keeps the one that it has. */
const RENEWED_MS = 5_000
const SECRET = 'secret'

/** An identity provider as Keycloak is one: another server, which gives tokens to shops and keys to the service. */
export type Identity = {
  url: string
  env: Record<string, string>
  addRealm(slug: string, merchantId: string): Promise<void>
  /** What a shop sends with its requests, as it would get it now. */
  headersOf(slug: string): Promise<Record<string, string>>
  /** Headers that must never be accepted. */
  forged(slug: string): Promise<Record<string, string>>
  away(ms: number, how: 'away' | 'silent'): Promise<void>
  /** Tokens are signed with a new key from now on, and the one before is withdrawn. */
  rotateKey(slug: string): Promise<void>
  /** Tokens of withdrawn keys that have not ended, which the service refuses after a while. */
  withdrawn(): readonly Record<string, string>[]
  close(): void
}

export async function startIdentity(random: () => number): Promise<Identity> {
  const server = createServer((request, response) => {
    const [, slug] = /^\/realms\/([\w-]+)\/protocol\/openid-connect\/certs$/.exec(request.url ?? '') ?? []
    if (idp.down === 'silent') return
    if (idp.down) return void request.socket.destroy()
    if (slug === undefined)
      return void idp.handle?.(request, response).then(
        (isDone) => isDone || response.writeHead(404).end(),
        () => request.socket.destroy(),
      )
    void idp.keys(slug).then(
      (keys) =>
        response.writeHead(keys === null ? 404 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(keys)),
      // It went down while it answered.
      () => request.socket.destroy(),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A server that listens on a port has one.
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const idp = makeInProcessIdp(url)
  const strange: KeyPair = await makeKeyPair()
  const tokens = new Map<string, { token: string; at: number }>()
  const withdrawn: { slug: string; key: KeyPair }[] = []
  const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })

  async function tokenOf(slug: string): Promise<string> {
    const known = tokens.get(slug)
    if (known !== undefined && Date.now() - known.at < RENEWED_MS) return known.token
    const { server: clientId } = clientIdsOf(slug)
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: clientId, client_secret: SECRET })
    const address = `${url}/realms/${slug}/protocol/openid-connect/token`
    const token = await fetch(address, { method: 'POST', body, signal: AbortSignal.timeout(1_000) }).then(
      async (response) => String(((await response.json()) as Record<string, unknown>)['access_token']),
      () => known?.token ?? '',
    )
    tokens.set(slug, { token, at: Date.now() })
    return token
  }

  return {
    url,
    env: {
      SVC_IDENTITY: 'keycloak',
      SVC_AUTH_URL: url,
      SVC_KEYCLOAK_CLIENT_ID: 'svc',
      SVC_KEYCLOAK_CLIENT_SECRET: SECRET,
    },
    addRealm: async (slug, merchantId) => {
      await idp.createRealm({
        slug,
        kind: 'merchant',
        displayName: 'Shop',
        registrationId: merchantId,
        service: { clientId: clientIdsOf(slug).server, secret: SECRET, roles: ['ADMIN'] },
        roles: MERCHANT_ROLES,
      })
    },
    headersOf: async (slug) => bearer(await tokenOf(slug)),
    forged: async (slug) => {
      const { kid } = idp.keyOf(slug)
      const claims = idp.claimsOf(slug)
      const token = [
        () => idp.mint(slug, { key: { ...strange, kid } }),
        () => idp.mint(slug, { header: { alg: 'HS256' } }),
        () => `${encoded({ alg: 'none', kid })}.${encoded(claims)}.`,
        () => idp.mint(slug, { claims: { iss: `${url}/realms/platform` } }),
      ][Math.floor(random() * 4)]
      return bearer(token?.() ?? '')
    },
    away: async (ms, how) => {
      idp.down = how === 'silent' ? how : true
      await new Promise((resolve) => setTimeout(resolve, ms))
      idp.down = false
      server.closeAllConnections()
    },
    rotateKey: async (slug) => {
      withdrawn.push({ slug, key: idp.keyOf(slug) })
      await idp.rotate(slug, { forget: true })
      tokens.delete(slug)
    },
    // Made now: one that was made when its key was withdrawn has ended by itself after a long run.
    withdrawn: () => withdrawn.map(({ slug, key }) => bearer(idp.mint(slug, { key }))),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** A shop that was planted gets a realm, and the client that its server has there. */
export async function putInRealm(owner: pg.Client, { id, slug }: { id: string; slug: string }): Promise<void> {
  const { server } = clientIdsOf(slug)
  await owner.query('update merchants set realm_slug = $2, client_id = $3 where id = $1', [id, slug, server])
  await owner.query('update merchant_client set client_id = $2 where merchant_id = $1', [id, server])
}
