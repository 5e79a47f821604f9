import type { CommonQueryMethods } from 'slonik'
import type { App } from '../app.ts'
import { getPayment } from '../payments/get-payment.ts'
import type { Explanation } from '../wire/explain.ts'
import { explainDelivery } from './explain-delivery.ts'
import { explainDispute } from './explain-dispute.ts'
import { explainMerchant } from './explain-merchant.ts'
import { explainPayment } from './explain-payment.ts'
import { mustFindSubject } from './find-subject.ts'
import type { Subject } from './record.ts'
import { beginLook } from './sql.ts'
import type { Viewer } from './viewer.ts'

/**
 * The story of whatever an id means, computed from the records and the transition tables that the service runs on. It is
 * one look: all of it is read as it stood at one moment.
 * @throws {DomainError} RESOURCE_NOT_FOUND, FORBIDDEN_ROLE
 */
export async function explain(app: App, { id, viewer }: { id: string; viewer: Viewer }): Promise<Explanation> {
  const subject = await mustFindSubject(app.pool, viewer, id)
  // A payment whose consent has ended is expired by whoever reads it first (decision 18), and this is a reader too.
  if (subject.kind === 'payment') await getPayment(app, { merchantId: subject.merchant_id, id: subject.id })
  const explanation = await app.pool.transaction(async (tx) => {
    await beginLook(tx)
    return tell(tx, { subject, viewer, disputeDays: app.config.disputeWindowDays })
  })
  // Nothing of these four kinds is ever deleted.
  if (explanation === null) throw new Error(`the ${subject.kind} ${subject.id} is gone`)
  return explanation
}

type Telling = { subject: Subject; viewer: Viewer; disputeDays: number }

function tell(tx: CommonQueryMethods, { subject, viewer, disputeDays }: Telling): Promise<Explanation | null> {
  const { kind, id, merchant_id: merchantId } = subject
  switch (kind) {
    case 'payment':
      return explainPayment(tx, { merchantId, paymentId: id, viewer, disputeDays })
    case 'delivery':
      return explainDelivery(tx, { merchantId, id, viewer })
    case 'dispute':
      return explainDispute(tx, { merchantId, id, viewer })
    case 'merchant':
      return explainMerchant(tx, { id, viewer })
    default:
      return kind satisfies never
  }
}
