/** What needs a connection waited for one too long: the database is busier than it can serve. Nothing was asked of it. */
export class DatabaseBusyError extends Error {
  override readonly name = 'DatabaseBusyError'
}

type Waiting = { begin: () => void; timer: NodeJS.Timeout }

/**
 * Runs work in turns, first come, first served: at most `size` at once. Work that gets no turn in time is rejected, so that
 * a database that stands still makes callers wait for a bounded time instead of a queue that only grows.
 * @param waitMs the longest wait
 */
export function makeTurns({ size, waitMs }: { size: number; waitMs: number }) {
  const queue = new Set<Waiting>()
  let free = size

  function wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        queue.delete(waiting)
        reject(new DatabaseBusyError(`all ${size} connections were in use for ${waitMs} ms`))
      }, waitMs)
      const waiting = { begin: resolve, timer }
      queue.add(waiting)
    })
  }

  function pass(): void {
    const [next] = queue
    if (next === undefined) return void (free += 1)
    queue.delete(next)
    clearTimeout(next.timer)
    next.begin()
  }

  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (free > 0) free -= 1
    else await wait()
    try {
      return await work()
    } finally {
      pass()
    }
  }
}
