import { setTimeout as delay } from 'node:timers/promises'
import { listEvents } from '../../../src/wire/webhooks.ts'
import type { FeedEvent } from '../../../src/wire/webhooks.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { isPassing } from '../../base/errors.ts'
import type { CliError } from '../../base/errors.ts'

const PAGE = 100
const IDLE_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 2_000

export type FollowOptions = {
  /** `latest`, `beginning`, or a cursor of the feed. */
  since: string
  signal: AbortSignal
  /** Called once, when the reader stands at its starting place; null is the beginning of an empty feed. */
  onReady(cursor: string | null): void
  /** Called when the service is lost, once until it is back. */
  onLost(error: CliError): void
  onBack(): void
}

/**
 * Gives a merchant's events in the order of the feed, for ever, until `signal` aborts. Nothing is read ahead of who takes
 * them but one page. A service that goes away is waited for, and reading goes on from where it was; one that can't be
 * reached at the start, or that refuses, is a failure.
 * @throws {CliError} from the service
 */
export async function* followFeed(client: Client, options: FollowOptions): AsyncGenerator<FeedEvent, void> {
  const { since, signal } = options
  const read = makeReader(client, options)
  let after = since === 'beginning' ? undefined : since
  let isReady = false
  while (!signal.aborted) {
    const page = await read(after, { isFirst: !isReady })
    if (page === undefined) return
    if (!isReady) options.onReady(since === 'latest' ? page.next_cursor : (after ?? null))
    isReady = true
    for (const event of page.data) {
      if (signal.aborted) return
      yield event
    }
    after = page.next_cursor ?? after
    if (page.data.length < PAGE) await pause(IDLE_PAUSE_MS, signal)
  }
}

type Page = { data: FeedEvent[]; next_cursor: string | null }

/** Reads one page, as often as it takes; undefined when the signal ended it. */
function makeReader(client: Client, { signal, onLost, onBack }: FollowOptions) {
  return async (after: string | undefined, { isFirst }: { isFirst: boolean }): Promise<Page | undefined> => {
    let pauseMs = IDLE_PAUSE_MS
    let isLost = false
    while (!signal.aborted) {
      try {
        const query = { limit: PAGE, ...(after === undefined ? {} : { after }) }
        const reply = await unlessAborted(call(client, listEvents, { query }), signal)
        if (reply !== undefined && isLost) onBack()
        return reply?.body
      } catch (error) {
        if (isFirst || !isPassing(error)) throw error
        if (!isLost) onLost(error)
        isLost = true
      }
      await pause(pauseMs, signal)
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)
    }
    return undefined
  }
}

/** The promise's value, or undefined as soon as the signal aborts; the request is ended with its client. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const aborted = Promise.withResolvers<undefined>()
  const onAbort = (): void => aborted.resolve(undefined)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Waits; less when the signal aborts. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined)
}
