import { createHash } from 'node:crypto'
import type { NewUser } from '../provider.ts'

/** The user's attribute that its tokens name as their subject, where it is not the user's id (decision 58). */
export const SUBJECT_ATTRIBUTE = 'svcSubject'

/** What a user has to do before it can sign in for the first time. */
export const REQUIRED_ACTIONS = ['UPDATE_PASSWORD', 'VERIFY_EMAIL']

/** An address as it is kept and looked up: Keycloak folds its case too. */
export function addressOf(email: string): string {
  return email.trim().toLowerCase()
}

export function userRepresentation({ email, displayName, subject }: Omit<NewUser, 'roles'>) {
  const address = addressOf(email)
  const [firstName, ...rest] = displayName?.trim().split(/\s+/) ?? []
  return {
    username: usernameOf(address, subject),
    email: address,
    ...(firstName === undefined ? {} : { firstName }),
    ...(rest.length === 0 ? {} : { lastName: rest.join(' ') }),
    enabled: true,
    emailVerified: false,
    requiredActions: REQUIRED_ACTIONS,
    ...(subject === undefined ? {} : { attributes: { [SUBJECT_ATTRIBUTE]: [subject] } }),
  }
}

/**
 * Keycloak lets no two users have the same name, and knows no such rule for an attribute: a name made of the subject
 * makes that one unique too. Its hash, for names have no capitals. Signing in is by address in any case.
 */
function usernameOf(address: string, subject: string | undefined): string {
  return subject === undefined ? address : `subject-${createHash('sha256').update(subject).digest('hex').slice(0, 40)}`
}

/**
 * What Keycloak asks and keeps of users: an address that only administrators change, for the service knows its people
 * by it, and names that nobody has to give. Other attributes are not kept.
 */
export const USER_PROFILE = {
  attributes: [
    attribute('username', { length: { min: 3, max: 255 } }, ['admin']),
    { ...attribute('email', { email: {}, length: { max: 255 } }, ['admin']), required: { roles: ['user', 'admin'] } },
    attribute('firstName', { length: { max: 255 }, 'person-name-prohibited-characters': {} }, ['admin', 'user']),
    attribute('lastName', { length: { max: 255 }, 'person-name-prohibited-characters': {} }, ['admin', 'user']),
    {
      ...attribute(SUBJECT_ATTRIBUTE, { length: { max: 255 } }, ['admin']),
      permissions: permissionsOf(['admin'], ['admin']),
    },
  ],
}

function attribute(name: string, validations: Record<string, unknown>, editors: string[]) {
  return {
    name,
    displayName: `\${${name}}`,
    validations,
    permissions: permissionsOf(['admin', 'user'], editors),
    multivalued: false,
  }
}

function permissionsOf(view: string[], edit: string[]) {
  return { view, edit }
}
