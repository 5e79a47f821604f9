import type { App } from '../app.ts'
import { DomainError, invalidField, invalidFields } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { findMerchant } from '../merchants/sql.ts'
import { findCustomersByExternalId } from './sql.ts'
import type { ClockSubjects } from './sql.ts'

/** The owners of clocks, as callers name them: a merchant by its id, customers by their external ids. */
export type NamedSubjects = { merchantId?: string | undefined; customerIds?: readonly string[] | undefined }

/**
 * Resolves the owners of clocks; a customer named twice counts once.
 * @param customerAt the request's field of the customer at this index
 * @throws {DomainError} MERCHANT_NOT_FOUND; VALIDATION_FAILED without any subject, or for an unknown customer
 */
export async function findSubjects(
  { pool }: Pick<App, 'pool'>,
  { merchantId, customerIds = [] }: NamedSubjects,
  customerAt = (place: number): string => `customer_ids.${place}`,
): Promise<ClockSubjects> {
  if (merchantId === undefined && customerIds.length === 0)
    throw invalidField('merchant_id', 'REQUIRED', 'give a merchant, customers, or both')
  if (merchantId !== undefined && (!isUuid(merchantId) || (await findMerchant(pool, merchantId)) === null))
    throw new DomainError('MERCHANT_NOT_FOUND', 'merchant not found')
  const found = await findCustomersByExternalId(pool, customerIds)
  const known = new Set(found.map((customer) => customer.external_customer_id))
  const unknown = customerIds.flatMap((id, place) =>
    known.has(id) ? [] : [{ path: customerAt(place), code: 'UNKNOWN', message: 'the bank has no such customer' }],
  )
  if (unknown.length > 0) throw invalidFields(unknown)
  return { merchantId: merchantId ?? null, customerIds: found.map(({ id }) => id) }
}
