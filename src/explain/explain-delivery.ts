import type { CommonQueryMethods } from 'slonik'
import { DomainError } from '../lib/errors.ts'
import type { Explanation } from '../wire/explain.ts'
import { deliveryStanding } from './delivery-standing.ts'
import { deliverySteps, otherDeliverySteps } from './delivery-steps.ts'
import { findDelivery, listAttempts } from './deliveries-sql.ts'
import { listActs } from './merchants-sql.ts'
import { ACTS_MAX, ACTS_ON_WEBHOOKS, tellActs } from './tell-acts.ts'
import { tellDeliveries } from './tell-deliveries.ts'
import { inOrder, joined } from './timeline.ts'
import { seesWebhooks } from './viewer.ts'
import type { Viewer } from './viewer.ts'

/** Sixteen rounds of attempts. */
const ATTEMPTS_MAX = 100

/**
 * The story of a webhook delivery; null where there is none.
 * @throws {DomainError} FORBIDDEN_ROLE for who may not see the merchant's webhooks (decision 31)
 */
export async function explainDelivery(
  tx: CommonQueryMethods,
  { merchantId, id, viewer }: { merchantId: string; id: string; viewer: Viewer },
): Promise<Explanation | null> {
  const delivery = await findDelivery(tx, { merchantId, id })
  if (delivery === null) return null
  if (!seesWebhooks(viewer)) throw new DomainError('FORBIDDEN_ROLE', 'this role may not see what became of webhooks')
  const attempts = await listAttempts(tx, { merchantId, deliveryIds: [id], each: ATTEMPTS_MAX + 1 })
  const acts = await listActs(tx, {
    merchantId,
    actions: ACTS_ON_WEBHOOKS,
    subjectIds: [id],
    since: delivery.created_at,
    until: delivery.delivered_at,
    limit: ACTS_MAX + 1,
  })
  const told = joined([
    tellDeliveries({ deliveries: [delivery], attempts, attemptsEach: ATTEMPTS_MAX }),
    tellActs(acts, viewer),
  ])
  const ofPayment = delivery.payment_id === null ? '' : ` about the payment ${delivery.payment_id}`
  return {
    kind: 'delivery',
    id,
    merchant_id: merchantId,
    title: `${delivery.is_test ? 'test ' : ''}webhook ${delivery.event_type}${ofPayment}`,
    status: delivery.status,
    standing: deliveryStanding(delivery),
    as_of: delivery.now,
    timeline: inOrder(told.entries),
    left_out: told.leftOut,
    next: deliverySteps(delivery, viewer),
    also: otherDeliverySteps(delivery, viewer),
  }
}
