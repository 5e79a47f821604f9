import { parseDuration } from '../../../src/lib/duration.ts'
import { listWebhooks, putWebhookEndpoint } from '../../../src/wire/webhooks.ts'
import type { Delivery } from '../../../src/wire/webhooks.ts'
import { call } from '../../client/call.ts'
import { madeOf, pollFor, readInput } from '../play/case-run.ts'
import type { CaseRun } from '../play/case-run.ts'
import { StepFailure } from '../failure.ts'
import { WITHIN } from '../language/parts.ts'
import { ReceiverBehaviour, Webhooks } from '../language/webhooks.ts'
import { startReceiver } from '../play/receiver.ts'
import type { Behaviour, Receipt, Receiver } from '../play/receiver.ts'
import { paymentNow } from './await.ts'

/** Waits until the receiver has all of these events, and holds their order against the expected one. */
export async function webhooks(run: CaseRun, given: unknown): Promise<void> {
  const {
    for: reference,
    in_order: expected,
    exactly = false,
    signed = false,
    within = WITHIN,
  } = readInput(run, Webhooks, given)
  const { created } = madeOf(run, 'payment', reference)
  const { receipts } = receiverOf(run)
  const firsts = (): Receipt[] => firstReceipts(receipts, created.payment_id)
  await pollFor(run, parseDuration(within), async () => (lacking(expected, firsts()).length === 0 ? true : undefined))
  const missing = lacking(expected, firsts())
  if (missing.length > 0)
    throw mismatch(`${missing.join(', ')} did not arrive within ${within}`, { expected, types: typesOf(firsts()) })
  // Of one that is on its way another may still come, which makes the order right.
  const all = exactly || !hasInOrder(firsts(), expected) ? await typesAtRest(run, created.payment_id) : []
  const received = firsts()
  const types = exactly && all.length > received.length ? all : typesOf(received)
  if (exactly && types.length > expected.length)
    throw mismatch(`${reference} had other webhooks than these`, { expected, types })
  if (!(exactly ? sameOrder(received, expected) : hasInOrder(received, expected)))
    throw mismatch(`the webhooks of ${reference} came in another order`, { expected, types })
  if (signed && received.some((receipt) => receipt.signature !== 'valid'))
    throw new StepFailure("a webhook was not signed with the merchant's secret", { at: ['signed'] })
}

/**
 * The case's receiver.
 * @throws {StepFailure} where it has none: what nobody receives needs no waiting for
 */
export function receiverOf(run: CaseRun): Receiver {
  if (run.receiver !== undefined) return run.receiver
  throw new StepFailure('this case has no receiver that webhooks could arrive at', {
    hint: 'given: { receiver: { answers: [200] } }, or a step receiver before this one',
  })
}

/** How long nothing may happen before nothing more is expected. */
const REST_MS = 500

function typesOf(receipts: readonly Receipt[]): string[] {
  return asSent(receipts).map(({ eventType }) => eventType)
}

/** The types of all the payment's events, once it rests and each of their deliveries is decided, or waits for a retry. */
async function typesAtRest(run: CaseRun, paymentId: string): Promise<string[]> {
  let last = ''
  let since = performance.now()
  const found = await pollFor(run, parseDuration(WITHIN), async () => {
    const { status } = await paymentNow(run, paymentId)
    const { body } = await call(run.client, listWebhooks, { query: { payment_id: paymentId } })
    const now = JSON.stringify([status, body.data.map(({ id, status }) => [id, status])])
    if (now !== last || body.data.some(isDue)) since = performance.now()
    last = now
    if (performance.now() - since < REST_MS) return undefined
    return new Map(body.data.toReversed().map(({ event_id, event_type }) => [event_id, event_type]))
  })
  if (found === undefined)
    throw new StepFailure(`the payment's webhooks were not all decided within ${WITHIN}`, { at: ['in_order'] })
  return [...found.values()]
}

function isDue({ status, next_retry_at }: Delivery): boolean {
  return (
    status === 'PENDING' || (status === 'FAILED' && next_retry_at !== null && Date.parse(next_retry_at) <= Date.now())
  )
}

function mismatch(
  message: string,
  { expected, types }: { expected: readonly string[]; types: readonly string[] },
): StepFailure {
  const shown = (list: readonly string[]): string => (list.length === 0 ? 'nothing' : list.join(', '))
  return new StepFailure(message, {
    differences: [{ path: 'in_order', expected: shown(expected), actual: shown(types) }],
    at: ['in_order'],
  })
}

/** Retries repeat an event: what counts is when each event came first. */
function firstReceipts(receipts: readonly Receipt[], paymentId: string): Receipt[] {
  const seen = new Set<string>()
  return receipts.filter((receipt) => {
    if (receipt.paymentId !== paymentId || seen.has(receipt.eventId)) return false
    seen.add(receipt.eventId)
    return true
  })
}

/** The expected types that have not come, as often as each is expected. */
function lacking(expected: readonly string[], received: readonly Receipt[]): string[] {
  const left = received.map((receipt) => receipt.eventType)
  return expected.filter((type) => {
    const at = left.indexOf(type)
    if (at !== -1) left.splice(at, 1)
    return at === -1
  })
}

/**
 * First attempts leave in the order of the events, several at once: which of those arrives first is chance. The receiver
 * sees only the middle of an attempt; this much of connecting and answering lies around it.
 */
const AROUND_MS = 20

type Arrival = Pick<Receipt, 'eventType' | 'createdAt' | 'arrivedAt' | 'answeredAt' | 'gaveUpAt'>

/** Whether these came in the expected order, and nothing else. */
export function sameOrder(received: readonly Arrival[], expected: readonly string[]): boolean {
  return received.length === expected.length && hasInOrder(received, expected)
}

/**
 * Whether the expected events are among what came, in this order. What else came does not matter, before, between or after
 * them; of several of one type the earliest that fits counts.
 */
export function hasInOrder(received: readonly Arrival[], expected: readonly string[]): boolean {
  const left = asSent(received)
  const found: Arrival[] = []
  for (const type of expected) {
    const at = left.findIndex((each) => each.eventType === type && found.every((before) => isBefore(before, each)))
    const [next] = at === -1 ? [] : left.splice(at, 1)
    if (next === undefined) return false
    found.push(next)
  }
  return true
}

/** As they were sent, as far as that can be told. */
function asSent<T extends Arrival>(received: readonly T[]): T[] {
  const sent: T[] = []
  for (const each of received.toSorted((a, b) => a.arrivedAt - b.arrivedAt)) {
    const later = sent.findLastIndex((other) => isBefore(other, each))
    sent.splice(later + 1, 0, each)
  }
  return sent
}

/** What was under way together is held in the order in which it happened, all else in the order in which it came. */
function isBefore(one: Arrival, other: Arrival): boolean {
  const [first, second] = one.arrivedAt <= other.arrivedAt ? [one, other] : [other, one]
  return overlap(first, second) ? one.createdAt <= other.createdAt : one === first
}

function overlap(first: Arrival, second: Arrival): boolean {
  const end = first.gaveUpAt ?? first.answeredAt
  return end === undefined || second.arrivedAt - end <= AROUND_MS
}

/** Changes how the receiver answers from now on; where the case has none, it gets one. */
export async function receiver(run: CaseRun, given: unknown): Promise<void> {
  const { secret, ...input } = readInput(run, ReceiverBehaviour, given)
  const behaviour = behaviourOf(input)
  if (secret !== undefined) run.receiver?.trust(secretOf(run, secret))
  if (run.receiver !== undefined) return run.receiver.behave(behaviour)
  run.receiver = await startReceiver(behaviour)
  run.receiver.trust(secretOf(run, secret ?? 'newest'))
  await call(run.client, putWebhookEndpoint, { body: { webhook_url: run.receiver.url } })
}

function secretOf({ merchant }: CaseRun, which: 'newest' | 'previous'): string {
  if (which === 'newest') return merchant.secret
  if (merchant.previousSecret !== undefined) return merchant.previousSecret
  throw new StepFailure('there is no previous secret', { at: ['secret'], hint: 'secret.rotate: {} before this step' })
}

export function behaviourOf({
  answers,
  delay,
}: {
  answers?: readonly number[] | undefined
  delay?: string | undefined
}): Behaviour {
  return { answers, delayMs: delay === undefined ? undefined : parseDuration(delay) }
}
