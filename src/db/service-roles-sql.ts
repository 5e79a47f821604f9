import { READER_ROLE } from './migration-records-sql.ts'
import { MERCHANT_ROLE } from './scoped-query.ts'

/** The service's roles, and what creates each. Roles are not in a dump, and its policies and later migrations name these. */
export const CREATE_ROLES: Readonly<Record<string, string>> = {
  [READER_ROLE]: `create role ${READER_ROLE}`,
  [MERCHANT_ROLE]: `create role ${MERCHANT_ROLE} in role ${READER_ROLE}`,
}

export const LIST_ROLES = 'select rolname from pg_roles'
