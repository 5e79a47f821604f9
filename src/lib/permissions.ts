/**
 * Who may do what, in one table (decisions 30 and 31). An operation names the permission it asks for; what a role has
 * not been given here is refused.
 */

/** What can be done with a merchant's own data. */
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

/** What operators can do with all merchants. */
export type PlatformPermission = 'read merchants' | 'operate merchants' | 'administer platform' | 'operate sandbox'

export type Permission = MerchantPermission | PlatformPermission

/** Roles of a merchant's staff and credentials (contract §Team roles). */
export const MERCHANT_ROLES = ['ADMIN', 'DEVELOPER', 'FINANCE'] as const
export type MerchantRole = (typeof MERCHANT_ROLES)[number]

/** Roles of the platform's staff and service clients (contract §Platform administration). */
export const PLATFORM_ROLES = ['OWNER', 'OPS', 'SUPPORT'] as const
export type PlatformRole = (typeof PLATFORM_ROLES)[number]

/** A merchant's API credential that was made without a role: payments and nothing else. */
export const NO_ROLE = 'NONE'

/** What a customer's token may have been asked for (decision 9): to look at accounts, and to pay. */
export const SCOPES = ['accounts', 'payments'] as const
export type Scope = (typeof SCOPES)[number]

/** Whatever a proven caller acts as. */
export type MerchantActingRole = MerchantRole | typeof NO_ROLE
export type Role = MerchantActingRole | PlatformRole

const ALLOWED: Readonly<Record<MerchantPermission, readonly MerchantActingRole[]>> &
  Readonly<Record<PlatformPermission, readonly PlatformRole[]>> = {
  // Payments with their events and refunds, the ledger, disputes, their stories.
  'read payments': ['ADMIN', 'DEVELOPER', 'FINANCE', 'NONE'],
  // Create and cancel.
  'create payments': ['ADMIN', 'DEVELOPER', 'NONE'],
  // Refunds; raising, answering and accepting disputes.
  'refund payments': ['ADMIN', 'FINANCE', 'NONE'],
  // Address, log, test and replay of webhooks.
  'manage webhooks': ['ADMIN', 'DEVELOPER'],
  // A permission of its own, for who has the secret can sign in the service's name.
  'manage signing secret': ['ADMIN', 'DEVELOPER'],
  // Which pages may embed the checkout.
  'manage checkout': ['ADMIN', 'DEVELOPER'],
  'read branding': ['ADMIN', 'DEVELOPER'],
  'manage branding': ['ADMIN'],
  'read bank accounts': ['ADMIN', 'FINANCE'],
  'manage bank accounts': ['ADMIN'],
  // Who works for the merchant, and as what.
  'manage team': ['ADMIN'],
  // A credential can have any role, so only who has all of them may make one.
  'manage credentials': ['ADMIN'],

  // Merchants, payments, disputes and the outbox of all; SUPPORT sees personal data masked.
  'read merchants': ['OWNER', 'OPS', 'SUPPORT'],
  // KYB, holds, activity, half-made registrations, disputes, replays for a merchant.
  'operate merchants': ['OWNER', 'OPS'],
  // Staff, audit, fees, disputes that were escalated.
  'administer platform': ['OWNER'],
  // Merchants to try things with, time travel, the bank's faults.
  'operate sandbox': ['OWNER', 'OPS'],
}

/** What each permission lets people do, in their words: for refusals, and for telling people what they may do. */
const MEANINGS: Readonly<Record<Permission, string>> = {
  'read payments': 'see payments with their events and refunds, the ledger and disputes, and explain them',
  'create payments': 'create and cancel payments',
  'refund payments': 'refund payments; raise, answer and accept disputes',
  'manage webhooks': "set and pause the webhooks' address; see, test and replay deliveries",
  'manage signing secret': 'see the signing secret of webhooks masked, and rotate it',
  'manage checkout': 'see and set the pages that may embed the checkout',
  'read branding': 'see the look of the checkout',
  'manage branding': 'set the look of the checkout',
  'read bank accounts': 'see the accounts that payouts go to, masked',
  'manage bank accounts': 'add and disable accounts that payouts go to',
  'manage team': 'see, invite and remove members of the team, and change their roles',
  'manage credentials': 'see, make, rotate and revoke clients for programs',
  'read merchants': 'see and explain merchants, their disputes and the outbox of their webhooks',
  'operate merchants':
    'decide KYB, hold payouts, disable merchants, repair registrations; raise, escalate and resolve disputes; replay webhooks',
  'administer platform': 'manage staff and fees, read the audit trail, resolve escalated disputes',
  'operate sandbox': 'make merchants for tests, let time pass, read the mail outbox, dispute as a payer',
}

/** What a permission lets people do; one that this version does not know, as it is. */
export function permissionText(permission: string): string {
  return new Map<string, string>(Object.entries(MEANINGS)).get(permission) ?? permission
}

/** Whether a role may do it. */
export function roleAllows(role: Role, permission: Permission): boolean {
  const roles: readonly Role[] = ALLOWED[permission]
  return roles.includes(role)
}

/** Every permission of a role, for telling people and for showing only what they may do. */
export function permissionsOf(role: Role): Permission[] {
  // The keys of the table are exactly the permissions.
  return (Object.keys(ALLOWED) as Permission[]).filter((permission) => roleAllows(role, permission))
}

/**
 * The role that allows what two of them both allow, where one of them allows all that the other does; undefined where
 * neither includes the other.
 */
export function commonRole<R extends Role>(a: R, b: R): R | undefined {
  if (permissionsOf(a).every((permission) => roleAllows(b, permission))) return a
  return permissionsOf(b).every((permission) => roleAllows(a, permission)) ? b : undefined
}
