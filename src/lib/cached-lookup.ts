export type CacheLookupOptions = {
  /** Time to live of a result in milliseconds, counted from the start of its lookup. */
  forMs: number
  /** Maximum number of entries, for found and for missing keys each. */
  max: number
  now?: () => number
}

/**
 * Memoises a lookup with a time to live. Missing keys are cached as well, concurrent calls for one key share one
 * lookup, and failures are not cached. Missing keys have a map of their own, so that a flood of them evicts no existing
 * key.
 */
export function cacheLookup<Value>(
  load: (key: string) => Promise<Value | null>,
  { forMs, max, now = () => performance.now() }: CacheLookupOptions,
): (key: string) => Promise<Value | null> {
  const known = new Map<string, { value: Value; until: number }>()
  const unknown = new Map<string, { value: null; until: number }>()
  const inProgress = new Map<string, Promise<Value | null>>()

  async function lookUp(key: string): Promise<Value | null> {
    const until = now() + forMs
    try {
      const value = await load(key)
      if (value === null) setBounded(unknown, key, { value, until }, max)
      else setBounded(known, key, { value, until }, max)
      return value
    } finally {
      inProgress.delete(key)
    }
  }

  return (key) => {
    const kept = known.get(key) ?? unknown.get(key)
    if (kept !== undefined && kept.until > now()) return Promise.resolve(kept.value)
    known.delete(key)
    unknown.delete(key)
    const pending = inProgress.get(key) ?? lookUp(key)
    inProgress.set(key, pending)
    return pending
  }
}

/** Sets an entry of a map of bounded size; the least recently set one is evicted. */
export function setBounded<Value>(map: Map<string, Value>, key: string, value: Value, max: number): void {
  map.delete(key)
  const oldest = map.size >= max ? map.keys().next() : undefined
  if (oldest?.done === false) map.delete(oldest.value)
  map.set(key, value)
}
