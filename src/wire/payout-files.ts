import { z } from 'zod'
import { Currency, IdParams, Limit, Money, NoBody, NoHeaders, None, Timestamp, Uuid, listOf } from './common.ts'
import { operation } from './operation.ts'

/**
 * Why a payout is not written into a file: no account of ours pays its currency, its holder's name has no letter, or its
 * account's number can't be opened. Refunds need no name.
 */
const LEFT_OUT_REASONS = ['NO_PAYING_ACCOUNT', 'NAME_NOT_WRITABLE', 'ACCOUNT_UNREADABLE'] as const

/** The answers of a bank to a file have the size of the file. */
const CONTENT_MAX = 10 * 1024 * 1024
const BODY_BYTES_MAX = 16 * 1024 * 1024

export const PayoutFile = z.strictObject({
  id: Uuid,
  message_id: z.string().meta({ description: "the message's name at the bank" }),
  payout_count: z.int(),
  refund_count: z.int(),
  control_sum: Money.meta({ description: 'the sum of all amounts, whatever their currencies' }),
  content_sha256: z.string(),
  created_by: z.string(),
  created_at: Timestamp,
})
export type PayoutFile = z.infer<typeof PayoutFile>

const RefundInFile = z.strictObject({
  refund_id: Uuid,
  payment_id: Uuid,
  merchant_id: Uuid,
  currency: Currency,
  amount: Money,
})

const Content = z.string().meta({ description: 'the whole file, pain.001.001.09 of ISO 20022' })

const ofOperators = { access: ['platform'], permission: 'operate merchants', headers: NoHeaders } as const

export const createPayoutFile = operation({
  ...ofOperators,
  name: 'createPayoutFile',
  needsFreshSignIn: true,
  dryRun: true,
  method: 'POST',
  path: '/api/v1/admin/payout-files',
  summary: 'Export waiting payouts and refunds as a file for the bank',
  description:
    'Payouts that no API of a bank sends, and refunds that none carries out: at most 1,000 of each, the oldest first, as ' +
    'pain.001.001.09 of ISO 20022. Payouts are SENT with it, refunds stay PENDING with `sent_at`, and none is in a second ' +
    'file; where nothing waits, no file is created. Read the same file again by its id.',
  params: None,
  query: None,
  body: None.optional(),
  bodyOptional: true,
  replies: {
    200: z.strictObject({
      file: PayoutFile.extend({
        content: Content.nullable().meta({
          description: 'the whole file, pain.001.001.09 of ISO 20022; null in a dry run',
        }),
      })
        .nullable()
        .meta({ description: 'null where no payout can be sent' }),
      left_out: z
        .array(
          z.strictObject({
            payout_id: Uuid,
            merchant_id: Uuid,
            currency: Currency,
            amount: Money,
            reason: z.enum(LEFT_OUT_REASONS),
          }),
        )
        .meta({ description: 'payouts that stay CREATED, until the reason is gone' }),
      left_out_refunds: z
        .array(RefundInFile.extend({ reason: z.enum(['NO_PAYING_ACCOUNT', 'ACCOUNT_UNREADABLE']) }))
        .meta({ description: 'refunds that wait, until the reason is gone' }),
      has_more: z.boolean().meta({ description: 'whether more payouts or refunds wait than one file takes' }),
    }),
  },
  errors: [],
})

export const listPayoutFiles = operation({
  ...ofOperators,
  name: 'listPayoutFiles',
  method: 'GET',
  path: '/api/v1/admin/payout-files',
  summary: 'List files of payouts, newest first',
  params: None,
  query: z.strictObject({ limit: Limit, cursor: z.string().max(200).optional() }),
  body: NoBody,
  replies: { 200: listOf(PayoutFile) },
  errors: [],
})

export const getPayoutFile = operation({
  ...ofOperators,
  name: 'getPayoutFile',
  // It has whole numbers of bank accounts.
  needsFreshSignIn: true,
  method: 'GET',
  path: '/api/v1/admin/payout-files/{id}',
  summary: 'Get a file of payouts again',
  description: 'The same bytes as when it was created. Reading it is recorded in the audit trail.',
  params: IdParams,
  query: None,
  body: NoBody,
  replies: { 200: PayoutFile.extend({ content: Content }) },
  errors: ['PAYOUT_FILE_NOT_FOUND'],
})

export const importPayoutReport = operation({
  ...ofOperators,
  name: 'importPayoutReport',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/admin/payout-reports',
  summary: "Import a bank's answer to a file of payouts",
  description:
    'Reads pain.002 of ISO 20022, versions 03 to 10. A rejected payout has FAILED and its money is in the balance again; a ' +
    'rejected refund has FAILED and can be ordered again; the others wait until a bank statement has them. A rejection for ' +
    "another reason than the payee's account, or of the whole file or a batch, may be that of a second upload and fails " +
    'nothing until `confirm_rejection`: see `needs_review`. Importing an answer twice changes nothing.',
  bodyBytesMax: BODY_BYTES_MAX,
  needsFreshSignIn: true,
  params: None,
  query: None,
  body: z.strictObject({
    content: z.string().min(1).max(CONTENT_MAX).meta({ description: 'the whole file' }),
    confirm_rejection: z.boolean().default(false).meta({
      description: 'whether you have asked the bank, and it makes none of the payments that are doubtful',
    }),
  }),
  replies: {
    200: z.strictObject({
      file: PayoutFile,
      rejected: z
        .array(
          z.strictObject({
            payout_id: Uuid,
            merchant_id: Uuid,
            currency: Currency,
            amount: Money,
            failure_code: z.string(),
            bank_reason: z
              .string()
              .nullable()
              .meta({ description: 'code of ISO 20022', examples: ['AC04'] }),
            bank_text: z.string().nullable(),
          }),
        )
        .meta({ description: 'payouts that have failed now' }),
      rejected_refunds: z
        .array(
          RefundInFile.extend({
            failure_code: z.string(),
            bank_reason: z.string().nullable(),
            bank_text: z.string().nullable(),
          }),
        )
        .meta({ description: 'refunds that have failed now' }),
      accepted_count: z.int(),
      rejected_count: z.int().meta({ description: 'all rejections of the answer, also those that were known' }),
      pending_count: z.int(),
      duplicate_count: z.int().meta({ description: 'copies of payments that the bank has: nothing is known of these' }),
      doubtful_count: z.int().meta({
        description:
          'payments that are rejected as those of a second upload are, and have not failed before: nothing has failed',
      }),
      unanswered_count: z.int(),
      needs_review: z
        .string()
        .nullable()
        .meta({ description: 'what to ask the bank about doubtful ones, and what to run then; null without' }),
    }),
  },
  errors: ['PAYOUT_FILE_NOT_FOUND', 'BODY_TOO_LARGE'],
})
