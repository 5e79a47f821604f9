import type { App } from '../app.ts'
import { isUuid } from '../lib/ids.ts'
import { disputeNotFound } from './lock-dispute.ts'
import type { DisputeLookup } from './lock-dispute.ts'
import { findDispute, findDisputeById, listDisputeEventRows } from './read-sql.ts'
import type { DisputeEventRecord, DisputeRecord } from './record.ts'

export type DisputeRecordWithEvents = DisputeRecord & { events: readonly DisputeEventRecord[] }

/**
 * A dispute with its events.
 * @param lookup without `merchantId` for operators
 * @throws {DomainError} DISPUTE_NOT_FOUND for an unknown id and for another merchant's alike
 */
export async function getDispute(
  app: Pick<App, 'pool'>,
  { merchantId, id }: DisputeLookup,
): Promise<DisputeRecordWithEvents> {
  if (!isUuid(id)) throw disputeNotFound()
  const dispute =
    merchantId === undefined ? await findDisputeById(app.pool, id) : await findDispute(app.pool, { merchantId, id })
  if (dispute === null) throw disputeNotFound()
  const events = await listDisputeEventRows(app.pool, { merchantId: dispute.merchant_id, id })
  return { ...dispute, events }
}
