import { createParser } from 'eventsource-parser'
import { request } from 'undici'
import type { Test } from 'tap'
import { until } from './app.ts'

// Tests look into frames of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
export type SseFrame = { event: string | undefined; id: string | undefined; data: any }

export type OpenStream = {
  status: number
  headers: Record<string, string | string[] | undefined>
  frames: SseFrame[]
  /** Ids of frames without data, the first of them where the stream begins. */
  ids: string[]
  comments: string[]
  /** The answer as text, where it is no stream. */
  text: string
  /** Resolves when the server has ended it. */
  ended: Promise<void>
  /** Waits for so many frames of events, and answers them. */
  events(count: number): Promise<SseFrame[]>
  close(): void
}

/** Opens a stream and reads it until it ends, is closed, or the test is over. */
export async function openStream(
  t: Test,
  url: string,
  { headers = {}, query = '' }: { headers?: Record<string, string>; query?: string } = {},
): Promise<OpenStream> {
  const control = new AbortController()
  t.teardown(() => control.abort())
  const answer = await request(`${url}/api/v1/events/stream${query}`, { headers, signal: control.signal })
  const stream: OpenStream = {
    status: answer.statusCode,
    headers: answer.headers,
    frames: [],
    ids: [],
    comments: [],
    text: '',
    ended: Promise.resolve(),
    events: async (count) => {
      const found = () => stream.frames.filter(({ event }) => event === 'event')
      await until(async () => found().length >= count)
      return found()
    },
    close: () => control.abort(),
  }
  if (answer.statusCode !== 200) {
    stream.text = await answer.body.text()
    return stream
  }
  stream.ended = read(answer.body, stream)
  return stream
}

async function read(body: AsyncIterable<unknown>, stream: OpenStream): Promise<void> {
  const parser = createParser({
    onEvent: ({ event, id, data }) => stream.frames.push({ event, id, data: JSON.parse(data) }),
    onId: (id) => stream.ids.push(id),
    onComment: (comment) => stream.comments.push(comment),
  })
  try {
    for await (const chunk of body) parser.feed(String(chunk))
  } catch {
    // It was closed, or cut.
  }
}
