import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import type { SettlementRecord } from './record.ts'
import { findSettlement } from './sql.ts'
import type { SettlementKey } from './sql.ts'

/**
 * A settlement of a merchant, or of any for operators.
 * @throws {DomainError} SETTLEMENT_NOT_FOUND, also for another merchant's
 */
export async function getSettlement(app: Pick<App, 'pool'>, key: SettlementKey): Promise<SettlementRecord> {
  const found = isUuid(key.id) ? await findSettlement(app.pool, key) : null
  if (found === null) throw new DomainError('SETTLEMENT_NOT_FOUND', 'settlement not found')
  return found
}
