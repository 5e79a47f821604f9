import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

const Found = z.object({ id: z.string() })

/**
 * The customer of a client, otherwise the one with this external id, if any. The owners of settlement accounts are
 * excluded: only the bank moves their money.
 */
export async function findCustomerId(
  tx: CommonQueryMethods,
  { clientId, externalId }: { clientId: string; externalId: string | null },
): Promise<string | null> {
  const row = await tx.maybeOne(sql.prepared('find_customer_id', Found)`
    select c.id
    from customer_clients k
    join customers c on c.id = k.customer_id
    where k.client_id = ${clientId} and c.merchant_id is null
    union all
    select id
    from customers
    where external_customer_id = ${externalId} and merchant_id is null
      and not exists (select from customer_clients where client_id = ${clientId})
  `)
  return row?.id ?? null
}
