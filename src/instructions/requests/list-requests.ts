import type { App } from '../../app.ts'
import type { Paging } from '../../wire/open-banking.ts'
import { countRequests, listRequestRows } from './read-sql.ts'
import type { RequestName } from './read-sql.ts'
import type { PaymentRequestRecord } from './record.ts'

/** A page of the requests that the customer has created or received, the newest first, and their total count. */
export async function listRequests(
  app: Pick<App, 'pool'>,
  { kind, customerId, query }: Omit<RequestName, 'id'> & { query: Paging },
): Promise<{ requests: readonly PaymentRequestRecord[]; count: bigint }> {
  const { page, pageSize } = query
  const [requests, count] = await Promise.all([
    listRequestRows(app.pool, { kind, customerId, limit: pageSize, offset: (page - 1) * pageSize }),
    countRequests(app.pool, { kind, customerId }),
  ])
  return { requests, count }
}
