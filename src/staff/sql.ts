import type { CommonQueryMethods } from 'slonik'
import { sql } from '../db/sql.ts'
import { PlatformClient, PlatformUser } from './record.ts'

const userColumns = sql.fragment`
  id, keycloak_user_id, email, display_name, role::text as role, is_active, created_at, last_seen_at
`

/** The person with this `sub`, active or not. */
export function findPlatformUser(db: CommonQueryMethods, subject: string): Promise<PlatformUser | null> {
  return db.maybeOne(sql.prepared('find_platform_user', PlatformUser)`
    select ${userColumns} from platform_users where keycloak_user_id = ${subject}
  `)
}

/** A client of the platform's realm that is not revoked. */
export function findPlatformClient(db: CommonQueryMethods, clientId: string): Promise<PlatformClient | null> {
  return db.maybeOne(sql.prepared('find_platform_client', PlatformClient)`
    select client_id, kind, role::text as role, name, created_by, created_at
    from platform_clients
    where client_id = ${clientId} and revoked_at is null
  `)
}
