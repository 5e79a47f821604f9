import { z } from 'zod'
import { AUDIT_CHAINS } from '../lib/audit-chain.ts'
import { EXAMINED_PAGES, Instant, Limit, NoBody, NoHeaders, None, Timestamp, Uuid, listOf, text } from './common.ts'
import { operation } from './operation.ts'

/** An action of an operator, with its time, its reason, and the values before and after. */
export const OperatorAction = z.strictObject({
  ordinal: z.string().meta({ description: 'its position in the order of all actions' }),
  action: z.string().meta({ examples: ['merchant.kyb'] }),
  actor: z.string().meta({ description: "a person's e-mail address, or a client's id" }),
  actor_id: z
    .string()
    .meta({ description: 'the `sub` of the token; unlike an address, it never belongs to another person' }),
  actor_role: z.string(),
  merchant_id: Uuid.nullable(),
  realm_slug: z.string().nullable().meta({ description: "the merchant's realm" }),
  subject_id: z.string(),
  reason: z.string().nullable(),
  before: z.record(z.string(), z.unknown()).nullable(),
  after: z.record(z.string(), z.unknown()).nullable(),
  created_at: Timestamp,
  action_hash: z.string(),
})
export type OperatorAction = z.infer<typeof OperatorAction>

export const listAudit = operation({
  name: 'listAudit',
  method: 'GET',
  path: '/api/v1/admin/audit',
  summary: 'List operator actions, newest first',
  description: EXAMINED_PAGES,
  access: ['platform'],
  permission: 'administer platform',
  params: None,
  query: z.strictObject({
    merchant_id: z.string().optional(),
    action: text(64).optional(),
    actor: text(254).optional(),
    from: Instant.optional().meta({ description: 'only actions at this time or later' }),
    to: Instant.optional().meta({ description: 'only actions before this time' }),
    limit: Limit,
    cursor: z.string().max(64).optional(),
  }),
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: listOf(OperatorAction) },
  errors: [],
})

export const getAuditEntry = operation({
  name: 'getAuditEntry',
  method: 'GET',
  path: '/api/v1/admin/audit/{ordinal}',
  summary: 'Get an operator action by its ordinal',
  access: ['platform'],
  permission: 'administer platform',
  params: z.strictObject({ ordinal: z.string() }),
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: OperatorAction },
  errors: ['AUDIT_ENTRY_NOT_FOUND'],
})

/** The chains that can be exported and verified. */
export const AuditChain = z.enum(AUDIT_CHAINS)
export type AuditChain = z.infer<typeof AuditChain>

export const EXPORT_LIMIT_MAX = 1_000

export const exportAudit = operation({
  name: 'exportAudit',
  method: 'GET',
  path: '/api/v1/admin/audit/export',
  summary: 'Export a chain of the audit trail',
  description: 'Returns the rows in order, with everything that their hashes are computed from.',
  access: ['platform'],
  permission: 'administer platform',
  params: None,
  query: z.strictObject({
    chain: AuditChain.default('operator_actions'),
    cursor: z.string().max(64).optional(),
    limit: z
      .custom<number | string>((value) => /^\d{1,4}$/.test(String(value)), 'must be a whole number')
      .transform(Number)
      .pipe(z.int().min(1).max(EXPORT_LIMIT_MAX))
      .prefault(EXPORT_LIMIT_MAX)
      .meta({ type: 'integer', minimum: 1, maximum: EXPORT_LIMIT_MAX }),
  }),
  headers: NoHeaders,
  body: NoBody,
  replies: {
    200: z.strictObject({
      chain: AuditChain,
      data: z.array(z.record(z.string(), z.string().nullable())).meta({
        description:
          'the oldest first; every column as the text that was hashed. `standing` is in no hash: beside the last event of a payment or dispute it is the status of the payment or dispute itself',
      }),
      has_more: z.boolean(),
      next_cursor: z
        .string()
        .nullable()
        .meta({ description: 'without payment and dispute events of the last 30 seconds' }),
    }),
  },
  errors: [],
})
