import type { App } from '../app.ts'
import { listAudit } from '../audit/list-audit.ts'
import type { OperatorActionRecord } from '../audit/record.ts'
import { isUuid } from '../lib/ids.ts'
import { findMerchantRow } from './admin-sql.ts'
import { merchantNotFound } from './change-merchant.ts'
import type { MerchantRecord } from './record.ts'

/** Number of audit entries returned with a merchant. */
const ACTIONS_SHOWN = 20

/**
 * A merchant with the latest operator actions on it, newest first.
 * @throws {DomainError} MERCHANT_NOT_FOUND
 */
export async function getMerchant(
  app: Pick<App, 'pool'>,
  id: string,
): Promise<{ merchant: MerchantRecord; actions: readonly OperatorActionRecord[] }> {
  const merchant = isUuid(id) ? await findMerchantRow(app.pool, id) : null
  if (merchant === null) throw merchantNotFound()
  const { actions } = await listAudit(app, { merchant_id: id, limit: ACTIONS_SHOWN })
  return { merchant, actions }
}
