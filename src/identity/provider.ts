import type { IncomingMessage, ServerResponse } from 'node:http'
import type { JSONWebKeySet } from 'jose'
import type { CommonQueryMethods } from 'slonik'
import type { RealmKind } from '../lib/realms.ts'

/** A realm as it is asked for. The caller makes the service client's secret, and shows it once. */
export type RealmSpec = {
  slug: string
  kind: RealmKind
  displayName: string
  /** Who makes it: only the same id may delete it again (decision 47). */
  registrationId: string
  /** Public client of people in a browser: authorization code with PKCE S256. */
  portal?: { clientId: string; redirectUris: string[]; postLogoutRedirectUris: string[]; webOrigins: string[] }
  /** Confidential client of a server: client_credentials. */
  service?: ServiceClientSpec
  /** Public client of the command line: loopback redirect on any port, and the device grant. */
  cli?: { clientId: string }
  /** The realm roles that exist. */
  roles: readonly string[]
  /** Scopes beyond OpenID's own that its clients may ask for (decision 58). */
  scopes?: readonly string[]
  /** The first user. */
  admin?: { email: string; displayName?: string; roles: readonly string[] }
}

export type ServiceClientSpec = { clientId: string; secret: string; roles: readonly string[] }

export type CreatedRealm = {
  /** The first user's id, the `sub` of its tokens; null where none was asked for. */
  adminUserId: string | null
  /** False where the user was made but could not be given its role (decision 48): repaired later. */
  adminRoleAssigned: boolean
}

/**
 * Writes what belongs to a new realm. Both or neither come to be: the embedded provider calls it inside the transaction
 * that makes the realm (`db`), a provider elsewhere calls it after (`db` undefined) and takes the realm back if it fails.
 */
export type RecordRealm = (made: CreatedRealm, db: CommonQueryMethods | undefined) => Promise<void>

export type Invitation = {
  /** The client whose pages the user ends up at. */
  clientId: string
  redirectUri?: string
  lifespanSeconds: number
  /** `mail` sends it; `link` returns the link instead, for the first operator (decision 62). */
  deliver: 'mail' | 'link'
  /** The merchant that the mail is filed under; null for the platform. */
  merchantId: string | null
}

/**
 * Whatever keeps realms, users and keys: the one we bring, Keycloak, or none. Everything else in the service speaks to
 * this alone. Any method may throw `IdentityUnavailableError`.
 */
export type IdentityProvider = {
  readonly kind: 'embedded' | 'keycloak' | 'none'
  /** Issuers are `{authUrl}/realms/<slug>`; null without a provider. */
  readonly authUrl: string | null
  /** All or nothing. @throws {RealmExistsError} */
  createRealm(spec: RealmSpec, record?: RecordRealm): Promise<CreatedRealm>
  /** Whether it was there with this registration's id, and is gone. */
  deleteRealm(slug: string, registrationId: string): Promise<boolean>
  realmExists(slug: string): Promise<boolean>
  /** A disabled realm signs nobody in and issues no tokens. */
  setRealmEnabled(slug: string, isEnabled: boolean): Promise<void>
  /** @returns the user's id. @throws {UserExistsError} */
  createUser(slug: string, user: NewUser): Promise<string>
  /** The id of the user with this address; null where there is none. */
  findUser(slug: string, email: string): Promise<string | null>
  /** Whether the user has set a password, and so has taken its invitation. */
  hasPassword(slug: string, userId: string): Promise<boolean>
  /** Ends its sessions and refresh tokens too. Nothing happens where there is none. */
  deleteUser(slug: string, userId: string): Promise<void>
  /** Nothing happens where there is no such user, as with the two below. */
  setUserRoles(slug: string, userId: string, roles: readonly string[]): Promise<void>
  setUserEnabled(slug: string, userId: string, isEnabled: boolean): Promise<void>
  setPassword(slug: string, userId: string, password: string): Promise<void>
  /** The link, where it is not sent by mail. @throws {DomainError} RATE_LIMITED for a person invited too often */
  inviteUser(slug: string, userId: string, invitation: Invitation): Promise<string | null>
  /** Replaces nothing. @throws {ClientExistsError} where the id is taken */
  createServiceClient(slug: string, client: ServiceClientSpec): Promise<void>
  /** The old secret is refused from now on. */
  rotateServiceSecret(slug: string, clientId: string, secret: string): Promise<void>
  deleteClient(slug: string, clientId: string): Promise<void>
  /** A realm's public keys; null where there is no such realm. */
  keys(slug: string): Promise<JSONWebKeySet | null>
  /** New tokens are signed with a new key; those signed before keep verifying until they expire. */
  rotateSigningKey?(slug: string): Promise<void>
  /** Answers `/realms/…` where the provider lives in this process; false where the path is not its own. */
  handle?(req: IncomingMessage, res: ServerResponse): Promise<boolean>
  /** One bounded round of housekeeping: expired state, keys that are due. */
  maintain?(): Promise<{ more: boolean }>
  /** @throws {IdentityUnavailableError} */
  health(): Promise<void>
}

export type NewUser = {
  email: string
  displayName?: string
  roles: readonly string[]
  /** The `sub` of its tokens where that is not the user's id (decision 58). */
  subject?: string
}

export class RealmExistsError extends Error {
  override readonly name = 'RealmExistsError'
}

export class UserExistsError extends Error {
  override readonly name = 'UserExistsError'
}

export class ClientExistsError extends Error {
  override readonly name = 'ClientExistsError'
}

/** The provider does not answer, or not as it should; nothing is known of what was asked. */
export class IdentityUnavailableError extends Error {
  override readonly name = 'IdentityUnavailableError'
}
