import type { CommonQueryMethods } from 'slonik'
import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { getPayment } from '../payments/get-payment.ts'
import type { Explanation } from '../wire/explain.ts'
import { describeDelivery } from './delivery.ts'
import { describeDispute } from './dispute.ts'
import { describeMerchant } from './merchant.ts'
import { describePayment } from './payment.ts'
import type { DeliveryFacts, DisputeFacts, MerchantFacts, PaymentFacts, Subject, TimelineLimits } from './record.ts'
import { canSeeWebhooks } from './steps.ts'
import type { Description, Viewer } from './steps.ts'
import * as subjects from './subjects-sql.ts'
import { listTimeline } from './timeline-sql.ts'
import { timelineOf } from './timeline.ts'

/** Twelve attempts are two rounds of them, where the webhook was replayed; of a single delivery sixteen rounds are shown. */
const LIMITS: TimelineLimits = { refund: 50, dispute: 100, webhook: 50, attempt: 12, action: 50 }
const DELIVERY_LIMITS: TimelineLimits = { ...LIMITS, attempt: 100 }

/** The two other names that support is given: end-to-end ids of bank statements, and event ids of receivers' logs. */
const NAMES = [/^[A-Z]{3}[0-9a-f]{32}$/, /^evt_\w{1,60}$/]

/**
 * The timeline of a payment, delivery, dispute or merchant, computed from the records and the transition tables that the
 * service runs on. All of it is read as of one moment.
 * @param input.id the subject's id, a refund's, an end-to-end id or an event id
 * @throws {DomainError} RESOURCE_NOT_FOUND, the same for an unknown, a malformed and another merchant's id;
 *   FORBIDDEN_ROLE for a delivery where the caller may not see webhooks (decision 31)
 */
export async function explain(app: App, { id, viewer }: { id: string; viewer: Viewer }): Promise<Explanation> {
  const subject = await findSubject(app.pool, { merchantId: viewer.merchantId ?? null, id })
  if (subject === null)
    throw new DomainError('RESOURCE_NOT_FOUND', 'no payment, delivery, dispute or merchant has this id')
  const hasWebhooks = canSeeWebhooks(viewer)
  if (subject.kind === 'delivery' && !hasWebhooks)
    throw new DomainError('FORBIDDEN_ROLE', 'this role may not read webhooks')
  // A payment whose consent has ended is expired by its first reader (decision 18), which may be this one.
  if (subject.kind === 'payment') await getPayment(app, { merchantId: subject.merchant_id, id: subject.id })
  const limits = subject.kind === 'delivery' ? DELIVERY_LIMITS : LIMITS
  return app.pool.transaction(async (tx) => {
    await subjects.beginRead(tx)
    const { facts, description } = await describe(tx, subject, { viewer, disputeDays: app.config.disputeWindowDays })
    const rows = await listTimeline(tx, { subject, limits, hasWebhooks, since: facts.since, until: facts.until })
    const payment = 'under_mandate' in facts ? facts : null
    const { timeline, leftOut } = timelineOf(rows, limits, { viewer, payment })
    const isWithoutWebhooks = !hasWebhooks && subject.kind !== 'merchant'
    return {
      kind: subject.kind,
      id: subject.id,
      merchant_id: subject.merchant_id,
      status: facts.status,
      as_of: facts.now,
      ...description,
      timeline,
      left_out: isWithoutWebhooks ? [...leftOut, 'webhooks (your role has no access to them)'] : leftOut,
    }
  })
}

async function findSubject(
  db: CommonQueryMethods,
  search: { merchantId: string | null; id: string },
): Promise<Subject | null> {
  if (NAMES.some((form) => form.test(search.id))) return subjects.findSubjectByName(db, search)
  if (!isUuid(search.id)) return null
  return (await subjects.findSubject(db, search)) ?? subjects.findSubjectByMerchant(db, search)
}

type Described = { facts: PaymentFacts | DeliveryFacts | DisputeFacts | MerchantFacts; description: Description }

async function describe(
  tx: CommonQueryMethods,
  subject: Subject,
  { viewer, disputeDays }: { viewer: Viewer; disputeDays: number },
): Promise<Described> {
  switch (subject.kind) {
    case 'payment': {
      const facts = await subjects.findPaymentFacts(tx, subject, disputeDays)
      return { facts, description: describePayment(facts, viewer) }
    }
    case 'delivery': {
      const facts = await subjects.findDeliveryFacts(tx, subject)
      return { facts, description: describeDelivery(facts, viewer) }
    }
    case 'dispute': {
      const facts = await subjects.findDisputeFacts(tx, subject)
      return { facts, description: describeDispute(facts, viewer) }
    }
    case 'merchant': {
      const facts = await subjects.findMerchantFacts(tx, subject)
      return { facts, description: describeMerchant(facts, viewer) }
    }
    default:
      return subject.kind satisfies never
  }
}
