export type CacheLookupOptions = {
  /** How long an answer holds, counted from the moment it was asked for. */
  forMs: number
  /** How many answers are kept, of either kind. */
  max: number
  now?: () => number
}

/**
 * Wraps a look-up so that its answers are remembered for a while, "there is none" among them, and that questions asked
 * at once are one look-up. What fails is not remembered. Names that don't exist are kept apart: no flood of them drives
 * out those that do.
 */
export function cacheLookup<Value>(
  load: (key: string) => Promise<Value | null>,
  { forMs, max, now = () => performance.now() }: CacheLookupOptions,
): (key: string) => Promise<Value | null> {
  const known = new Map<string, { value: Value; until: number }>()
  const unknown = new Map<string, { value: null; until: number }>()
  const underWay = new Map<string, Promise<Value | null>>()

  async function lookUp(key: string): Promise<Value | null> {
    const until = now() + forMs
    try {
      const value = await load(key)
      if (value === null) setBounded(unknown, key, { value, until }, max)
      else setBounded(known, key, { value, until }, max)
      return value
    } finally {
      underWay.delete(key)
    }
  }

  return (key) => {
    const kept = known.get(key) ?? unknown.get(key)
    if (kept !== undefined && kept.until > now()) return Promise.resolve(kept.value)
    known.delete(key)
    unknown.delete(key)
    const asked = underWay.get(key) ?? lookUp(key)
    underWay.set(key, asked)
    return asked
  }
}

/** Puts an entry last in a map of bounded size; the one that was put longest ago makes room. */
export function setBounded<Value>(map: Map<string, Value>, key: string, value: Value, max: number): void {
  map.delete(key)
  const oldest = map.size >= max ? map.keys().next() : undefined
  if (oldest?.done === false) map.delete(oldest.value)
  map.set(key, value)
}
