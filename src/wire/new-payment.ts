import { z } from 'zod'
import { E164 } from '../lib/e164.ts'
import { Amount, Currency, nameText, text } from './common.ts'
import { mandateFields, mandateProblems } from './mandate-fields.ts'

export const DebtorAccountScheme = z.enum(['UK.OBIE.SortCodeAccountNumber', 'UK.OBIE.IBAN'])

const ACCOUNT_FORMS = {
  'UK.OBIE.SortCodeAccountNumber': { form: /^\d{14}$/, rule: 'must be 14 digits: sort code and account number' },
  'UK.OBIE.IBAN': {
    form: /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/,
    rule: 'must be an IBAN without spaces, at most 34 characters',
  },
}

/**
 * What payer and merchant read on their statements. An end-to-end id of ours, or what banks keep of it, would make a payment
 * look like another one there.
 */
export const RemittanceReference = nameText(18).refine(
  (text) => !/^svc[0-9a-f]{15}$/i.test(text),
  'must not have the form of an end-to-end id of this service',
)

/** The payer and its account, as far as the merchant knows them (contract §Payment consent; decision 41). */
const payerContext = {
  payer_name: text(140).optional(),
  debtor_account_scheme: DebtorAccountScheme.optional(),
  debtor_identification: text(34).optional(),
  remittance_reference: RemittanceReference.optional(),
  debtor_bank_id: text(50).optional(),
  payer_email: z.email().max(254).optional(),
  payer_phone: z.string().regex(E164, 'must be in E.164 form, such as +447700900123').optional(),
}

const Metadata = z
  .record(z.string().min(1).max(40), text(500))
  .refine((entries) => Object.keys(entries).length <= 20, 'must have at most 20 keys')

/** Runs even if other fields are invalid, so that all errors are reported at once (decision 10). */
const ALWAYS = {
  when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null && !Array.isArray(value),
}

/** The body that creates a payment: a single one, the first of a mandate, or one under a mandate. */
export const CreatePayment = z
  .strictObject({
    amount: Amount,
    currency: Currency,
    redirect_uri: z.string().max(2048).optional().meta({ description: 'required unless consent_id is given' }),
    ...payerContext,
    ...mandateFields,
    metadata: Metadata.optional(),
    scenario: text(64).optional(),
  })
  .superRefine(({ redirect_uri, consent_id }, context) => {
    if (redirect_uri !== undefined || consent_id !== undefined) return
    context.addIssue({ code: 'custom', path: ['redirect_uri'], message: 'is required', params: { code: 'REQUIRED' } })
  }, ALWAYS)
  .superRefine((body, context) => {
    for (const { path, message } of mandateProblems(body)) context.addIssue({ code: 'custom', path: [path], message })
    const { debtor_account_scheme: scheme, debtor_identification: identification } = body
    // Each is optional, but only together do they name an account.
    if (scheme === undefined || identification === undefined) return
    const { form, rule } = ACCOUNT_FORMS[scheme]
    if (!form.test(identification)) context.addIssue({ code: 'custom', path: ['debtor_identification'], message: rule })
  })
export type CreatePayment = z.infer<typeof CreatePayment>

/** The body of a payment with a checkout token: the payer's choices; the token has the other fields. */
export const CheckoutPayment = z.strictObject({
  debtor_bank_id: text(50).optional(),
  same_tab: z
    .boolean()
    .optional()
    .meta({ description: "whether the payer goes to the bank in the shop's tab, and from there back to the shop" }),
  locale: z
    .string()
    .max(35)
    .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/)
    .optional()
    .meta({ description: 'the language of the pages that the payer sees next, such as cy' }),
  scenario: text(64).optional(),
})
export type CheckoutPayment = z.infer<typeof CheckoutPayment>
