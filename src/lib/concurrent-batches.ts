/** One batch of a job whose work waits for other systems, such as banks. */
export type Batch<Item> = {
  /** Maximum number of items claimed at once. */
  limit: number
  claim(limit: number): Promise<readonly Item[]>
  work(item: Item): Promise<void>
  /** Called for an item that failed; the others continue. */
  failed(error: unknown): void
  /**
   * Stops the job: once aborted, a batch claims nothing and waits for all pending work. Without a signal, a batch waits
   * for everything that it claimed.
   */
  signal: AbortSignal | undefined
}

/** How long a batch waits for slow items: other work is due in the meantime. */
const WAIT_MAX_MS = 100

/** No more is claimed while slow items fill this many batches. */
const PENDING_BATCHES_MAX = 2

/**
 * Runs a job in bounded concurrent batches: slow items stay pending from one batch to the next, so that a few slow
 * banks do not delay the others. Up to two batches' worth may be pending; beyond that nothing more is claimed.
 * @returns runs one batch for an owner, such as an app: each owner has its own pending work
 */
export function makeConcurrentBatches<Item>(): (owner: object, batch: Batch<Item>) => Promise<{ more: boolean }> {
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
    const tasks = claimed.map((item) => {
      const task = work(item)
        .catch(failed)
        .finally(() => pending.delete(task))
      pending.add(task)
      return task
    })
    if (signal === undefined) await Promise.all(tasks)
    else if (pending.size > 0) await waitBounded(Promise.all(pending), signal)
    if (hasEnded(signal)) await Promise.all(pending)
    return { more: (room > 0 && claimed.length === room) || (signal !== undefined && pending.size > 0) }
  }
}

function hasEnded(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

/** Waits for the work; with a signal at most WAIT_MAX_MS, or until it is aborted. */
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
