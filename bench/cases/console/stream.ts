import { setTimeout as delay } from 'node:timers/promises'
import { createParser } from 'eventsource-parser'
import { request } from 'undici'

const OPERATOR = { 'x-platform-user': 'ada' }

/** Follows the same stream as the console, and counts its events. */
export async function readStream(url: string) {
  const abort = new AbortController()
  const { body } = await request(`${url}/api/v1/events/stream`, {
    headers: OPERATOR,
    signal: abort.signal,
    bodyTimeout: 0,
  })
  const seen = new Set<string>()
  const counted = { events: 0, bytes: 0, ofType: new Map<string, number>() }
  const parser = createParser({
    onEvent({ event, id = '' }) {
      if (event !== 'event') return
      counted.events += 1
      seen.add(id)
    },
  })
  const reading = (async () => {
    for await (const chunk of body) {
      counted.bytes += chunk.length
      parser.feed(Buffer.from(chunk).toString())
    }
  })().catch((error: unknown) => {
    if (!abort.signal.aborted) throw error
  })
  return {
    async until(count: number) {
      const deadline = performance.now() + 20_000
      while (seen.size < count && performance.now() < deadline) await delay(20)
    },
    stop() {
      abort.abort()
      void reading
      return { events: counted.events, bytes: counted.bytes, gaps: counted.events - seen.size }
    },
  }
}
