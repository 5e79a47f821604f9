import type { Client } from 'pg'
import type { Logger } from '../observe/log.ts'
import { makePgConnection } from './connection.ts'
import type { ConnectionTarget } from './connection.ts'

/**
 * Wakes jobs at once instead of at their next turn, in whatever process they run. A lost wake-up costs only the wait
 * until that turn, so nothing here throws to the caller.
 */
export type Wake = {
  /** Wakes the job of that name. To be called after the commit; calls within a few milliseconds become one. */
  notify(job: string): void
  /**
   * Calls `handler` with the name of every job that is woken; resolves with a function that stops it. `onReconnect` is
   * called when it listens again after a lost connection: wake-ups in between were missed.
   */
  listen(handler: (job: string) => void, onReconnect?: () => void): Promise<() => Promise<void>>
  close(): Promise<void>
}

const CHANNEL = 'svc_wake'

/** A commit with NOTIFY takes a lock of the whole database, so notifications are gathered first. */
const GATHER_MS = 5

/** How long a listener waits before it tries a lost connection again. */
const RETRY_MS = 1_000

/** Notifies and listens over connections of its own, made when they are first needed. */
export function makeWake(target: ConnectionTarget, log: Logger): Wake {
  const notifier = makeNotifier(target, log)
  const listeners = new Set<() => Promise<void>>()
  return {
    notify: (job) => notifier.notify(job),
    listen: async (handler, onReconnect) => {
      const stop = await keepListening({ target, log, handler, onReconnect })
      listeners.add(stop)
      return async () => {
        listeners.delete(stop)
        await stop()
      }
    },
    close: async () => {
      await Promise.all([...listeners].map((stop) => stop()))
      await notifier.close()
    },
  }
}

function makeNotifier(target: ConnectionTarget, log: Logger): Pick<Wake, 'notify' | 'close'> {
  const jobs = new Set<string>()
  let client: Promise<Client> | undefined
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> = Promise.resolve()
  let lastAt = -Infinity

  function connected(): Promise<Client> {
    client ??= makePgConnection({ ...target, onError: () => (client = undefined) })
    return client
  }

  async function send(): Promise<void> {
    timer = undefined
    lastAt = performance.now()
    const names = [...jobs]
    jobs.clear()
    try {
      const connection = await connected()
      await connection.query({
        name: 'wake',
        text: 'select pg_notify($1, name) from unnest($2::text[]) as name',
        values: [CHANNEL, names],
      })
    } catch (error) {
      // A connection that only went silent is still open.
      client?.then((lost) => lost.end()).catch(() => undefined)
      client = undefined
      log.warn({ err: error, jobs: names }, 'a wake-up was lost; the jobs run at their next turn')
    }
  }

  return {
    notify: (job) => {
      jobs.add(job)
      // The first goes at once, and those that follow closely go together; one statement after the other, because a
      // connection carries one at a time.
      timer ??= setTimeout(() => (sending = sending.then(send)), Math.max(lastAt + GATHER_MS - performance.now(), 0))
    },
    close: async () => {
      if (timer !== undefined) {
        clearTimeout(timer)
        sending = sending.then(send)
      }
      await sending
      const connection = await client?.catch(() => undefined)
      await connection?.end().catch(() => undefined)
      client = undefined
    },
  }
}

type Listening = {
  target: ConnectionTarget
  log: Logger
  handler: (job: string) => void
  onReconnect: (() => void) | undefined
}

/** Listens, and after a lost connection again, until it is stopped. */
async function keepListening({ target, log, handler, onReconnect }: Listening): Promise<() => Promise<void>> {
  let stopped = false
  let client: Client | undefined
  let retry: NodeJS.Timeout | undefined

  async function listen(): Promise<void> {
    const made = await makePgConnection({ ...target, onError: again })
    made.on('notification', ({ payload }) => handler(payload ?? ''))
    try {
      await made.query(`listen ${CHANNEL}`)
    } catch (error) {
      made.end().catch(() => undefined)
      throw error
    }
    client = made
    if (stopped) await made.end()
  }

  function again(error: unknown): void {
    client = undefined
    // A connection that is lost during its first statement reports it twice.
    if (stopped || retry !== undefined) return
    log.warn({ err: error }, 'wake-ups are not received; jobs run at their own cadence meanwhile')
    retry = setTimeout(() => {
      retry = undefined
      listen().then(() => !stopped && onReconnect?.(), again)
    }, RETRY_MS)
  }

  await listen()
  return async () => {
    stopped = true
    clearTimeout(retry)
    await client?.end().catch(() => undefined)
  }
}
