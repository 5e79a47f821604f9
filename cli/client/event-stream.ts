import { setTimeout as delay } from 'node:timers/promises'
import { createParser } from 'eventsource-parser'
import { Agent, request } from 'undici'
import { z } from 'zod'
import { StreamEnd, StreamedChange, StreamedEvent, streamEvents } from '../../src/wire/console.ts'
import { withProof } from './call.ts'
import type { Client } from './call.ts'
import { CliError, isPassing } from '../base/errors.ts'
import { urlOf } from './build-request.ts'
import { refusalOf } from './api-error.ts'
import { unreachable } from './unreachable.ts'
import { parsedJson } from '../base/json.ts'

/** What the service sends; of an event, `id` is the cursor behind it. */
export type StreamFrame =
  | { event: 'event'; id: string; data: StreamedEvent }
  | { event: 'changed'; data: StreamedChange }
  | { event: 'end'; data: StreamEnd }

export type FollowOptions = {
  /** A cursor of the feed to go on behind; `latest` without one. */
  lastEventId?: string | undefined
  /** Whose stream: of both, the merchant's where there is one. */
  access?: readonly ('merchant' | 'platform')[]
  /** Whether a service that is away is waited for from the start; otherwise only once it has answered. */
  isPatient?: boolean
  signal: AbortSignal
  /** Nothing more is read until it is done with a frame. */
  onFrame(frame: StreamFrame): void | Promise<void>
  /** Called whenever the stream stands, with the cursor that it begins behind. */
  onOpen?(cursor: string): void
  /** Called when it is lost, once until it is back. */
  onLost?(error: CliError): void
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000
const CONNECT_TIMEOUT_MS = 3_000
/** The service gives a sign of life every 15 seconds. */
const SILENCE_MS = 45_000
/** A frame is a few hundred characters. */
const FRAME_MAX = 1_000_000

/**
 * Follows the service's events until the signal aborts: after a lost connection, a restart or a token's end it connects
 * again and goes on behind the last event that `onFrame` was given.
 * @throws {CliError} where the service refuses, or can't be reached at the start
 */
export async function followStream(client: Client, options: FollowOptions): Promise<void> {
  const { signal } = options
  const agent = new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS }, bodyTimeout: SILENCE_MS })
  const reader: Reader = { client, options, agent, cursor: options.lastEventId, wasOpen: options.isPatient ?? false }
  let pauseMs = FIRST_PAUSE_MS
  let isLost = false
  try {
    while (!signal.aborted) {
      try {
        await readUntilEnd(reader, () => {
          pauseMs = FIRST_PAUSE_MS
          isLost = false
        })
      } catch (error) {
        if (signal.aborted) return
        if (!isPassing(error) || !reader.wasOpen) throw error
        if (!isLost) options.onLost?.(error)
        isLost = true
      }
      await delay(pauseMs, undefined, { signal }).catch(() => undefined)
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)
    }
  } finally {
    await agent.destroy()
  }
}

type Reader = {
  client: Client
  options: FollowOptions
  agent: Agent
  cursor: string | undefined
  wasOpen: boolean
}

async function readUntilEnd(reader: Reader, onOpen: () => void): Promise<void> {
  const { client, options } = reader
  const { headers, body } = await connect(reader)
  const begins = headers['x-next-cursor']
  if (typeof begins === 'string') reader.cursor ??= begins
  reader.wasOpen = true
  onOpen()
  options.onOpen?.(reader.cursor ?? '')
  let frames: StreamFrame[] = []
  const parser = createParser({
    maxBufferSize: FRAME_MAX,
    onEvent: (message) => {
      const frame = frameOf(message)
      if (frame !== undefined) frames.push(frame)
    },
  })
  const decoder = new TextDecoder()
  let end: StreamEnd | undefined
  try {
    for await (const chunk of body) {
      if (!(chunk instanceof Uint8Array)) continue
      parser.feed(decoder.decode(chunk, { stream: true }))
      const taken = frames
      frames = []
      for (const frame of taken) {
        if (options.signal.aborted) return
        await options.onFrame(frame)
        if (frame.event === 'event') reader.cursor = frame.id
        if (frame.event === 'end') end = frame.data
      }
    }
  } catch (error) {
    throw isOurs(error) ? error : unreachable(client, error)
  }
  // A token's end is nothing that is lost: the next connection brings another, or is refused.
  if (end === undefined || end.code === 'SERVICE_UNAVAILABLE')
    throw lost(client, end?.message ?? 'the stream has ended')
}

function isOurs(error: unknown): boolean {
  return error instanceof CliError || (error instanceof Error && !('code' in error) && error.name !== 'AbortError')
}

function lost({ apiUrl }: Client, why: string): CliError {
  return new CliError('STREAM_LOST', `the stream of ${apiUrl} is lost: ${why}`, { retryable: true })
}

async function connect(reader: Reader) {
  const { client, options } = reader
  const operation = { ...streamEvents, access: options.access ?? streamEvents.access }
  const answer = await withProof(client, operation, (proof) => ask(reader, proof))
  if (answer.status === 200) return answer
  throw refusalOf({ client, operation, input: {}, status: answer.status, json: parsedJson(answer.text) })
}

async function ask({ client, options, agent, cursor }: Reader, proof: Readonly<Record<string, string>>) {
  try {
    const { statusCode, headers, body } = await request(urlOf(client, streamEvents, {}), {
      method: 'GET',
      headers: {
        accept: 'text/event-stream',
        ...proof,
        ...(cursor === undefined ? {} : { 'last-event-id': cursor }),
      },
      dispatcher: agent,
      headersTimeout: client.timeoutMs,
      signal: options.signal,
    })
    return { status: statusCode, headers, body, text: statusCode === 200 ? '' : await body.text() }
  } catch (error) {
    throw unreachable(client, error)
  }
}

/** A newer service may return more of a thing than this version knows, and of more things. */
const DATA = {
  event: z.object(StreamedEvent.shape),
  changed: z.object({ of: z.array(z.string()) }),
  end: z.object(StreamEnd.shape),
}

function frameOf({ event, id, data }: { event?: string | undefined; id?: string | undefined; data: string }) {
  const json = parsedJson(data)
  if (event === 'event') {
    const read = DATA.event.safeParse(json)
    return read.success && id !== undefined ? ({ event, id, data: read.data } as const) : undefined
  }
  if (event === 'changed') {
    const of = DATA.changed
      .safeParse(json)
      .data?.of.filter((name) => StreamedChange.shape.of.element.safeParse(name).success)
    // The names were just checked, which the type does not show.
    return of === undefined ? undefined : ({ event, data: { of: of as StreamedChange['of'] } } as const)
  }
  const read = event === 'end' ? DATA.end.safeParse(json) : undefined
  return read?.success === true ? ({ event: 'end', data: read.data } as const) : undefined
}
