/** What a role can be allowed to do with a merchant's data: the rows of decision 31 that operations ask for. */
export type Permission = 'read payments' | 'create payments' | 'refund payments' | 'manage webhooks'

/** Roles of a merchant's staff and credentials (specification, Team roles). */
export type MerchantRole = 'ADMIN' | 'DEVELOPER' | 'FINANCE'

const ALLOWED: Readonly<Record<Permission, readonly MerchantRole[]>> = {
  'read payments': ['ADMIN', 'DEVELOPER', 'FINANCE'],
  'create payments': ['ADMIN', 'DEVELOPER'],
  'refund payments': ['ADMIN', 'FINANCE'],
  'manage webhooks': ['ADMIN', 'DEVELOPER'],
}

/** Whether a role may do it (decision 31). Deny by default: what is not in the table is refused. */
export function roleAllows(role: MerchantRole, permission: Permission): boolean {
  return ALLOWED[permission].includes(role)
}
