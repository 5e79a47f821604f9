import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../../../db/sql.ts'

const Passkey = z.object({
  credential_id: z.string(),
  public_key: z.string(),
  sign_count: z.bigint(),
  is_synced: z.boolean(),
  transports: z.array(z.string()),
  name: z.string(),
  created_at: z.string(),
  last_used_at: z.string().nullable(),
})
export type Passkey = z.infer<typeof Passkey>

const Done = z.object({ credential_id: z.string() })

/** The user's passkeys, the oldest first. */
export function listPasskeys(tx: CommonQueryMethods, userId: string): Promise<readonly Passkey[]> {
  return tx.any(sql.type(Passkey)`
    select credential_id, public_key, sign_count, is_synced, transports, name, created_at, last_used_at
    from idp.passkeys
    where user_id = ${userId}::uuid
    order by created_at, credential_id
  `)
}

export type NewPasskey = {
  credentialId: string
  publicKey: string
  signCount: number
  isSynced: boolean
  transports: readonly string[]
  name: string
}

/** @returns false if the passkey belongs to a person already */
export async function insertPasskey(tx: CommonQueryMethods, userId: string, passkey: NewPasskey): Promise<boolean> {
  const inserted = await tx.maybeOne(sql.type(Done)`
    insert into idp.passkeys (credential_id, user_id, public_key, sign_count, is_synced, transports, name)
    values (
      ${passkey.credentialId}, ${userId}::uuid, ${passkey.publicKey}, ${passkey.signCount}, ${passkey.isSynced},
      ${sql.array([...passkey.transports], 'text')}, ${passkey.name}
    )
    on conflict do nothing
    returning credential_id
  `)
  return inserted !== null
}

type PasskeyKey = { userId: string; credentialId: string }

/**
 * Records a use.
 * @returns false if the count does not exceed the stored one: a copy of the key was used, or this use is recorded
 */
export async function markPasskeyUsed(
  tx: CommonQueryMethods,
  { userId, credentialId, signCount }: PasskeyKey & { signCount: number },
): Promise<boolean> {
  const used = await tx.maybeOne(sql.type(Done)`
    update idp.passkeys
    set sign_count = ${signCount}, last_used_at = now()
    where credential_id = ${credentialId} and user_id = ${userId}::uuid
      and (sign_count < ${signCount} or (sign_count = 0 and ${signCount} = 0))
    returning credential_id
  `)
  return used !== null
}

export async function deletePasskey(tx: CommonQueryMethods, { userId, credentialId }: PasskeyKey): Promise<boolean> {
  const deleted = await tx.maybeOne(sql.type(Done)`
    delete from idp.passkeys where credential_id = ${credentialId} and user_id = ${userId}::uuid
    returning credential_id
  `)
  return deleted !== null
}
