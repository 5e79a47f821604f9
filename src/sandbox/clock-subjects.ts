import type { App } from '../app.ts'
import { DomainError, invalidField, invalidFields } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { findMerchant } from '../merchants/sql.ts'
import { findCustomersByExternalId } from './sql.ts'
import type { ClockSubjects } from './sql.ts'

/** Whose time it is, as callers name them: a merchant by its id, customers by their external ids. */
export type NamedSubjects = { merchantId?: string | undefined; customerIds?: readonly string[] | undefined }

/**
 * Looks up whose time it is; one customer named twice is one.
 * @param customerAt how the caller called the customer at this place
 * @throws {DomainError} MERCHANT_NOT_FOUND; VALIDATION_FAILED where nobody is named, or for a customer who is not there
 */
export async function findSubjects(
  { pool }: Pick<App, 'pool'>,
  { merchantId, customerIds = [] }: NamedSubjects,
  customerAt = (place: number): string => `customer_ids.${place}`,
): Promise<ClockSubjects> {
  if (merchantId === undefined && customerIds.length === 0)
    throw invalidField('merchant_id', 'REQUIRED', 'name a merchant, customers, or both: time passes for somebody')
  if (merchantId !== undefined && (!isUuid(merchantId) || (await findMerchant(pool, merchantId)) === null))
    throw new DomainError('MERCHANT_NOT_FOUND', 'there is no such merchant')
  const found = await findCustomersByExternalId(pool, customerIds)
  const known = new Set(found.map((customer) => customer.external_customer_id))
  const unknown = customerIds.flatMap((id, place) =>
    known.has(id) ? [] : [{ path: customerAt(place), code: 'UNKNOWN', message: 'the bank has no such customer' }],
  )
  if (unknown.length > 0) throw invalidFields(unknown)
  return { merchantId: merchantId ?? null, customerIds: found.map(({ id }) => id) }
}
