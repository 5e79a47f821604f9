import { z } from 'zod'
import {
  Currency,
  IdParams,
  Limit,
  Money,
  NoBody,
  NoHeaders,
  None,
  Timestamp,
  Uuid,
  listOf,
  reasonText,
  text,
} from './common.ts'
import { Correction } from './ledger.ts'
import { operation } from './operation.ts'

/** Files of banks that are read (decision 255). */
export const STATEMENT_FORMATS = ['camt.053', 'camt.054', 'csv'] as const
export const DATE_FORMATS = ['YYYY-MM-DD', 'DD/MM/YYYY', 'MM/DD/YYYY', 'DD.MM.YYYY'] as const
/** What said that a line is a payment or a refund: a rule, or an operator. */
export const MATCH_RULES = ['END_TO_END_ID', 'END_TO_END_ID_31', 'END_TO_END_ID_18', 'REFERENCE', 'MANUAL'] as const

/** A file of a busy month. */
const CONTENT_MAX = 10 * 1024 * 1024
/** The body has the file as a JSON string, in which a quotation mark takes two bytes. */
const BODY_BYTES_MAX = 16 * 1024 * 1024

export const Statement = z.strictObject({
  id: Uuid,
  format: z.enum(STATEMENT_FORMATS),
  reference: z.string().meta({ description: "the bank's name of the statement; of a CSV file its first and last day" }),
  account: z.string().meta({
    description: 'sort code and account number, the IBAN of another country, or the number that the bank uses',
  }),
  currency: Currency.nullable(),
  opening_amount: Money.nullable(),
  closing_amount: Money.nullable(),
  line_count: z.int(),
  new_line_count: z.int().meta({ description: 'lines that no earlier file had' }),
  unbooked_count: z.int().meta({ description: 'entries that the bank has not booked yet; they are left out' }),
  imported_by: z.string(),
  imported_at: Timestamp,
})
export type Statement = z.infer<typeof Statement>

export const StatementLine = z.strictObject({
  id: Uuid,
  statement_id: Uuid,
  account: z.string(),
  booked_on: z.string().meta({ format: 'date', examples: ['2026-11-22'] }),
  direction: z.enum(['CREDIT', 'DEBIT']),
  amount: Money,
  currency: Currency,
  is_reversal: z.boolean().meta({ description: 'whether it takes back an earlier line of the other direction' }),
  bank_reference: z.string().nullable(),
  end_to_end_id: z.string().nullable(),
  remittance: z.string().nullable(),
  return_reason: z
    .string()
    .nullable()
    .meta({ description: 'why money has come back, by the code of its bank', examples: ['AC04'] }),
  merchant_id: Uuid.nullable(),
  payment_id: Uuid.nullable(),
  refund_id: Uuid.nullable(),
  payout_id: Uuid.nullable(),
  matched_by: z.enum(MATCH_RULES).nullable(),
  matched_at: Timestamp.nullable(),
  resolution_reason: z.string().nullable(),
})
export type StatementLine = z.infer<typeof StatementLine>

/** A payment that has settled, a refund that was executed or a payout that was sent, of which no line of a statement is known. */
export const UnmatchedMovement = z.strictObject({
  kind: z.enum(['payment', 'refund', 'payout']),
  merchant_id: Uuid,
  payment_id: Uuid.nullable(),
  refund_id: Uuid.nullable(),
  payout_id: Uuid.nullable(),
  end_to_end_id: z.string(),
  amount: Money,
  currency: Currency,
  created_at: Timestamp,
})
export type UnmatchedMovement = z.infer<typeof UnmatchedMovement>

const Day = z.iso.date().meta({ examples: ['2026-11-22'] })
const Page = z.strictObject({ limit: Limit, cursor: z.string().max(200).optional() })
const ofOperators = { access: ['platform'], permission: 'operate merchants', headers: NoHeaders } as const

/** The name of a column in the first line of a CSV file. */
const Column = text(100)

export const importStatements = operation({
  ...ofOperators,
  name: 'importStatements',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/admin/statements',
  summary: "Import a bank's statement file and match its lines",
  description:
    'Reads camt.053 and camt.054 (versions 02 to 08) and CSV, of the accounts that the configuration names; a sandbox that ' +
    'names none takes any. A line that an earlier file had is not imported twice. ' +
    'Lines are matched with payments, refunds and payouts by end-to-end id, then by its first 31 and 18 characters, then by amount, ' +
    'date and reference together. A payout that is on a statement of an account that pays is paid, a refund executed.',
  needsFreshSignIn: true,
  bodyBytesMax: BODY_BYTES_MAX,
  params: None,
  query: None,
  body: z.strictObject({
    content: z.string().min(1).max(CONTENT_MAX).meta({ description: 'the whole file' }),
    csv: z
      .strictObject({
        account: text(64).meta({
          description: 'the account, which a CSV file does not name: sort code and account number, or IBAN',
        }),
        currency: Currency,
        date_format: z.enum(DATE_FORMATS).default('YYYY-MM-DD'),
        columns: z
          .strictObject({
            date: Column,
            amount: Column.optional().meta({ description: 'signed: money that leaves has a minus' }),
            credit: Column.optional(),
            debit: Column.optional(),
            currency: Column.optional(),
            reference: Column.optional(),
            end_to_end_id: Column.optional(),
            bank_reference: Column.optional(),
          })
          .refine(
            ({ amount, credit, debit }) => (amount === undefined) === (credit !== undefined && debit !== undefined),
            'must have amount, or both credit and debit',
          ),
      })
      .optional()
      .meta({ description: 'for a CSV file: its account and which column has what' }),
  }),
  replies: {
    200: z.strictObject({
      statements: z.array(Statement),
      new_line_count: z.int(),
      known_line_count: z.int(),
      matched_line_count: z.int().meta({ description: 'lines of any import that were matched now' }),
      unmatched_line_count: z.int().meta({ description: 'lines of any import that are not matched yet' }),
      returned_refund_count: z
        .int()
        .meta({ description: 'refunds that were matched now with a credit: they came back' }),
    }),
  },
  errors: ['BODY_TOO_LARGE'],
})

export const listStatements = operation({
  ...ofOperators,
  name: 'listStatements',
  method: 'GET',
  path: '/api/v1/admin/statements',
  summary: 'List imported bank statements, newest first',
  params: None,
  query: Page,
  body: NoBody,
  replies: { 200: listOf(Statement) },
  errors: [],
})

export const listStatementLines = operation({
  ...ofOperators,
  name: 'listStatementLines',
  method: 'GET',
  path: '/api/v1/admin/statement-lines',
  summary: 'List lines of bank statements, newest first',
  description: 'Also as CSV, with Accept: text/csv.',
  csv: true,
  params: None,
  query: Page.extend({
    statement_id: z.string().max(64).optional(),
    payment_id: z.string().max(64).optional(),
    state: z.enum(['matched', 'unmatched']).optional(),
    from: Day.optional().meta({ description: 'first day of booking' }),
    to: Day.optional().meta({ description: 'last day of booking' }),
  }),
  body: NoBody,
  replies: { 200: listOf(StatementLine) },
  errors: [],
})

export const listUnmatchedMovements = operation({
  ...ofOperators,
  name: 'listUnmatchedMovements',
  method: 'GET',
  path: '/api/v1/admin/unmatched-movements',
  summary: 'List movements that no bank statement has',
  description:
    'Settled payments, executed refunds and sent payouts of the given days. Also as CSV, with Accept: text/csv.',
  csv: true,
  params: None,
  query: Page.extend({
    from: Day.meta({ description: 'first day of creation' }),
    to: Day.meta({ description: 'last day of creation' }),
  }),
  body: NoBody,
  replies: { 200: listOf(UnmatchedMovement) },
  errors: [],
})

export const resolveStatementLine = operation({
  ...ofOperators,
  name: 'resolveStatementLine',
  dryRun: true,
  method: 'PUT',
  path: '/api/v1/admin/statement-lines/{id}/resolution',
  summary: 'Resolve an unmatched line of a bank statement by hand',
  description:
    'With a payment, its refund (for a credit the refund has come back) or a payout, the line is that movement; without one ' +
    'it is explained by the reason alone.',
  needsFreshSignIn: true,
  params: IdParams,
  body: z.strictObject({
    payment_id: z.string().max(64).optional(),
    refund_id: z.string().max(64).optional(),
    payout_id: z.string().max(64).optional(),
    reason: reasonText(500).meta({ description: 'the reason, for the audit trail' }),
  }),
  query: None,
  replies: { 200: StatementLine },
  errors: ['STATEMENT_LINE_NOT_FOUND', 'STATEMENT_LINE_MATCHED', 'PAYMENT_NOT_FOUND', 'PAYOUT_NOT_FOUND'],
})

export const creditReturnedRefund = operation({
  ...ofOperators,
  permission: 'administer platform',
  name: 'creditReturnedRefund',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/admin/statement-lines/{id}/credit',
  summary: "Add a returned refund to the merchant's balance",
  description:
    'For a line that is a refund which the bank has returned, once: a correction of the balance. The payment stays ' +
    'refunded, and the payer has not got the money.',
  needsFreshSignIn: true,
  params: IdParams,
  query: None,
  body: z.strictObject({ reason: reasonText(500).meta({ description: 'the reason, for the audit trail' }) }),
  replies: { 201: Correction },
  errors: ['STATEMENT_LINE_NOT_FOUND', 'REFUND_NOT_CREDITABLE'],
})
