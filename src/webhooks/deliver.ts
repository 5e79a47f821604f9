import type { App } from '../app.ts'
import { mustMove } from '../lib/machine.ts'
import { SpanKind, SpanStatusCode, currentTraceparent, inSpan } from '../lib/trace.ts'
import type { Span } from '../lib/trace.ts'
import { webhookHeaders } from '../lib/webhook-signature.ts'
import { attemptTimeoutMs } from './sending/post.ts'
import type { Post, PostResult } from './sending/post.ts'
import type { ClaimedDelivery } from './record.ts'
import type { SigningSecrets } from '../signing/secret.ts'
import { attemptsMax, DELIVERY_TRANSITIONS, nextDelayMs } from './states.ts'
import type { DeliveryTrigger } from './states.ts'
import type { AttemptRow } from './sql.ts'

/** After this many lost workers in a row the delivery is taken for the cause: the attempt counts as failed. */
const leasesLostMax = 3

/** An attempt starts only if its lease outlasts it, with a second left to record it. */
const leaseNeededMs = attemptTimeoutMs + 1_000

/** A completed attempt, to be recorded. `begunAt` is monotonic time. */
export type AttemptResult = Omit<AttemptRow, 'age_ms'> & { begunAt: number }

export type DeliverApp = Pick<App, 'config' | 'ids' | 'metrics' | 'log'>

/** Whether enough is left of a lease that ends at `leaseEndsAt` for an attempt: the process may have been paused. */
export function leaseSuffices(leaseEndsAt: number): boolean {
  return leaseEndsAt - performance.now() > leaseNeededMs
}

export type DeliverInput = { post: Post; secrets: SigningSecrets; delivery: ClaimedDelivery & { webhook_url: string } }

const SPAN = { name: 'send webhook', kind: SpanKind.CLIENT }

/** Signs and sends a claimed delivery, outside any transaction, and returns the result to record. */
export function deliver(app: DeliverApp, input: DeliverInput): Promise<AttemptResult> {
  return inSpan(SPAN, input.delivery.traceparent, async (span) => {
    const result = await attempt(app, input)
    if (span !== undefined) describe(span, input.delivery, result)
    return result
  })
}

function describe(
  span: Span,
  delivery: ClaimedDelivery,
  { attempt: number, outcome, http_status }: AttemptResult,
): void {
  span.setAttributes({
    'svc.merchant_id': delivery.merchant_id,
    'svc.delivery_id': delivery.delivery_id,
    'svc.event_id': delivery.event_id,
    'svc.attempt': number,
    'svc.outcome': outcome,
  })
  if (http_status !== null) span.setAttribute('http.response.status_code', http_status)
  if (outcome !== 'delivered') span.setStatus({ code: SpanStatusCode.ERROR, message: outcome })
}

async function attempt(app: DeliverApp, { post, secrets, delivery }: DeliverInput): Promise<AttemptResult> {
  const begunAt = performance.now()
  if (delivery.leases_lost >= leasesLostMax) {
    const result = { outcome: 'worker_lost', httpStatus: null, responseBody: null, durationMs: 0 } as const
    return resultOfAttempt(app, { delivery, begunAt, result })
  }
  const body = Buffer.from(delivery.payload, 'utf8')
  const signing = { eventId: delivery.event_id, body, ...secrets, now: Date.now() }
  const headers = webhookHeaders(signing, currentTraceparent())
  const result = await post.post({ url: delivery.webhook_url, headers, body })
  return resultOfAttempt(app, { delivery, begunAt, result })
}

function resultOfAttempt(
  app: DeliverApp,
  input: { delivery: ClaimedDelivery; begunAt: number; result: PostResult },
): AttemptResult {
  const { delivery, begunAt, result } = input
  const attempt = delivery.attempt_count + 1
  const { outcome, httpStatus, durationMs } = result
  const status = mustMove(DELIVERY_TRANSITIONS, attempt === 1 ? 'PENDING' : 'FAILED', triggerOf(result, attempt)).to
  app.metrics.webhookAttempts.inc({ outcome, status })
  // One line a failure: a delivery that succeeds is in the table and in the counter.
  if (outcome !== 'delivered')
    app.log[status === 'DEAD' ? 'warn' : 'info'](
      { ...idsOf(delivery), attempt, outcome, http_status: httpStatus, duration_ms: durationMs, status },
      'a webhook was not delivered',
    )
  return {
    merchant_id: delivery.merchant_id,
    delivery_id: delivery.delivery_id,
    epoch: delivery.epoch,
    attempt,
    status,
    outcome,
    http_status: httpStatus,
    response_body: result.responseBody,
    duration_ms: durationMs,
    delay_ms: outcome === 'delivered' ? null : delayAfter(app, delivery, attempt),
    begunAt,
  }
}

/** What log lines name a delivery by. */
function idsOf({ merchant_id, delivery_id, event_id }: ClaimedDelivery): Record<string, string> {
  return { merchant_id, delivery_id, event_id }
}

function delayAfter(app: DeliverApp, { delivery_id: id }: ClaimedDelivery, attempt: number): number | null {
  const { ids, config } = app
  return nextDelayMs(attempt, ids.for('retry', id, String(attempt)).random(), config.webhookTimeScale)
}

function triggerOf(result: PostResult, attempt: number): DeliveryTrigger {
  if (result.outcome === 'delivered') return 'delivered'
  return attempt === attemptsMax ? 'failed for the last time' : 'failed'
}
