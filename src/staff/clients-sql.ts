import type { CommonQueryMethods } from 'slonik'
import { sql } from '../db/sql.ts'
import type { PlatformRole } from '../lib/permissions.ts'
import { PlatformClient, StaffClientRecord } from './record.ts'

const columns = sql.fragment`client_id, role::text as role, name, created_by, created_at, revoked_at`

/** A client of the platform's realm that is not revoked. */
export function findPlatformClient(tx: CommonQueryMethods, clientId: string): Promise<PlatformClient | null> {
  return tx.maybeOne(sql.prepared('find_platform_client', PlatformClient)`
    select client_id, kind, role::text as role, name, created_by, created_at
    from platform_clients
    where client_id = ${clientId} and revoked_at is null
  `)
}

/** Those that are not revoked, in the order they were made. */
export function listStaffClientRows(tx: CommonQueryMethods): Promise<readonly StaffClientRecord[]> {
  return tx.any(sql.type(StaffClientRecord)`
    select ${columns}
    from platform_clients
    where kind = 'service' and revoked_at is null
    order by created_at, client_id
  `)
}

/** Revoked or not. */
export function findStaffClient(tx: CommonQueryMethods, clientId: string): Promise<StaffClientRecord | null> {
  return tx.maybeOne(sql.type(StaffClientRecord)`
    select ${columns} from platform_clients where client_id = ${clientId} and kind = 'service'
  `)
}

export type NewStaffClient = { clientId: string; name: string; role: PlatformRole; createdBy: string }

/** Null where the id is taken. */
export function insertStaffClient(tx: CommonQueryMethods, client: NewStaffClient): Promise<StaffClientRecord | null> {
  return tx.maybeOne(sql.type(StaffClientRecord)`
    insert into platform_clients (client_id, kind, role, name, created_by)
    values (${client.clientId}, 'service', ${client.role}::platform_role, ${client.name}, ${client.createdBy})
    on conflict do nothing
    returning ${columns}
  `)
}

/** Nothing where it is revoked already. */
export function revokeStaffClientRow(tx: CommonQueryMethods, clientId: string): Promise<StaffClientRecord | null> {
  return tx.maybeOne(sql.type(StaffClientRecord)`
    update platform_clients
    set revoked_at = now()
    where client_id = ${clientId} and kind = 'service' and revoked_at is null
    returning ${columns}
  `)
}

/** The sandbox's demo client comes back with the next `svc up`. */
export async function reviveStaffClient(tx: CommonQueryMethods, clientId: string): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    update platform_clients set revoked_at = null where client_id = ${clientId} and revoked_at is not null
  `)
}

/** The clients that the platform's people sign in with; those that stand already stay. */
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
