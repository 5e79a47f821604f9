import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../../../db/sql.ts'
import type { RealmKind } from '../../../lib/realms.ts'
import { RealmRecord } from '../record.ts'

const realmColumns = sql.fragment`
  slug, kind, display_name, registration_id::text as registration_id, signing_keys, cookie_keys, roles, scopes,
  is_enabled, version
`

const Slug = z.object({ slug: z.string() })

export function findRealm(tx: CommonQueryMethods, slug: string): Promise<RealmRecord | null> {
  return tx.maybeOne(sql.prepared('find_idp_realm', RealmRecord)`
    select ${realmColumns} from idp.realms where slug = ${slug}
  `)
}

/** The realm, locked until the transaction ends. */
export function lockRealm(tx: CommonQueryMethods, slug: string): Promise<RealmRecord | null> {
  return tx.maybeOne(sql.type(RealmRecord)`select ${realmColumns} from idp.realms where slug = ${slug} for update`)
}

export type NewRealm = {
  slug: string
  kind: RealmKind
  displayName: string
  registrationId: string
  /** Sealed. */
  signingKeys: string
  /** Sealed. */
  cookieKeys: string
  roles: readonly string[]
  scopes: readonly string[]
}

/** @returns whether it was inserted: false if the name is taken */
export async function insertRealm(tx: CommonQueryMethods, realm: NewRealm): Promise<boolean> {
  const inserted = await tx.maybeOne(sql.type(Slug)`
    insert into idp.realms (slug, kind, display_name, registration_id, signing_keys, cookie_keys, roles, scopes)
    values (
      ${realm.slug}, ${realm.kind}, ${realm.displayName}, ${realm.registrationId}::uuid, ${realm.signingKeys},
      ${realm.cookieKeys}, ${sql.array([...realm.roles], 'text')}, ${sql.array([...realm.scopes], 'text')}
    )
    on conflict (slug) do nothing
    returning slug
  `)
  return inserted !== null
}

/** Deletes the realm with everything in it, if this registration created it. */
export async function deleteRealmOf(tx: CommonQueryMethods, slug: string, registrationId: string): Promise<boolean> {
  const deleted = await tx.maybeOne(sql.type(Slug)`
    delete from idp.realms where slug = ${slug} and registration_id = ${registrationId}::uuid returning slug
  `)
  return deleted !== null
}

export async function updateRealmEnabled(tx: CommonQueryMethods, slug: string, isEnabled: boolean): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    update idp.realms
    set is_enabled = ${isEnabled}, version = nextval('idp.realm_versions')
    where slug = ${slug} and is_enabled <> ${isEnabled}
  `)
}

export type KeyChange = {
  /** Sealed. */
  signingKeys: string
  /** Whether the first key is new. */
  isRotated: boolean
  /** Seconds until all keys but the first may be removed; null if there is only one. */
  retireAfterSeconds: number | null
}

export async function updateSigningKeys(tx: CommonQueryMethods, slug: string, change: KeyChange): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    update idp.realms
    set signing_keys = ${change.signingKeys},
      keys_rotated_at = case when ${change.isRotated} then now() else keys_rotated_at end,
      keys_retire_at = now() + make_interval(secs => ${change.retireAfterSeconds}::float8),
      version = nextval('idp.realm_versions')
    where slug = ${slug}
  `)
}

/** Whether the realm's signing key is older than `seconds`. Call it under the realm's lock. */
export async function areKeysOld(tx: CommonQueryMethods, slug: string, seconds: number): Promise<boolean> {
  const found = await tx.maybeOne(sql.type(Slug)`
    select slug from idp.realms
    where slug = ${slug} and keys_rotated_at <= now() - make_interval(secs => ${seconds}::float8)
  `)
  return found !== null
}

/** Whether the realm has keys whose tokens have all expired. Call it under the realm's lock. */
export async function areKeysRetired(tx: CommonQueryMethods, slug: string): Promise<boolean> {
  const found = await tx.maybeOne(sql.type(Slug)`
    select slug from idp.realms where slug = ${slug} and keys_retire_at <= now()
  `)
  return found !== null
}

/** Up to `limit` realms behind `after` whose signing key is older than `seconds`. */
export async function listOldKeys(
  tx: CommonQueryMethods,
  { seconds, limit, after = '' }: { seconds: number; limit: number; after: string | undefined },
): Promise<string[]> {
  const rows = await tx.any(sql.type(Slug)`
    select slug from idp.realms
    where slug > ${after} and keys_rotated_at <= now() - make_interval(secs => ${seconds}::float8)
    order by slug
    limit ${limit}
  `)
  return rows.map(({ slug }) => slug)
}

/** Up to `limit` realms behind `after` with keys whose tokens have all expired. */
export async function listRetiredKeys(
  tx: CommonQueryMethods,
  { limit, after = '' }: { limit: number; after: string | undefined },
): Promise<string[]> {
  const rows = await tx.any(sql.type(Slug)`
    select slug from idp.realms where slug > ${after} and keys_retire_at <= now() order by slug limit ${limit}
  `)
  return rows.map(({ slug }) => slug)
}
