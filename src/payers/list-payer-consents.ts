import type { App } from '../app.ts'
import { listMandatesOfPayer } from '../consents/list-consents.ts'
import type { MandateWithAllowances } from '../consents/record.ts'
import type { Contact } from './record.ts'

/** More mandates than a payer has; the newest are shown. */
const MANDATES_MAX = 200

/** The active mandates of the payer with this contact, with every merchant, the newest first. */
export function listPayerConsents(app: App, contact: Contact): Promise<readonly MandateWithAllowances[]> {
  return listMandatesOfPayer(app, {
    contact,
    limit: MANDATES_MAX,
  })
}
