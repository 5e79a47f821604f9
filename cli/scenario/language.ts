import { z } from 'zod'
import { HttpStatus, Text } from './language/parts.ts'
import { matcherProblems } from './matchers.ts'
import {
  DONE_TO_DISPUTES,
  DONE_TO_MANDATES,
  DONE_TO_MERCHANTS,
  DONE_TO_PAYMENTS,
  DONE_TO_SETTLEMENTS,
  DONE_TO_WEBHOOKS,
} from './verbs/actions.ts'
import { BankFault, bank } from './verbs/bank.ts'
import { CHECKOUT_VERBS } from './verbs/checkout.ts'
import { CUSTOMER_VERBS } from './verbs/customers.ts'
import { dispute } from './verbs/disputes.ts'
import { exec } from './verbs/exec.ts'
import { LOOKING_VERBS } from './verbs/looking.ts'
import { MERCHANT_VERBS, merchantFields } from './verbs/merchants.ts'
import { PAYER_VERBS } from './verbs/payers.ts'
import { REQUEST_TO_PAY_VERBS } from './verbs/payment-requests.ts'
import { pay } from './verbs/payments.ts'
import { recurring } from './verbs/recurring.ts'
import { REQUEST_VERBS } from './verbs/requests.ts'
import { ReceiverBehaviour, WEBHOOK_VERBS } from './verbs/webhooks.ts'

/*
 * The language of scenario files: each verb with its schema and what plays it. The runner, the command
 * `svc sandbox scenarios validate` and the published JSON Schema read the same declarations.
 */

export const CaseSetup = z.strictObject({
  /** What not every service has; where it is missing, the case is skipped. */
  needs: z.enum(['vrp_caps']).optional(),
  merchant: z.strictObject(merchantFields).optional(),
  receiver: z.union([ReceiverBehaviour, z.literal(false)]).optional(),
  bank: BankFault.optional(),
})
export type CaseSetup = z.infer<typeof CaseSetup>

export const VERB_GROUPS = {
  payments: { pay, bank, ...DONE_TO_PAYMENTS, ...CHECKOUT_VERBS, ...LOOKING_VERBS },
  webhooks: { ...WEBHOOK_VERBS, ...DONE_TO_WEBHOOKS },
  disputes: { dispute, ...DONE_TO_DISPUTES },
  payers: { ...PAYER_VERBS, ...DONE_TO_MANDATES },
  customers: { ...CUSTOMER_VERBS, recurring, ...REQUEST_TO_PAY_VERBS },
  merchants: { ...MERCHANT_VERBS, ...DONE_TO_MERCHANTS, ...DONE_TO_SETTLEMENTS },
  other: { ...REQUEST_VERBS, exec },
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
