import { z } from 'zod'
import { NoBody, NoHeaders, None, Timestamp, reasonText, text } from './common.ts'
import { operation } from './operation.ts'

const PEM_MAX = 20_000

export const BankTestStep = z.strictObject({
  step: z.enum(['discovery', 'keys', 'token', 'consent', 'read']),
  passed: z.boolean(),
  detail: z.string().meta({ description: 'what was found, or what the bank said' }),
})

export const BankTest = z.strictObject({
  bank_id: z.string(),
  passed: z.boolean(),
  steps: z.array(BankTestStep).meta({ description: 'the steps up to the first that failed' }),
  tested_by: z.string(),
  tested_at: Timestamp,
})
export type BankTest = z.infer<typeof BankTest>

export const BankConnection = z.strictObject({
  id: z.string().meta({ examples: ['model'] }),
  name: z.string(),
  issuer: z.string(),
  payments_version: z.enum(['3.1', '4.0']),
  vrp_version: z.enum(['3.1', '4.0']).nullable().meta({ description: 'null where the bank has no mandates' }),
  quirks: z.array(z.string()).meta({ description: 'deviations from the standard that are tolerated' }),
  registration: z.enum(['dynamic', 'manual']),
  client_id: z.string().nullable().meta({ description: 'null where the platform is not registered' }),
  registered_by: z.string().nullable(),
  registered_at: Timestamp.nullable(),
  is_proven: z.boolean().meta({ description: 'whether a test has passed here' }),
  last_test: BankTest.nullable(),
  available: z.boolean().meta({ description: 'whether payers are offered it: false while its answers fail' }),
})
export type BankConnection = z.infer<typeof BankConnection>

export const SoftwareStatement = z.strictObject({
  org_id: z.string(),
  software_id: z.string(),
  signing_kid: z.string(),
  redirect_uris: z.array(z.string()),
  source: z.enum(['file', 'database']),
  certificate_ends_at: Timestamp,
  ssa_ends_at: Timestamp.nullable(),
  set_by: z.string().nullable(),
  set_at: Timestamp.nullable(),
})
export type SoftwareStatement = z.infer<typeof SoftwareStatement>

const BankParams = z.strictObject({
  id: z
    .string()
    .max(63)
    .meta({ examples: ['model'] }),
})
const Reason = reasonText(500).meta({ description: 'the reason, for the audit trail' })

export const listBankConnections = operation({
  name: 'listBankConnections',
  method: 'GET',
  path: '/api/v1/admin/banks',
  summary: 'List the configured banks and the software statement',
  description: 'Keys, certificates and assertions are not shown. The banks of the sandbox are not among them.',
  access: ['platform'],
  permission: 'operate merchants',
  params: None,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: {
    200: z.strictObject({ data: z.array(BankConnection), software_statement: SoftwareStatement.nullable() }),
  },
  errors: [],
})

export const setSoftwareStatement = operation({
  name: 'setSoftwareStatement',
  needsFreshSignIn: true,
  dryRun: true,
  method: 'PUT',
  path: '/api/v1/admin/banks/software-statement',
  summary: 'Set the software statement of the Open Banking directory',
  description:
    'Stored sealed. The key must be that of the certificate, and neither that nor the assertion may have ended.',
  access: ['platform'],
  permission: 'administer platform',
  params: None,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({
    org_id: text(40),
    software_id: text(40),
    ssa: z.string().max(PEM_MAX).meta({ description: 'the software statement assertion, a JWT of the directory' }),
    transport: z
      .strictObject({ cert: z.string().max(PEM_MAX), key: z.string().max(PEM_MAX) })
      .meta({ description: 'certificate and key for mutual TLS, in PEM form' }),
    signing: z
      .strictObject({ kid: text(200), key: z.string().max(PEM_MAX) })
      .meta({ description: 'the signing key, in PEM form' }),
    reason: Reason,
  }),
  replies: { 200: SoftwareStatement },
  errors: ['SOFTWARE_STATEMENT_IN_FILE'],
})

export const registerAtBank = operation({
  name: 'registerAtBank',
  needsFreshSignIn: true,
  method: 'POST',
  path: '/api/v1/admin/banks/{id}/registration',
  summary: 'Register the platform at a bank',
  description:
    'Sends the software statement to the bank, which makes a client of it. An answer that is lost may have made one that ' +
    'is never used.',
  access: ['platform'],
  permission: 'administer platform',
  params: BankParams,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({
    replace: z.boolean().default(false).meta({ description: 'register again, for another client id' }),
    reason: Reason,
  }),
  replies: {
    201: z.strictObject({
      bank_id: z.string(),
      client_id: z.string(),
      registered_at: Timestamp,
      sent: z.record(z.string(), z.unknown()).meta({ description: 'the claims of the request, without the assertion' }),
    }),
  },
  errors: ['BANK_NOT_FOUND', 'SOFTWARE_STATEMENT_MISSING', 'BANK_ALREADY_REGISTERED', 'BANK_REGISTRATION_REFUSED'],
})

export const testBank = operation({
  name: 'testBank',
  method: 'POST',
  path: '/api/v1/admin/banks/{id}/test',
  summary: 'Check the connection to a bank',
  description:
    'Reads configuration and keys, gets a token over mutual TLS, and creates and reads a consent that is never authorised. ' +
    'Whatever the bank says is in the steps.',
  access: ['platform'],
  permission: 'operate merchants',
  params: BankParams,
  query: None,
  headers: NoHeaders,
  body: None.optional(),
  bodyOptional: true,
  replies: { 200: BankTest },
  errors: ['BANK_NOT_FOUND', 'SOFTWARE_STATEMENT_MISSING'],
})
