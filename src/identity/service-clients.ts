import { randomBytes, randomInt } from 'node:crypto'
import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { credentialIdOf, issuerOf } from '../lib/realms.ts'
import { ClientExistsError } from './provider.ts'
import type { IdentityProvider, ServiceClientSpec } from './provider.ts'
import { endTokens } from './token-cutoffs-sql.ts'

const SUFFIX_LENGTH = 8
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'

/**
 * A new client id in this realm. A collision happens once in 2.8 trillion ids, and is rejected.
 * @param randomBelow returns a random integer below its argument
 */
export function newClientId(realm: string, randomBelow: (size: number) => number = (size) => randomInt(size)): string {
  const suffix = Array.from({ length: SUFFIX_LENGTH }, () => LETTERS[randomBelow(LETTERS.length)]).join('')
  return credentialIdOf(realm, suffix)
}

/** A client secret of 256 random bits. It is not stored. */
export function newClientSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** The token endpoint of a realm's clients; null without an identity provider. */
function tokenEndpointOf({ authUrl }: Pick<IdentityProvider, 'authUrl'>, realm: string): string | null {
  return authUrl === null ? null : `${issuerOf(authUrl, realm)}/protocol/openid-connect/token`
}

/** A client's secret, which is shown once; both null without an identity provider. */
export type IssuedSecret = { secret: string | null; tokenEndpoint: string | null }

type ClientKey = { realm: string; clientId: string; roles: readonly string[] }

type Find<Row> = { find(): Promise<Row | null> }

type RecordedKey = ClientKey & Find<{ revoked_at: string | null }>

/**
 * Creates the client of an existing row, so that every client at the identity provider is in our lists. If that fails,
 * the row is revoked again, so that no list shows a client that does not exist.
 * @param client `revoke` revokes its row, `find` reads it
 * @throws {DomainError} CREDENTIAL_NOT_FOUND if it was revoked meanwhile
 * @throws {IdentityUnavailableError}
 */
export async function createRecordedClient(
  app: Pick<App, 'identity' | 'log'>,
  { realm, clientId, roles, revoke, find }: RecordedKey & { revoke(reason: string): Promise<unknown> },
): Promise<IssuedSecret> {
  const secret = newClientSecret()
  try {
    await app.identity.createServiceClient(realm, { clientId, secret, roles })
  } catch (cause) {
    // The first error is reported, whatever fails from here on.
    try {
      await revoke('the identity provider did not create it')
      await app.identity.deleteClient(realm, clientId)
    } catch (error) {
      app.log.warn({ err: error, client_id: clientId }, 'could not revoke a client that was not created')
    }
    throw cause
  }
  await rejectRevoked(app.identity, { realm, clientId, find })
  return issuedSecret(app.identity, realm, secret)
}

/**
 * Replaces the secret of a client, whose access tokens end. A client that the provider does not know is created: its
 * row is older than the provider or the realm.
 * @param client `find` reads its row
 * @throws {DomainError} CREDENTIAL_NOT_FOUND if it was revoked meanwhile
 * @throws {IdentityUnavailableError}
 */
export async function renewRecordedClient(
  { identity, pool }: Pick<App, 'identity' | 'pool'>,
  { realm, clientId, roles, find }: RecordedKey,
): Promise<IssuedSecret> {
  const secret = newClientSecret()
  // First, so that without the database nothing has changed, and stolen tokens end whatever the provider answers.
  await endTokens(pool, realm, { clientId })
  await setClientSecret(identity, realm, { clientId, secret, roles })
  // Again, for tokens of the moment between.
  await endTokens(pool, realm, { clientId })
  await rejectRevoked(identity, { realm, clientId, find })
  return issuedSecret(identity, realm, secret)
}

/** Deletes a client that a revocation has deleted too early: the provider created it only then. */
async function rejectRevoked(
  identity: IdentityProvider,
  { realm, clientId, find }: Omit<RecordedKey, 'roles'>,
): Promise<void> {
  if ((await find())?.revoked_at === null) return
  await identity.deleteClient(realm, clientId)
  throw new DomainError('CREDENTIAL_NOT_FOUND', 'the credential was revoked meanwhile')
}

/** Creates the client with this secret, or replaces the secret if it exists. */
export async function setClientSecret(
  identity: IdentityProvider,
  realm: string,
  client: ServiceClientSpec,
): Promise<void> {
  try {
    await identity.createServiceClient(realm, client)
  } catch (error) {
    if (!(error instanceof ClientExistsError)) throw error
    await identity.rotateServiceSecret(realm, client.clientId, client.secret)
  }
}

type RevokedRow<Row> = Row & { revoked_at: string }

/**
 * Revokes the client's row and then deletes the client, even if the row was revoked before: the earlier deletion may
 * have failed.
 * @param client `revoke` returns null if the row was revoked before; `find` then reads it
 * @throws {IdentityUnavailableError}
 */
export async function revokeRecordedClient<Row extends { revoked_at: string | null }>(
  { identity }: Pick<App, 'identity'>,
  { realm, clientId, revoke, find }: Omit<ClientKey, 'roles'> & Find<Row> & { revoke(): Promise<Row | null> },
): Promise<RevokedRow<Row>> {
  const row = (await revoke()) ?? (await find())
  if (row?.revoked_at == null) throw new Error('a client was not revoked')
  await identity.deleteClient(realm, clientId)
  return { ...row, revoked_at: row.revoked_at }
}

function issuedSecret(identity: IdentityProvider, realm: string, secret: string): IssuedSecret {
  return { secret: identity.kind === 'none' ? null : secret, tokenEndpoint: tokenEndpointOf(identity, realm) }
}
