import type { App } from '../app.ts'
import type { Ids } from '../lib/ids.ts'

/** How often each reference was asked for, by app: only a service with a seed counts them. */
const askedFor = new WeakMap<Ids, Map<string, number>>()

type ReferenceInput = {
  kind: 'merchant' | 'customer'
  reference: string | undefined
  /** Whether somebody has this id already: another process of the same database, or this one before it was started again. */
  isTaken(id: string): Promise<boolean>
}

/**
 * The id of a merchant or customer to be made, and the chance that everything of it comes from. In a service with a seed
 * both follow from the reference and from how often it was asked for before; elsewhere, and without a reference, from
 * nothing.
 */
export async function idsForReference(
  { ids }: Pick<App, 'ids'>,
  wish: ReferenceInput,
): Promise<{ id: string; chance: Ids }> {
  const { kind, reference, isTaken } = wish
  if (!ids.isSeeded || reference === undefined) return { id: ids.uuid(), chance: ids }
  for (;;) {
    const chance = ids.for(kind, reference, String(timesAsked(ids, `${kind} ${reference}`)))
    const id = chance.uuid()
    if (!(await isTaken(id))) return { id, chance }
  }
}

/** Counted before anything is waited for, so that two at once get two numbers. */
function timesAsked(ids: Ids, name: string): number {
  const counts = askedFor.get(ids) ?? new Map<string, number>()
  askedFor.set(ids, counts)
  const count = (counts.get(name) ?? 0) + 1
  counts.set(name, count)
  return count
}

/** Names at a provider that outlives the service's database can't follow from its seed: the last run has taken them. */
export function idsForNames({ ids, identity }: Pick<App, 'ids' | 'identity'>, chance: Ids): Ids {
  return identity.kind === 'keycloak' ? ids : chance
}
