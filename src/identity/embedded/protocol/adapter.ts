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
import { PENDING } from '../users/sign-in-step.ts'
import { endTokens } from '../../token-cutoffs-sql.ts'
import { endSession, retireSession } from './sessions-sql.ts'
import {
  consumeState,
  deleteState,
  deleteStateOfGrant,
  findState,
  findStateByUid,
  findStateByUserCode,
  markPolled,
  revokeGrantOf,
  upsertState,
} from './state-sql.ts'
import type { StateKey } from './state-sql.ts'

/** For state without a lifetime. The library currently gives one for everything it stores. */
const SECONDS_DEFAULT = 3_600

/**
 * Stores the protocol library's state in PostgreSQL. Ids are bearer secrets (a refresh token is its id), so only keyed
 * hashes of them are stored; payloads contain other ids, so they are sealed.
 */
export function makeAdapters(parts: EmbeddedParts, realm: string): AdapterFactory {
  const hash = makeHash(parts, realm)
  return (model) => (model === 'Client' ? clientAdapter(parts, realm) : stateAdapter({ parts, realm, model, hash }))
}

const SESSION = 'Session'

/**
 * Creates the function that ends a session on sign-out, and the access tokens of its user. Concurrent requests of the
 * session may save it again afterwards: it stays ended whatever they write.
 */
export function makeEndSession(
  parts: EmbeddedParts,
  realm: string,
): (session: { jti: string; uid: string; accountId?: string | undefined }) => Promise<void> {
  const hash = makeHash(parts, realm)
  return async ({ jti, uid, accountId }) => {
    const key = { realm, model: SESSION, idHash: hash(jti) }
    const payload = parts.sealer.seal('{}', contextOf(key))
    await endSession(parts.pool, { ...key, uidHash: hash(uid), payload, seconds: SESSION_SECONDS })
    if (accountId !== undefined) await endTokens(parts.pool, realm, { subject: accountId })
  }
}

/** A device asks every five seconds (RFC 8628, section 3.2, the default); its network may deliver a question early. */
const POLL_SECONDS = 4

/** Creates the function that records a device's question, and says whether it came too soon after the last one. */
export function makeMarkPolled(parts: EmbeddedParts, realm: string): (deviceCode: string) => Promise<boolean> {
  const hash = makeHash(parts, realm)
  return (deviceCode) =>
    markPolled(parts.pool, { realm, model: 'DeviceCode', idHash: hash(deviceCode), seconds: POLL_SECONDS })
}

type Hash = (id: string) => string

function makeHash({ config }: EmbeddedParts, realm: string): Hash {
  const key = deriveKey(config.encryptionKey, 'identity provider ids')
  return (id) => createHmac('sha256', key).update(`${realm}|${id}`).digest('hex')
}

/** The context that a payload is sealed to. */
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
    // Sealed by this adapter under the hash of its id, so it is a payload given to `upsert`.
    const payload: AdapterPayload = JSON.parse(sealer.open(row.payload, contextOf(keyOf(row.id_hash))))
    if (row.consumed_at !== null) payload.consumed = Math.floor(Date.parse(row.consumed_at) / 1_000)
    return payload
  }

  async function endTokensOf(subject: string | null): Promise<void> {
    if (subject !== null) await endTokens(pool, realm, { subject })
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
      // The library checked before this call, so a concurrent second use is a replay as well.
      await endTokensOf(await revokeGrantOf(pool, key))
      throw new errors.InvalidGrant(`${model} already used`)
    },
    // The library destroys a session when its id changes. Where the session ends, `makeEndSession` has run before.
    destroy: (id) => (model === SESSION ? retireSession : deleteState)(pool, keyOf(hash(id))),
    // A code or refresh token was used again, or ended by its client: the access tokens of its user end with it.
    revokeByGrantId: async (grantId) =>
      endTokensOf(await deleteStateOfGrant(pool, { realm, model, grantHash: hash(grantId) })),
  }
}

/**
 * The user that the state belongs to, because it ends with the user's sessions. An unfinished sign-in belongs to its
 * user from the password on: otherwise someone who knew a password could keep such a sign-in past its replacement.
 */
function subjectOf({ result, accountId }: AdapterPayload): string | null {
  const { login, [PENDING]: pending } = SignInResult.safeParse(result).data ?? {}
  return login?.accountId ?? pending?.subject ?? accountId ?? null
}

const SignInResult = z.object({
  login: z.object({ accountId: z.string() }).optional(),
  [PENDING]: z.object({ subject: z.string() }).optional(),
})

/** Reads clients on every request, so that changes by another process apply at once. */
function clientAdapter(parts: EmbeddedParts, realm: string): Adapter {
  const rejectCall = (): Promise<never> => Promise.reject(new Error('clients cannot be changed through the protocol'))
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
