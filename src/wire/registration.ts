import { z } from 'zod'
import { NoBody, NoHeaders, None, Timestamp, Uuid, listOf, nameText, reasonText } from './common.ts'
import { operation } from './operation.ts'

/** An e-mail address, stored in lower case, because its owner signs in with it. */
export const Email = z
  .string()
  .max(254)
  .transform((value) => value.trim().toLowerCase())
  .pipe(z.email('must be an e-mail address'))
  .meta({ format: 'email', examples: ['ada@acme.example'] })

export const RegisterMerchant = z.strictObject({
  company_name: nameText(140).meta({
    description: 'the legal name; the name of the realm is derived from it',
    examples: ['Acme Ltd'],
  }),
  trading_name: nameText(140).meta({ description: 'what payers see', examples: ['Acme'] }),
  admin_email: Email,
})
export type RegisterMerchant = z.output<typeof RegisterMerchant>

/** A merchant that has just registered (decision 25). */
export const RegisteredMerchant = z.strictObject({
  merchant_id: Uuid,
  client_id: z.string(),
  client_secret: z.string().nullable().meta({
    description:
      "the secret of client_id, the merchant's server client; only in this response; null without an identity provider",
  }),
  realm_slug: z.string(),
  kyb_status: z.literal('PENDING'),
  issuer: z.string().nullable(),
  webhook_signing_secret: z.string().meta({ description: 'the secret that signs webhooks; only in this response' }),
  warnings: z.array(z.string()),
})
export type RegisteredMerchant = z.infer<typeof RegisteredMerchant>

export const registerMerchant = operation({
  name: 'registerMerchant',
  method: 'POST',
  path: '/api/v1/portal/register',
  summary: 'Register a merchant',
  description:
    'Creates its realm, its clients and its first administrator. An operator approves the merchant afterwards.',
  access: ['anyone'],
  params: None,
  query: None,
  headers: NoHeaders,
  body: RegisterMerchant,
  replies: { 201: RegisteredMerchant },
  errors: ['REALM_EXISTS', 'IDP_UNAVAILABLE'],
})

/** A registration that is incomplete, or whose invitation was not sent. */
export const Registration = z.strictObject({
  slug: z.string(),
  status: z.enum(['PROVISIONING', 'COMPLETE', 'FAILED']),
  company_name: z.string(),
  trading_name: z.string(),
  admin_email: z.string(),
  merchant_id: Uuid.nullable(),
  warnings: z.array(z.string()),
  failure: z.string().nullable(),
  invited_at: Timestamp.nullable(),
  created_at: Timestamp,
  /** The problems in words; empty if there are none. */
  problems: z.array(z.string()),
})
export type Registration = z.infer<typeof Registration>

export const listRegistrations = operation({
  name: 'listRegistrations',
  method: 'GET',
  path: '/api/v1/admin/registrations',
  summary: 'List incomplete registrations',
  description: 'Registrations that failed midway, have no administrator, or whose administrator was not invited.',
  access: ['platform'],
  permission: 'read merchants',
  params: None,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: listOf(Registration) },
  errors: [],
})

export const repairRegistration = operation({
  name: 'repairRegistration',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/admin/registrations/{slug}/repair',
  summary: 'Repair an incomplete registration',
  description:
    "Completes or rolls back the registration, assigns the administrator's role, and sends the invitation again.",
  access: ['platform'],
  permission: 'operate merchants',
  needsFreshSignIn: true,
  params: z.strictObject({ slug: z.string() }),
  query: None,
  headers: NoHeaders,
  body: z
    .strictObject({
      rollback: z.boolean().default(false).meta({ description: 'delete an incomplete realm and free its name' }),
      admin_email: Email.optional().meta({
        description: 'a new administrator in place of one who has not signed up; rejected once an ADMIN has signed up',
      }),
      reason: reasonText(500).optional(),
    })
    .optional(),
  bodyOptional: true,
  replies: {
    200: z.strictObject({
      slug: z.string(),
      status: z.enum(['COMPLETE', 'FAILED']),
      /** The repairs in words; empty if none was needed. */
      repaired: z.array(z.string()),
    }),
  },
  errors: [
    'REGISTRATION_NOT_FOUND',
    'REGISTRATION_COMPLETE',
    'REGISTRATION_UNDER_WAY',
    'USER_EXISTS',
    'IDP_UNAVAILABLE',
  ],
})
