/** One round of a job whose work waits for others, such as banks. */
export type Batch<Item> = {
  /** How many are claimed at once, at most. */
  limit: number
  claim(limit: number): Promise<readonly Item[]>
  work(item: Item): Promise<void>
  /** Told of work that went wrong: the others go on. */
  failed(error: unknown): void
  /**
   * Ends the job: a round with one that has ended claims nothing and waits for what is in hand. Without one, all that was
   * claimed is waited for.
   */
  signal: AbortSignal | undefined
}

/** How long a round waits for what is slow: other work is due meanwhile. */
const WAIT_MAX_MS = 100

/** As many rounds may slow ones have in hand until no more is claimed. */
const PENDING_BATCHES_MAX = 2

/**
 * Keeps what is slow in hand from one round of a job to the next, so that a few slow banks do not keep the others
 * waiting: up to two rounds' worth, and no more is claimed while so much is in hand.
 * @returns plays a round for an owner, such as a service: each owner has its own work in hand
 */
export function makeConcurrentBatches<Item>(): (owner: object, round: Batch<Item>) => Promise<{ more: boolean }> {
  const pendingByOwner = new WeakMap<object, Set<Promise<void>>>()
  return async (owner, { limit, claim, work, failed, signal }) => {
    const pending = pendingByOwner.get(owner) ?? new Set<Promise<void>>()
    pendingByOwner.set(owner, pending)
    const most = PENDING_BATCHES_MAX * limit
    if (pending.size >= most) await waitBounded(Promise.race(pending), signal)
    if (hasEnded(signal)) {
      await Promise.all(pending)
      return { more: false }
    }
    const room = Math.min(limit, most - pending.size)
    const claimed = room === 0 ? [] : await claim(room)
    const round = claimed.map((item) => {
      const task = work(item)
        .catch(failed)
        .finally(() => pending.delete(task))
      pending.add(task)
      return task
    })
    if (signal === undefined) await Promise.all(round)
    else if (pending.size > 0) await waitBounded(Promise.all(pending), signal)
    if (hasEnded(signal)) await Promise.all(pending)
    return { more: (room > 0 && claimed.length === room) || (signal !== undefined && pending.size > 0) }
  }
}

function hasEnded(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

/** Waits for the work, and with a signal no longer than a round, or until that ends. */
async function waitBounded(work: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return void (await work)
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const end = (): void => resolve()
  const timer = setTimeout(end, WAIT_MAX_MS)
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  await Promise.race([work, over])
  clearTimeout(timer)
  signal.removeEventListener('abort', end)
}
