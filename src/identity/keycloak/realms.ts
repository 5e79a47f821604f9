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
import { findUser } from './users.ts'

export type Keycloak = KeycloakParts & { admin: Admin }

/** Making or deleting a realm is some hundred statements, and slower where there are many realms. */
const REALM_TIMEOUT_MS = 15_000
/** After a failure, the realm, ours or another's of the name, may come to be a little later: how long it is looked for. */
const LATE_CHECKS = 5
const LATE_PAUSE_MS = 1_000

const Realm = z.object({ realm: z.string(), attributes: z.record(z.string(), z.string()).optional() })
type Realm = z.infer<typeof Realm>

/**
 * Makes a realm in one import, which is whole or not at all, and then calls `record`. What fails after the import takes
 * the realm away again; so does a missing answer, behind which there may be a realm (decision 47).
 * @throws {RealmExistsError}
 */
export async function createRealm(keycloak: Keycloak, spec: RealmSpec, record?: RecordRealm): Promise<CreatedRealm> {
  validateRealmSpec(spec)
  const attempt = keycloak.ids.uuid()
  await importRealm(keycloak, spec, attempt)
  try {
    // The rights of the new realm are only in tokens that were issued after it.
    keycloak.admin.renew()
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
      to: 'make a realm',
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
      // Of two made at once the later one is told that a "database operation failed", before the other one is there.
      throw new RealmExistsError(`realm ${slug} exists`, { cause: error })
    }
    throw error
  }
}

/** Finds the first user, and gives it the roles that it lacks; a failure of that is no reason to fail (decision 48). */
async function completeAdmin({ admin, log }: Keycloak, { slug, admin: wanted }: RealmSpec): Promise<CreatedRealm> {
  if (wanted === undefined) return { adminUserId: null, adminRoleAssigned: true }
  const userId = await findUser(admin, slug, wanted.email)
  if (userId === null) throw new IdentityUnavailableError(`the identity provider made realm ${slug} without its user`)
  try {
    await addRoles(admin, { slug, userId }, wanted.roles)
    return { adminUserId: userId, adminRoleAssigned: true }
  } catch (error) {
    log.warn({ err: error, slug }, 'the first user of a realm could not be given its roles')
    return { adminUserId: userId, adminRoleAssigned: false }
  }
}

/**
 * Takes away what an attempt has made, and nothing else: registrations of the service's own realms share one id, so the
 * attempt counts here. Never fails: what is left is taken away by the registration's own roll-back.
 * @returns `foreign` where somebody else's realm stands there
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
    log.warn({ err: error, slug }, 'a realm that could not be completed may be left at the identity provider')
    return 'unknown'
  }
}

/** Only a realm that this registration made goes, whatever else has its name by now. */
export async function deleteRealm({ admin }: Keycloak, slug: string, registrationId: string): Promise<boolean> {
  const realm = await readRealm(admin, slug)
  if (realm?.attributes?.[REGISTRATION_ATTRIBUTE] !== registrationId) return false
  await deleteBySlug(admin, slug)
  return true
}

/** Somebody may be faster. */
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

/** Without its attributes where it is not ours to look into. */
function readRealm(admin: Admin, slug: string): Promise<Realm | null> {
  return admin.read({ to: 'find a realm', path: adminPath(slug) }, Realm)
}

/** A realm that we may not look into is there as well. */
export async function realmExists({ admin }: Keycloak, slug: string): Promise<boolean> {
  const { status } = await admin.call({
    to: 'find a realm',
    method: 'GET',
    path: adminPath(slug),
    acceptedStatuses: [403, 404],
  })
  return status !== 404
}

/** Sessions stay: they are worth nothing while it is disabled, and whole again when it is not. */
export async function setRealmEnabled({ admin }: Keycloak, slug: string, isEnabled: boolean): Promise<void> {
  const to = isEnabled ? 'enable a realm' : 'disable a realm'
  await admin.call({ to, method: 'PUT', path: adminPath(slug), body: { enabled: isEnabled }, acceptedStatuses: [404] })
}
