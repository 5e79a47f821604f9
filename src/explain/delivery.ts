import { outcomeText } from '../lib/outcome-text.ts'
import { DELIVERY_TRANSITIONS, attemptsMax } from '../webhooks/states.ts'
import type { DeliveryTrigger } from '../webhooks/states.ts'
import type { DeliveryStatus } from '../wire/webhooks.ts'
import type { DeliveryFacts } from './facts-sql.ts'
import { HELD_TEXTS } from './phrases.ts'
import { endpointActions, forMerchant, forOperator } from './steps.ts'
import type { Action, Command, SubjectKind } from './steps.ts'
import { momentText, spanText, untilText } from './text.ts'

/** A delivery that no worker has taken for so long after it was due is a matter of the workers, not of the merchant. */
const LATE_MS = 30_000

const MERCHANT_OR_OPERATOR = 'the merchant, or an operator for it'

const STANDING: Readonly<Record<DeliveryStatus, (delivery: DeliveryFacts) => string>> = {
  PENDING: (it) => `has not been tried yet: ${waitText(it)}`,
  DELIVERED: ({ delivered_at: at, attempt_count }) =>
    `delivered${at === null ? '' : ` at ${momentText(at)}`}, at attempt ${attempt_count} of ${attemptsMax}`,
  FAILED: (it) => `attempt ${it.attempt_count} of ${attemptsMax} failed (${reasonText(it)}): ${waitText(it)}`,
  DEAD: (it) =>
    `all ${attemptsMax} attempts failed (the last: ${reasonText(it)}): it is not sent again unless it is replayed`,
}

export const DELIVERY: SubjectKind<DeliveryTrigger, DeliveryFacts> = {
  title: ({ is_test: isTest, event_type: type, payment_intent_id: paymentId }) =>
    `${isTest ? 'test ' : ''}webhook ${type}${paymentId === null ? '' : ` about the payment ${paymentId}`}`,
  standing: (delivery) => STANDING[delivery.status](delivery),
  table: ({ attempt_count }) => {
    const isLastNext = attempt_count + 1 >= attemptsMax
    return DELIVERY_TRANSITIONS.filter(({ on }) => on !== (isLastNext ? 'failed' : 'failed for the last time'))
  },
  moves: {
    insert: { by: 'the service, when an event occurs' },
    delivered: { by: "the merchant's endpoint, by answering 2xx within five seconds", at: (it) => it.next_retry_at },
    failed: { by: "the merchant's endpoint, by any other response or none", at: (it) => it.next_retry_at },
    'failed for the last time': {
      by: `the merchant's endpoint, by failing attempt ${attemptsMax} as well`,
      at: (it) => it.next_retry_at,
    },
    replay: { by: MERCHANT_OR_OPERATOR, how: replay },
  },
  also: (delivery) => [...actionsOfHeld(delivery), ...actionsOfRefused(delivery)],
}

function actionsOfHeld(delivery: DeliveryFacts): Action[] {
  if (delivery.held === null || delivery.next_retry_at !== null) return []
  if (delivery.held !== 'too old') return endpointActions(delivery.endpoint)
  return [{ what: 'send it now', by: MERCHANT_OR_OPERATOR, how: replay(delivery) }]
}

/** A receiver that answers 401 has another secret than the one that signs, as a rule. */
function actionsOfRefused({ status, last_error: code }: DeliveryFacts): Action[] {
  if (code !== 'http_401' || status === 'DELIVERED') return []
  const what = "compare the end of the secret with that of the receiver's"
  return [{ what, by: 'the merchant', how: [forMerchant('manage signing secret', 'svc secret show')] }]
}

function replay({ id }: DeliveryFacts): Command[] {
  return [
    forMerchant('manage webhooks', `svc webhooks replay ${id}`),
    forOperator(`svc webhooks replay ${id} --all-merchants --reason "..."`),
  ]
}

function reasonText({ last_error: code }: DeliveryFacts): string {
  return code === null ? 'no reason is recorded' : outcomeText(code)
}

function waitText({ now, next_retry_at: at, attempt_count, held, ...it }: DeliveryFacts): string {
  if (it.is_leased) return 'it is being sent at this moment'
  if (held !== null || at === null) return `it ${held === null ? 'waits' : HELD_TEXTS[held]}`
  if (it.waits_for !== null) return `it waits for the first attempt of the earlier ${it.waits_for}`
  if (at > now) return `attempt ${attempt_count + 1} is due at ${untilText(now, at)}`
  if (Date.parse(now) - Date.parse(at) < LATE_MS) return `attempt ${attempt_count + 1} is due now`
  return `attempt ${attempt_count + 1} has been due for ${spanText(at, now)}, and no worker has claimed it`
}
