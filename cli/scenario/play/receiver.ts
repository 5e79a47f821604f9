import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { verifySignature } from '../../../src/lib/webhook-signature.ts'
import { parsedJson } from '../../base/json.ts'

export type Receipt = {
  /** Milliseconds since 1970. */
  arrivedAt: number
  /** When the answer was sent; undefined while it has not been. */
  answeredAt: number | undefined
  /** When the sender stopped waiting for an answer; undefined where it got one. */
  gaveUpAt: number | undefined
  eventId: string
  eventType: string
  createdAt: string
  paymentId: string
  /** The body's bytes, which the signature is about. */
  body: Buffer
  payload: unknown
  signature: 'valid' | 'wrong' | 'missing'
  /** What it was answered, or would have been if the sender had waited. */
  status: number
}

/** A merchant's server on loopback: keeps what it is sent, checks every signature, and answers as configured. */
export type Receiver = {
  url: string
  receipts: readonly Receipt[]
  /** The secret that signatures are checked with; until it is known, every one is wrong. */
  trust(secret: string): void
  /** Whether it checks with this one. */
  trusts(secret: string): boolean
  /** How it answers from now on: one status after the other, the last one repeatedly. */
  behave(behaviour: Behaviour): void
  /** Resolves when a delivery has come, or after the time. */
  nextReceipt(withinMs: number): Promise<void>
  close(): Promise<void>
}

export type Behaviour = { answers?: readonly number[] | undefined; delayMs?: number | undefined }

export function answerText({ status, answeredAt, gaveUpAt }: Receipt): string {
  if (gaveUpAt !== undefined) return 'not answered in time'
  return answeredAt === undefined ? 'not answered yet' : `answered ${status}`
}

const BODY_BYTES_MAX = 1024 * 1024
const UNAUTHORISED = 401

export async function startReceiver(behaviour: Behaviour = {}): Promise<Receiver> {
  const receipts: Receipt[] = []
  const waiting = new Set<() => void>()
  let secret: string | undefined
  let answers: readonly number[] = [200]
  let delayMs = 0
  let closed: Promise<void> | undefined
  function behave(next: Behaviour): void {
    answers = next.answers ?? answers
    delayMs = next.delayMs ?? delayMs
  }
  function nextStatus(): number {
    const [status = 200, ...rest] = answers
    if (rest.length > 0) answers = rest
    return status
  }
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = request.method === 'POST' ? await readBody(request) : undefined
    if (body === undefined) return void response.writeHead(request.method === 'POST' ? 413 : 405).end()
    const signature = checkSignature(secret, body, request.headers)
    // A receiver refuses what is not genuine (contract §Errors); that is no answer of the scenario.
    const receipt: Receipt = {
      ...read(body),
      arrivedAt: Date.now(),
      answeredAt: undefined,
      gaveUpAt: undefined,
      body,
      signature,
      status: signature === 'valid' ? nextStatus() : UNAUTHORISED,
    }
    receipts.push(receipt)
    response.once('close', () => {
      if (receipt.answeredAt === undefined) receipt.gaveUpAt = Date.now()
    })
    if (delayMs > 0) await delay(delayMs, undefined, { ref: false })
    if (receipt.gaveUpAt === undefined) {
      response.writeHead(receipt.status).end()
      receipt.answeredAt = Date.now()
    }
    for (const wake of waiting) wake()
  }
  behave(behaviour)
  const server = createServer((request, response) => void take(request, response).catch(() => response.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the operating system gave no port')
  return {
    url: `http://127.0.0.1:${address.port}/webhooks`,
    receipts,
    trust: (given) => void (secret = given),
    trusts: (given) => secret === given,
    behave,
    nextReceipt: (withinMs) => nextWake(waiting, withinMs),
    close: () => (closed ??= closeServer(server)),
  }
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
}

async function nextWake(waiting: Set<() => void>, withinMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, withinMs)
  waiting.add(resolve)
  await promise
  waiting.delete(resolve)
  clearTimeout(timer)
}

/** The bytes, or undefined when there are more than any webhook has. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size <= BODY_BYTES_MAX) chunks.push(bytes)
  }
  return size > BODY_BYTES_MAX ? undefined : Buffer.concat(chunks)
}

function checkSignature(secret: string | undefined, body: Buffer, headers: IncomingHttpHeaders): Receipt['signature'] {
  const { 'x-service-signature': current, 'x-service-signature-previous': previous } = headers
  if (typeof current !== 'string') return 'missing'
  // During the overlap of a rotation the secret before signs as well, for receivers that have no newer one yet.
  const signatures = [current, ...(typeof previous === 'string' ? [previous] : [])]
  const isValid = secret !== undefined && signatures.some((signature) => verifySignature({ secret, body, signature }))
  return isValid ? 'valid' : 'wrong'
}

const Envelope = z.object({
  eventId: z.string(),
  eventType: z.string(),
  createdAt: z.string(),
  // A dispute's event names its payment beside its own id, a mandate's the payment that set it up.
  data: z.object({ id: z.string(), paymentId: z.string().optional(), firstPaymentId: z.string().optional() }),
})

function read(body: Buffer): Pick<Receipt, 'eventId' | 'eventType' | 'createdAt' | 'paymentId' | 'payload'> {
  const payload = parsedJson(body.toString('utf8'))
  const { success, data } = Envelope.safeParse(payload)
  if (!success) return { eventId: '', eventType: 'not an event', createdAt: '', paymentId: '', payload }
  return {
    eventId: data.eventId,
    eventType: data.eventType,
    createdAt: data.createdAt,
    paymentId: data.data.paymentId ?? data.data.firstPaymentId ?? data.data.id,
    payload,
  }
}
