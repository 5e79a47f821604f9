import { parseDuration } from '../../../src/lib/duration.ts'
import { putWebhookEndpoint, replayWebhook } from '../../../src/wire/portal.ts'
import { call } from '../../client.ts'
import { paymentOf, pollFor, readInput } from '../case-run.ts'
import type { CaseRun } from '../case-run.ts'
import { StepFailure } from '../failure.ts'
import { ReceiverBehaviour, Replay, Webhooks } from '../language.ts'
import { startReceiver } from '../receiver.ts'
import type { Behaviour, Receipt } from '../receiver.ts'
import { WITHIN, deliveryNow } from './await.ts'

/** Waits until the receiver has all of these events, and holds their order against the expected one. */
export async function webhooks(run: CaseRun, given: unknown): Promise<void> {
  const {
    for: reference,
    in_order: expected,
    exactly = false,
    signed = false,
    within = WITHIN,
  } = readInput(run, Webhooks, given, ['for'])
  const { created } = paymentOf(run, reference)
  const firsts = (): Receipt[] => firstReceipts(run.receiver?.receipts ?? [], created.payment_id)
  await pollFor(run, parseDuration(within), async () => (lacking(expected, firsts()).length === 0 ? true : undefined))
  const received = firsts().filter((receipt) => exactly || expected.some((type) => type === receipt.eventType))
  const types = received.map((receipt) => receipt.eventType)
  const missing = lacking(expected, received)
  if (missing.length > 0)
    throw mismatch(`${missing.join(', ')} did not arrive within ${within}`, { expected, types, hint: missingHint(run) })
  if (!sameOrder(received, expected))
    throw mismatch(
      exactly && types.length > expected.length
        ? `${reference} had other webhooks than these`
        : `the webhooks of ${reference} came in another order`,
      { expected, types },
    )
  if (signed && received.some((receipt) => receipt.signature !== 'valid'))
    throw new StepFailure("a webhook was not signed with the merchant's secret", { at: ['signed'] })
}

function missingHint(run: CaseRun): string | undefined {
  return run.receiver === undefined
    ? 'given: { receiver: { answers: [200] } }, for this case has no receiver'
    : undefined
}

function mismatch(
  message: string,
  { expected, types, hint }: { expected: readonly string[]; types: readonly string[]; hint?: string | undefined },
): StepFailure {
  const shown = (list: readonly string[]): string => (list.length === 0 ? 'nothing' : list.join(', '))
  return new StepFailure(message, {
    differences: [{ path: 'in_order', expected: shown(expected), actual: shown(types) }],
    at: ['in_order'],
    hint,
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

/** First attempts leave in the order of the events, several at once: what was under way together has no order. */
const TOGETHER_MS = 100

function sameOrder(received: readonly Receipt[], expected: readonly string[]): boolean {
  if (received.length !== expected.length) return false
  const ordered = received.toSorted((a, b) =>
    Math.abs(a.arrivedAt - b.arrivedAt) <= TOGETHER_MS
      ? a.createdAt.localeCompare(b.createdAt)
      : a.arrivedAt - b.arrivedAt,
  )
  return ordered.every((receipt, index) => receipt.eventType === expected[index])
}

/** Changes how the receiver answers from now on; where the case has none, it gets one. */
export async function receiver(run: CaseRun, given: unknown): Promise<void> {
  const behaviour = behaviourOf(readInput(run, ReceiverBehaviour, given))
  if (run.receiver !== undefined) return run.receiver.behave(behaviour)
  run.receiver = await startReceiver(behaviour)
  run.receiver.trust(run.merchant.secret)
  await call(run.client, putWebhookEndpoint, { body: { webhook_url: run.receiver.url } })
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

export async function replay(run: CaseRun, given: unknown): Promise<void> {
  const { webhook, for: reference } = readInput(run, Replay, given, ['for'])
  const delivery = await deliveryNow(run, paymentOf(run, reference), webhook)
  if (delivery === undefined) throw new StepFailure(`there is no ${webhook} for ${reference}`, { at: ['webhook'] })
  await call(run.client, replayWebhook, { params: { id: delivery.id } })
}
