import { z } from 'zod'
import { NoHeaders, None, reasonText } from './common.ts'
import { operation } from './operation.ts'
import { PayerEmail, PayerPhone } from './payer.ts'

const because = { reason: reasonText(500).meta({ description: 'the reason, for the audit trail' }) }

/** What was erased of a payer. */
export const ErasedPayer = z.strictObject({
  erasure_id: z
    .uuid()
    .meta({ description: 'the subject of the entry in the audit trail, which does not name the payer' }),
  consents: z.int().meta({ description: 'consents that no longer have the contact and the name' }),
  accounts: z.int().meta({ description: 'of them those whose account number is gone too, because no money moved' }),
  open_consents: z.int().meta({ description: 'consents that are still open, and are left as they are' }),
  messages: z.int().meta({ description: 'mails, text messages and sign-in links that are gone' }),
})
export type ErasedPayer = z.infer<typeof ErasedPayer>

export const erasePayer = operation({
  name: 'erasePayer',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/admin/payers/erase',
  summary: "Erase a payer's personal data",
  description:
    'Of all merchants. Payments stay, without contact and name. What is open stays: end it first, and repeat.',
  access: ['platform'],
  permission: 'administer platform',
  needsFreshSignIn: true,
  params: None,
  query: None,
  headers: NoHeaders,
  body: z.union(
    [z.strictObject({ email: PayerEmail, ...because }), z.strictObject({ phone: PayerPhone, ...because })],
    'must have a reason, and either email or phone',
  ),
  replies: { 200: ErasedPayer },
  errors: [],
})
