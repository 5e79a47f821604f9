import { z } from 'zod'
import { Mandate } from '../../../src/wire/consents.ts'
import { ConsentStatus } from '../../../src/wire/payments.ts'
import { Advance, PaymentReference, Text, Wait, matchersOf } from './parts.ts'

/**
 * The caps of a mandate, which is set up with its first payment; that payment's name is the mandate's too. How amounts
 * and periods must look is the service's matter.
 */
export const MandateWish = z.strictObject({
  max_amount_per_payment: Text.optional(),
  periodic_limits: z.array(z.strictObject({ period: Text, max_amount: Text })).optional(),
  /** In the words of the Open Banking standard, or wrong on purpose; the two above are then left out. */
  control_parameters: z.record(Text, z.unknown()).optional(),
  /** When it ends; a year from now where neither is said. */
  valid_to: Text.optional(),
  valid_for: Advance.optional(),
})
export type MandateWish = z.infer<typeof MandateWish>

export const AwaitConsent = z.strictObject({
  consent: PaymentReference,
  status: ConsentStatus,
  within: Wait.optional(),
})
export const ExpectConsent = z.strictObject({ ...matchersOf(Mandate), consent: PaymentReference })
