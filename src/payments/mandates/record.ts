import { z } from 'zod'

/** A payment under a mandate whose bank has not answered yet. */
export const PendingMandatePayment = z.object({
  merchant_id: z.string(),
  id: z.string(),
  consent_id: z.string(),
  status: z.enum(['Initiated', 'AwaitingAuthorisation']),
  end_to_end_id: z.string(),
  bank_consent_id: z.string(),
  bank_connector: z.string(),
  gross_amount: z.string(),
  currency: z.string(),
  remittance_reference: z.string().nullable(),
  sandbox_scenario: z.string().nullable(),
  bank_consent_reference: z.string(),
  /** Whether its bank has been silent for longer than a payer would have to authorise it. */
  is_overdue: z.boolean(),
})
export type PendingMandatePayment = z.infer<typeof PendingMandatePayment>
