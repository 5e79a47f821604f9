import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { readAllowances } from './allowances.ts'
import type { MandateWithAllowances } from './record.ts'
import { findMandate } from './sql.ts'

/**
 * A mandate with the used and remaining amounts of its caps.
 * @throws {DomainError} CONSENT_NOT_FOUND for an unknown id, another merchant's, and a consent that is not a mandate
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

/** The same error for an unknown id and for another merchant's mandate, so that ids can't be probed. */
export function consentNotFound(): DomainError {
  return new DomainError('CONSENT_NOT_FOUND', 'mandate not found')
}
