import type { App } from '../app.ts'
import { keyOfCursor, pageOf } from '../lib/cursor.ts'
import { isUuid } from '../lib/ids.ts'
import type { DisputeStatus } from '../wire/disputes.ts'
import { disputeNotFound } from './hold.ts'
import type { DisputeName } from './hold.ts'
import { findDispute, findDisputeOfAnyone, listDisputeRows, listEventRows } from './read-sql.ts'
import type { DisputeEventRecord, DisputeRecord, DisputeSummaryRecord } from './record.ts'

export type DisputeWithEvents = DisputeRecord & { events: readonly DisputeEventRecord[] }

export type ListDisputesQuery = {
  status?: DisputeStatus | undefined
  /** Any text: one that is no id has no disputes. */
  payment_id?: string | undefined
  from?: string | undefined
  to?: string | undefined
  order: 'newest' | 'oldest'
  limit: number
  cursor?: string | undefined
}

/**
 * A page of disputes; the cursor names the last dispute of the page before.
 * @param merchantId undefined for operators, who see those of all merchants
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export async function listDisputes(
  app: Pick<App, 'pool'>,
  { merchantId, query }: { merchantId: string | undefined; query: ListDisputesQuery },
): Promise<{ disputes: readonly DisputeSummaryRecord[]; nextCursor: string | null }> {
  const afterId = query.cursor === undefined ? undefined : keyOfCursor(query.cursor, isUuid)
  const ids = [merchantId, query.payment_id]
  if (ids.some((id) => id !== undefined && !isUuid(id))) return { disputes: [], nextCursor: null }
  const found = await listDisputeRows(app.pool, {
    merchantId,
    status: query.status,
    paymentId: query.payment_id,
    from: query.from,
    to: query.to,
    order: query.order,
    afterId,
    limit: query.limit + 1,
  })
  const { rows, nextCursor } = pageOf(found, query.limit, ({ id }) => id)
  return { disputes: rows, nextCursor }
}

/**
 * A dispute with all that has happened to it.
 * @param name without a merchant for operators
 * @throws {DomainError} DISPUTE_NOT_FOUND for an unknown id and for another merchant's alike
 */
export async function readDispute(app: Pick<App, 'pool'>, { merchantId, id }: DisputeName): Promise<DisputeWithEvents> {
  if (!isUuid(id)) throw disputeNotFound()
  const dispute =
    merchantId === undefined ? await findDisputeOfAnyone(app.pool, id) : await findDispute(app.pool, { merchantId, id })
  if (dispute === null) throw disputeNotFound()
  const events = await listEventRows(app.pool, { merchantId: dispute.merchant_id, id })
  return { ...dispute, events }
}
