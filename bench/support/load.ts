import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { percentile } from './numbers.ts'
import type { Sample } from './numbers.ts'
import { WRK, runWrk } from './wrk.ts'

export type Load = {
  port: number
  connections: number
  seconds: number
  /** Returns the next request as raw HTTP text. */
  next: () => string
  /** The status that every answer must have. */
  status: number
  /** How many requests a second `next` may be asked for, more than are answered; each is sent once. */
  perSecondMax?: number
}

const WARM_UP_MS = 500
/** Its requests are written beforehand, and kept in memory. */
const WRK_SECONDS_MAX = 15

/** A request as HTTP/1.1 text; the body, where there is one, is ASCII. */
export function requestText(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
): string {
  const lines = Object.entries({
    host: '127.0.0.1',
    ...headers,
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(body.length) }),
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`
}

/**
 * Keeps `connections` busy with one request each for `seconds`, after a short warm-up: by wrk where it is installed, because
 * what the load uses of the machine is missing from what it measures, else by bare sockets.
 */
export async function runLoad(load: Load): Promise<Sample> {
  if (!existsSync(WRK) || load.seconds > WRK_SECONDS_MAX) return runSockets(load, WARM_UP_MS)
  // Which also checks the status of each answer, as wrk does not.
  const seconds = WARM_UP_MS / 1000
  const { rate } = await runSockets({ ...load, seconds }, 0)
  const { units = 0, ...sample } = await runWrk(load)
  return { ...sample, units: units + rate * seconds }
}

async function runSockets(load: Load, warmUpMs: number): Promise<Sample> {
  const latencies: number[] = []
  const from = performance.now() + warmUpMs
  const until = from + load.seconds * 1000
  const onAnswer = (sentAt: number) => {
    const now = performance.now()
    if (now >= from && now < until) latencies.push(now - sentAt)
    return now < until
  }
  await Promise.all(Array.from({ length: load.connections }, () => keepBusy(load, onAnswer)))
  const sample = { p50: percentile(latencies, 0.5), p95: percentile(latencies, 0.95), p99: percentile(latencies, 0.99) }
  return { rate: latencies.length / load.seconds, ...sample }
}

/** Keeps one connection busy, reconnecting when the server closes it, until `onAnswer` returns false. */
async function keepBusy(load: Load, onAnswer: (sentAt: number) => boolean): Promise<void> {
  while (await converse(load, onAnswer)) continue
}

/** Resolves to true if more is to be sent over a new connection. */
function converse(load: Load, onAnswer: (sentAt: number) => boolean): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  const socket = connect(load.port, '127.0.0.1').setNoDelay(true)
  let received = ''
  let sentAt = 0

  function send(): void {
    sentAt = performance.now()
    socket.write(load.next(), 'latin1')
  }

  function receive(chunk: string): void {
    received += chunk
    const answer = wholeAnswer(received)
    if (answer === undefined) return
    if (answer.status !== load.status) return fail(new Error(`answered ${answer.status}: ${received}`))
    received = ''
    const more = onAnswer(sentAt)
    if (more && !answer.last) return send()
    socket.destroy()
    resolve(more)
  }

  function fail(error: Error): void {
    socket.destroy()
    reject(error)
  }

  listen(socket, { onConnect: send, onData: receive, onError: fail })
  return promise
}

type Listeners = { onConnect: () => void; onData: (chunk: string) => void; onError: (error: Error) => void }

function listen(socket: Socket, { onConnect, onData, onError }: Listeners): void {
  socket.setEncoding('latin1')
  socket.once('connect', onConnect)
  socket.on('data', onData)
  socket.once('error', onError)
  socket.once('end', () => onError(new Error('the server closed a connection that it had not announced to close')))
}

const LENGTH = 'content-length: '

/**
 * Supports only responses with a lower-case content-length header, as the service and its peers send them: searched as
 * plain text, because this runs for every measured request.
 */
function wholeAnswer(text: string): { status: number; last: boolean } | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const at = text.indexOf(LENGTH) + LENGTH.length
  if (text.length < end + 4 + Number.parseInt(text.slice(at, at + 8), 10)) return undefined
  return { status: Number(text.slice(9, 12)), last: text.includes('onnection: close\r\n') }
}
