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
   * Calls `handler` with the name of every job that is woken. Resolves with a function that stops it once it listens, or
   * the first try has failed: that is tried again like a lost connection, until it is stopped. `onReconnect` is called
   * when it listens after a failure: wake-ups in between were missed.
   */
  listen(handler: (job: string) => void, onReconnect?: () => void): Promise<() => Promise<void>>
  /** Sends what was gathered, and stops whatever listens. */
  close(): Promise<void>
}

const CHANNEL = 'svc_wake'

/** A commit with NOTIFY takes a lock of the whole database, so notifications are gathered first. */
const GATHER_MS = 5

/** How long a listener waits before it tries again. */
const RETRY_MS = 1_000

/** Notifies and listens over connections of its own, made when they are first needed. */
export function makeWake(target: ConnectionTarget, log: Logger): Wake {
  const notifier = makeNotifier(target, log)
  const listeners = new Set<() => Promise<void>>()
  return {
    notify: (job) => notifier.notify(job),
    listen: async (handler, onReconnect) => {
      const { firstTry, stop } = keepListening({ target, log, handler, onReconnect })
      listeners.add(stop)
      await firstTry
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

/** Listens, and after a failure tries again, until it is stopped. */
function keepListening({ target, log, handler, onReconnect }: Listening) {
  let isStopped = false
  let client: Client | undefined
  let retry: NodeJS.Timeout | undefined
  const firstTry = listen()
  let trying: Promise<unknown> = firstTry

  /** Returns whether it listens. */
  async function listen(): Promise<boolean> {
    let isLost = false
    function onLost(error: unknown): void {
      // A connection that is lost during its first statement reports it twice.
      if (isLost) return
      isLost = true
      client = undefined
      tryAgain(error)
    }
    let made: Client | undefined
    try {
      made = await makePgConnection({ ...target, onError: onLost })
      made.on('notification', ({ payload }) => handler(payload ?? ''))
      await made.query(`listen ${CHANNEL}`)
      if (!isLost) client = made
    } catch (error) {
      made?.end().catch(() => undefined)
      onLost(error)
    }
    return !isLost
  }

  function tryAgain(error: unknown): void {
    if (isStopped) return
    log.warn({ err: error }, 'wake-ups are not received; jobs and streams look at their own pace meanwhile')
    retry = setTimeout(() => (trying = listenAgain()), RETRY_MS)
  }

  async function listenAgain(): Promise<void> {
    if ((await listen()) && !isStopped) onReconnect?.()
  }

  return {
    firstTry,
    stop: async () => {
      isStopped = true
      clearTimeout(retry)
      // One that is being made can't be ended: it has a time limit.
      await trying
      await client?.end().catch(() => undefined)
    },
  }
}
