import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { IdentityUnavailableError, RealmExistsError } from '../provider.ts'
import type { CreatedRealm, RealmSpec, RecordRealm } from '../provider.ts'
import { validateRealmSpec } from '../validate-realm-spec.ts'
import { adminPath } from './admin.ts'
import type { Admin } from './admin.ts'
import { ATTEMPT_ATTRIBUTE, REGISTRATION_ATTRIBUTE, realmRepresentation } from './realm-representation.ts'
import { addRoles } from './roles.ts'
import type { KeycloakParts } from './settings.ts'
import { setUpFlows } from './sign-in-flows.ts'
import { findUser } from './users.ts'

export type Keycloak = KeycloakParts & { admin: Admin }

/** Creating or deleting a realm takes some hundred statements, and longer with many realms. */
const REALM_TIMEOUT_MS = 15_000
/** After a failed import the realm, ours or a concurrent one, may appear a little later: how often to check for it. */
const LATE_CHECKS = 5
const LATE_PAUSE_MS = 1_000

const Realm = z.object({ realm: z.string(), attributes: z.record(z.string(), z.string()).optional() })
type Realm = z.infer<typeof Realm>

/**
 * Creates a realm in one import, which is atomic, and then calls `record`. If anything after the import fails, the
 * realm is deleted again; so it is after a missing response, which may hide a created realm (decision 47).
 * @throws {RealmExistsError}
 */
export async function createRealm(keycloak: Keycloak, spec: RealmSpec, record?: RecordRealm): Promise<CreatedRealm> {
  validateRealmSpec(spec)
  const attempt = keycloak.ids.uuid()
  await importRealm(keycloak, spec, attempt)
  try {
    // Only tokens issued after the realm was created include the rights for it.
    keycloak.admin.renew()
    await setUpFlows(keycloak.admin, spec.slug)
    const made = await completeAdmin(keycloak, spec)
    await record?.(made, undefined)
    return made
  } catch (error) {
    await deleteAttempt(keycloak, { slug: spec.slug, attempt })
    throw error
  }
}

async function importRealm(keycloak: Keycloak, spec: RealmSpec, attempt: string): Promise<void> {
  const { slug } = spec
  try {
    const { status } = await keycloak.admin.call({
      to: 'create a realm',
      method: 'POST',
      path: adminPath(),
      body: realmRepresentation(keycloak, spec, attempt),
      timeoutMs: REALM_TIMEOUT_MS,
      acceptedStatuses: [409],
    })
    if (status === 409) throw new RealmExistsError(`realm ${slug} exists`)
  } catch (error) {
    if (error instanceof RealmExistsError) throw error
    if ((await deleteAttempt(keycloak, { slug, attempt }, LATE_CHECKS)) === 'foreign') {
      // Of two concurrent imports the later one fails with "database operation failed" before the other realm is
      // visible.
      throw new RealmExistsError(`realm ${slug} exists`, { cause: error })
    }
    throw error
  }
}

/** Finds the first user and adds missing roles. A failure to add them does not fail the registration (decision 48). */
async function completeAdmin({ admin, log }: Keycloak, { slug, admin: wanted }: RealmSpec): Promise<CreatedRealm> {
  if (wanted === undefined) return { adminUserId: null, adminRoleAssigned: true }
  const userId = await findUser(admin, slug, wanted.email)
  if (userId === null)
    throw new IdentityUnavailableError(`the identity provider created realm ${slug} without its user`)
  try {
    await addRoles(admin, { slug, userId }, wanted.roles)
    return { adminUserId: userId, adminRoleAssigned: true }
  } catch (error) {
    log.warn({ err: error, slug }, 'could not assign the roles of the first user of a realm')
    return { adminUserId: userId, adminRoleAssigned: false }
  }
}

/**
 * Deletes the realm that an attempt created, and no other: the service's own realms share one registration id, so the
 * attempt decides. Never throws: what is left is deleted by the rollback of the registration.
 * @returns `foreign` if the name belongs to another realm
 */
async function deleteAttempt(
  keycloak: Keycloak,
  { slug, attempt }: { slug: string; attempt: string },
  checks = 1,
): Promise<'gone' | 'foreign' | 'unknown'> {
  const { admin, log } = keycloak
  try {
    for (let check = 1; check <= checks; check += 1) {
      const realm = await readRealm(admin, slug)
      if (realm !== null && realm.attributes?.[ATTEMPT_ATTRIBUTE] !== attempt) return 'foreign'
      if (realm !== null) {
        await deleteBySlug(admin, slug)
        return 'gone'
      }
      if (check < checks) await delay(LATE_PAUSE_MS)
    }
    return 'gone'
  } catch (error) {
    log.warn({ err: error, slug }, 'an incomplete realm may be left at the identity provider')
    return 'unknown'
  }
}

/** Deletes the realm only if this registration created it, whatever has its name by now. */
export async function deleteRealm({ admin }: Keycloak, slug: string, registrationId: string): Promise<boolean> {
  const realm = await readRealm(admin, slug)
  if (realm?.attributes?.[REGISTRATION_ATTRIBUTE] !== registrationId) return false
  await deleteBySlug(admin, slug)
  return true
}

/** A concurrent deletion is no error. */
async function deleteBySlug(admin: Admin, slug: string): Promise<void> {
  const to = 'delete a realm'
  await admin.call({
    to,
    method: 'DELETE',
    path: adminPath(slug),
    timeoutMs: REALM_TIMEOUT_MS,
    acceptedStatuses: [404],
  })
}

/** Attributes are missing if our client may not read them. */
function readRealm(admin: Admin, slug: string): Promise<Realm | null> {
  return admin.read({ to: 'find a realm', path: adminPath(slug) }, Realm)
}

/** A realm that our client may not read exists, too. */
export async function realmExists({ admin }: Keycloak, slug: string): Promise<boolean> {
  const { status } = await admin.call({
    to: 'find a realm',
    method: 'GET',
    path: adminPath(slug),
    acceptedStatuses: [403, 404],
  })
  return status !== 404
}

/** Sessions are kept: they are invalid while the realm is disabled and valid again afterwards. */
export async function setRealmEnabled({ admin }: Keycloak, slug: string, isEnabled: boolean): Promise<void> {
  const to = isEnabled ? 'enable a realm' : 'disable a realm'
  await admin.call({ to, method: 'PUT', path: adminPath(slug), body: { enabled: isEnabled }, acceptedStatuses: [404] })
}
