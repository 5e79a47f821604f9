import { randomBytes } from 'node:crypto'
import type { Ids } from '../../../src/lib/ids.ts'
import { webhookHeaders } from '../../../src/lib/webhook-signature.ts'
import { sampleData } from '../../../src/wire/webhook-samples.ts'
import type { EventType } from '../../../src/wire/webhook-events.ts'
import type { Delivery } from '../send.ts'

/**
 * What the answers of a check are held against. `taken`: each is a 2xx within the limit. `refused`: none is a 2xx, and
 * each is a 4xx. `quick`: taken, and in half of the limit.
 */
export type Rule = 'taken' | 'refused' | 'quick'

export type Check = {
  id: string
  sends: string
  expects: string
  advice: string
  rule: Rule
  /** The requests: round after round, those of one round at the same time. Made again for each exam. */
  rounds(kit: Kit): readonly (readonly Delivery[])[]
}

export function checksWith(
  defaults: Pick<Check, 'rule' | 'expects'>,
  checks: readonly (Omit<Check, 'rule' | 'expects'> & Partial<Check>)[],
): readonly Check[] {
  return checks.map((check) => ({ ...defaults, ...check }))
}

export type Kit = {
  secret: string
  ids: Pick<Ids, 'uuid' | 'eventId' | 'endToEndId'>
}

/** An event's envelope (contract §Webhook events). */
export type Envelope = {
  eventId: string
  eventType: string
  apiVersion: 'v1'
  createdAt: string
  data: Readonly<Record<string, unknown>>
}

type Known = Envelope & { eventType: EventType }

const EVIDENCE_SECONDS = 14 * 24 * 3_600

/** A made-up event of this type, with every member of a real one; it says `test` and is about no payment that there is. */
export function eventOf({ ids }: Kit, eventType: EventType = 'payment.settled', ageMs = 0): Known {
  const createdAt = new Date(Date.now() - ageMs).toISOString()
  const data = sampleData(eventType, {
    merchantId: ids.uuid(),
    paymentId: ids.uuid(),
    consentId: ids.uuid(),
    refundId: ids.uuid(),
    disputeId: ids.uuid(),
    payoutId: ids.uuid(),
    bankAccountId: ids.uuid(),
    endToEndId: ids.endToEndId(),
    now: createdAt,
    evidenceSeconds: EVIDENCE_SECONDS,
  })
  return { eventId: ids.eventId(), eventType, apiVersion: 'v1', createdAt, data }
}

export function withData(event: Envelope, more: Readonly<Record<string, unknown>>): Envelope {
  return { ...event, data: { ...event.data, ...more } }
}

export function bytesOf(event: unknown): Buffer {
  return Buffer.from(JSON.stringify(event), 'utf8')
}

export type Signing = {
  /** The bytes that travel; those of the event unless it is said. */
  body?: Buffer
  /** The bytes that are signed; those that travel unless it is said. */
  over?: Buffer
  /** What `X-Service-Signature` is made with; the receiver's secret unless it is said. */
  secret?: string
  /** What `X-Service-Signature-Previous` is made with; without it there is none. */
  previous?: string
  label?: string
}

export function deliver(kit: Kit, event: Envelope, signing: Signing = {}): Delivery {
  const { body = bytesOf(event), secret = kit.secret, previous = null, label = event.eventType } = signing
  const { over = body } = signing
  const headers = webhookHeaders({
    eventId: event.eventId,
    body: over,
    secret,
    previousSecret: previous,
    now: Date.now(),
  })
  return { headers, body, label }
}

export function withHeaders(delivery: Delivery, changes: Readonly<Record<string, string | null>>): Delivery {
  const headers = Object.entries({ ...delivery.headers, ...changes }).filter(
    (pair): pair is [string, string] => pair[1] !== null,
  )
  return { ...delivery, headers: Object.fromEntries(headers) }
}

export function unknownSecret(): string {
  return randomBytes(32).toString('hex')
}
