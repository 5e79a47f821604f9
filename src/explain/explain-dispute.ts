import type { CommonQueryMethods } from 'slonik'
import type { Explanation } from '../wire/explain.ts'
import { listAttempts, listDeliveries } from './deliveries-sql.ts'
import { disputeStanding } from './dispute-standing.ts'
import { disputeSteps, otherDisputeSteps } from './dispute-steps.ts'
import { findDispute, listDisputeEvents } from './disputes-sql.ts'
import type { ToldDispute } from './record.ts'
import { listOrderedRefunds } from './sql.ts'
import { tellDeliveries } from './tell-deliveries.ts'
import { DISPUTE_EVENTS_MAX, tellDisputes } from './tell-disputes.ts'
import { REFUNDS_MAX, tellRefunds } from './tell-refunds.ts'
import { inOrder, joined } from './timeline.ts'
import type { Told } from './timeline.ts'
import { seesWebhooks } from './viewer.ts'
import type { Viewer } from './viewer.ts'
import { moneyText } from './words.ts'

/** A dispute is announced three times at most: opened, escalated, resolved. */
const DELIVERIES_MAX = 10
const ATTEMPTS_EACH = 12

/** The story of a dispute; null where there is none. */
export async function explainDispute(
  tx: CommonQueryMethods,
  { merchantId, id, viewer }: { merchantId: string; id: string; viewer: Viewer },
): Promise<Explanation | null> {
  const dispute = await findDispute(tx, { merchantId, id })
  if (dispute === null) return null
  const events = await listDisputeEvents(tx, { merchantId, disputeIds: [id], limit: DISPUTE_EVENTS_MAX + 1 })
  const refunds = await listOrderedRefunds(tx, { merchantId, disputeId: id, limit: REFUNDS_MAX + 1 })
  const refund = refunds.find((each) => each.id === dispute.refund_id) ?? null
  const told = joined([
    tellDisputes([dispute], { events, viewer }),
    tellRefunds(refunds, dispute.currency),
    await webhooksOf(tx, dispute, viewer),
  ])
  return {
    kind: 'dispute',
    id,
    merchant_id: merchantId,
    title: `dispute of the payment ${dispute.payment_id}, ${moneyText(dispute.gross_amount, dispute.currency)}: ${dispute.reason}`,
    status: dispute.status,
    standing: disputeStanding({ dispute, refund, viewer }),
    as_of: dispute.now,
    timeline: inOrder(told.entries),
    left_out: told.leftOut,
    next: disputeSteps(dispute, viewer),
    also: otherDisputeSteps({ dispute, refund }, viewer),
  }
}

async function webhooksOf(
  tx: CommonQueryMethods,
  { id: disputeId, merchant_id: merchantId, payment_id: paymentId }: ToldDispute,
  viewer: Viewer,
): Promise<Told> {
  if (!seesWebhooks(viewer)) return { entries: [], leftOut: ['webhooks, which your role does not see'] }
  const read = await listDeliveries(tx, { merchantId, paymentId, disputeId, limit: DELIVERIES_MAX })
  const deliveries = read.toReversed()
  const attempts = await listAttempts(tx, {
    merchantId,
    deliveryIds: deliveries.map(({ id }) => id),
    each: ATTEMPTS_EACH + 1,
  })
  return tellDeliveries({ deliveries, attempts, attemptsEach: ATTEMPTS_EACH })
}
