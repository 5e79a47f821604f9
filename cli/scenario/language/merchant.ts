import { z } from 'zod'
import { AdminMerchant, KybStatus } from '../../../src/wire/admin.ts'
import { OperatorAction } from '../../../src/wire/audit.ts'
import { MerchantFees } from '../../../src/wire/fees.ts'
import { RegisteredMerchant } from '../../../src/wire/registration.ts'
import { SandboxMerchant } from '../../../src/wire/sandbox.ts'
import { MerchantReference, Name, Text, expectedOf, matchersOf } from './parts.ts'
import { ReceiverBehaviour } from './webhooks.ts'

/** Whom an operator does it to: the case's own merchant where nothing is said. */
const whom = { of: MerchantReference.optional() }
const why = { reason: Text.optional() }

/** What an operator does to a merchant. */
export const Kyb = z.strictObject({ ...whom, status: KybStatus, ...why, expect: expectedOf(AdminMerchant) })
export const Hold = z.strictObject({ ...whom, payouts: z.boolean(), ...why, expect: expectedOf(AdminMerchant) })
export const Active = z.strictObject({ ...whom, enabled: z.boolean(), ...why, expect: expectedOf(AdminMerchant) })
export const Fees = z.strictObject({
  ...whom,
  fee_percentage: Text.optional(),
  fee_flat: Text.optional(),
  ...why,
  expect: expectedOf(MerchantFees),
})

/** How a merchant is made; approved, with the documented fees, where nothing is said. */
export const merchantFields = {
  name: Text.optional(),
  kyb: KybStatus.optional(),
  payout_held: z.boolean().optional(),
  fee_percentage: Text.optional(),
  fee_flat: Text.optional(),
}

/** Another merchant of the case: `acting_as: $other` beside a verb plays it as this one. */
export const MerchantStep = z.strictObject({
  as: Name,
  ...merchantFields,
  /** A receiver of its own; none where nothing is said. */
  receiver: ReceiverBehaviour.optional(),
  expect: expectedOf(SandboxMerchant.omit({ client_secret: true, webhook_signing_secret: true })),
})

/** A merchant that registers itself, as anyone may; PENDING until `kyb: { of: $new, status: APPROVED }`. */
export const Register = z.strictObject({
  as: Name.optional(),
  /** One that nobody has, where nothing is said. */
  company_name: Text.optional(),
  trading_name: Text.optional(),
  admin_email: Text.optional(),
  expect: expectedOf(RegisteredMerchant.omit({ client_secret: true, webhook_signing_secret: true })),
})

/** A merchant as operators see it. */
export const ExpectMerchant = z.strictObject({ ...matchersOf(AdminMerchant), merchant: MerchantReference })

/** The newest entry of this action in the audit trail, about the merchant. */
export const ExpectAudit = z.strictObject({
  ...matchersOf(OperatorAction.omit({ action: true })),
  audit: Text,
  merchant: MerchantReference.optional(),
})
