import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

const RevokedKeys = z.object({ key_ids: z.array(z.string()) })

/** The keys that the realm's last rotation with `revoke_now` was to revoke, whether it came to that or not. */
export async function listKeysToRevoke(tx: CommonQueryMethods, realm: string): Promise<readonly string[]> {
  const row = await tx.maybeOne(sql.type(RevokedKeys)`
    select array(select json_array_elements_text(after -> 'revoked_key_ids')) as key_ids
    from operator_actions
    where action = 'realm.rotate_keys' and subject_id = ${realm} and after is not null
    order by ordinal desc
    limit 1
  `)
  return row?.key_ids ?? []
}
