import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { isOrdinal } from './record.ts'
import type { OperatorActionRecord } from './record.ts'
import { findActionRow } from './sql.ts'

/**
 * One operator action by its ordinal.
 * @throws {DomainError} AUDIT_ENTRY_NOT_FOUND, also for a malformed ordinal
 */
export async function getAuditEntry(app: Pick<App, 'pool'>, ordinal: string): Promise<OperatorActionRecord> {
  const found = isOrdinal(ordinal) ? await findActionRow(app.pool, ordinal) : null
  if (found === null) throw new DomainError('AUDIT_ENTRY_NOT_FOUND', 'the audit trail has no such entry')
  return found
}
