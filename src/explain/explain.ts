import type { CommonQueryMethods } from 'slonik'
import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { getPayment } from '../payments/get-payment.ts'
import type { Explanation } from '../wire/explain.ts'
import { DELIVERY } from './delivery.ts'
import { DISPUTE } from './dispute.ts'
import { MERCHANT } from './merchant.ts'
import { PAYMENT } from './payment.ts'
import { PAYOUT, SETTLEMENT, canSeeMoney } from './payout.ts'
import { canSeeWebhooks, describe } from './steps.ts'
import type { Viewer } from './steps.ts'
import * as subjects from './subjects-sql.ts'
import type { Subject } from './subjects-sql.ts'
import { listTimeline } from './timeline-sql.ts'
import type { TimelineLimits } from './timeline-sql.ts'
import { timelineOf } from './timeline.ts'

/** Twelve attempts are two rounds of them, where the webhook was replayed; of a single delivery sixteen rounds are shown. */
const LIMITS: TimelineLimits = { refund: 50, dispute: 100, payout: 50, webhook: 50, attempt: 12, action: 50 }
const DELIVERY_LIMITS: TimelineLimits = { ...LIMITS, attempt: 100 }

/** The two other names that support is given: end-to-end ids of bank statements, and event ids of receivers' logs. */
const NAMES = [/^[A-Z]{3}[0-9a-f]{32}$/, /^evt_\w{1,60}$/]

/**
 * The timeline of a payment, delivery, dispute, settlement, payout or merchant, computed from the records and the
 * transition tables that the service runs on. All of it is read as of one moment.
 * @param input.id the subject's id, a refund's, an end-to-end id or an event id
 * @throws {DomainError} RESOURCE_NOT_FOUND, the same for an unknown, a malformed and another merchant's id;
 *   FORBIDDEN_ROLE for a delivery where the caller may not see webhooks (decision 31), and so for settlements and payouts
 */
export async function explain(app: App, { id, viewer }: { id: string; viewer: Viewer }): Promise<Explanation> {
  const subject = await findSubject(app, viewer, id)
  const hasWebhooks = canSeeWebhooks(viewer)
  if (subject.kind === 'delivery' && !hasWebhooks)
    throw new DomainError('FORBIDDEN_ROLE', 'this role may not read webhooks')
  if ((subject.kind === 'settlement' || subject.kind === 'payout') && !canSeeMoney(viewer))
    throw new DomainError('FORBIDDEN_ROLE', 'this role may not read settlements and payouts')
  // A payment whose consent has ended is expired by its first reader (decision 18), which may be this one.
  if (subject.kind === 'payment') await getPayment(app, { merchantId: subject.merchant_id, id: subject.id })
  const { disputeWindowDays } = app.config
  return app.pool.transaction(async (tx) => {
    await subjects.beginRead(tx)
    const { payment, since, until, ...description } = await describeSubject(tx, subject, { viewer, disputeWindowDays })
    const limits = subject.kind === 'delivery' ? DELIVERY_LIMITS : LIMITS
    const rows = await listTimeline(tx, { subject, limits, viewer, since, until })
    const { timeline, leftOut } = timelineOf(rows, { limits, viewer, payment })
    if (!canSeeMoney(viewer) && subject.kind === 'payment')
      leftOut.push('settlements and payouts (your role has no access to them)')
    if (!hasWebhooks && subject.kind !== 'merchant') leftOut.push('webhooks (your role has no access to them)')
    return { ...subject, ...description, timeline, left_out: leftOut }
  })
}

async function findSubject(app: App, { merchantId }: Viewer, id: string): Promise<Subject> {
  const isName = NAMES.some((form) => form.test(id))
  const names = { merchantId: merchantId ?? null, uuid: isUuid(id) ? id : null, name: isName ? id : null }
  const subject = isName || isUuid(id) ? await subjects.findSubject(app.pool, names) : null
  if (subject !== null) return subject
  throw new DomainError(
    'RESOURCE_NOT_FOUND',
    'no payment, delivery, dispute, settlement, payout or merchant has this id',
  )
}

/** The subject in words, and the times between which actions on its merchant concern it. */
async function describeSubject(
  tx: CommonQueryMethods,
  subject: Subject,
  { viewer, disputeWindowDays }: { viewer: Viewer; disputeWindowDays: number },
) {
  const always = { payment: null, since: null, until: null }
  switch (subject.kind) {
    case 'payment': {
      const payment = await subjects.findPaymentFacts(tx, subject, disputeWindowDays)
      return { ...describe(PAYMENT, payment, viewer), payment, since: payment.created_at, until: payment.ended_at }
    }
    case 'delivery': {
      const delivery = await subjects.findDeliveryFacts(tx, subject)
      const { created_at: since, delivered_at: until } = delivery
      return { ...describe(DELIVERY, delivery, viewer), payment: null, since, until }
    }
    case 'dispute':
      return { ...describe(DISPUTE, await subjects.findDisputeFacts(tx, subject), viewer), ...always }
    case 'settlement':
      return { ...describe(SETTLEMENT, await subjects.findSettlementFacts(tx, subject), viewer), ...always }
    case 'payout': {
      const payout = await subjects.findPayoutFacts(tx, subject)
      return { ...describe(PAYOUT, payout, viewer), ...always, since: payout.created_at }
    }
    case 'merchant':
      return { ...describe(MERCHANT, await subjects.findMerchantFacts(tx, subject), viewer), ...always }
    default:
      return subject.kind satisfies never
  }
}
