import { UniqueIntegrityConstraintViolationError } from 'slonik'
import type { DatabaseTransactionConnection } from 'slonik'
import { NO_CUSTOMER } from '../accounts/identify.ts'
import type { App } from '../app.ts'
import { canonicalJson } from '../lib/canonical-json.ts'
import { DomainError } from '../lib/errors.ts'
import { sha256Hex } from '../lib/hmac.ts'
import { findKey, claimKey } from './idempotency-keys-sql.ts'
import type { OrderKey } from './idempotency-keys-sql.ts'

/** The caller, the idempotency key if one was sent (`x-idempotency-key`), and the request. */
export type IdempotentRequest = {
  customerId: string
  clientId: string
  path: string
  idempotencyKey: string | undefined
  /** The parsed request body. */
  body: unknown
}

/**
 * Creates a resource once for each key (decision 12): the key is claimed and the resource created in one transaction. A
 * repeat gets the id of the existing resource; without a key every request creates one.
 * @param make creates the resource with this id; it runs only for the first request
 * @throws {DomainError} IDEMPOTENCY_KEY_REUSED for another body under the same key
 */
export async function createOnce(
  app: Pick<App, 'pool' | 'ids'>,
  request: IdempotentRequest,
  make: (tx: DatabaseTransactionConnection, id: string) => Promise<void>,
): Promise<string> {
  const { idempotencyKey, body, ...scope } = request
  // A caller who is not a customer has no keys; `make` rejects the request for lack of an account.
  if (idempotencyKey === undefined || request.customerId === NO_CUSTOMER) {
    const id = app.ids.uuid()
    await app.pool.transaction((tx) => make(tx, id))
    return id
  }
  const key = { ...scope, idempotencyKey }
  const fingerprint = sha256Hex(canonicalJson(body))
  const known = await findKey(app.pool, key)
  if (known === null) {
    const made = await createUnderKey(app, { key, fingerprint }, make)
    if (made !== null) return made
  }
  const taken = known ?? (await findKey(app.pool, key))
  // It expired between the two statements.
  if (taken === null) return createOnce(app, request, make)
  if (taken.request_fingerprint === fingerprint) return taken.resource_id
  throw new DomainError('IDEMPOTENCY_KEY_REUSED', 'this x-idempotency-key was used with another body', {
    next: 'send a new key for a new order',
  })
}

/** One id for each day on which the key was used. */
const ATTEMPTS_MAX = 1_000

/** Null when a concurrent request has claimed the key. */
async function createUnderKey(
  app: Pick<App, 'pool' | 'ids'>,
  { key, fingerprint }: { key: OrderKey; fingerprint: string },
  make: (tx: DatabaseTransactionConnection, id: string) => Promise<void>,
): Promise<string | null> {
  const ids = app.ids.for('order', key.customerId, key.clientId, key.path, key.idempotencyKey)
  for (let attempt = 1; ; attempt += 1) {
    const id = ids.uuid()
    try {
      return await app.pool.transaction(async (tx) => {
        if ((await claimKey(tx, { ...key, fingerprint, resourceId: id })) === null) return null
        await make(tx, id)
        return id
      })
    } catch (error) {
      // With a seed, the resource of the expired use of the key has the first id.
      if (!(ids.isSeeded && isIdTaken(error)) || attempt === ATTEMPTS_MAX) throw error
    }
  }
}

function isIdTaken(error: unknown): boolean {
  return error instanceof UniqueIntegrityConstraintViolationError && /_(pkey|id_key)$/.test(error.constraint ?? '')
}
