import type { App } from '../app.ts'
import { keyOfCursor, pageOf } from '../lib/cursor.ts'
import { isUuid } from '../lib/ids.ts'
import type { SettlementListQuery } from '../wire/settlements.ts'
import { getSettlement } from './get-settlement.ts'
import type { SettlementLineRecord, SettlementRecord } from './record.ts'
import { listLineRows, listSettlementRows } from './sql.ts'
import type { SettlementKey } from './sql.ts'

type Paged<T> = { rows: readonly T[]; nextCursor: string | null }

export type ListSettlementsInput = {
  /** Undefined for operators: of all merchants. Any text: one that is not a UUID has no settlements. */
  merchantId: string | undefined
  query: SettlementListQuery
}

/**
 * A page of settlements, the last period first.
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export async function listSettlements(
  app: Pick<App, 'pool'>,
  { merchantId, query: { cursor, limit, ...filter } }: ListSettlementsInput,
): Promise<Paged<SettlementRecord>> {
  const afterId = cursor === undefined ? undefined : keyOfCursor(cursor, isUuid)
  if (merchantId !== undefined && !isUuid(merchantId)) return { rows: [], nextCursor: null }
  const found = await listSettlementRows(app.pool, { merchantId, ...filter, afterId, limit })
  return pageOf(found, limit, ({ settlement_id }) => settlement_id)
}

/**
 * A page of the lines of a settlement, in the order in which they were posted.
 * @throws {DomainError} SETTLEMENT_NOT_FOUND; VALIDATION_FAILED at `cursor`
 */
export async function listSettlementLines(
  app: Pick<App, 'pool'>,
  { limit, cursor, ...key }: SettlementKey & { limit: number; cursor?: string | undefined },
): Promise<Paged<SettlementLineRecord>> {
  const after = cursor === undefined ? undefined : keyOfCursor(cursor, (text) => /^[1-9]\d{0,17}$/.test(text))
  const { merchant_id: merchantId, settlement_id: settlementId } = await getSettlement(app, key)
  return pageOf(await listLineRows(app.pool, { merchantId, id: settlementId, after, limit }), limit, ({ id }) => id)
}
