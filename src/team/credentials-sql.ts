import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { MerchantRole } from '../lib/permissions.ts'
import { CredentialRecord } from './record.ts'

const columns = sql.fragment`client_id, kind, role, name, created_by, created_at, revoked_at`

export type CredentialKey = { merchantId: string; clientId: string }

/** Active server client and credentials, oldest first. */
export function listCredentialRows(tx: CommonQueryMethods, merchantId: string): Promise<readonly CredentialRecord[]> {
  return tx.any(sql.type(CredentialRecord)`
    select ${columns}
    from merchant_client
    where merchant_id = ${merchantId} and kind in ('server', 'credential') and revoked_at is null
    order by created_at, client_id
  `)
}

/** A credential, revoked or not. */
export function findCredential(
  tx: CommonQueryMethods,
  { merchantId, clientId }: CredentialKey,
): Promise<CredentialRecord | null> {
  return tx.maybeOne(sql.type(CredentialRecord)`
    select ${columns}
    from merchant_client
    where client_id = ${clientId} and merchant_id = ${merchantId} and kind in ('server', 'credential')
  `)
}

/** Serialises additions for a merchant, so that the limit holds. */
export async function lockCredentials(tx: CommonQueryMethods, merchantId: string): Promise<void> {
  await tx.query(sql.type(z.object({ locked: z.unknown() }))`
    select pg_advisory_xact_lock(hashtextextended(${`credentials ${merchantId}`}, 0)) as locked
  `)
}

export type NewCredential = CredentialKey & { name: string; role: MerchantRole | null; createdBy: string }

export function insertCredential(tx: CommonQueryMethods, credential: NewCredential): Promise<CredentialRecord> {
  return tx.one(sql.type(CredentialRecord)`
    insert into merchant_client (client_id, merchant_id, kind, role, name, created_by)
    values (
      ${credential.clientId}, ${credential.merchantId}, 'credential', ${credential.role}, ${credential.name},
      ${credential.createdBy}
    )
    returning ${columns}
  `)
}

/** Null if it is already revoked or can't be revoked. */
export function revokeCredentialRow(
  tx: CommonQueryMethods,
  { merchantId, clientId }: CredentialKey,
): Promise<CredentialRecord | null> {
  return tx.maybeOne(sql.type(CredentialRecord)`
    update merchant_client
    set revoked_at = now()
    where client_id = ${clientId} and merchant_id = ${merchantId} and kind = 'credential' and revoked_at is null
    returning ${columns}
  `)
}
