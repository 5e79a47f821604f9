import type { CommonQueryMethods } from 'slonik'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import type { Subject } from './record.ts'
import {
  findByEndToEndId,
  findByEventId,
  findOwnSubject,
  findSubject,
  findSubjectAmongMerchants,
} from './subject-sql.ts'
import type { Viewer } from './viewer.ts'

/** The forms of the two other names that support is given: from a bank's statement, and from a receiver's log. */
const END_TO_END_ID = /^[A-Z]{3}[0-9a-f]{32}$/
const EVENT_ID = /^evt_\w{1,60}$/

/**
 * What an id means: a payment, delivery, dispute or merchant, a refund's payment, a payment by its end-to-end id, or a
 * delivery by its event id.
 * @throws {DomainError} RESOURCE_NOT_FOUND, the same for what is unknown, malformed and another merchant's
 */
export async function mustFindSubject(db: CommonQueryMethods, { merchantId }: Viewer, id: string): Promise<Subject> {
  return (await find(db, merchantId, id)) ?? refuseUnknown()
}

async function find(db: CommonQueryMethods, merchantId: string | undefined, id: string): Promise<Subject | null> {
  if (END_TO_END_ID.test(id)) return findByEndToEndId(db, { merchantId, endToEndId: id })
  if (EVENT_ID.test(id)) return findByEventId(db, { merchantId, eventId: id })
  if (!isUuid(id)) return null
  if (merchantId !== undefined) return findOwnSubject(db, { merchantId, id })
  return (await findSubject(db, id)) ?? findSubjectAmongMerchants(db, id)
}

function refuseUnknown(): never {
  throw new DomainError('RESOURCE_NOT_FOUND', 'there is no payment, delivery, dispute or merchant of this id')
}
