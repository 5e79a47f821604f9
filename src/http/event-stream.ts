import type { ServerResponse } from 'node:http'
import type { App } from '../app.ts'
import { tokenExpired } from '../identity/verifier.ts'
import { DomainError } from '../lib/errors.ts'
import type { Operation } from '../wire/operation.ts'
import type { Principal } from './principal.ts'

/** A frame of server-sent events. Its data is JSON on one line. */
export type SseFrame = { event: string; id?: string; data: unknown }

/** A response of server-sent events. */
export type EventStream = {
  /** Aborts when the client has disconnected, has stopped reading, or was sent the end. */
  signal: AbortSignal
  /** The caller as it was last checked: its role may have changed since the stream began. */
  caller(): Principal
  /** Sends the headers, with the cursor that the stream starts after. */
  begin(cursor: string): void
  /** Resolves when there is room for more, so that the writer waits for a slow client; never rejects. */
  write(frames: readonly SseFrame[]): Promise<void>
  /** Sends the reason and ends the response. */
  end(reason: DomainError): void
}

/** Time for the client to read the end, in milliseconds, before the connection is closed. */
const END_MS = 1_000

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  // Proxies that buffer responses would hold every event back.
  'x-accel-buffering': 'no',
}

type EventStreamOptions = {
  app: Pick<App, 'config' | 'streams'>
  operation: Operation
  res: ServerResponse
  headers: Record<string, string>
  /** The caller that the stream begins for. */
  principal: Principal
  /** The caller as it is now. Throws when it may no longer read the stream. */
  recheckCaller(): Promise<Principal>
}

/**
 * Makes a stream of server-sent events. A caller who loses access, or whose token ends, is sent the end; a client that does
 * not read is disconnected.
 */
export function makeEventStream(options: EventStreamOptions): EventStream {
  const { app, operation, res, headers, recheckCaller } = options
  const { askAgainMs, pingMs, stuckMs } = app.streams.limits
  let { principal } = options
  const gone = new AbortController()
  const timers: NodeJS.Timeout[] = []
  res.once('close', () => {
    for (const timer of timers) clearInterval(timer)
    gone.abort()
  })

  function end({ code, message }: DomainError): void {
    if (res.writableEnded || res.destroyed) return
    res.end(textOf({ event: 'end', data: { code, message } }))
    timers.push(setTimeout(() => res.destroy(), END_MS).unref())
    gone.abort()
  }

  async function recheck(): Promise<void> {
    try {
      principal = await recheckCaller()
    } catch (error) {
      // An unavailable database or provider says nothing about the caller.
      if (error instanceof DomainError && !TRANSIENT.has(error.code)) end(error)
    }
  }

  return {
    signal: gone.signal,
    caller: () => principal,
    end,
    begin: (cursor) => {
      // A client that has disconnected meanwhile gets no timers, because nothing would clear them.
      if (res.destroyed || res.closed) return gone.abort()
      res.writeHead(200, { ...HEADERS, ...headers, 'x-next-cursor': cursor })
      if (res.req.method === 'HEAD') return void res.end()
      // A client that reconnects sends this cursor, even if there was no event.
      res.write(`id: ${cursor}\n\n`)
      timers.push(
        setInterval(() => void recheck(), askAgainMs),
        // A full buffer needs no ping.
        setInterval(() => res.writableNeedDrain || res.write(': ping\n\n'), pingMs),
      )
      // Also while an outage keeps the caller from being checked.
      const endsInMs = msToExpiry(principal)
      if (endsInMs !== undefined) timers.push(setTimeout(() => end(tokenExpired()), endsInMs))
    },
    write: async (frames) => {
      if (gone.signal.aborted) return
      for (const frame of frames) checkFrame(app, operation, frame)
      if (!res.write(frames.map(textOf).join(''))) await drained(res, { stuckMs, signal: gone.signal })
    },
  }
}

const TRANSIENT: ReadonlySet<string> = new Set(['SERVICE_UNAVAILABLE', 'IDP_UNAVAILABLE', 'INTERNAL_ERROR'])

/** The time until the caller's token ends; undefined where there is no token. */
function msToExpiry(principal: Principal): number | undefined {
  const expiresAt = 'proof' in principal ? principal.proof.expiresAt : null
  return expiresAt === null ? undefined : Math.max(Date.parse(expiresAt) - Date.now(), 0)
}

function textOf({ event, id, data }: SseFrame): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`
}

/** Resolves when the buffer is sent or the client has disconnected. A client that reads nothing for `stuckMs` is disconnected. */
async function drained(
  res: ServerResponse,
  { stuckMs, signal }: { stuckMs: number; signal: AbortSignal },
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let remaining = res.writableLength
  let timer: NodeJS.Timeout | undefined
  const cutIfStuck = (): void => {
    if (res.writableLength >= remaining) return void res.destroy()
    remaining = res.writableLength
    timer?.refresh()
  }
  timer = setTimeout(cutIfStuck, stuckMs)
  const done = (): void => resolve()
  res.once('drain', done)
  signal.addEventListener('abort', done, { once: true })
  await promise
  clearTimeout(timer)
  res.off('drain', done)
  signal.removeEventListener('abort', done)
}

/** As for every response: outside of live mode, a frame that differs from its declaration is a bug, and throws. */
function checkFrame({ config }: Pick<App, 'config'>, { name, stream }: Operation, { event, data }: SseFrame): void {
  if (config.mode === 'live') return
  const schema = stream?.[event]
  if (schema === undefined) throw new Error(`${name} sent the undeclared frame ${event}`)
  schema.parse(data)
}
