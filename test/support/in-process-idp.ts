import { constants, createHmac, generateKeyPair, randomUUID, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import type { JSONWebKeySet, JWK } from 'jose'
import { IdentityUnavailableError, RealmExistsError } from '../../src/identity/provider.ts'
import type { IdentityProvider, RealmSpec } from '../../src/identity/provider.ts'
import { issuerOf } from '../../src/lib/realms.ts'

/*
 * An identity provider in this process that issues whatever a test asks it to: realms with real keys, tokens of every
 * kind of wrongness. Signatures are made with Node's own cryptography, so that the verifier's library does not check
 * itself.
 */
export type KeyPair = { kid: string; privateKey: KeyObject; publicKey: KeyObject }

type IdpRealm = {
  spec: RealmSpec
  keys: KeyPair[]
  clients: Map<string, { secret: string; roles: readonly string[] }>
}

export type TokenInput = {
  /** `azp`; null leaves it out. */
  clientId?: string | null
  subject?: string
  roles?: readonly string[]
  /** Beside and over the usual claims; undefined takes one away. */
  claims?: Record<string, unknown>
  header?: Record<string, unknown>
  /** The key that signs; the realm's own where it is not said. */
  key?: KeyPair
}

export type InProcessIdp = IdentityProvider & {
  readonly authUrl: string
  /** Whether it gives no answer; `silent` never answers at all. */
  down: boolean | 'silent'
  /** How often a realm's keys were asked for. */
  fetches: Map<string, number>
  /** An access token as the provider itself issues it, or as it never would. */
  mint(slug: string, input?: TokenInput): string
  /** The payload that `mint` signs. */
  claimsOf(slug: string, input?: TokenInput): Record<string, unknown>
  keyOf(slug: string): KeyPair
  /** New tokens are signed with a new key; `forget` takes the old one away. */
  rotate(slug: string, options?: { forget?: boolean }): Promise<void>
}

const generate = promisify(generateKeyPair)

export async function makeKeyPair(): Promise<KeyPair> {
  const { privateKey, publicKey } = await generate('rsa', { modulusLength: 2048 })
  return { kid: randomUUID(), privateKey, publicKey }
}

export function publicJwk({ kid, publicKey }: KeyPair): JWK {
  return { ...publicKey.export({ format: 'jwk' }), kid, alg: 'PS256', use: 'sig' }
}

export function makeInProcessIdp(authUrl = 'https://idp.example'): InProcessIdp {
  const realms = new Map<string, IdpRealm>()
  const nothing = (): Promise<void> => Promise.resolve()

  function realmOf(slug: string): IdpRealm {
    const realm = realms.get(slug)
    if (realm === undefined) throw new Error(`the realm ${slug} does not exist`)
    return realm
  }

  const idp: InProcessIdp = {
    kind: 'keycloak',
    authUrl,
    down: false,
    fetches: new Map(),
    mint: (slug, input = {}) => {
      const key = input.key ?? idp.keyOf(slug)
      const header = { alg: 'PS256', kid: key.kid, typ: 'JWT', ...input.header }
      return signed(header, idp.claimsOf(slug, input), key)
    },
    claimsOf: (slug, input = {}) => {
      const now = Math.floor(Date.now() / 1000)
      const clientId = input.clientId === undefined ? `${slug}-server` : input.clientId
      return defined({
        iss: issuerOf(authUrl, slug),
        sub: input.subject ?? clientId ?? 'nobody',
        azp: clientId ?? undefined,
        aud: 'account',
        typ: 'Bearer',
        iat: now,
        exp: now + 900,
        jti: randomUUID(),
        realm_access: { roles: input.roles ?? [] },
        ...input.claims,
      })
    },
    keyOf: (slug) => {
      const [key] = realmOf(slug).keys
      if (key === undefined) throw new Error(`the realm ${slug} has no key`)
      return key
    },
    rotate: async (slug, { forget = false } = {}) => {
      const realm = realmOf(slug)
      realm.keys = [await makeKeyPair(), ...(forget ? [] : realm.keys)]
    },
    keys: async (slug): Promise<JSONWebKeySet | null> => {
      idp.fetches.set(slug, (idp.fetches.get(slug) ?? 0) + 1)
      if (idp.down === 'silent') return new Promise(() => undefined)
      // A little time, so that requests at once can meet.
      await new Promise((resolve) => setTimeout(resolve, 5))
      if (idp.down) throw new IdentityUnavailableError('the provider is down')
      const realm = realms.get(slug)
      return realm === undefined ? null : { keys: realm.keys.map((key) => publicJwk(key)) }
    },
    createRealm: async (spec, record) => {
      if (realms.has(spec.slug)) throw new RealmExistsError(spec.slug)
      const clients = new Map(spec.service === undefined ? [] : [[spec.service.clientId, spec.service]])
      realms.set(spec.slug, { spec, keys: [await makeKeyPair()], clients })
      const made = { adminUserId: spec.admin === undefined ? null : randomUUID(), adminRoleAssigned: true }
      await record?.(made, undefined)
      return made
    },
    deleteRealm: async (slug) => realms.delete(slug),
    realmExists: async (slug) => realms.has(slug),
    setRealmEnabled: nothing,
    createUser: async () => randomUUID(),
    findUser: async () => null,
    deleteUser: nothing,
    setUserRoles: nothing,
    setUserEnabled: nothing,
    setPassword: nothing,
    hasPassword: async () => true,
    usersWithPassword: async (_slug, userIds) => new Set(userIds),
    resetFactor: nothing,
    inviteUser: async () => null,
    createServiceClient: async (slug, client) => void realmOf(slug).clients.set(client.clientId, client),
    rotateServiceSecret: async (slug, clientId, secret) => {
      const client = realmOf(slug).clients.get(clientId)
      realmOf(slug).clients.set(clientId, { roles: client?.roles ?? [], secret })
    },
    deleteClient: async (slug, clientId) => void realmOf(slug).clients.delete(clientId),
    handle: (req, res) => answerToken(idp, realms, req, res),
    health: nothing,
  }
  return idp
}

/** The token endpoint, for client_credentials with the secret in the form. */
async function answerToken(
  idp: InProcessIdp,
  realms: ReadonlyMap<string, IdpRealm>,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<boolean> {
  const slug = /^\/realms\/([\w-]+)\/protocol\/openid-connect\/token$/.exec(req.url ?? '')?.[1] ?? ''
  if (req.method !== 'POST' || !realms.has(slug)) return false
  const form = new URLSearchParams(await text(req))
  const clientId = form.get('client_id') ?? ''
  const client = realms.get(slug)?.clients.get(clientId)
  const isRight = client !== undefined && client.secret === form.get('client_secret')
  res.writeHead(isRight ? 200 : 401, { 'content-type': 'application/json' })
  const answer = isRight
    ? { access_token: idp.mint(slug, { clientId, roles: client.roles }), token_type: 'Bearer', expires_in: 900 }
    : { error: 'invalid_client' }
  res.end(JSON.stringify(answer))
  return true
}

/** A token with this header and payload, signed as the header's `alg` says. */
export function signed(header: Record<string, unknown>, payload: unknown, key: KeyPair): string {
  const input = `${encoded(defined(header))}.${encoded(payload)}`
  return `${input}.${signature(String(header['alg']), input, key)}`
}

function signature(alg: string, input: string, { privateKey, publicKey }: KeyPair): string {
  const bits = alg.slice(2)
  const data = Buffer.from(input)
  if (alg.startsWith('PS')) {
    const key = { key: privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: Number(bits) / 8 }
    return sign(`sha${bits}`, data, key).toString('base64url')
  }
  if (alg.startsWith('RS')) return sign(`sha${bits}`, data, privateKey).toString('base64url')
  // The classic confusion: the public key, which everyone has, as the secret.
  const secret = publicKey.export({ type: 'spki', format: 'pem' })
  if (alg.startsWith('HS')) return createHmac(`sha${bits}`, secret).update(input).digest('base64url')
  return ''
}

export function encoded(part: unknown): string {
  return Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url')
}

function defined(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}
