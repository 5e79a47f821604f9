import { outcomeText } from '../lib/outcome-text.ts'
import { attemptsMax } from '../webhooks/states.ts'
import type { DeliveryStatus } from '../wire/webhooks.ts'
import type { ToldDelivery } from './record.ts'
import { momentText, spanText, untilText } from './words.ts'

/** A delivery that nobody has taken for so long after it was due tells of workers, not of the merchant. */
const LATE_MS = 30_000

type Standing = (delivery: ToldDelivery) => string

const STANDING: Readonly<Record<DeliveryStatus, Standing>> = {
  PENDING: (delivery) => `has not been tried yet: ${waitText(delivery)}`,
  DELIVERED: ({ delivered_at, attempt_count }) =>
    `delivered${delivered_at === null ? '' : ` at ${momentText(delivered_at)}`}, at attempt ${attempt_count} of ${attemptsMax}`,
  FAILED: (delivery) =>
    `attempt ${delivery.attempt_count} of ${attemptsMax} failed (${whyText(delivery)}): ${waitText(delivery)}`,
  DEAD: (delivery) =>
    `all ${attemptsMax} attempts failed (the last: ${whyText(delivery)}): it is not sent again unless somebody replays it`,
}

/** Why a delivery stands where it stands. */
export function deliveryStanding(delivery: ToldDelivery): string {
  return `${STANDING[delivery.status](delivery)}.`
}

function whyText({ last_error: code }: ToldDelivery): string {
  return code === null ? 'without a reason' : outcomeText(code)
}

/** What a delivery that waits for no time waits for; null for every other. */
export function heldText({ status, next_retry_at, is_leased, has_endpoint, is_paused }: ToldDelivery): string | null {
  if ((status !== 'PENDING' && status !== 'FAILED') || is_leased) return null
  if (is_paused) return 'waits because the merchant has paused its endpoint'
  if (!has_endpoint) return 'waits for the merchant to set an endpoint'
  if (next_retry_at !== null) return null
  return 'waits to be sent by hand: it was too old to be sent when the endpoint was set'
}

function waitText(delivery: ToldDelivery): string {
  const { now, next_retry_at: at, attempt_count } = delivery
  if (delivery.is_leased) return 'it is being sent at this moment'
  const held = heldText(delivery)
  if (held !== null || at === null) return `it ${held ?? 'waits'}`
  if (delivery.waits_for !== null) return `it waits for the first attempt of the earlier ${delivery.waits_for}`
  if (at > now) return `attempt ${attempt_count + 1} is due at ${untilText(now, at)}`
  if (Date.parse(now) - Date.parse(at) < LATE_MS) return `attempt ${attempt_count + 1} is due now`
  return `attempt ${attempt_count + 1} has been due for ${spanText(at, now)}, and no worker has taken it`
}
