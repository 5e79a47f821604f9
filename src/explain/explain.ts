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
import type { Subject, TimelineLimits } from './record.ts'
import { canSeeWebhooks, describe } from './steps.ts'
import type { Viewer } from './steps.ts'
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
  const { disputeWindowDays: disputeDays } = app.config
  const limits = subject.kind === 'delivery' ? DELIVERY_LIMITS : LIMITS
  return app.pool.transaction(async (tx) => {
    await subjects.beginRead(tx)
    const { facts, ...description } = await describeSubject(tx, subject, { viewer, disputeDays })
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

async function describeSubject(
  tx: CommonQueryMethods,
  subject: Subject,
  { viewer, disputeDays }: { viewer: Viewer; disputeDays: number },
) {
  switch (subject.kind) {
    case 'payment':
      return describe(PAYMENT, await subjects.findPaymentFacts(tx, subject, disputeDays), viewer)
    case 'delivery':
      return describe(DELIVERY, await subjects.findDeliveryFacts(tx, subject), viewer)
    case 'dispute':
      return describe(DISPUTE, await subjects.findDisputeFacts(tx, subject), viewer)
    case 'merchant':
      return describe(MERCHANT, await subjects.findMerchantFacts(tx, subject), viewer)
    default:
      return subject.kind satisfies never
  }
}
