import { createHmac } from 'node:crypto'
import { errors } from 'oidc-provider'
import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider'
import { z } from 'zod'
import { deriveKey } from '../../../lib/derive-key.ts'
import type { SealContext } from '../../../lib/seal.ts'
import { metadataOf, readClient } from '../realms/clients.ts'
import { SESSION_SECONDS } from './lifetimes.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { StateRecord } from '../record.ts'
import { endSession, retireSession } from './sessions-sql.ts'
import {
  consumeState,
  deleteState,
  deleteStateOfGrant,
  findState,
  findStateByUid,
  findStateByUserCode,
  revokeGrantOf,
  upsertState,
} from './state-sql.ts'
import type { StateKey } from './state-sql.ts'

/** For what the library gives no time to; it names one for everything that it keeps today. */
const SECONDS_DEFAULT = 3_600

/**
 * What the protocol library remembers, in PostgreSQL. Ids are what bearers carry (a refresh token is its id), so they are
 * kept as keyed hashes only; and what is kept under them names other ids, so it is sealed.
 */
export function makeAdapters(parts: EmbeddedParts, realm: string): AdapterFactory {
  const hash = makeHash(parts, realm)
  return (model) => (model === 'Client' ? clientAdapter(parts, realm) : stateAdapter({ parts, realm, model, hash }))
}

const SESSION = 'Session'

/**
 * Makes the end of a session that somebody signs out of. Other requests of it may be under way and save it once more:
 * whatever they write, it stays over.
 */
export function makeEndSession(
  parts: EmbeddedParts,
  realm: string,
): (session: { jti: string; uid: string }) => Promise<void> {
  const hash = makeHash(parts, realm)
  return async ({ jti, uid }) => {
    const key = { realm, model: SESSION, idHash: hash(jti) }
    const payload = parts.sealer.seal('{}', contextOf(key))
    await endSession(parts.pool, { ...key, uidHash: hash(uid), payload, seconds: SESSION_SECONDS })
  }
}

type Hash = (id: string) => string

function makeHash({ config }: EmbeddedParts, realm: string): Hash {
  const key = deriveKey(config.encryptionKey, 'identity provider ids')
  return (id) => createHmac('sha256', key).update(`${realm}|${id}`).digest('hex')
}

/** Where a payload is sealed to. */
function contextOf({ realm, model, idHash }: StateKey): SealContext {
  return { table: 'idp.state', column: 'payload', rowId: `${realm}|${model}|${idHash}`, merchantId: '' }
}

type StateOptions = { parts: EmbeddedParts; realm: string; model: string; hash: Hash }

function stateAdapter({ parts, realm, model, hash }: StateOptions): Adapter {
  const { pool, sealer } = parts
  const keyOf = (idHash: string) => ({ realm, model, idHash })
  const hashOrNull = (id: string | undefined): string | null => (id === undefined ? null : hash(id))

  function openPayload(row: StateRecord | null): AdapterPayload | undefined {
    if (row === null) return undefined
    // Sealed under the hash of its id by this adapter, so it is what `upsert` was given.
    const payload: AdapterPayload = JSON.parse(sealer.open(row.payload, contextOf(keyOf(row.id_hash))))
    if (row.consumed_at !== null) payload.consumed = Math.floor(Date.parse(row.consumed_at) / 1_000)
    return payload
  }

  return {
    upsert: async (id, payload, seconds) => {
      const idHash = hash(id)
      await upsertState(pool, {
        ...keyOf(idHash),
        payload: sealer.seal(JSON.stringify(payload), contextOf(keyOf(idHash))),
        grantHash: hashOrNull(payload.grantId),
        uidHash: hashOrNull(payload.uid),
        userCodeHash: hashOrNull(payload.userCode),
        subject: subjectOf(payload),
        seconds: seconds ?? SECONDS_DEFAULT,
      })
    },
    find: async (id) => openPayload(await findState(pool, keyOf(hash(id)))),
    findByUid: async (uid) => openPayload(await findStateByUid(pool, { realm, model, uidHash: hash(uid) })),
    findByUserCode: async (code) =>
      openPayload(await findStateByUserCode(pool, { realm, model, userCodeHash: hash(code) })),
    consume: async (id) => {
      const key = keyOf(hash(id))
      if (await consumeState(pool, key)) return
      // The library looked before it came here; who comes second by a hair has replayed it all the same.
      await revokeGrantOf(pool, key)
      throw new errors.InvalidGrant(`${model} already used`)
    },
    // A session goes by this way when it gets another id; `makeEndSession` comes before where it ends.
    destroy: (id) => (model === SESSION ? retireSession : deleteState)(pool, keyOf(hash(id))),
    revokeByGrantId: (grantId) => deleteStateOfGrant(pool, { realm, model, grantHash: hash(grantId) }),
  }
}

/**
 * Whose it is, for it ends with the user's sessions. A sign-in that was answered and not gone on with is of who answered
 * it: else who knew a password could keep one for after it is replaced.
 */
function subjectOf({ result, accountId }: AdapterPayload): string | null {
  return LoginResult.safeParse(result).data?.login.accountId ?? accountId ?? null
}

const LoginResult = z.object({ login: z.object({ accountId: z.string() }) })

/** Clients are read anew with each request, so that what another process changed holds at once. */
function clientAdapter(parts: EmbeddedParts, realm: string): Adapter {
  const rejectCall = (): Promise<never> => Promise.reject(new Error('clients are not changed through the protocol'))
  return {
    find: async (clientId) => {
      const client = await readClient(parts, realm, clientId)
      return client === null ? undefined : metadataOf(client)
    },
    upsert: rejectCall,
    findByUid: rejectCall,
    findByUserCode: rejectCall,
    consume: rejectCall,
    destroy: rejectCall,
    revokeByGrantId: rejectCall,
  }
}
