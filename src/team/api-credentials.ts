import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import {
  createRecordedClient,
  newClientId,
  renewRecordedClient,
  revokeRecordedClient,
} from '../identity/service-clients.ts'
import type { IssuedSecret } from '../identity/service-clients.ts'
import { DomainError } from '../lib/errors.ts'
import type { MerchantRole } from '../lib/permissions.ts'
import {
  findCredential,
  insertCredential,
  listCredentialRows,
  lockCredentials,
  revokeCredentialRow,
} from './credentials-sql.ts'
import type { CredentialKey } from './credentials-sql.ts'
import { realmOf, existingRealmOf } from './merchant-realm.ts'
import type { CredentialRecord } from './record.ts'

/*
 * A credential is valid only while its row is, so the row is written first on creation and revocation: the merchant's
 * list shows every client at the identity provider.
 */

type CredentialsApp = Pick<App, 'pool' | 'ids' | 'identity' | 'log'>

/** A credential with the values that are shown once; the secret is null without an identity provider. */
export type IssuedCredential = IssuedSecret & { credential: CredentialRecord }

/** Maximum number of credentials of a merchant besides its server client. */
const LIVE_MAX = 20

/** The merchant's server client and active credentials. */
export function listApiCredentials(app: Pick<App, 'pool'>, merchantId: string): Promise<readonly CredentialRecord[]> {
  return listCredentialRows(app.pool, merchantId)
}

export type CreateApiCredentialInput = { merchantId: string; name: string; role: MerchantRole | null; actor: Actor }

/**
 * Creates a client for one of the merchant's programs: with a role, or for payments only (decision 31).
 * @throws {DomainError} CREDENTIAL_LIMIT_REACHED, CREDENTIAL_NOT_FOUND if it was revoked meanwhile, SERVICE_UNAVAILABLE for
 *   a merchant without a realm
 * @throws {IdentityUnavailableError}
 */
export async function createApiCredential(
  app: CredentialsApp,
  input: CreateApiCredentialInput,
): Promise<IssuedCredential> {
  const { merchantId, name, role, actor } = input
  const realm = await existingRealmOf(app, merchantId)
  const clientId = newClientId(realm)
  const key = { merchantId, clientId }
  const credential = await app.pool.transaction(async (tx) => {
    await lockCredentials(tx, merchantId)
    const live = await listCredentialRows(tx, merchantId)
    if (live.filter(({ kind }) => kind === 'credential').length >= LIVE_MAX) throw limitReached()
    const after = { name, role }
    await recordAction(app, tx, { actor, action: 'credential.create', merchantId, subjectId: clientId, after })
    return insertCredential(tx, { ...key, name, role, createdBy: actor.name })
  })
  const roles = role === null ? [] : [role]
  const revoke = (reason: string): Promise<unknown> => markRevoked(app, { ...key, actor, reason })
  const find = (): Promise<CredentialRecord | null> => findCredential(app.pool, key)
  return { credential, ...(await createRecordedClient(app, { realm, clientId, roles, revoke, find })) }
}

/**
 * Replaces the secret of a credential or of the server client, whose id never changes. The old secret is rejected at
 * once.
 * @throws {DomainError} CREDENTIAL_NOT_FOUND, SERVICE_UNAVAILABLE for a merchant without a realm
 * @throws {IdentityUnavailableError}
 */
export async function rotateApiCredential(
  app: CredentialsApp,
  { actor, ...key }: CredentialKey & { actor: Actor },
): Promise<IssuedCredential> {
  const credential = await readCredential(app, key)
  if (credential.revoked_at !== null) throw credentialNotFound()
  const { merchantId, clientId } = key
  const realm = await existingRealmOf(app, merchantId)
  // Recorded before the rotation, which may take effect even if its response is lost.
  await app.pool.transaction((tx) =>
    recordAction(app, tx, { actor, action: 'credential.rotate', merchantId, subjectId: clientId }),
  )
  const roles = credential.role === null ? [] : [credential.role]
  const find = (): Promise<CredentialRecord | null> => findCredential(app.pool, key)
  return { credential, ...(await renewRecordedClient(app, { realm, clientId, roles, find })) }
}

/**
 * Revokes a credential: it gets no more tokens, and existing ones are rejected. The server client identifies the
 * merchant and can't be revoked; rotating its secret invalidates the old one.
 * @throws {DomainError} CREDENTIAL_NOT_FOUND, CREDENTIAL_NOT_REVOCABLE
 * @throws {IdentityUnavailableError}
 */
export async function revokeApiCredential(
  app: CredentialsApp,
  { actor, ...key }: CredentialKey & { actor: Actor },
): Promise<CredentialRecord & { revoked_at: string }> {
  const credential = await readCredential(app, key)
  if (credential.kind === 'server') {
    throw new DomainError('CREDENTIAL_NOT_REVOCABLE', "the merchant's server client cannot be revoked", {
      next: 'rotate its secret: the old one is rejected at once',
      nextStep: { operation: 'rotateApiCredential', params: { id: key.clientId } },
    })
  }
  return revokeRecordedClient(app, {
    realm: await realmOf(app, key.merchantId),
    clientId: key.clientId,
    revoke: () => markRevoked(app, { ...key, actor }),
    find: () => findCredential(app.pool, key),
  })
}

/** Null if it was revoked before. */
function markRevoked(
  app: CredentialsApp,
  { actor, reason, ...key }: CredentialKey & { actor: Actor; reason?: string },
): Promise<CredentialRecord | null> {
  const { merchantId, clientId } = key
  return app.pool.transaction(async (tx) => {
    const row = await revokeCredentialRow(tx, key)
    if (row === null) return null
    const before = { name: row.name, role: row.role }
    await recordAction(app, tx, { actor, action: 'credential.revoke', merchantId, subjectId: clientId, reason, before })
    return row
  })
}

async function readCredential(app: Pick<App, 'pool'>, key: CredentialKey): Promise<CredentialRecord> {
  const credential = key.clientId.includes('\u0000') ? null : await findCredential(app.pool, key)
  if (credential === null) throw credentialNotFound()
  return credential
}

function limitReached(): DomainError {
  return new DomainError('CREDENTIAL_LIMIT_REACHED', `a merchant can have at most ${LIVE_MAX} credentials`, {
    next: 'revoke one that is no longer used',
    nextStep: { operation: 'listApiCredentials', params: {} },
  })
}

function credentialNotFound(): DomainError {
  return new DomainError('CREDENTIAL_NOT_FOUND', 'credential not found')
}
