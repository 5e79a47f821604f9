import { createHash } from 'node:crypto'
import type { NewUser } from '../provider.ts'
import type { KeycloakSettings } from './settings.ts'

/** The user attribute with the `sub` of its tokens, if that is not the user's id (decision 58). */
export const SUBJECT_ATTRIBUTE = 'svcSubject'

/** Actions required before the first sign-in. */
export const REQUIRED_ACTIONS = ['UPDATE_PASSWORD', 'VERIFY_EMAIL']
/** At the next sign-in the user sets up an authenticator app. */
export const SET_UP_FACTOR = 'CONFIGURE_TOTP'

/** An address in its stored form; Keycloak also ignores case. */
export function addressOf(email: string): string {
  return email.trim().toLowerCase()
}

export function userRepresentation(
  { secondFactorRoles }: Pick<KeycloakSettings, 'secondFactorRoles'>,
  { email, displayName, subject, roles }: NewUser,
) {
  const needsFactor = roles.some((role) => secondFactorRoles.has(role))
  const address = addressOf(email)
  const [firstName, ...rest] = displayName?.trim().split(/\s+/) ?? []
  return {
    username: usernameOf(address, subject),
    email: address,
    ...(firstName === undefined ? {} : { firstName }),
    ...(rest.length === 0 ? {} : { lastName: rest.join(' ') }),
    enabled: true,
    emailVerified: false,
    requiredActions: needsFactor ? [...REQUIRED_ACTIONS, SET_UP_FACTOR] : REQUIRED_ACTIONS,
    ...(subject === undefined ? {} : { attributes: { [SUBJECT_ATTRIBUTE]: [subject] } }),
  }
}

/**
 * Keycloak requires unique user names but not unique attributes, so a name derived from the subject makes the subject
 * unique. It is a hash because names have no upper case. Users always sign in with their address.
 */
function usernameOf(address: string, subject: string | undefined): string {
  return subject === undefined ? address : `subject-${createHash('sha256').update(subject).digest('hex').slice(0, 40)}`
}

/**
 * The user attributes that Keycloak stores: an address that only administrators can change, because our records use it,
 * and optional names. Other attributes are not stored.
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
