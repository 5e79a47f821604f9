import { z } from 'zod'

/** An actor as the audit trail records it: the token's subject, a name for people, and its role at the time. */
export type Actor = { id: string; name: string; role: string }

const Json = z.record(z.string(), z.unknown())

/** A row of `operator_actions` (migrations/0009_audit.sql). */
export const OperatorActionRecord = z.object({
  ordinal: z.bigint(),
  actor_id: z.string(),
  actor_name: z.string(),
  actor_role: z.string(),
  action: z.string(),
  merchant_id: z.string().nullable(),
  /** The merchant's current slug. */
  realm_slug: z.string().nullable(),
  subject_id: z.string(),
  reason: z.string().nullable(),
  before: Json.nullable(),
  after: Json.nullable(),
  action_hash: z.string(),
  created_at: z.string(),
})
export type OperatorActionRecord = z.infer<typeof OperatorActionRecord>

/** Ordinals are counted from 1 and stay far below what PostgreSQL's bigint holds. */
export function isOrdinal(text: string): boolean {
  return /^[1-9]\d{0,17}$/.test(text)
}
