/** One round of a job whose work waits for others, such as banks. */
export type Round<Item> = {
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
const ROUND_MS = 100

/** As many rounds may slow ones have in hand until no more is claimed. */
const ROUNDS_MAX = 2

/**
 * Keeps what is slow in hand from one round of a job to the next, so that a few slow banks do not keep the others
 * waiting: up to two rounds' worth, and no more is claimed while so much is in hand.
 * @returns plays a round for an owner, such as a service: each owner has its own work in hand
 */
export function makeRounds<Item>(): (owner: object, round: Round<Item>) => Promise<{ more: boolean }> {
  const inHand = new WeakMap<object, Set<Promise<void>>>()
  return async (owner, { limit, claim, work, failed, signal }) => {
    const underway = inHand.get(owner) ?? new Set<Promise<void>>()
    inHand.set(owner, underway)
    const most = ROUNDS_MAX * limit
    if (underway.size >= most) await waitAWhile(Promise.race(underway), signal)
    if (hasEnded(signal)) {
      await Promise.all(underway)
      return { more: false }
    }
    const room = Math.min(limit, most - underway.size)
    const claimed = room === 0 ? [] : await claim(room)
    const round = claimed.map((item) => {
      const task = work(item)
        .catch(failed)
        .finally(() => underway.delete(task))
      underway.add(task)
      return task
    })
    if (signal === undefined) await Promise.all(round)
    else if (underway.size > 0) await waitAWhile(Promise.all(underway), signal)
    if (hasEnded(signal)) await Promise.all(underway)
    return { more: (room > 0 && claimed.length === room) || (signal !== undefined && underway.size > 0) }
  }
}

function hasEnded(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

/** Waits for the work, and with a signal no longer than a round, or until that ends. */
async function waitAWhile(work: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return void (await work)
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const end = (): void => resolve()
  const timer = setTimeout(end, ROUND_MS)
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  await Promise.race([work, over])
  clearTimeout(timer)
  signal.removeEventListener('abort', end)
}
