/** A page of a list of work, and where the next one begins; undefined at the end of the list. */
export type Page<Item, Position> = { items: readonly Item[]; next: Position | undefined }

/** The page of a list that is read `max` items at a time, each the position behind it: after fewer there are no more. */
export function pageOf<Item>(items: readonly Item[], max: number): Page<Item, Item> {
  return { items, next: items.length === max ? items.at(-1) : undefined }
}

export type PagedJob<Item, Position> = {
  /** Reads on behind an earlier page; without a position, from the start. */
  list(after: Position | undefined): Promise<Page<Item, Position>>
  work(item: Item): Promise<unknown>
  /** Reports an item that failed, and is waited for. */
  onFailure(error: unknown, item: Item): unknown
  /** Items of a page that are worked on at the same time; one without it. */
  concurrency?: number
}

/** The page that was run. */
export type PageOutcome<Position> = {
  more: boolean
  next: Position | undefined
  /** Whether an item has failed since the start of the list. */
  hasFailures: boolean
}

/**
 * Makes a job over a list, which works on one page in each run. An item that fails holds up no other: the rest of its page is worked on,
 * and the next run reads on behind the page, instead of reading the same failures first for ever. At the end of the list
 * the job begins again with its start.
 * @returns runs one page for an owner, such as an app: each owner has its own position
 */
export function makePagedJob<Item, Position>(): (
  owner: object,
  job: PagedJob<Item, Position>,
) => Promise<PageOutcome<Position>> {
  const states = new WeakMap<object, { after: Position; failureCount: number }>()
  /** @throws {Error} at the end of a list in which an item has failed, so that the job counts as failed */
  return async (owner, job) => {
    const state = states.get(owner)
    const { items, next } = await job.list(state?.after)
    const failureCount = (state?.failureCount ?? 0) + (await runEach(items, job))
    if (next === undefined) {
      states.delete(owner)
      rejectFailures(failureCount)
      return { more: false, next, hasFailures: false }
    }
    states.set(owner, { after: next, failureCount })
    return { more: true, next, hasFailures: failureCount > 0 }
  }
}

/** Works on each item; one that fails holds up no other. @returns how many failed */
export async function runEach<Item>(
  items: readonly Item[],
  { work, onFailure, concurrency = 1 }: Pick<PagedJob<Item, never>, 'work' | 'onFailure' | 'concurrency'>,
): Promise<number> {
  const queue = [...items]
  let count = 0
  const workInTurn = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      try {
        await work(item)
      } catch (error) {
        count += 1
        await onFailure(error, item)
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, workInTurn))
  return count
}

/** @throws {Error} if there were failures: the log has each of them */
export function rejectFailures(count: number): void {
  if (count > 0) throw new Error(`${count} of a job's items failed; the log says which`)
}
