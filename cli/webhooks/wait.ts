import { durationText } from '../../src/lib/duration.ts'
import { outcomeText } from '../../src/lib/outcome-text.ts'
import type { Delivery, DeliveryDetail } from '../../src/wire/webhooks.ts'
import type { Client } from '../client/call.ts'
import { CliError } from '../base/errors.ts'
import { askUntil } from '../kit/wait.ts'
import { ownDelivery } from './find.ts'

export const REJECTED = 'http_401'

/** How an attempt ended; a receiver that rejects the signature may have another secret. */
export function outcomeFor(outcome: string): { text: string; hint: string } {
  return outcome === REJECTED
    ? { text: `${outcomeText(outcome)}; does it have the secret of this merchant?`, hint: 'svc secret show' }
    : { text: outcomeText(outcome), hint: 'svc webhooks endpoint check' }
}

export type Awaited = { delivery: DeliveryDetail; problem?: CliError }

/** Waits until a delivery that was just begun, or begun again, has had its next attempt. */
export async function waitForAttempt(client: Client, begun: Delivery, timeoutMs: number): Promise<Awaited> {
  const isOver = ({ status, attempt_count: count }: Delivery): boolean =>
    status === 'DELIVERED' || status === 'DEAD' || count > begun.attempt_count
  const delivery = await askUntil(() => ownDelivery(client, begun.id), isOver, timeoutMs)
  if (delivery.status === 'DELIVERED') return { delivery }
  return { delivery, problem: isOver(delivery) ? notTaken(delivery) : notInTime(delivery, timeoutMs) }
}

function notTaken({ id, event_type: event, attempts, last_error: error }: DeliveryDetail): CliError {
  const { text, hint } = outcomeFor(attempts.at(-1)?.outcome ?? error ?? 'unknown')
  return new CliError('NOT_DELIVERED', `the endpoint did not take ${event}: ${text}`, {
    hint: `${hint}\nsvc webhooks show ${id}`,
  })
}

function notInTime({ id, event_type: event, status }: DeliveryDetail, timeoutMs: number): CliError {
  return new CliError(
    'WAIT_TIMED_OUT',
    `${event} is still ${status} after ${durationText(timeoutMs)}: nothing was sent yet`,
    {
      hint: `svc webhooks show ${id}\nwhether a worker runs: svc status\nto wait longer: the same command with a longer --timeout`,
      retryable: true,
    },
  )
}
