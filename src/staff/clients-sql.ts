import type { CommonQueryMethods } from 'slonik'
import { sql } from '../db/sql.ts'
import type { PlatformRole } from '../lib/permissions.ts'
import { PlatformClient, StaffClientRecord } from './record.ts'

const columns = sql.fragment`client_id, role::text as role, name, created_by, created_at, revoked_at`

/** An active client of the platform's realm. */
export function findPlatformClient(tx: CommonQueryMethods, clientId: string): Promise<PlatformClient | null> {
  return tx.maybeOne(sql.prepared('find_platform_client', PlatformClient)`
    select client_id, kind, role::text as role, name, created_by, created_at
    from platform_clients
    where client_id = ${clientId} and revoked_at is null
  `)
}

/** Active service clients, oldest first. */
export function listStaffClientRows(tx: CommonQueryMethods): Promise<readonly StaffClientRecord[]> {
  return tx.any(sql.type(StaffClientRecord)`
    select ${columns}
    from platform_clients
    where kind = 'service' and revoked_at is null
    order by created_at, client_id
  `)
}

/** A service client, revoked or not. */
export function findStaffClient(tx: CommonQueryMethods, clientId: string): Promise<StaffClientRecord | null> {
  return tx.maybeOne(sql.type(StaffClientRecord)`
    select ${columns} from platform_clients where client_id = ${clientId} and kind = 'service'
  `)
}

export type NewStaffClient = { clientId: string; name: string; role: PlatformRole; createdBy: string }

/** Null if the id is taken. */
export function insertStaffClient(tx: CommonQueryMethods, client: NewStaffClient): Promise<StaffClientRecord | null> {
  return tx.maybeOne(sql.type(StaffClientRecord)`
    insert into platform_clients (client_id, kind, role, name, created_by)
    values (${client.clientId}, 'service', ${client.role}::platform_role, ${client.name}, ${client.createdBy})
    on conflict do nothing
    returning ${columns}
  `)
}

/** Null if it is already revoked. */
export function revokeStaffClientRow(tx: CommonQueryMethods, clientId: string): Promise<StaffClientRecord | null> {
  return tx.maybeOne(sql.type(StaffClientRecord)`
    update platform_clients
    set revoked_at = now()
    where client_id = ${clientId} and kind = 'service' and revoked_at is null
    returning ${columns}
  `)
}

/** Restores the sandbox's demo client at the next `svc up`. */
export async function reviveStaffClient(tx: CommonQueryMethods, clientId: string): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    update platform_clients set revoked_at = null where client_id = ${clientId} and revoked_at is not null
  `)
}

/** Inserts the clients for sign-in to the platform's realm; existing rows stay. */
export async function insertSignInClients(
  tx: CommonQueryMethods,
  { portal, cli, createdBy }: { portal: string; cli: string; createdBy: string },
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    insert into platform_clients (client_id, kind, created_by)
    values (${portal}, 'portal', ${createdBy}), (${cli}, 'cli', ${createdBy})
    on conflict do nothing
  `)
}
