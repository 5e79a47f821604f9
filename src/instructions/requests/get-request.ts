import type { CommonQueryMethods } from 'slonik'
import { isUuid } from '../../lib/ids.ts'
import { findRequest } from './read-sql.ts'
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
