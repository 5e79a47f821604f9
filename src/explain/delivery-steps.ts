import { DELIVERY_TRANSITIONS, attemptsMax } from '../webhooks/states.ts'
import type { DeliveryTrigger } from '../webhooks/states.ts'
import type { NextStep, OtherStep } from '../wire/explain.ts'
import { commandFor, nextSteps } from './next-steps.ts'
import type { Command, StepRules } from './next-steps.ts'
import type { ToldDelivery } from './record.ts'
import type { Viewer } from './viewer.ts'

const isLastNext = ({ attempt_count }: ToldDelivery): boolean => attempt_count + 1 >= attemptsMax

const RULES: StepRules<DeliveryTrigger, ToldDelivery> = {
  insert: { by: 'the service, when something is to be told' },
  delivered: { by: "the merchant's endpoint, by answering 2xx within five seconds", at: (it) => it.next_retry_at },
  failed: {
    by: "the merchant's endpoint, by any other answer or none",
    at: (it) => it.next_retry_at,
    isPossible: (it) => !isLastNext(it),
  },
  'failed for the last time': {
    by: `the merchant's endpoint, by failing attempt ${attemptsMax} as well`,
    at: (it) => it.next_retry_at,
    isPossible: isLastNext,
  },
  replay: { by: 'the merchant, or an operator for it', how: replayOf },
}

function replayOf({ id }: ToldDelivery): Command[] {
  return [
    { side: 'merchant', needs: 'manage webhooks', type: `svc webhooks replay ${id}` },
    {
      side: 'operator',
      needs: 'operate merchants',
      type: `svc outbox replay ${id} --reason "..."`,
    },
  ]
}

/** What can become of a delivery. */
export function deliverySteps(delivery: ToldDelivery, viewer: Viewer): NextStep[] {
  return nextSteps({ table: DELIVERY_TRANSITIONS, rules: RULES, from: delivery.status, facts: delivery, viewer })
}

/** What can be done about a delivery beside that. */
export function otherDeliverySteps(delivery: ToldDelivery, viewer: Viewer): OtherStep[] {
  return [...heldSteps(delivery, viewer), ...secretSteps(delivery, viewer)]
}

/** A receiver that answers 401 has another secret than the one that signs, as a rule. */
function secretSteps({ status, last_error: code }: ToldDelivery, viewer: Viewer): OtherStep[] {
  if (code !== 'http_401' || status === 'DELIVERED') return []
  const type = 'svc secret show'
  return [
    {
      what: "compare the end of the secret with that of the receiver's",
      by: 'the merchant',
      how: commandFor([{ side: 'merchant', needs: 'manage signing secret', type }], viewer),
    },
  ]
}

/** What lets go of a delivery that waits for no time. */
export function heldSteps(delivery: ToldDelivery, viewer: Viewer): OtherStep[] {
  const { status, next_retry_at, has_endpoint, is_paused } = delivery
  if ((status !== 'PENDING' && status !== 'FAILED') || next_retry_at !== null) return []
  const by = 'the merchant'
  const forMerchant = (type: string): string | null =>
    commandFor([{ side: 'merchant', needs: 'manage webhooks', type }], viewer)
  if (is_paused) return [{ what: 'resume the endpoint', by, how: forMerchant('svc webhooks endpoint resume') }]
  if (!has_endpoint) return [{ what: 'set an endpoint', by, how: forMerchant('svc webhooks endpoint set <url>') }]
  return [
    { what: 'send it now', by: 'the merchant, or an operator for it', how: commandFor(replayOf(delivery), viewer) },
  ]
}
