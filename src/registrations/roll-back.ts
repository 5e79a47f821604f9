import type { CommonQueryMethods } from 'slonik'
import type { App } from '../app.ts'
import { IdentityUnavailableError, RealmExistsError } from '../identity/provider.ts'
import { DomainError } from '../lib/errors.ts'
import { failRegistration, lockForRollback, abandonRegistration } from './sql.ts'

/** The lease for deleting a realm; after it another process may try. */
const ROLLBACK_LEASE_SECONDS = 60

type Registration = { id: string; slug: string }

export type RollBackOptions = {
  /** The reason, stored in the registration's row. */
  failure: string
  /** Skips a registration that a process is still working on. */
  onlyAbandoned: boolean
  /** Runs in the transaction that frees the slug. */
  record?: (tx: CommonQueryMethods) => Promise<void>
}

/**
 * Rolls back an incomplete registration and frees its slug. After the first statement it can no longer be completed;
 * a realm is only deleted by the id of the registration that created it, so never another's (decision 47).
 * @returns false if there was nothing incomplete: it is complete, or another process has rolled it back
 * @throws {IdentityUnavailableError} if the realm could not be deleted; the next sweep or retry tries again
 */
export async function rollBack(
  app: App,
  { id, slug }: Registration,
  { failure, onlyAbandoned, record }: RollBackOptions,
): Promise<boolean> {
  if (!(await lockForRollback(app.pool, { id, leaseSeconds: ROLLBACK_LEASE_SECONDS, onlyAbandoned }))) return false
  try {
    await app.identity.deleteRealm(slug, id)
  } catch (error) {
    await abandonRegistration(app.pool, { id, failure: `${failure}; its realm could not be deleted yet` })
    throw error
  }
  await app.pool.transaction(async (tx) => {
    await failRegistration(tx, { id, failure })
    await record?.(tx)
  })
  return true
}

/** The reason of a failure for operators, without text from lower layers that could contain secrets. */
export function failureReason(error: unknown): string {
  if (error instanceof DomainError) return error.message
  if (error instanceof RealmExistsError)
    return 'the identity provider has a realm of this name that no registration created'
  if (error instanceof IdentityUnavailableError) return 'the identity provider did not answer'
  const name = error instanceof Error ? error.name : 'not an Error'
  return `it failed unexpectedly (${name}); see the log`
}
