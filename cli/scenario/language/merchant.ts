import { z } from 'zod'
import type { VerbTable } from './verb-table.ts'
import { AdminMerchant, KybStatus } from '../../../src/wire/admin.ts'
import { OperatorAction } from '../../../src/wire/audit.ts'
import { RegisteredMerchant } from '../../../src/wire/registration.ts'
import { SandboxMerchant } from '../../../src/wire/sandbox.ts'
import { MerchantReference, Name, Text, expectedOf, matchersOf } from './parts.ts'
import { ReceiverBehaviour } from './webhooks.ts'

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

/** A merchant that registers itself, as anyone may; PENDING until `kyb.approve: { of: $new }`. */
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

/** The case's own merchant as well. */
export const MERCHANT = { kind: 'merchant', members: ['merchant_id', 'client_id', 'name'] } as const

export const MERCHANT_VERBS = {
  merchant: {
    schema: MerchantStep,
    text: 'Creates another merchant, with a receiver of its own where asked for.',
    examples: ['merchant: { as: other, name: Other Ltd }', 'merchant: { as: other, name: Other Ltd, receiver: {} }'],
    makes: MERCHANT,
  },
  register: {
    schema: Register,
    text: 'Registers a merchant over the public API; its KYB status is PENDING.',
    examples: ['register: { as: new, company_name: New Ltd }'],
    makes: MERCHANT,
  },
} as const satisfies VerbTable
