import type { CommonQueryMethods } from 'slonik'
import { DISPUTES_MAX } from '../disputes/raise-dispute.ts'
import type { Explanation, OtherStep } from '../wire/explain.ts'
import { listAttempts, listDeliveries } from './deliveries-sql.ts'
import { heldText } from './delivery-standing.ts'
import { heldSteps } from './delivery-steps.ts'
import { listDisputeEvents, listDisputes } from './disputes-sql.ts'
import { listActs } from './merchants-sql.ts'
import { paymentStanding } from './payment-standing.ts'
import { otherPaymentSteps, paymentSteps } from './payment-steps.ts'
import type { PaymentFacts } from './payment-steps.ts'
import { findPayment, listEvents, listRefunds } from './sql.ts'
import { ACTS_MAX, ACTS_ON_PAYMENTS, tellActs } from './tell-acts.ts'
import { tellDeliveries } from './tell-deliveries.ts'
import { DISPUTE_EVENTS_MAX, tellDisputes } from './tell-disputes.ts'
import { dueOfPayment, tellPayment } from './tell-payment.ts'
import { REFUNDS_MAX, tellRefunds } from './tell-refunds.ts'
import { inOrder, joined, newest } from './timeline.ts'
import type { Told } from './timeline.ts'
import { seesWebhooks } from './viewer.ts'
import type { Viewer } from './viewer.ts'
import { moneyText } from './words.ts'

/** A payment has a handful of moves: its machine has no way back. */
const EVENTS_MAX = 50
const DELIVERIES_MAX = 50
/** Two rounds of attempts, where somebody replayed the webhook. */
const ATTEMPTS_EACH = 12

type Look = { merchantId: string; paymentId: string; viewer: Viewer }

/** The story of a payment; null where there is none. */
export async function explainPayment(
  tx: CommonQueryMethods,
  { disputeDays, ...look }: Look & { disputeDays: number },
): Promise<Explanation | null> {
  const { merchantId, paymentId, viewer } = look
  const payment = await findPayment(tx, { merchantId, id: paymentId, disputeDays })
  if (payment === null) return null
  const events = await listEvents(tx, { merchantId, paymentId, limit: EVENTS_MAX })
  const refunds = await listRefunds(tx, { merchantId, paymentId, limit: REFUNDS_MAX + 1 })
  const disputes = await listDisputes(tx, { merchantId, paymentId, limit: DISPUTES_MAX + 1 })
  const facts: PaymentFacts = { payment, refunds, disputes }
  const webhooks = await webhooksOf(tx, look)
  const told = joined([
    { entries: [...tellPayment(payment, events), ...dueOfPayment(payment)], leftOut: [] },
    tellRefunds(refunds, payment.currency),
    await disputesOf(tx, look, facts),
    webhooks.told,
    await actsOf(tx, look, { facts, last: events.at(-1)?.created_at ?? payment.created_at }),
  ])
  return {
    kind: 'payment',
    id: payment.id,
    merchant_id: merchantId,
    title: `payment of ${moneyText(payment.gross_amount, payment.currency)}`,
    status: payment.status,
    standing: paymentStanding(facts),
    as_of: payment.now,
    timeline: inOrder(told.entries),
    left_out: told.leftOut,
    next: paymentSteps(facts, viewer),
    also: [...otherPaymentSteps(facts, viewer), ...webhooks.also],
  }
}

async function disputesOf(
  tx: CommonQueryMethods,
  { merchantId, viewer }: Look,
  { disputes: read }: PaymentFacts,
): Promise<Told> {
  if (read.length === 0) return { entries: [], leftOut: [] }
  const { rows: disputes, hasMore } = newest(read, DISPUTES_MAX)
  const disputeIds = disputes.map(({ id }) => id)
  const events = await listDisputeEvents(tx, { merchantId, disputeIds, limit: DISPUTE_EVENTS_MAX + 1 })
  const told = tellDisputes(disputes, { events, viewer })
  return hasMore ? { ...told, leftOut: [...told.leftOut, `disputes before the last ${DISPUTES_MAX}`] } : told
}

type Webhooks = { told: Told; also: OtherStep[] }

async function webhooksOf(tx: CommonQueryMethods, { merchantId, paymentId, viewer }: Look): Promise<Webhooks> {
  if (!seesWebhooks(viewer))
    return { told: { entries: [], leftOut: ['webhooks, which your role does not see'] }, also: [] }
  const read = await listDeliveries(tx, { merchantId, paymentId, limit: DELIVERIES_MAX + 1 })
  const { rows: deliveries, hasMore } = newest(read, DELIVERIES_MAX)
  const attempts = await listAttempts(tx, {
    merchantId,
    deliveryIds: deliveries.map(({ id }) => id),
    each: ATTEMPTS_EACH + 1,
  })
  const told = tellDeliveries({ deliveries, attempts, attemptsEach: ATTEMPTS_EACH })
  const before = hasMore ? [`webhooks before the last ${DELIVERIES_MAX}`] : []
  // What holds one back holds them all; one that was too old is told as itself.
  const held = deliveries.find((delivery) => heldText(delivery) !== null && !delivery.has_endpoint)
  return {
    told: { ...told, leftOut: [...before, ...told.leftOut] },
    also: held === undefined ? [] : heldSteps(held, viewer),
  }
}

/** What was done to its merchant while it lived: what comes after its end bears on it no more, but for its refunds. */
async function actsOf(
  tx: CommonQueryMethods,
  { merchantId, viewer }: Look,
  { facts: { payment }, last }: { facts: PaymentFacts; last: string },
): Promise<Told> {
  const hasEnded = payment.status === 'Failed' || payment.status === 'Refunded'
  const acts = await listActs(tx, {
    merchantId,
    actions: ACTS_ON_PAYMENTS,
    subjectIds: [],
    since: payment.created_at,
    until: hasEnded ? last : null,
    limit: ACTS_MAX + 1,
  })
  return tellActs(acts, viewer)
}
