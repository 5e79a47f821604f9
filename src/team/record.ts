import { z } from 'zod'
import { MERCHANT_ROLES } from '../lib/permissions.ts'

/** Someone who works for a merchant (migrations/0007_teams.sql). */
export const TeamMemberRecord = z.object({
  id: z.string(),
  email: z.string(),
  role: z.enum(MERCHANT_ROLES),
  is_active: z.boolean(),
  invited_by: z.string(),
  created_at: z.string(),
})
export type TeamMemberRecord = z.infer<typeof TeamMemberRecord>

/** A client of a merchant's own programs (migrations/0007_teams.sql). */
export const CredentialRecord = z.object({
  client_id: z.string(),
  kind: z.enum(['server', 'credential']),
  role: z.enum(MERCHANT_ROLES).nullable(),
  name: z.string().nullable(),
  created_by: z.string(),
  created_at: z.string(),
  revoked_at: z.string().nullable(),
})
export type CredentialRecord = z.infer<typeof CredentialRecord>
