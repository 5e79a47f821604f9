import { z } from 'zod'
import { MERCHANT_ROLES } from '../lib/permissions.ts'
import { Reason } from './admin.ts'
import { IdParams, NoBody, NoHeaders, None, Timestamp, listOf, nameText } from './common.ts'
import { operation } from './operation.ts'
import { Email } from './registration.ts'

export const MerchantRole = z.enum(MERCHANT_ROLES)

/** A member of a merchant's team. */
export const TeamMember = z.strictObject({
  id: z.string().meta({ description: "the `sub` of the person's tokens" }),
  email: z.string(),
  role: MerchantRole,
  is_active: z.boolean(),
  invited_by: z.string(),
  created_at: Timestamp,
})
export type TeamMember = z.infer<typeof TeamMember>

export const SecondFactor = z
  .boolean()
  .nullable()
  .meta({ description: 'whether the person has a second factor; null where the identity provider does not say it' })

/** A member of a merchant's team in a list. */
export const ListedTeamMember = TeamMember.extend({ second_factor: SecondFactor })
export type ListedTeamMember = z.infer<typeof ListedTeamMember>

const MemberParams = z.strictObject({ id: z.string() })

export const listTeam = operation({
  name: 'listTeam',
  method: 'GET',
  path: '/api/v1/portal/team',
  summary: "List the merchant's team",
  access: ['merchant'],
  permission: 'manage team',
  params: None,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: listOf(ListedTeamMember) },
  errors: [],
})

export const inviteTeamMember = operation({
  name: 'inviteTeamMember',
  isRecorded: true,
  needsFreshSignIn: true,
  dryRun: true,
  method: 'POST',
  path: '/api/v1/portal/team',
  summary: 'Invite a person to the team',
  description: 'Sends a pending invitation again.',
  access: ['merchant'],
  permission: 'manage team',
  params: None,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({ email: Email, role: MerchantRole }),
  replies: { 201: TeamMember },
  errors: ['USER_EXISTS', 'LAST_ADMIN', 'TEAM_LIMIT_REACHED', 'IDP_UNAVAILABLE'],
})

export const changeTeamRole = operation({
  name: 'changeTeamRole',
  isRecorded: true,
  needsFreshSignIn: true,
  dryRun: true,
  method: 'PUT',
  path: '/api/v1/portal/team/{id}',
  summary: 'Change the role of a team member',
  description: 'The last ADMIN cannot be changed.',
  access: ['merchant'],
  permission: 'manage team',
  params: MemberParams,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({ role: MerchantRole }),
  replies: { 200: TeamMember },
  errors: ['TEAM_MEMBER_NOT_FOUND', 'LAST_ADMIN', 'IDP_UNAVAILABLE'],
})

export const removeTeamMember = operation({
  name: 'removeTeamMember',
  needsFreshSignIn: true,
  dryRun: true,
  method: 'DELETE',
  path: '/api/v1/portal/team/{id}',
  summary: 'Remove a team member',
  description: 'Ends the account, its sessions and its tokens. The last ADMIN cannot be removed.',
  access: ['merchant'],
  permission: 'manage team',
  params: MemberParams,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: TeamMember },
  errors: ['TEAM_MEMBER_NOT_FOUND', 'LAST_ADMIN', 'IDP_UNAVAILABLE'],
})

export const resetTeamFactor = operation({
  name: 'resetTeamFactor',
  isRecorded: true,
  needsFreshSignIn: true,
  isForPeople: true,
  dryRun: true,
  method: 'POST',
  path: '/api/v1/portal/team/{id}/reset-factor',
  summary: "Reset a team member's second factor",
  description:
    'Removes app, passkeys and recovery codes and ends all sessions; the member can set up another one. Changes nothing for a member who has none. Your own is rejected.',
  access: ['merchant'],
  permission: 'manage team',
  params: MemberParams,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({}).optional(),
  bodyOptional: true,
  replies: { 200: TeamMember },
  errors: ['TEAM_MEMBER_NOT_FOUND', 'OWN_FACTOR', 'IDP_UNAVAILABLE'],
})

export const resetMemberFactor = operation({
  name: 'resetMemberFactor',
  needsFreshSignIn: true,
  isForPeople: true,
  dryRun: true,
  method: 'POST',
  path: '/api/v1/admin/merchants/{id}/reset-factor',
  summary: "Reset the second factor of a merchant's team member",
  description: 'For an ADMIN whom no other ADMIN can help.',
  access: ['platform'],
  permission: 'operate merchants',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({ email: Email, reason: Reason }),
  replies: { 200: TeamMember },
  errors: ['MERCHANT_NOT_FOUND', 'TEAM_MEMBER_NOT_FOUND', 'IDP_UNAVAILABLE'],
})

/** An API credential of the merchant's own programs. */
export const ApiCredential = z.strictObject({
  client_id: z.string(),
  kind: z.enum(['server', 'credential']),
  role: MerchantRole.nullable().meta({ description: 'null: payments only' }),
  name: z.string().nullable(),
  created_by: z.string(),
  created_at: Timestamp,
})
export type ApiCredential = z.infer<typeof ApiCredential>

/** A credential with its secret. */
const IssuedCredential = ApiCredential.extend({
  client_secret: z
    .string()
    .nullable()
    .meta({ description: 'only in this response; null without an identity provider' }),
  token_endpoint: z.string().nullable().meta({ description: 'the endpoint for tokens, by client_credentials' }),
})

const CredentialParams = z.strictObject({ id: z.string().meta({ description: 'the client_id' }) })

export const listApiCredentials = operation({
  name: 'listApiCredentials',
  method: 'GET',
  path: '/api/v1/portal/api-credentials',
  summary: "List the merchant's API credentials",
  access: ['merchant'],
  permission: 'manage credentials',
  params: None,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: listOf(ApiCredential) },
  errors: [],
})

export const createApiCredential = operation({
  name: 'createApiCredential',
  isRecorded: true,
  needsFreshSignIn: true,
  dryRun: true,
  method: 'POST',
  path: '/api/v1/portal/api-credentials',
  summary: 'Create an API credential',
  description: 'Without a role it is for payments only. The response is the only one that has the secret.',
  access: ['merchant'],
  permission: 'manage credentials',
  params: None,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({ name: nameText(100), role: MerchantRole.nullable().default(null) }),
  replies: { 201: IssuedCredential },
  errors: ['CREDENTIAL_LIMIT_REACHED', 'CREDENTIAL_NOT_FOUND', 'IDP_UNAVAILABLE'],
})

export const revokeApiCredential = operation({
  name: 'revokeApiCredential',
  needsFreshSignIn: true,
  dryRun: true,
  method: 'DELETE',
  path: '/api/v1/portal/api-credentials/{id}',
  summary: 'Revoke an API credential',
  description:
    'The client gets no more tokens, and its current ones are rejected. The server client cannot be revoked.',
  access: ['merchant'],
  permission: 'manage credentials',
  params: CredentialParams,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: ApiCredential.extend({ revoked_at: Timestamp }) },
  errors: ['CREDENTIAL_NOT_FOUND', 'CREDENTIAL_NOT_REVOCABLE', 'IDP_UNAVAILABLE'],
})

/** Replaces the secret of a credential or of the server client: the old secret ends at once. */
export const rotateApiCredential = operation({
  name: 'rotateApiCredential',
  isRecorded: true,
  needsFreshSignIn: true,
  dryRun: true,
  method: 'POST',
  path: '/api/v1/portal/api-credentials/{id}/rotate',
  summary: 'Rotate the secret of an API credential',
  description: 'The old secret is rejected from then on. The response is the only one that has the new one.',
  access: ['merchant'],
  permission: 'manage credentials',
  params: CredentialParams,
  query: None,
  headers: NoHeaders,
  body: None.optional(),
  bodyOptional: true,
  replies: { 200: IssuedCredential },
  errors: ['CREDENTIAL_NOT_FOUND', 'IDP_UNAVAILABLE'],
})
