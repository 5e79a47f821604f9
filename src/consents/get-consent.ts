import type { App } from '../app.ts'
import { keyOfCursor, pageOf } from '../lib/cursor.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import type { ConsentStatus } from '../wire/payments.ts'
import { readAllowances } from './allowances.ts'
import type { MandateWithAllowances } from './record.ts'
import { findMandate, listMandateRows, listMandatesOfContact } from './sql.ts'

/**
 * A mandate with what is left of its caps.
 * @throws {DomainError} CONSENT_NOT_FOUND for an unknown id, another merchant's, and a consent that is no mandate
 */
export async function getConsent(
  app: Pick<App, 'pool'>,
  key: { merchantId: string; id: string },
): Promise<MandateWithAllowances> {
  const mandate = isUuid(key.id) ? await findMandate(app.pool, key) : null
  if (mandate === null) throw consentNotFound()
  const [read] = await readAllowances(app.pool, [mandate])
  if (read === undefined) throw consentNotFound()
  return read
}

/**
 * A page of a merchant's mandates, the newest first; the cursor names the last one of the page before.
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export async function listConsents(
  app: Pick<App, 'pool'>,
  { merchantId, status, limit, cursor }: ListConsentsInput,
): Promise<{ mandates: readonly MandateWithAllowances[]; nextCursor: string | null }> {
  const afterId = cursor === undefined ? undefined : keyOfCursor(cursor, isUuid)
  const found = await listMandateRows(app.pool, { merchantId, status, limit, afterId })
  const { rows, nextCursor } = pageOf(found, limit, ({ id }) => id)
  return { mandates: await readAllowances(app.pool, rows), nextCursor }
}

export type ListConsentsInput = {
  merchantId: string
  status: ConsentStatus | undefined
  limit: number
  cursor: string | undefined
}

/** The active mandates of a payer, by the contact that was proven, to whichever merchants (decision 41). */
export async function listMandatesOfPayer(
  app: Pick<App, 'pool'>,
  { contact, limit }: { contact: { email: string } | { phone: string }; limit: number },
): Promise<readonly MandateWithAllowances[]> {
  return readAllowances(app.pool, await listMandatesOfContact(app.pool, { contact, limit }))
}

/** The same answer for an id that does not exist and for one that is somebody else's. */
export function consentNotFound(): DomainError {
  return new DomainError('CONSENT_NOT_FOUND', 'there is no such mandate')
}
