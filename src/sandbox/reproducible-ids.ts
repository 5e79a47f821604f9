import type { App } from '../app.ts'
import type { Ids } from '../lib/ids.ts'

/** The number of requests per reference, for each app: counted only in a service with a seed. */
const requestCounts = new WeakMap<Ids, Map<string, number>>()

type ReferenceInput = {
  kind: 'merchant' | 'customer'
  reference: string | undefined
  /**
   * Whether this id exists already, created by another process on the same database, or by this one before a restart.
   */
  isTaken(id: string): Promise<boolean>
}

/**
 * The id of a merchant or customer to be created, and the source of all its other ids. In a service with a seed both
 * depend on the reference and on the number of earlier requests for it; otherwise, or without a reference, they are
 * random.
 */
export async function idsForReference(
  { ids }: Pick<App, 'ids'>,
  input: ReferenceInput,
): Promise<{ id: string; ownIds: Ids }> {
  const { kind, reference, isTaken } = input
  if (!ids.isSeeded || reference === undefined) return { id: ids.uuid(), ownIds: ids }
  for (;;) {
    const ownIds = ids.for(kind, reference, String(countRequest(ids, `${kind} ${reference}`)))
    const id = ownIds.uuid()
    if (!(await isTaken(id))) return { id, ownIds }
  }
}

/** Counts synchronously, so that two concurrent requests get two numbers. */
function countRequest(ids: Ids, name: string): number {
  const counts = requestCounts.get(ids) ?? new Map<string, number>()
  requestCounts.set(ids, counts)
  const count = (counts.get(name) ?? 0) + 1
  counts.set(name, count)
  return count
}

/**
 * The source of names at the identity provider. Keycloak outlives the service's database, so its names can't depend on
 * the seed: the last run has used them.
 */
export function idsForNames({ ids, identity }: Pick<App, 'ids' | 'identity'>, ownIds: Ids): Ids {
  return identity.kind === 'keycloak' ? ids : ownIds
}
