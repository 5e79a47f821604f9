import { isUuid } from '../../../lib/ids.ts'
import { RealmExistsError } from '../../provider.ts'
import type { CreatedRealm, RealmSpec, RecordRealm } from '../../provider.ts'
import { validateRealmSpec } from '../../validate-realm-spec.ts'
import { cliClient, portalClient, serviceClient } from './clients.ts'
import { insertClient } from './clients-sql.ts'
import { generateCookieKeys, generateSigningKey, sealCookieKeys, sealSigningKeys } from './keys.ts'
import type { EmbeddedParts } from '../parts.ts'
import { deleteRealmOf, findRealm, insertRealm, updateRealmEnabled } from './realms-sql.ts'
import { newUserRow } from '../users/users.ts'
import { insertUser } from '../users/users-sql.ts'

/**
 * Creates a realm with its keys, clients and first user, and the caller's records, in one transaction (decision 47).
 * @throws {RealmExistsError}
 */
export async function createRealm(parts: EmbeddedParts, spec: RealmSpec, record?: RecordRealm): Promise<CreatedRealm> {
  validateRealmSpec(spec)
  // Before the transaction, so that no connection waits for the key.
  const signingKey = await generateSigningKey()
  const realm = {
    ...spec,
    scopes: spec.scopes ?? [],
    signingKeys: sealSigningKeys(parts, spec.slug, [signingKey]),
    cookieKeys: sealCookieKeys(parts, spec.slug, generateCookieKeys()),
  }
  const admin = spec.admin === undefined ? undefined : newUserRow(parts, spec.slug, spec.admin)
  const made: CreatedRealm = { adminUserId: admin?.id ?? null, adminRoleAssigned: true }
  await parts.pool.transaction(async (tx) => {
    if (!(await insertRealm(tx, realm))) throw new RealmExistsError(`realm ${spec.slug} exists`)
    for (const client of clientsOf(parts, spec)) await insertClient(tx, spec.slug, client)
    if (admin !== undefined) await insertUser(tx, admin)
    await record?.(made, tx)
  })
  return made
}

function clientsOf(parts: EmbeddedParts, { slug, portal, service, cli }: RealmSpec) {
  return [
    ...(portal === undefined ? [] : [portalClient(parts, slug, portal)]),
    ...(service === undefined ? [] : [serviceClient(service)]),
    ...(cli === undefined ? [] : [cliClient(cli)]),
  ]
}

/** Deletes the realm only if this registration created it, whatever has its name by now. */
export async function deleteRealm({ pool }: EmbeddedParts, slug: string, registrationId: string): Promise<boolean> {
  return isUuid(registrationId) && (await deleteRealmOf(pool, slug, registrationId))
}

export async function realmExists({ pool }: EmbeddedParts, slug: string): Promise<boolean> {
  return (await findRealm(pool, slug)) !== null
}

/** Sessions are kept: they are invalid while the realm is disabled and valid again afterwards. */
export function setRealmEnabled({ pool }: EmbeddedParts, slug: string, isEnabled: boolean): Promise<void> {
  return updateRealmEnabled(pool, slug, isEnabled)
}
