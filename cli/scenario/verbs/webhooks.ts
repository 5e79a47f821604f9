import { z } from 'zod'
import { parseDuration } from '../../../src/lib/duration.ts'
import { EventType } from '../../../src/wire/webhook-events.ts'
import {
  Delivery,
  DeliveryStatus,
  getWebhook,
  listWebhooks,
  putWebhookEndpoint,
  replayWebhook,
  replayWebhooks,
} from '../../../src/wire/webhooks.ts'
import { call } from '../../client/call.ts'
import { refuseDifferences } from '../assert-matches.ts'
import { StepFailure } from '../failure.ts'
import { HttpStatus, Matcher, Ref, WITHIN, Wait, matchersOf } from '../language/parts.ts'
import { differencesOf } from '../matchers.ts'
import { madeOf, pollFor } from '../play/case-run.ts'
import type { CaseRun } from '../play/case-run.ts'
import { startReceiver } from '../play/receiver.ts'
import type { Behaviour, Receipt, Receiver } from '../play/receiver.ts'
import { paymentNow } from './payments.ts'
import { form, sends, verb, waits } from './verb.ts'
import type { Subject } from './verb.ts'
import { hasInOrder, inSentOrder, sameOrder } from './webhook-order.ts'

export const ReceiverBehaviour = z.strictObject({
  /** One status per delivery, in turn; the last one repeats. */
  answers: z.array(HttpStatus).min(1).max(1_000).optional(),
  /** How long the receiver takes before it answers. */
  delay: Wait.optional(),
  /** Which secret the receiver verifies with from now on: a merchant deploys a new one when it suits. */
  secret: z.enum(['newest', 'previous']).optional(),
})

const webhooks = verb({
  schema: z.strictObject({
    for: Ref.payment,
    in_order: z.array(EventType).min(1),
    /** Whether nothing else may have come for this payment. */
    exactly: z.boolean().optional(),
    signed: z.boolean().optional(),
    within: Wait.optional(),
  }),
  text: 'Checks that the receiver got these events for the payment in this order, with others between. `exactly`: no others.',
  examples: [
    'webhooks: { for: $p1, in_order: [payment.initiated, payment.authorized] }',
    'webhooks: { for: $p1, in_order: [payment.initiated, payment.authorized], exactly: true }',
  ],
  async play(run, { for: reference, in_order: expected, exactly = false, signed = false, within = WITHIN }) {
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
  },
})

/**
 * The case's receiver.
 * @throws {StepFailure} where it has none: what is not received is not waited for
 */
function receiverOf(run: CaseRun): Receiver {
  if (run.receiver !== undefined) return run.receiver
  throw new StepFailure('this case has no receiver that webhooks could arrive at', {
    hint: 'given: { receiver: { answers: [200] } }, or a step receiver before this one',
  })
}

/** How long nothing may happen before nothing more is expected. */
const REST_MS = 500

function typesOf(receipts: readonly Receipt[]): string[] {
  return inSentOrder(receipts).map(({ eventType }) => eventType)
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

const receiver = verb({
  schema: ReceiverBehaviour,
  text: 'Sets how the receiver answers from now on, how late, and which secret it knows.',
  examples: [
    'receiver: { answers: [500] }',
    'receiver: { answers: [500, 200] }',
    'receiver: { delay: 6s }',
    'receiver: { secret: previous }',
  ],
  async play(run, { secret, ...input }) {
    const behaviour = behaviourOf(input)
    if (secret !== undefined) run.receiver?.trust(secretOf(run, secret))
    if (run.receiver !== undefined) return run.receiver.behave(behaviour)
    run.receiver = await startReceiver(behaviour)
    run.receiver.trust(secretOf(run, secret ?? 'newest'))
    await call(run.client, putWebhookEndpoint, { body: { webhook_url: run.receiver.url } })
  },
})

function secretOf({ merchant }: CaseRun, which: 'newest' | 'previous'): string {
  if (which === 'newest') return merchant.secret
  if (merchant.previousSecret !== undefined) return merchant.previousSecret
  throw new StepFailure('there is no previous secret', { at: ['secret'], hint: 'secret.rotate: {} before this step' })
}

export function behaviourOf({ answers, delay }: z.output<typeof ReceiverBehaviour>): Behaviour {
  return { answers, delayMs: delay === undefined ? undefined : parseDuration(delay) }
}

const ReplayOne = z.strictObject({ webhook: EventType, for: Ref.payment })
const replayOne = sends<z.output<typeof ReplayOne>, typeof replayWebhook>({
  operation: replayWebhook,
  what: 'the delivery',
  request: async (run, input) => ({ params: { id: (await deliveryOf(run, input)).id } }),
})
const ReplayMany = z.strictObject({
  status: z.literal('DEAD'),
  event_type: EventType.optional(),
  expect: z.strictObject({ matching: Matcher.optional(), queued: Matcher.optional() }).optional(),
})

const replay = verb({
  schema: z.union([ReplayOne, ReplayMany]),
  text: 'Sends DEAD deliveries again, one or all.',
  examples: ['replay: { webhook: payment.settled, for: $p1 }', 'replay: { status: DEAD, expect: { matching: 3 } }'],
  async play(run, input, given) {
    if ('webhook' in input) return replayOne(run, input, given)
    const { expect = {}, ...body } = input
    const replayed = await call(run.client, replayWebhooks, { body })
    refuseDifferences('the replay', differencesOf(expect, replayed.body), ['expect'])
  },
})

export const WEBHOOK_VERBS = { webhooks, receiver, replay }

type Of = { webhook: EventType; for: string }

async function deliveryNow(run: CaseRun, { webhook: eventType, for: reference }: Of): Promise<Delivery | undefined> {
  const { payment_id, consent_id: consentId } = madeOf(run, 'payment', reference).created
  if (eventType === 'consent.revoked') return mandateDeliveryNow(run, consentId)
  const { body } = await call(run.client, listWebhooks, { query: { payment_id } })
  return body.data.find((delivery) => delivery.event_type === eventType)
}

async function deliveryOf(run: CaseRun, of: Of): Promise<Delivery> {
  const delivery = await deliveryNow(run, of)
  if (delivery !== undefined) return delivery
  throw new StepFailure(`there is no ${of.webhook} for ${of.for}`, { at: ['webhook'] })
}

const MandateEvent = z.object({ data: z.object({ id: z.string() }) })

/** The delivery of a mandate's end names no payment: which mandate it is of is in its payload. */
async function mandateDeliveryNow(run: CaseRun, consentId: string): Promise<Delivery | undefined> {
  const { data } = (await call(run.client, listWebhooks, { query: { event_type: 'consent.revoked' } })).body
  for (const delivery of data) {
    const { payload } = (await call(run.client, getWebhook, { params: { id: delivery.id } })).body
    if (MandateEvent.parse(JSON.parse(payload)).data.id === consentId) return delivery
  }
  return undefined
}

function describe({ status, attempt_count, last_http_status, last_error }: Delivery): string {
  const answer = last_http_status === null ? (last_error ?? '') : `last answer ${last_http_status}`
  const attempts = `${attempt_count} ${attempt_count === 1 ? 'attempt' : 'attempts'}`
  return `${status} after ${attempts}${answer === '' ? '' : `, ${answer}`}`
}

export const DELIVERY = {
  subject: 'A delivery and its payload',
  awaits: [
    // One that is DELIVERED or DEAD stays so unless it is replayed.
    form({
      schema: z.strictObject({
        webhook: EventType,
        for: Ref.payment,
        status: DeliveryStatus.optional(),
        within: Wait.optional(),
      }),
      examples: ['await: { webhook: payment.settled, for: $p1, status: DELIVERED }'],
      play: waits(
        (run, input) => deliveryNow(run, input),
        ({ webhook, for: reference, status: wanted = 'DELIVERED' }) => ({
          what: `${webhook} for ${reference}`,
          wanted,
          status: ({ status }) => status,
          isOver: ['DELIVERED', 'DEAD', ...(wanted === 'PENDING' ? ['FAILED'] : [])],
          now: describe,
          hint(last, isOver) {
            if (last?.status === 'FAILED') return 'clock: { advance: 11h } lets the retries happen at once'
            return isOver && last?.status === 'DEAD'
              ? `replay: { webhook: ${webhook}, for: ${reference} } before this step`
              : undefined
          },
        }),
      ),
    }),
  ],
  expects: [
    // The delivery's record is looked at once; what the receiver was sent may be on its way, and is waited for.
    form({
      schema: z.strictObject({
        ...matchersOf(Delivery),
        webhook: EventType,
        for: Ref.payment,
        payload: Matcher.optional(),
      }),
      examples: [
        'expect: { webhook: payment.settled, for: $p1, attempt_count: 1, payload: { eventType: payment.settled } }',
      ],
      async play(run, { webhook, for: reference, payload, ...expected }) {
        const what = `${webhook} for ${reference}`
        if (payload !== undefined) {
          const { receipts } = receiverOf(run)
          // Of several, the newest, as the record below.
          const receipt = await pollFor(run, parseDuration(WITHIN), async () => {
            const delivery = await deliveryNow(run, { webhook, for: reference })
            return receipts.find(({ eventId }) => eventId === delivery?.event_id)
          })
          if (receipt === undefined)
            throw new StepFailure(`${what} did not arrive within ${WITHIN}`, { at: ['webhook'] })
          refuseDifferences(`the payload of ${what}`, differencesOf(payload, receipt.payload), ['payload'], {
            what: `the payload of ${webhook} (${receipt.eventId})`,
            value: receipt.payload,
          })
        }
        refuseDifferences(what, differencesOf(expected, await deliveryOf(run, { webhook, for: reference })))
      },
    }),
  ],
} as const satisfies Subject
