import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { getPayment } from '../payments/get-payment.ts'
import type { Explanation } from '../wire/explain.ts'
import { DELIVERY } from './delivery.ts'
import { DISPUTE } from './dispute.ts'
import * as facts from './facts-sql.ts'
import { MERCHANT } from './merchant.ts'
import { PAYMENT } from './payment.ts'
import { PAYOUT, SETTLEMENT } from './payout.ts'
import { reader } from './steps.ts'
import * as subjects from './subjects-sql.ts'
import type { Subject } from './subjects-sql.ts'
import { limitsOf, listTimeline } from './timeline-sql.ts'
import { inOrder, timelineOf } from './timeline.ts'
import { canSeeMoney, canSeeWebhooks } from './viewer.ts'
import type { Viewer } from './viewer.ts'

const READERS = {
  payment: reader(PAYMENT, facts.findPaymentFacts),
  delivery: reader(DELIVERY, facts.findDeliveryFacts),
  dispute: reader(DISPUTE, facts.findDisputeFacts),
  settlement: reader(SETTLEMENT, facts.findSettlementFacts),
  payout: reader(PAYOUT, facts.findPayoutFacts),
  merchant: reader(MERCHANT, facts.findMerchantFacts),
} satisfies Record<Subject['kind'], unknown>

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
  const input = { viewer, disputeWindowDays: app.config.disputeWindowDays, apiRefundBanks: [...app.refundApis] }
  return app.pool.transaction(async (tx) => {
    await subjects.beginRead(tx)
    const { description, due, since, until, movesOf } = await READERS[subject.kind](tx, subject, input)
    const rows = await listTimeline(tx, { subject, viewer, since, until })
    const { timeline, leftOut } = timelineOf(rows, { limits: limitsOf(subject), viewer, movesOf })
    if (!canSeeMoney(viewer) && subject.kind === 'payment')
      leftOut.push('settlements and payouts (your role has no access to them)')
    if (!hasWebhooks && subject.kind !== 'merchant') leftOut.push('webhooks (your role has no access to them)')
    return { ...subject, ...description, timeline: inOrder([...timeline, ...due]), left_out: leftOut }
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
