/**
 * The permissions of every role, in one table (decisions 30 and 31). An operation names the permission that it
 * requires; a role has only the permissions listed here.
 */

/** Permissions on a merchant's own data. */
export type MerchantPermission =
  | 'read payments'
  | 'create payments'
  | 'refund payments'
  | 'manage webhooks'
  | 'manage signing secret'
  | 'manage checkout'
  | 'read branding'
  | 'manage branding'
  | 'read bank accounts'
  | 'manage bank accounts'
  | 'manage team'
  | 'manage credentials'

/** Permissions of operators on all merchants. */
export type PlatformPermission = 'read merchants' | 'operate merchants' | 'administer platform' | 'operate sandbox'

export type Permission = MerchantPermission | PlatformPermission

/** Roles of a merchant's staff and credentials (contract §Team roles). */
export const MERCHANT_ROLES = ['ADMIN', 'DEVELOPER', 'FINANCE'] as const
export type MerchantRole = (typeof MERCHANT_ROLES)[number]

/** Roles of the platform's staff and service clients (contract §Platform administration). */
export const PLATFORM_ROLES = ['OWNER', 'OPS', 'SUPPORT'] as const
export type PlatformRole = (typeof PLATFORM_ROLES)[number]

/** A merchant's API credential that was created without a role: payments only. */
export const NO_ROLE = 'NONE'

/** The scopes of a customer's token (decision 9): reading accounts, and paying. */
export const SCOPES = ['accounts', 'payments'] as const
export type Scope = (typeof SCOPES)[number]

/** Every role that an authenticated caller can have. */
export type MerchantActingRole = MerchantRole | typeof NO_ROLE
export type Role = MerchantActingRole | PlatformRole

const ALLOWED: Readonly<Record<MerchantPermission, readonly MerchantActingRole[]>> &
  Readonly<Record<PlatformPermission, readonly PlatformRole[]>> = {
  // Payments with their events and refunds, transactions, disputes, their timelines.
  'read payments': ['ADMIN', 'DEVELOPER', 'FINANCE', 'NONE'],
  // Create and cancel.
  'create payments': ['ADMIN', 'DEVELOPER', 'NONE'],
  // Refunds; raising, answering and accepting disputes.
  'refund payments': ['ADMIN', 'FINANCE', 'NONE'],
  // Address, log, test and replay of webhooks.
  'manage webhooks': ['ADMIN', 'DEVELOPER'],
  // A permission of its own, because the holder of the secret can sign in the service's name.
  'manage signing secret': ['ADMIN', 'DEVELOPER'],
  // Which pages may embed the checkout.
  'manage checkout': ['ADMIN', 'DEVELOPER'],
  'read branding': ['ADMIN', 'DEVELOPER'],
  'manage branding': ['ADMIN'],
  'read bank accounts': ['ADMIN', 'FINANCE'],
  'manage bank accounts': ['ADMIN'],
  // The merchant's team members and their roles.
  'manage team': ['ADMIN'],
  // A credential can have any role, so only a role with all permissions may create one.
  'manage credentials': ['ADMIN'],

  // Merchants, payments, disputes and the outbox of all; SUPPORT sees personal data masked.
  'read merchants': ['OWNER', 'OPS', 'SUPPORT'],
  // KYB, holds, activity, half-made registrations, disputes, replays for a merchant.
  'operate merchants': ['OWNER', 'OPS'],
  // Staff, audit, fees, disputes that were escalated.
  'administer platform': ['OWNER'],
  // Test merchants, time travel, fault injection at the bank.
  'operate sandbox': ['OWNER', 'OPS'],
}

/** What each permission allows, for error messages and for listings of permissions. */
const MEANINGS: Readonly<Record<Permission, string>> = {
  'read payments': 'see payments with their events and refunds, the ledger and disputes, and explain them',
  'create payments': 'create and cancel payments',
  'refund payments': 'refund payments; raise, answer and accept disputes',
  'manage webhooks': "set and pause the webhooks' address; see, test and replay deliveries",
  'manage signing secret': 'see the signing secret of webhooks masked, and rotate it',
  'manage checkout': 'see and set the pages that may embed the checkout',
  'read branding': 'see the branding of the checkout',
  'manage branding': 'set the branding of the checkout',
  'read bank accounts': 'see the accounts that payouts go to, masked',
  'manage bank accounts': 'add and disable accounts that payouts go to',
  'manage team': 'see, invite and remove members of the team, and change their roles',
  'manage credentials': 'see, create, rotate and revoke API clients',
  'read merchants': 'see and explain merchants, their disputes and the outbox of their webhooks',
  'operate merchants':
    'decide KYB, hold payouts, disable merchants, repair registrations; raise, escalate and resolve disputes; replay webhooks',
  'administer platform': 'manage staff and fees, read the audit trail, resolve escalated disputes',
  'operate sandbox': 'create test merchants, advance the clock, read the mail outbox, dispute as a payer',
}

/** The description of a permission; its name for one that this version does not know. */
export function permissionText(permission: string): string {
  return new Map<string, string>(Object.entries(MEANINGS)).get(permission) ?? permission
}

/** Whether a role has a permission. */
export function roleAllows(role: Role, permission: Permission): boolean {
  const roles: readonly Role[] = ALLOWED[permission]
  return roles.includes(role)
}

/** Every permission of a role, for listings and for hiding what a viewer may not do. */
export function permissionsOf(role: Role): Permission[] {
  // The keys of the table are exactly the permissions.
  return (Object.keys(ALLOWED) as Permission[]).filter((permission) => roleAllows(role, permission))
}

/** The narrower of two roles, where one includes all permissions of the other; undefined where neither does. */
export function commonRole<R extends Role>(a: R, b: R): R | undefined {
  if (permissionsOf(a).every((permission) => roleAllows(b, permission))) return a
  return permissionsOf(b).every((permission) => roleAllows(a, permission)) ? b : undefined
}
