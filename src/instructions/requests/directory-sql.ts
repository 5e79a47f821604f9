import type { CommonQueryMethods } from 'slonik'
import { sql } from '../../db/sql.ts'
import { Counterparty } from './record.ts'

/** The customer that has this e-mail address, mobile number or proxy id. */
export function findCustomerByProxy(
  tx: CommonQueryMethods,
  { kind, proxy }: { kind: string; proxy: string },
): Promise<Counterparty | null> {
  return tx.maybeOne(sql.prepared('find_customer_by_proxy', Counterparty)`
    select c.id, c.email
    from customer_proxies p
    join customers c on c.id = p.customer_id
    where p.proxy = ${proxy} and p.kind = ${kind}
  `)
}
