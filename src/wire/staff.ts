import { z } from 'zod'
import { PLATFORM_ROLES } from '../lib/permissions.ts'
import { Reason } from './admin.ts'
import { IdParams, NoBody, NoHeaders, None, Timestamp, Uuid, listOf, nameText } from './common.ts'
import { operation } from './operation.ts'
import { SecondFactor } from './team.ts'
import { Email } from './registration.ts'

export const PlatformRole = z.enum(PLATFORM_ROLES)

/** An operator of the platform (contract §Platform user; decision 28). */
export const StaffMember = z.strictObject({
  id: Uuid,
  keycloak_user_id: z.string().meta({ description: "the `sub` of the person's tokens, with any identity provider" }),
  email: z.string(),
  display_name: z.string(),
  role: PlatformRole,
  is_active: z.boolean(),
  created_at: Timestamp,
  last_seen_at: Timestamp.nullable(),
})
export type StaffMember = z.infer<typeof StaffMember>

/** A staff member in a list. */
export const ListedStaffMember = StaffMember.extend({ second_factor: SecondFactor })
export type ListedStaffMember = z.infer<typeof ListedStaffMember>

const ofStaff = {
  access: ['platform'],
  permission: 'administer platform',
  headers: NoHeaders,
} as const

export const listStaff = operation({
  ...ofStaff,
  name: 'listStaff',
  method: 'GET',
  path: '/api/v1/admin/staff',
  summary: "List the platform's staff",
  params: None,
  query: None,
  body: NoBody,
  replies: { 200: listOf(ListedStaffMember) },
  errors: [],
})

export const addStaff = operation({
  ...ofStaff,
  name: 'addStaff',
  needsFreshSignIn: true,
  dryRun: true,
  method: 'POST',
  path: '/api/v1/admin/staff',
  summary: "Invite a person to the platform's staff",
  description: 'Sends a pending invitation again.',
  params: None,
  query: None,
  body: z.strictObject({
    email: Email,
    display_name: nameText(100).optional(),
    role: PlatformRole,
    reason: Reason,
  }),
  replies: { 201: StaffMember },
  errors: ['USER_EXISTS', 'LAST_OWNER', 'IDP_UNAVAILABLE'],
})

export const changeStaffRole = operation({
  ...ofStaff,
  name: 'changeStaffRole',
  needsFreshSignIn: true,
  dryRun: true,
  method: 'PUT',
  path: '/api/v1/admin/staff/{id}',
  summary: 'Change the role of a staff member',
  description: 'The last OWNER cannot be changed.',
  params: IdParams,
  query: None,
  body: z.strictObject({ role: PlatformRole, reason: Reason }),
  replies: { 200: StaffMember },
  errors: ['STAFF_NOT_FOUND', 'LAST_OWNER', 'IDP_UNAVAILABLE'],
})

export const removeStaff = operation({
  ...ofStaff,
  name: 'removeStaff',
  needsFreshSignIn: true,
  dryRun: true,
  method: 'DELETE',
  path: '/api/v1/admin/staff/{id}',
  summary: 'Remove a staff member',
  description: 'Ends the account, its sessions and its tokens. The last OWNER cannot be removed.',
  params: IdParams,
  query: None,
  body: z.strictObject({ reason: Reason }).optional(),
  bodyOptional: true,
  replies: { 200: StaffMember },
  errors: ['STAFF_NOT_FOUND', 'LAST_OWNER', 'IDP_UNAVAILABLE'],
})

export const resetStaffFactor = operation({
  ...ofStaff,
  name: 'resetStaffFactor',
  needsFreshSignIn: true,
  isForPeople: true,
  dryRun: true,
  method: 'POST',
  path: '/api/v1/admin/staff/{id}/reset-factor',
  summary: "Reset a staff member's second factor",
  description:
    'Removes app, passkeys and recovery codes and ends all sessions; the next sign-in sets up another one. Your own is rejected.',
  params: IdParams,
  query: None,
  body: z.strictObject({ reason: Reason }).optional(),
  bodyOptional: true,
  replies: { 200: StaffMember },
  errors: ['STAFF_NOT_FOUND', 'OWN_FACTOR', 'IDP_UNAVAILABLE'],
})

/** A service client for operators' automation. */
export const StaffClient = z.strictObject({
  client_id: z.string(),
  role: PlatformRole,
  name: z.string().nullable(),
  created_by: z.string(),
  created_at: Timestamp,
})
export type StaffClient = z.infer<typeof StaffClient>

export const listStaffClients = operation({
  ...ofStaff,
  name: 'listStaffClients',
  method: 'GET',
  path: '/api/v1/admin/staff-clients',
  summary: "List the platform's service clients",
  params: None,
  query: None,
  body: NoBody,
  replies: { 200: listOf(StaffClient) },
  errors: [],
})

export const createStaffClient = operation({
  ...ofStaff,
  name: 'createStaffClient',
  needsFreshSignIn: true,
  dryRun: true,
  method: 'POST',
  path: '/api/v1/admin/staff-clients',
  summary: "Create a service client for operators' automation",
  description: 'The response is the only one that has the secret.',
  params: None,
  query: None,
  body: z.strictObject({ name: nameText(100), role: PlatformRole, reason: Reason }),
  replies: {
    201: StaffClient.extend({
      client_secret: z.string().nullable().meta({ description: 'null without an identity provider' }),
      token_endpoint: z.string().nullable(),
    }),
  },
  errors: ['CREDENTIAL_NOT_FOUND', 'IDP_UNAVAILABLE'],
})

export const revokeStaffClient = operation({
  ...ofStaff,
  name: 'revokeStaffClient',
  needsFreshSignIn: true,
  dryRun: true,
  method: 'DELETE',
  path: '/api/v1/admin/staff-clients/{id}',
  summary: 'Revoke a service client',
  description: 'The client gets no more tokens, and its current ones are rejected.',
  params: z.strictObject({ id: z.string().meta({ description: 'the client_id' }) }),
  query: None,
  body: z.strictObject({ reason: Reason }).optional(),
  bodyOptional: true,
  replies: { 200: StaffClient.extend({ revoked_at: Timestamp }) },
  errors: ['CREDENTIAL_NOT_FOUND', 'IDP_UNAVAILABLE'],
})

export const rotateRealmKeys = operation({
  ...ofStaff,
  name: 'rotateRealmKeys',
  needsFreshSignIn: true,
  dryRun: true,
  method: 'POST',
  path: '/api/v1/admin/realms/{slug}/rotate-keys',
  summary: 'Rotate the signing key of a realm',
  description: 'Tokens that the old key signed are valid until they expire, unless `revoke_now` is true.',
  params: z.strictObject({ slug: z.string() }),
  query: None,
  body: z
    .strictObject({
      reason: Reason,
      revoke_now: z.boolean().optional().meta({
        description: 'for a stolen key: rejects every token that the old keys signed, within ten seconds',
        example: false,
      }),
    })
    .optional(),
  bodyOptional: true,
  replies: {
    200: z.strictObject({
      realm: z.string(),
      key_ids: z.array(z.string()).meta({ description: 'every valid `kid` of the realm' }),
    }),
  },
  errors: ['REALM_NOT_FOUND', 'IDP_UNAVAILABLE'],
})
