import { z } from 'zod'

/** A registration in any state (migrations/0006_registrations.sql). */
export const RegistrationRecord = z.object({
  id: z.string(),
  slug: z.string(),
  status: z.enum(['PROVISIONING', 'COMPLETE', 'FAILED']),
  company_name: z.string(),
  trading_name: z.string(),
  admin_email: z.string(),
  merchant_id: z.string().nullable(),
  admin_user_id: z.string().nullable(),
  warnings: z.array(z.string()),
  failure: z.string().nullable(),
  /** Whether a process is working on it. */
  is_underway: z.boolean(),
  invite_due_at: z.string().nullable(),
  /** Whether the invitation is overdue. */
  invite_overdue: z.boolean(),
  invite_attempts: z.int(),
  invited_at: z.string().nullable(),
  created_at: z.string(),
})
export type RegistrationRecord = z.infer<typeof RegistrationRecord>

/** An invitation that is due. */
export const DueInvite = z.object({
  id: z.string(),
  slug: z.string(),
  merchant_id: z.string(),
  admin_user_id: z.string(),
  admin_email: z.string(),
  invite_attempts: z.int(),
})
export type DueInvite = z.infer<typeof DueInvite>
