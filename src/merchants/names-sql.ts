import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

const MerchantNames = z.object({ merchant_id: z.string(), trading_name: z.string(), realm_slug: z.string().nullable() })
export type MerchantNames = z.infer<typeof MerchantNames>

export function listMerchantNames(tx: CommonQueryMethods, ids: readonly string[]): Promise<readonly MerchantNames[]> {
  return tx.any(sql.type(MerchantNames)`
    select id as merchant_id, trading_name, realm_slug from merchants where id = any(${sql.array(ids, 'uuid')})
  `)
}
