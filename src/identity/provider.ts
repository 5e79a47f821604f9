import type { IncomingMessage, ServerResponse } from 'node:http'
import type { JSONWebKeySet } from 'jose'
import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import type { RealmKind } from '../lib/realms.ts'

/** A realm to create. The caller generates the service client's secret and shows it once. */
export type RealmSpec = {
  slug: string
  kind: RealmKind
  displayName: string
  /** The registration that creates it; only this one may delete it again (decision 47). */
  registrationId: string
  /** Public client for browsers: authorization code with PKCE S256. */
  portal?: { clientId: string; redirectUris: string[]; postLogoutRedirectUris: string[]; webOrigins: string[] }
  /** Confidential client for servers: client_credentials. */
  service?: ServiceClientSpec
  /** Public client for the command line: loopback redirect on any port, and the device grant. */
  cli?: { clientId: string }
  /** The realm's roles. */
  roles: readonly string[]
  /** Scopes besides OpenID's own that its clients may request (decision 58). */
  scopes?: readonly string[]
  /** The first user. */
  admin?: { email: string; displayName?: string; roles: readonly string[] }
}

export type ServiceClientSpec = { clientId: string; secret: string; roles: readonly string[] }

export type CreatedRealm = {
  /** The first user's id, the `sub` of its tokens; null if none was requested. */
  adminUserId: string | null
  /** False if the user was created but its role could not be assigned; it is repaired later (decision 48). */
  adminRoleAssigned: boolean
}

/**
 * Writes the records of a new realm, together with it or not at all: the embedded provider calls it inside the
 * transaction that creates the realm (`db`); an external provider calls it afterwards (`db` undefined) and deletes the
 * realm if it fails.
 */
export type RecordRealm = (made: CreatedRealm, db: CommonQueryMethods | undefined) => Promise<void>

export type Invitation = {
  /** The client that the user is led to afterwards. */
  clientId: string
  redirectUri?: string
  lifespanSeconds: number
  /** `mail` sends the link; `link` returns it, for the first operator (decision 62). */
  deliver: 'mail' | 'link'
  /** The merchant that the mail belongs to; null for the platform. */
  merchantId: string | null
}

/**
 * The interface of identity providers: the embedded one, Keycloak, or none. The rest of the service uses only this.
 * Every method may throw `IdentityUnavailableError`.
 */
export type IdentityProvider = {
  readonly kind: 'embedded' | 'keycloak' | 'none'
  /** Issuers are `{authUrl}/realms/<slug>`; null without a provider. */
  readonly authUrl: string | null
  /** Atomic. @throws {RealmExistsError} */
  createRealm(spec: RealmSpec, record?: RecordRealm): Promise<CreatedRealm>
  /** Deletes the realm if this registration created it. @returns whether it did */
  deleteRealm(slug: string, registrationId: string): Promise<boolean>
  realmExists(slug: string): Promise<boolean>
  /** A disabled realm allows no sign-in and issues no tokens. */
  setRealmEnabled(slug: string, isEnabled: boolean): Promise<void>
  /** @returns the user's id. @throws {UserExistsError} */
  createUser(slug: string, user: NewUser): Promise<string>
  /** The id of the user with this address; null where there is none. */
  findUser(slug: string, email: string): Promise<string | null>
  /** Whether the user has set a password, and so has accepted the invitation. */
  hasPassword(slug: string, userId: string): Promise<boolean>
  /** Which of the users have set a password, without a request or statement at once for each of them. */
  usersWithPassword(slug: string, userIds: readonly string[]): Promise<ReadonlySet<string>>
  /** Also ends its sessions and refresh tokens. Does nothing if the user does not exist. */
  deleteUser(slug: string, userId: string): Promise<void>
  /** Does nothing if the user does not exist, like the two methods below. */
  setUserRoles(slug: string, userId: string, roles: readonly string[]): Promise<void>
  setUserEnabled(slug: string, userId: string, isEnabled: boolean): Promise<void>
  setPassword(slug: string, userId: string, password: string): Promise<void>
  /** Which of the users have a second factor; a provider that would have to be asked for each of them lacks this. */
  usersWithFactor?(slug: string, userIds: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Removes the second factor and ends all sessions; where its role requires one, the user sets up another. Does nothing
   * for a user without one, where the provider says who has one (`usersWithFactor`).
   */
  resetFactor(slug: string, userId: string): Promise<void>
  /** @returns the link, if it is not mailed. @throws {DomainError} RATE_LIMITED if the user was invited too often */
  inviteUser(slug: string, userId: string, invitation: Invitation): Promise<string | null>
  /** @throws {ClientExistsError} if the id is taken */
  createServiceClient(slug: string, client: ServiceClientSpec): Promise<void>
  /** The old secret is rejected from now on. */
  rotateServiceSecret(slug: string, clientId: string, secret: string): Promise<void>
  deleteClient(slug: string, clientId: string): Promise<void>
  /** A realm's public keys; null if it does not exist. */
  keys(slug: string): Promise<JSONWebKeySet | null>
  /**
   * Signs new tokens with a new key. Tokens signed before stay valid until they expire; with `revokeNow` the old keys are
   * no longer published, but verifiers may have them cached.
   */
  rotateSigningKey?(slug: string, options?: { revokeNow?: boolean }): Promise<void>
  /** Handles `/realms/…` if the provider runs in this process; false for other paths. */
  handle?(req: IncomingMessage, res: ServerResponse): Promise<boolean>
  /** Runs one bounded round of housekeeping: deletes expired state, rotates keys that are due. */
  maintain?(): Promise<{ more: boolean }>
  /** @throws {IdentityUnavailableError} */
  health(): Promise<void>
  /** The same provider within a transaction, if it keeps its state in the service's database. */
  within?(tx: DatabaseTransactionConnection): IdentityProvider
}

export type NewUser = {
  email: string
  displayName?: string
  roles: readonly string[]
  /** The `sub` of its tokens, if that is not the user's id (decision 58). */
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

/** The provider did not respond, or not as expected; the result of the call is unknown. */
export class IdentityUnavailableError extends Error {
  override readonly name = 'IdentityUnavailableError'
  /** Whether it may have done what must not be repeated, such as sending a mail: it was reached and did not respond. */
  readonly mayHaveActed: boolean

  constructor(message: string, { mayHaveActed = false, ...options }: ErrorOptions & { mayHaveActed?: boolean } = {}) {
    super(message, options)
    this.mayHaveActed = mayHaveActed
  }
}
