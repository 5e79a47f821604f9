import type { EventData } from '../webhooks/enqueue.ts'
import type { MandateRecord } from './record.ts'

/** The `data` of a webhook about a mandate. */
export function consentEventData(mandate: MandateRecord, { isTest }: { isTest: boolean }): EventData {
  return {
    object: 'consent',
    id: mandate.id,
    merchantId: mandate.merchant_id,
    firstPaymentId: mandate.first_payment_id,
    consentType: mandate.consent_type,
    status: mandate.status,
    currency: mandate.currency,
    revokedBy: mandate.revoked_by,
    validTo: mandate.valid_to,
    ...(isTest ? { test: true } : {}),
  }
}
