import type { CommonQueryMethods } from 'slonik'
import type { App } from '../../app.ts'
import { isUuid } from '../../lib/ids.ts'
import type { Paging } from '../../wire/open-banking.ts'
import { countRequests, findRequest, listRequestRows } from './read-sql.ts'
import type { RequestName } from './read-sql.ts'
import { requestNotFound } from './reasons.ts'
import type { PaymentRequestRecord } from './record.ts'

/**
 * A request as one of its sides sees it.
 * @throws {DomainError} PAYMENT_REQUEST_NOT_FOUND for an unknown id and for a request of other customers alike
 */
export async function getRequest(db: CommonQueryMethods, name: RequestName): Promise<PaymentRequestRecord> {
  const request = isUuid(name.id) ? await findRequest(db, name) : null
  if (request === null) throw requestNotFound(name.kind)
  return request
}

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
