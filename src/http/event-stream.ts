import type { ServerResponse } from 'node:http'
import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import type { Operation } from '../wire/operation.ts'

/** A frame of server-sent events; its data is JSON, in which no line ends. */
export type SseFrame = { event: string; id?: string; data: unknown }

/** An answer that goes on. */
export type EventStream = {
  /** Aborts when the reader has gone, takes nothing any more, or was told of the end. */
  signal: AbortSignal
  /** Sends the head, with the cursor that the stream begins behind. */
  begin(cursor: string): void
  /** Resolves when there is room for more, so that a slow reader is waited for; never rejects. */
  write(frames: readonly SseFrame[]): Promise<void>
  /** Tells the reader why, and ends the answer. */
  end(why: DomainError): void
}

/** How long an end may take that its reader does not fetch. */
const END_MS = 1_000

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  // Proxies that gather answers would hold every event back.
  'x-accel-buffering': 'no',
}

type Given = {
  app: Pick<App, 'config' | 'streams'>
  operation: Operation
  res: ServerResponse
  headers: Record<string, string>
  /** Throws when its caller may not read any more. */
  askAgain(): Promise<unknown>
}

/** Makes an answer of server-sent events; whoever can't read on is told so, and one that does not read is cut off. */
export function makeEventStream({ app, operation, res, headers, askAgain }: Given): EventStream {
  const { askAgainMs, pingMs, stuckMs } = app.streams.limits
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

  async function ask(): Promise<void> {
    try {
      await askAgain()
    } catch (error) {
      // A database or a provider that is away says nothing about the caller.
      if (error instanceof DomainError && !PASSING.has(error.code)) end(error)
    }
  }

  return {
    signal: gone.signal,
    end,
    begin: (cursor) => {
      // Who has gone meanwhile gets no timers, which nothing would end.
      if (res.destroyed || res.closed) return gone.abort()
      res.writeHead(200, { ...HEADERS, ...headers, 'x-next-cursor': cursor })
      if (res.req.method === 'HEAD') return void res.end()
      // A client that connects again names this place, though no event has come.
      res.write(`id: ${cursor}\n\n`)
      timers.push(
        setInterval(() => void ask(), askAgainMs),
        // One that has no room for more needs no sign of life.
        setInterval(() => res.writableNeedDrain || res.write(': ping\n\n'), pingMs),
      )
    },
    write: async (frames) => {
      if (gone.signal.aborted) return
      for (const frame of frames) checkFrame(app, operation, frame)
      if (!res.write(frames.map(textOf).join(''))) await drained(res, { stuckMs, signal: gone.signal })
    },
  }
}

const PASSING: ReadonlySet<string> = new Set(['SERVICE_UNAVAILABLE', 'IDP_UNAVAILABLE', 'INTERNAL_ERROR'])

function textOf({ event, id, data }: SseFrame): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`
}

/** Resolves when what was written has left, or the reader has gone; one that takes nothing for so long is cut off. */
async function drained(
  res: ServerResponse,
  { stuckMs, signal }: { stuckMs: number; signal: AbortSignal },
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let left = res.writableLength
  let look: NodeJS.Timeout | undefined
  const cutIfStuck = (): void => {
    if (res.writableLength >= left) return void res.destroy()
    left = res.writableLength
    look?.refresh()
  }
  look = setTimeout(cutIfStuck, stuckMs)
  const done = (): void => resolve()
  res.once('drain', done)
  signal.addEventListener('abort', done, { once: true })
  await promise
  clearTimeout(look)
  res.off('drain', done)
  signal.removeEventListener('abort', done)
}

/** As with every answer: outside production a frame that is not as declared is a bug, told at once. */
function checkFrame({ config }: Pick<App, 'config'>, { name, stream }: Operation, { event, data }: SseFrame): void {
  if (config.mode === 'live') return
  const schema = stream?.[event]
  if (schema === undefined) throw new Error(`${name} sent the undeclared frame ${event}`)
  schema.parse(data)
}
