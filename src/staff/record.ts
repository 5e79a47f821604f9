import { z } from 'zod'
import { PLATFORM_ROLES } from '../lib/permissions.ts'

/** A staff member of the platform (contract §Platform user; decision 28). */
export const PlatformUser = z.object({
  id: z.string(),
  keycloak_user_id: z.string(),
  email: z.string(),
  display_name: z.string(),
  role: z.enum(PLATFORM_ROLES),
  is_active: z.boolean(),
  created_at: z.string(),
  last_seen_at: z.string().nullable(),
})
export type PlatformUser = z.infer<typeof PlatformUser>

/** A client of the platform's realm. */
export const PlatformClient = z.object({
  client_id: z.string(),
  kind: z.enum(['portal', 'cli', 'service']),
  /** The role of a service client; people have their role in the token. */
  role: z.enum(PLATFORM_ROLES).nullable(),
  name: z.string().nullable(),
  created_by: z.string(),
  created_at: z.string(),
})
export type PlatformClient = z.infer<typeof PlatformClient>

/** A program that operates the platform (migrations/0008_staff.sql). */
export const StaffClientRecord = z.object({
  client_id: z.string(),
  role: z.enum(PLATFORM_ROLES),
  name: z.string().nullable(),
  created_by: z.string(),
  created_at: z.string(),
  revoked_at: z.string().nullable(),
})
export type StaffClientRecord = z.infer<typeof StaffClientRecord>
