import { z } from 'zod'
import { ACCOUNT_VERBS } from './language/accounts.ts'
import {
  DONE_TO_DISPUTES,
  DONE_TO_MANDATES,
  DONE_TO_MERCHANTS,
  DONE_TO_PAYMENTS,
  DONE_TO_WEBHOOKS,
} from './language/actions.ts'
import { BankFault } from './language/bank.ts'
import { CHECKOUT_VERBS } from './language/checkout.ts'
import { CUSTOMER_VERBS } from './language/customers.ts'
import { DISPUTE_VERBS } from './language/disputes.ts'
import { EXEC_VERBS } from './language/exec.ts'
import { INSTRUCTION_VERBS } from './language/instructions.ts'
import { LOOKING_VERBS } from './language/looking.ts'
import { MERCHANT_VERBS, merchantFields } from './language/merchant.ts'
import { HttpStatus, Text } from './language/parts.ts'
import { PAYER_VERBS } from './language/payers.ts'
import { PAYMENT_VERBS } from './language/payments.ts'
import { PORTAL_VERBS } from './language/portal.ts'
import { REQUEST_VERBS } from './language/requests.ts'
import { ReceiverBehaviour, WEBHOOK_VERBS } from './language/webhooks.ts'
import { matcherProblems } from './matchers.ts'

/*
 * The language of scenario files, as schemas: one for each verb. The runner, `svc sandbox scenarios validate` and the
 * published JSON Schema read the same declarations.
 */

export const Given = z.strictObject({
  /** What not every service has; where it is missing, the case is skipped. */
  needs: z.enum(['vrp_caps']).optional(),
  merchant: z.strictObject(merchantFields).optional(),
  receiver: z.union([ReceiverBehaviour, z.literal(false)]).optional(),
  bank: BankFault.optional(),
})
export type Given = z.infer<typeof Given>

/** The verbs by what they are about. */
export const VERB_GROUPS = {
  payments: { ...PAYMENT_VERBS, ...DONE_TO_PAYMENTS, ...CHECKOUT_VERBS, ...LOOKING_VERBS },
  webhooks: { ...WEBHOOK_VERBS, ...DONE_TO_WEBHOOKS },
  disputes: { ...DISPUTE_VERBS, ...DONE_TO_DISPUTES },
  payers: { ...PAYER_VERBS, ...DONE_TO_MANDATES },
  customers: { ...CUSTOMER_VERBS, ...ACCOUNT_VERBS, ...INSTRUCTION_VERBS },
  merchants: { ...MERCHANT_VERBS, ...DONE_TO_MERCHANTS, ...PORTAL_VERBS },
  other: { ...REQUEST_VERBS, ...EXEC_VERBS },
} as const

export const VERBS = {
  ...VERB_GROUPS.payments,
  ...VERB_GROUPS.webhooks,
  ...VERB_GROUPS.disputes,
  ...VERB_GROUPS.payers,
  ...VERB_GROUPS.customers,
  ...VERB_GROUPS.merchants,
  ...VERB_GROUPS.other,
} as const
export type Verb = keyof typeof VERBS
export const VERB_NAMES: readonly string[] = Object.keys(VERBS)

export function isVerb(word: string): word is Verb {
  return Object.hasOwn(VERBS, word)
}

/** The refusal that a step is expected to meet; stands beside any verb. */
export const ExpectError = z.strictObject({
  http: HttpStatus.optional(),
  code: Text.optional(),
  /** Text that the message contains, or "/a regex/". */
  match: Text.superRefine((value, context) => {
    for (const problem of matcherProblems(value)) context.addIssue({ code: 'custom', ...problem })
  }).optional(),
})
export type ExpectError = z.infer<typeof ExpectError>
