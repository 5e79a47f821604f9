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
  | 'read balances'
  | 'manage settlements'
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

type Rule<R extends Role> = {
  roles: readonly R[]
  /** What the permission allows, for error messages and listings: completes "the role may …". */
  allows: string
  /**
   * Whether its use outlasts the caller's access. A caller who was removed, demoted or revoked could use such a
   * permission to regain access, to free what operators stopped, to redirect events or payers, or to give money back.
   * The guard reads the caller's rows for these on every request, instead of remembering them (http/guards.ts).
   */
  hasLastingEffect?: true
}

const PERMISSIONS: Readonly<Record<MerchantPermission, Rule<MerchantActingRole>>> &
  Readonly<Record<PlatformPermission, Rule<PlatformRole>>> = {
  'read payments': {
    roles: ['ADMIN', 'DEVELOPER', 'FINANCE', 'NONE'],
    allows: 'see payments with their events and refunds, transactions and disputes, and explain them',
  },
  'create payments': { roles: ['ADMIN', 'DEVELOPER', 'NONE'], allows: 'create and cancel payments' },
  'refund payments': {
    roles: ['ADMIN', 'FINANCE', 'NONE'],
    allows: 'refund payments; raise, answer and accept disputes',
    hasLastingEffect: true,
  },
  'manage webhooks': {
    roles: ['ADMIN', 'DEVELOPER'],
    allows: "set and pause the webhooks' address; see, test and replay deliveries",
    hasLastingEffect: true,
  },
  // A permission of its own, because the holder of the secret can sign in the service's name.
  'manage signing secret': {
    roles: ['ADMIN', 'DEVELOPER'],
    allows: 'see the signing secret of webhooks masked, and rotate it',
    hasLastingEffect: true,
  },
  'manage checkout': {
    roles: ['ADMIN', 'DEVELOPER'],
    allows: 'see and set the pages that may embed the checkout',
    hasLastingEffect: true,
  },
  'read branding': { roles: ['ADMIN', 'DEVELOPER'], allows: 'see the branding of the checkout' },
  'manage branding': { roles: ['ADMIN'], allows: 'set the branding of the checkout', hasLastingEffect: true },
  'read balances': {
    roles: ['ADMIN', 'FINANCE'],
    allows: 'see balances, settlements and payouts, and whether the money adds up',
  },
  'manage settlements': {
    roles: ['ADMIN', 'FINANCE'],
    allows: 'close periods, and set when they are settled',
    hasLastingEffect: true,
  },
  'read bank accounts': { roles: ['ADMIN', 'FINANCE'], allows: 'see the accounts that payouts go to, masked' },
  'manage bank accounts': {
    roles: ['ADMIN'],
    allows: 'add and disable accounts that payouts go to',
    hasLastingEffect: true,
  },
  'manage team': {
    roles: ['ADMIN'],
    allows: 'see, invite and remove members of the team, and change their roles',
    hasLastingEffect: true,
  },
  // A credential can have any role, so only a role with all permissions may create one.
  'manage credentials': {
    roles: ['ADMIN'],
    allows: 'see, create, rotate and revoke API clients',
    hasLastingEffect: true,
  },

  // SUPPORT sees personal data masked.
  'read merchants': {
    roles: ['OWNER', 'OPS', 'SUPPORT'],
    allows: 'see and explain merchants, their disputes and the outbox of their webhooks',
  },
  'operate merchants': {
    roles: ['OWNER', 'OPS'],
    allows:
      'decide KYB, hold payouts, set when merchants are settled, disable merchants, repair registrations; raise, escalate and resolve disputes; replay webhooks; retry payouts and write them into files; import bank statements and answers; see and test banks',
    hasLastingEffect: true,
  },
  'administer platform': {
    roles: ['OWNER'],
    allows:
      'manage staff and fees, correct balances, credit refunds that came back, read the audit trail, resolve escalated disputes, register at banks',
    hasLastingEffect: true,
  },
  'operate sandbox': {
    roles: ['OWNER', 'OPS'],
    allows: 'create test merchants, advance the clock, read the mail outbox, dispute as a payer',
    hasLastingEffect: true,
  },
}

/** The description of a permission; its name for one that this version does not know. */
export function permissionText(permission: string): string {
  return new Map<string, Rule<Role>>(Object.entries(PERMISSIONS)).get(permission)?.allows ?? permission
}

/** Whether a use of the permission outlasts the caller's access, so that the caller's rows are read on every request. */
export function hasLastingEffect(permission: Permission): boolean {
  return PERMISSIONS[permission].hasLastingEffect === true
}

/** Whether a role has a permission. */
export function roleAllows(role: Role, permission: Permission): boolean {
  return rolesWith(permission).includes(role)
}

/** The roles that have a permission. */
export function rolesWith(permission: Permission): readonly Role[] {
  return PERMISSIONS[permission].roles
}

/** Every permission of a role, for listings and for hiding what a viewer may not do. */
export function permissionsOf(role: Role): Permission[] {
  // The keys of the table are exactly the permissions.
  return (Object.keys(PERMISSIONS) as Permission[]).filter((permission) => roleAllows(role, permission))
}

/** The narrower of two roles, where one includes all permissions of the other; undefined where neither does. */
export function commonRole<R extends Role>(a: R, b: R): R | undefined {
  if (permissionsOf(a).every((permission) => roleAllows(b, permission))) return a
  return permissionsOf(b).every((permission) => roleAllows(a, permission)) ? b : undefined
}
