export type Lanes = {
  /** Resolves once the task is taken in: at most so many wait or run at one time. */
  add(key: string, task: () => Promise<void>): Promise<void>
  /** Resolves when all tasks have ended; rejects with the first failure of one. */
  idle(): Promise<void>
}

/**
 * Runs tasks of one key one after the other, in the order in which they came, and those of different keys side by side.
 * @param options `width` is how many run at one time, `pendingMax` how many are taken in before the caller has to wait
 */
export function makeLanes({ width, pendingMax }: { width: number; pendingMax: number }): Lanes {
  const tails = new Map<string, Promise<void>>()
  const slots = makeSlots(width)
  const room = makeSlots(pendingMax)
  let failure: { error: unknown } | undefined

  async function runAfter(before: Promise<void> | undefined, task: () => Promise<void>): Promise<void> {
    await before
    await slots.take()
    try {
      await task()
    } catch (error) {
      failure ??= { error }
    } finally {
      slots.giveBack()
      room.giveBack()
    }
  }

  return {
    async add(key, task) {
      await room.take()
      const tail = runAfter(tails.get(key), task).then(() => {
        // The last of its key leaves nothing behind.
        if (tails.get(key) === tail) tails.delete(key)
      })
      tails.set(key, tail)
    },
    async idle() {
      await Promise.all(tails.values())
      if (failure !== undefined) throw failure.error
    },
  }
}

/** A count of things to take, in turn. */
function makeSlots(count: number): { take(): Promise<void>; giveBack(): void } {
  let free = count
  const waiting: (() => void)[] = []
  return {
    async take() {
      if (free > 0) return void (free -= 1)
      await new Promise<void>((resolve) => waiting.push(resolve))
    },
    giveBack() {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    },
  }
}
