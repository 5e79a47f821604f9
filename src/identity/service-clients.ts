import { randomBytes, randomInt } from 'node:crypto'
import type { App } from '../app.ts'
import { credentialIdOf, issuerOf } from '../lib/realms.ts'
import { ClientExistsError } from './provider.ts'
import type { IdentityProvider, ServiceClientSpec } from './provider.ts'

const SUFFIX_LENGTH = 8
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'

/**
 * A fresh id for a client of this realm. Two are alike once in 2.8 trillion, and the second one is refused.
 * @param below draws a whole number below another
 */
export function newClientId(realm: string, randomBelow: (size: number) => number = (size) => randomInt(size)): string {
  const suffix = Array.from({ length: SUFFIX_LENGTH }, () => LETTERS[randomBelow(LETTERS.length)]).join('')
  return credentialIdOf(realm, suffix)
}

/** A client's secret: 256 random bits. Nobody keeps it but its owner. */
export function newClientSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Where a realm's clients get their tokens; null without an identity provider. */
function tokenEndpointOf({ authUrl }: Pick<IdentityProvider, 'authUrl'>, realm: string): string | null {
  return authUrl === null ? null : `${issuerOf(authUrl, realm)}/protocol/openid-connect/token`
}

/** What is shown of a client once; both are null without an identity provider. */
export type IssuedSecret = { secret: string | null; tokenEndpoint: string | null }

type ClientKey = { realm: string; clientId: string; roles: readonly string[] }

/**
 * Makes the client of a row that stands already, so that nothing works at the identity provider that no list shows.
 * Where it can't be made, the row is revoked again: a client that has not come to be must not stand in a list either.
 * @param client `revoke` revokes its row
 * @throws {IdentityUnavailableError}
 */
export async function createRecordedClient(
  app: Pick<App, 'identity' | 'log'>,
  { realm, clientId, roles, revoke }: ClientKey & { revoke(reason: string): Promise<unknown> },
): Promise<IssuedSecret> {
  const secret = newClientSecret()
  try {
    await app.identity.createServiceClient(realm, { clientId, secret, roles })
  } catch (cause) {
    // Whatever fails from here on is told by the first error.
    try {
      await revoke('the identity provider has not made it')
      await app.identity.deleteClient(realm, clientId)
    } catch (error) {
      app.log.warn({ err: error, client_id: clientId }, 'a client that was not made could not be taken back')
    }
    throw cause
  }
  return issuedSecret(app.identity, realm, secret)
}

/**
 * Gives the client of a row another secret. A client that the provider does not know is made: its row is older than the
 * provider, or than the realm.
 * @throws {IdentityUnavailableError}
 */
export async function renewRecordedClient(
  { identity }: Pick<App, 'identity'>,
  { realm, clientId, roles }: ClientKey,
): Promise<IssuedSecret> {
  const secret = newClientSecret()
  await setClientSecret(identity, realm, { clientId, secret, roles })
  return issuedSecret(identity, realm, secret)
}

/** Lets the client have this secret, whether it is there yet or not. */
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
 * Revokes the row of a client, and then the client: also where the row was revoked before, for the identity provider may
 * not have heard of it.
 * @param client `revoke` gives null where the row was revoked before, which `find` then reads
 * @throws {IdentityUnavailableError}
 */
export async function revokeRecordedClient<Row extends { revoked_at: string | null }>(
  { identity }: Pick<App, 'identity'>,
  {
    realm,
    clientId,
    revoke,
    find,
  }: Omit<ClientKey, 'roles'> & { revoke(): Promise<Row | null>; find(): Promise<Row | null> },
): Promise<RevokedRow<Row>> {
  const row = (await revoke()) ?? (await find())
  if (row?.revoked_at == null) throw new Error('a client was not revoked')
  await identity.deleteClient(realm, clientId)
  return { ...row, revoked_at: row.revoked_at }
}

function issuedSecret(identity: IdentityProvider, realm: string, secret: string): IssuedSecret {
  return { secret: identity.kind === 'none' ? null : secret, tokenEndpoint: tokenEndpointOf(identity, realm) }
}
