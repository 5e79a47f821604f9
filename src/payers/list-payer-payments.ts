import type { App } from '../app.ts'
import { listPayerPaymentRows } from './payments-sql.ts'
import type { Contact, PayerPaymentRecord } from './record.ts'

/** How many payments the hub shows (contract §Payer hub). */
const PAYMENTS_MAX = 50

/** The last payments of the payer with this contact, to every merchant, the newest first. */
export function listPayerPayments(app: App, contact: Contact): Promise<readonly PayerPaymentRecord[]> {
  return listPayerPaymentRows(app.pool, { contact, windowDays: app.config.disputeWindowDays, limit: PAYMENTS_MAX })
}
