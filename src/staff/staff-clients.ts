import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { createRecordedClient, newClientId, revokeRecordedClient } from '../identity/service-clients.ts'
import { DomainError } from '../lib/errors.ts'
import type { PlatformRole } from '../lib/permissions.ts'
import { PLATFORM_REALM } from '../lib/realms.ts'
import { findStaffClient, insertStaffClient, listStaffClientRows, revokeStaffClientRow } from './clients-sql.ts'
import type { StaffClientRecord } from './record.ts'

type ClientsApp = Pick<App, 'pool' | 'ids' | 'identity' | 'log'>

/** Active service clients of the platform. */
export function listStaffClients(app: Pick<App, 'pool'>): Promise<readonly StaffClientRecord[]> {
  return listStaffClientRows(app.pool)
}

export type CreateStaffClientInput = { name: string; role: PlatformRole; reason?: string | undefined; actor: Actor }

/** A client with the values that are shown once; both null without an identity provider. */
export type IssuedStaffClient = StaffClientRecord & { client_secret: string | null; token_endpoint: string | null }

/**
 * Creates a client for operators' automation. Its row is written first, so that every client at the identity provider
 * is in the list.
 * @throws {DomainError} CREDENTIAL_NOT_FOUND if it was revoked meanwhile
 * @throws {IdentityUnavailableError}
 */
export async function createStaffClient(app: ClientsApp, input: CreateStaffClientInput): Promise<IssuedStaffClient> {
  const { name, role, reason, actor } = input
  const clientId = newClientId(PLATFORM_REALM)
  const client = await app.pool.transaction(async (tx) => {
    const row = await insertStaffClient(tx, { clientId, name, role, createdBy: actor.name })
    if (row === null) throw new Error('the id of a new client is taken')
    const after = { name, role }
    await recordAction(app, tx, {
      actor,
      action: 'staff.client_create',
      merchantId: null,
      subjectId: clientId,
      reason,
      after,
    })
    return row
  })
  const { secret, tokenEndpoint } = await createRecordedClient(app, {
    realm: PLATFORM_REALM,
    clientId,
    roles: [role],
    revoke: (reason) => markRevoked(app, { clientId, actor, reason }),
    find: () => findStaffClient(app.pool, clientId),
  })
  return { ...client, client_secret: secret, token_endpoint: tokenEndpoint }
}

/**
 * Revokes a client: it gets no more tokens, and existing ones are rejected. Repeating it repairs a revocation that the
 * identity provider missed.
 * @throws {DomainError} CREDENTIAL_NOT_FOUND
 * @throws {IdentityUnavailableError}
 */
export async function revokeStaffClient(
  app: ClientsApp,
  { clientId, reason, actor }: { clientId: string; reason?: string | undefined; actor: Actor },
): Promise<StaffClientRecord & { revoked_at: string }> {
  const known = clientId.includes('\u0000') ? null : await findStaffClient(app.pool, clientId)
  if (known === null) throw new DomainError('CREDENTIAL_NOT_FOUND', 'platform client not found')
  return revokeRecordedClient(app, {
    realm: PLATFORM_REALM,
    clientId,
    revoke: () => markRevoked(app, { clientId, reason, actor }),
    find: () => findStaffClient(app.pool, clientId),
  })
}

/** Null if it was revoked before. */
function markRevoked(
  app: ClientsApp,
  { clientId, actor, reason }: { clientId: string; actor: Actor; reason?: string | undefined },
): Promise<StaffClientRecord | null> {
  return app.pool.transaction(async (tx) => {
    const row = await revokeStaffClientRow(tx, clientId)
    if (row === null) return null
    const before = { name: row.name, role: row.role }
    await recordAction(app, tx, {
      actor,
      action: 'staff.client_revoke',
      merchantId: null,
      subjectId: clientId,
      reason,
      before,
    })
    return row
  })
}
