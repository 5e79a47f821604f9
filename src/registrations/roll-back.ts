import type { CommonQueryMethods } from 'slonik'
import type { App } from '../app.ts'
import { IdentityUnavailableError, RealmExistsError } from '../identity/provider.ts'
import { DomainError } from '../lib/errors.ts'
import { failRegistration, lockForRollback, abandonRegistration } from './sql.ts'

/** How long taking a realm away may take until somebody else may try. */
const ROLLBACK_LEASE_SECONDS = 60

type Registration = { id: string; slug: string }

export type RollBackOptions = {
  /** Why, in words; it stands in the registration's row. */
  failure: string
  /** Spares a registration that a process still works on. */
  onlyAbandoned: boolean
  /** Written in the transaction that frees the slug. */
  record?: (tx: CommonQueryMethods) => Promise<void>
}

/**
 * Takes back what a half-made registration has made, and frees its slug. From the first statement on nobody can complete
 * it any more; a realm is deleted only by the id of the registration that made it, so never another's (decision 47).
 * @returns false where there was nothing half-made: it is complete, or somebody else has taken it back
 * @throws {IdentityUnavailableError} when the realm could not be taken away; it is tried again by whoever comes next
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
    await abandonRegistration(app.pool, { id, failure: `${failure}; its realm could not be taken away yet` })
    throw error
  }
  await app.pool.transaction(async (tx) => {
    await failRegistration(tx, { id, failure })
    await record?.(tx)
  })
  return true
}

/** Why something failed, for operators: in words, and without anything that a message from below may carry. */
export function failureReason(error: unknown): string {
  if (error instanceof DomainError) return error.message
  if (error instanceof RealmExistsError)
    return 'the identity provider has a realm of this name that no registration made'
  if (error instanceof IdentityUnavailableError) return 'the identity provider did not answer'
  const name = error instanceof Error ? error.name : 'something that is no error'
  return `it failed unexpectedly (${name}); the log says more`
}
