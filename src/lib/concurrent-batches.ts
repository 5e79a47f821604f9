/** One batch of a job whose work waits for other systems, such as banks. */
export type Batch<Item> = {
  /** Maximum number of items claimed at once. */
  limit: number
  /** @param full the lanes that have no room: no item of them may be claimed */
  claim(limit: number, full: readonly string[]): Promise<readonly Item[]>
  /** What the work on an item waits for, such as its bank. Without it no lane is ever full. */
  laneOf?(item: Item): string
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

/** Work in progress, and the lane of each. */
type Pending = Map<Promise<void>, string>

/**
 * Runs a job in bounded concurrent batches: slow items stay pending from one batch to the next, so that a few slow
 * items do not delay the others. Up to two batches' worth may be pending; beyond that nothing more is claimed. With
 * lanes, each bank leaves half of that to the others, also where they have nothing due, a second one half of the rest, and
 * so on: a bank that hangs does not show before it has kept its slots for seconds.
 * @returns runs one batch for an owner, such as an app: each owner has its own pending work
 */
export function makeConcurrentBatches<Item>(): (owner: object, batch: Batch<Item>) => Promise<{ more: boolean }> {
  const pendingByOwner = new WeakMap<object, Pending>()
  return async (owner, batch) => {
    const { claim, laneOf, work, failed, signal } = batch
    const pending: Pending = pendingByOwner.get(owner) ?? new Map()
    pendingByOwner.set(owner, pending)
    if (roomBeside(pending, batch).room === 0) await waitBounded(Promise.race(pending.keys()), signal)
    if (hasEnded(signal)) {
      await Promise.all(pending.keys())
      return { more: false }
    }
    const { room, full } = roomBeside(pending, batch)
    const claimed = room === 0 ? [] : await claim(room, full)
    const tasks = claimed.map((item) => {
      const task = work(item)
        .catch(failed)
        .finally(() => pending.delete(task))
      pending.set(task, laneOf?.(item) ?? '')
      return task
    })
    if (signal === undefined) await Promise.all(tasks)
    else if (pending.size > 0) await waitBounded(Promise.all(pending.keys()), signal)
    if (hasEnded(signal)) await Promise.all(pending.keys())
    if (room > 0 && claimed.length === room) return { more: true }
    // What had no room before may be due, also where all work has ended since.
    return { more: signal !== undefined && (pending.size > 0 || full.length > 0 || room === 0) }
  }
}

/**
 * How many items may be claimed beside the pending ones, and of which lanes none. However the claimed items are
 * distributed, no lane takes more slots than it leaves free: of 128, six that hang leave two.
 */
function roomBeside(
  pending: Pending,
  { limit, laneOf }: Pick<Batch<never>, 'limit' | 'laneOf'>,
): { room: number; full: string[] } {
  const free = PENDING_BATCHES_MAX * limit - pending.size
  if (laneOf === undefined) return { room: Math.min(limit, free), full: [] }
  const counts = new Map<string, number>()
  for (const lane of pending.values()) counts.set(lane, (counts.get(lane) ?? 0) + 1)
  // From half of that on a lane is full, as a lane with room limits what all together may claim.
  const isFull = (count: number): boolean => 2 * count >= free
  const most = Math.max(0, ...[...counts.values()].filter((count) => !isFull(count)))
  const full = [...counts].filter(([, count]) => isFull(count)).map(([lane]) => lane)
  return { room: Math.min(limit, Math.floor((free - most) / 2)), full }
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
