import { outcomeText } from '../lib/outcome-text.ts'
import { attemptsMax } from '../webhooks/states.ts'
import type { TimelineEntry } from '../wire/explain.ts'
import { heldText } from './delivery-standing.ts'
import type { ToldAttempt, ToldDelivery } from './record.ts'
import { entry } from './timeline.ts'
import type { Told } from './timeline.ts'

export type DeliveriesToTell = {
  /** The oldest first. */
  deliveries: readonly ToldDelivery[]
  /** In the order in which they were made, of each delivery one more than is told where there are more. */
  attempts: readonly ToldAttempt[]
  attemptsEach: number
}

/** Webhooks, each with its attempts and the next one that is due. */
export function tellDeliveries({ deliveries, attempts, attemptsEach }: DeliveriesToTell): Told {
  const made = Map.groupBy(attempts, ({ delivery_id }) => delivery_id)
  const isCut = ({ id }: ToldDelivery): boolean => (made.get(id)?.length ?? 0) > attemptsEach
  return {
    entries: deliveries.flatMap((delivery) => [
      queued(delivery),
      ...tellAttempts((made.get(delivery.id) ?? []).slice(-attemptsEach)),
      ...due(delivery),
    ]),
    leftOut: deliveries
      .filter(isCut)
      .map(({ id, event_type }) => `attempts of ${event_type} ${id} before its last ${attemptsEach}`),
  }
}

function queued(delivery: ToldDelivery): TimelineEntry {
  const { id, event_type, event_id, is_test, status, created_at } = delivery
  const held = heldText(delivery)
  const text = `${is_test ? 'test ' : ''}webhook ${event_type} (${event_id})${held === null ? '' : `, which ${held}`}`
  return entry({ at: created_at, kind: 'webhook', text, status, ref: id })
}

/** A number that does not grow is the first of another round: somebody has replayed the delivery before it. */
function tellAttempts(attempts: readonly ToldAttempt[]): TimelineEntry[] {
  return attempts.map((made, index) => {
    const before = attempts[index - 1]
    const replayed = before !== undefined && made.attempt <= before.attempt ? 'replayed: ' : ''
    const answer =
      made.outcome === 'delivered' ? `delivered with HTTP ${made.http_status ?? '2xx'}` : outcomeText(made.outcome)
    return entry({
      at: made.started_at,
      kind: 'attempt',
      text: `${replayed}attempt ${made.attempt} of ${attemptsMax}: ${answer}, after ${made.duration_ms} ms`,
      status: made.outcome,
      ref: made.delivery_id,
    })
  })
}

function due({ id, status, event_type, next_retry_at, attempt_count, is_leased }: ToldDelivery): TimelineEntry[] {
  if ((status !== 'PENDING' && status !== 'FAILED') || next_retry_at === null || is_leased) return []
  const text = `attempt ${attempt_count + 1} of ${attemptsMax} of ${event_type} is due`
  return [entry({ at: next_retry_at, kind: 'due', text, ref: id })]
}
