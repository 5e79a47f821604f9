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
  | 'manage team'
  | 'manage credentials'

/** What operators can do with all merchants. */
export type PlatformPermission = 'read merchants' | 'operate merchants' | 'administer platform' | 'operate sandbox'

export type Permission = MerchantPermission | PlatformPermission

/** Roles of a merchant's staff and credentials (specification, Team roles). */
export const MERCHANT_ROLES = ['ADMIN', 'DEVELOPER', 'FINANCE'] as const
export type MerchantRole = (typeof MERCHANT_ROLES)[number]

/** Roles of the platform's staff and service clients (specification, Platform administration). */
export const PLATFORM_ROLES = ['OWNER', 'OPS', 'SUPPORT'] as const
export type PlatformRole = (typeof PLATFORM_ROLES)[number]

/** A merchant's API credential that was made without a role: payments and nothing else. */
export const NO_ROLE = 'NONE'

/** Whatever a proven caller acts as. */
export type MerchantActs = MerchantRole | typeof NO_ROLE
export type Role = MerchantActs | PlatformRole

const ALLOWED: Readonly<Record<MerchantPermission, readonly MerchantActs[]>> &
  Readonly<Record<PlatformPermission, readonly PlatformRole[]>> = {
  // Payments, their events, the ledger, disputes.
  'read payments': ['ADMIN', 'DEVELOPER', 'FINANCE', 'NONE'],
  // Create and cancel.
  'create payments': ['ADMIN', 'DEVELOPER', 'NONE'],
  // Refunds; evidence and acceptance of disputes.
  'refund payments': ['ADMIN', 'FINANCE', 'NONE'],
  // Address, log, test and replay of webhooks; the signing secret.
  'manage webhooks': ['ADMIN', 'DEVELOPER'],
  // Who works for the merchant, and as what.
  'manage team': ['ADMIN'],
  // A credential can have any role, so only who has all of them may make one.
  'manage credentials': ['ADMIN'],

  // Merchants, payments, disputes and the outbox of all; SUPPORT sees personal data masked.
  'read merchants': ['OWNER', 'OPS', 'SUPPORT'],
  // KYB, holds, activity, half-made registrations, replays for a merchant.
  'operate merchants': ['OWNER', 'OPS'],
  // Staff, audit, fees.
  'administer platform': ['OWNER'],
  // Merchants to try things with, time travel, the bank's faults.
  'operate sandbox': ['OWNER', 'OPS'],
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
