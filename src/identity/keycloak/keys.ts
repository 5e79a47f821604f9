import type { JSONWebKeySet } from 'jose'
import { z } from 'zod'
import { IdentityUnavailableError } from '../provider.ts'
import { adminPath, parse } from './admin.ts'
import type { Admin } from './admin.ts'

const KEYS_TIMEOUT_MS = 2_000
const KEYS_BYTES_MAX = 64 * 1024

const KeySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) })

/** The public keys of a realm; null if the realm does not exist. Encryption keys are left out. */
export async function keysOf(admin: Admin, slug: string): Promise<JSONWebKeySet | null> {
  const to = 'return the keys of a realm'
  const path = `/realms/${encodeURIComponent(slug)}/protocol/openid-connect/certs`
  const { status, text } = await admin.getWithoutToken({
    to,
    path,
    timeoutMs: KEYS_TIMEOUT_MS,
    bytesMax: KEYS_BYTES_MAX,
  })
  if (status === 404) return null
  if (status !== 200)
    throw new IdentityUnavailableError(`the identity provider could not ${to}: it responded with ${status}`)
  const { keys } = parse(to, text, KeySet)
  return { keys: keys.filter((key) => key['use'] !== 'enc') }
}

const PROVIDER_TYPE = 'org.keycloak.keys.KeyProvider'
const KEY_BITS = '2048'
/** The priority of the first key. Each new key has a higher one, and the older keys keep verifying. */
const FIRST_PRIORITY = 100
/** Time until a replaced key is deleted; no token lives as long. */
const REPLACED_SECONDS = 3_600

/**
 * The keys for a realm import. All kinds must be listed once one is: without a PS256 key Keycloak would sign with RS256
 * (decision 43).
 */
export function keyComponents(nowSeconds: number): unknown[] {
  const priority = [String(FIRST_PRIORITY)]
  return [
    signingKey(FIRST_PRIORITY, nowSeconds),
    { name: 'rsa-enc', providerId: 'rsa-enc-generated', config: { priority, algorithm: ['RSA-OAEP'] } },
    { name: 'hmac', providerId: 'hmac-generated', config: { priority, algorithm: ['HS512'] } },
    { name: 'aes', providerId: 'aes-generated', config: { priority } },
  ]
}

/** Its name contains the creation time, which Keycloak does not record. */
function signingKey(priority: number, nowSeconds: number) {
  return {
    name: `ps256-${nowSeconds}`,
    providerId: 'rsa-generated',
    config: { priority: [String(priority)], keySize: [KEY_BITS], algorithm: ['PS256'] },
  }
}

const Realm = z.object({ id: z.string() })
const Components = z.array(
  z.object({
    id: z.string(),
    name: z.string(),
    providerId: z.string(),
    config: z.object({ priority: z.array(z.coerce.number()).optional() }),
  }),
)

/** Creates a new signing key and deletes keys that were replaced more than an hour ago, or with `revokeNow` all others. */
export async function rotateSigningKey(
  admin: Admin,
  slug: string,
  { revokeNow = false }: { revokeNow?: boolean } = {},
): Promise<void> {
  const to = 'replace a signing key'
  const realm = await admin.read({ to, path: adminPath(slug) }, Realm)
  if (realm === null) throw new Error(`realm ${slug} does not exist`)
  const path = `${adminPath(slug, 'components')}?type=${PROVIDER_TYPE}`
  const components = (await admin.read({ to, path }, Components)) ?? []
  const newestFirst = components
    .filter(({ providerId, name }) => providerId === 'rsa-generated' && /^ps256-\d+$/.test(name))
    .map(({ id, name, config }) => ({ id, madeAt: Number(name.slice(6)), priority: config.priority?.[0] ?? 0 }))
    .toSorted((a, b) => b.priority - a.priority)
  const now = Math.floor(Date.now() / 1000)
  const priority = (newestFirst[0]?.priority ?? FIRST_PRIORITY) + 1
  const body = { ...signingKey(priority, now), providerType: PROVIDER_TYPE, parentId: realm.id }
  await admin.call({ to, method: 'POST', path: adminPath(slug, 'components'), body })
  for (const [index, { id }] of newestFirst.entries()) {
    const replacedAt = newestFirst[index - 1]?.madeAt ?? now
    if (!revokeNow && now - replacedAt < REPLACED_SECONDS) continue
    await admin.call({ to, method: 'DELETE', path: adminPath(slug, 'components', id), acceptedStatuses: [404] })
  }
}
