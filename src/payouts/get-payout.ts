import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import type { PayoutEventRecord, PayoutRecord } from './record.ts'
import { findPayout, listPaidSettlementIds, listPayoutEvents } from './sql.ts'

export type PayoutDetails = {
  payout: PayoutRecord
  settlementIds: string[]
  events: readonly PayoutEventRecord[]
}

const SETTLEMENTS_MAX = 100

/**
 * A payout with its settlements and its moves.
 * @param merchantId undefined for operators
 * @throws {DomainError} PAYOUT_NOT_FOUND for an unknown id and for another merchant's alike
 */
export async function getPayout(
  app: Pick<App, 'pool'>,
  { merchantId, id }: { merchantId: string | undefined; id: string },
): Promise<PayoutDetails> {
  const payout = isUuid(id) ? await findPayout(app.pool, { merchantId, id }) : null
  if (payout === null) throw payoutNotFound()
  const key = { merchantId: payout.merchant_id, id: payout.id }
  const [settlementIds, events] = await Promise.all([
    listPaidSettlementIds(app.pool, { ...key, limit: SETTLEMENTS_MAX }),
    listPayoutEvents(app.pool, key),
  ])
  return { payout, settlementIds, events }
}

export function payoutNotFound(): DomainError {
  return new DomainError('PAYOUT_NOT_FOUND', 'payout not found')
}
