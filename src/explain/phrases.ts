import type { DisputeStep } from '../disputes/states.ts'
import { failureOf, isFailureCode } from '../lib/failure-codes.ts'
import { amountWithCurrency } from '../lib/money.ts'
import { outcomeText } from '../lib/outcome-text.ts'
import type { PaymentTrigger } from '../payments/states.ts'
import { attemptsMax } from '../webhooks/states.ts'
import type { PayoutStatus } from '../wire/payouts.ts'
import type { Held, Subject } from './subjects-sql.ts'
import { countText, lengthText } from './text.ts'

/** The facts of a row, as its source selects them. */
export type Facts = Readonly<Record<string, string | number | boolean | null>>

/**
 * What a timeline says of each thing that happened. `{slot}` is a fact of the row, or one of SLOTS; a payment has slots
 * of its own as well (payment.ts).
 */
export const PHRASES = {
  payment: {
    creation: 'created: {split}',
    'creation at a remote bank': 'created: {split}; the bank has not accepted it yet',
    staging: 'the bank accepted it: the payer can authorise it now',
    authorisation: 'the payer authorised it at the bank, as {reporter} reported',
    denial: '{failure}, as {reporter} reported',
    cancellation: '{canceller}',
    expiry: 'the consent ended before the payer authorised it',
    settlement: 'the bank executed it: {gross} taken',
    'execution rejected': 'the bank rejected it: {failure}',
    refund: 'refunded in full',
    'creation under a mandate': 'created under a mandate: {split}; the bank has not accepted it yet',
    'mandate staging': 'the bank accepted it',
    'mandate authorisation': 'the bank authorised it under the mandate',
    'mandate rejection': '{failure}',
  } satisfies Record<PaymentTrigger, string>,
  bank: {
    call: '{bank} answered {http_status} to: {step} (interaction {interaction_id})',
    problem: '{bank}, {step}: {verdict} (interaction {interaction_id})',
  },
  dispute: {
    opening: '{opener} disputed the payment of {money}: {reason}',
    evidence: 'the merchant {submitted} evidence',
    'evidence deadline': 'the evidence deadline passed without evidence',
    escalation: 'an operator escalated it',
    acceptance: "the merchant accepted it: resolved in the payer's favour",
    'resolution for the merchant': "an operator resolved it in the merchant's favour",
    'resolution for the payer': "an operator resolved it in the payer's favour",
    'refund ordered': 'an operator ordered its refund again',
  } satisfies Record<DisputeStep, string>,
  refund: {
    requested: 'a refund of {money} was requested',
    ordered: 'a refund of {money} was ordered with the resolution of a dispute',
    sent: 'a file took the refund of {money} to the bank',
    returned: 'the bank returned the refund of {money}: the payer has not got it',
    EXECUTED: 'the bank refunded {money}',
    FAILED: 'the bank rejected the refund of {money}: {failure}',
  },
  settlement: { closed: 'a settlement of {money} was closed' },
  payout: {
    CREATED: 'a payout of {money} was created',
    SENT: 'the payout of {money} is on its way to the bank',
    PAID: 'the bank carried out the payout of {money}',
    FAILED: 'the payout of {money} failed: {failure}; its money is in the next one',
    RETURNED: 'the payout of {money} came back: {failure}; its money is in the next one',
  } satisfies Record<PayoutStatus, string>,
  webhook: {
    event: 'webhook {event_type} ({event_id}){held}',
    test: 'test webhook {event_type} ({event_id}){held}',
  },
  attempt: {
    first: `attempt {attempt} of ${attemptsMax}: {outcome}, after {duration_ms} ms`,
    replayed: `replayed: attempt {attempt} of ${attemptsMax}: {outcome}, after {duration_ms} ms`,
  },
  due: {
    evidence: "the deadline for the merchant's evidence",
    refund: 'the bank is asked to refund {money}{unanswered}',
    settlement: 'the period ends, and its settlement is closed',
    attempt: `attempt {attempt} of ${attemptsMax} of {event_type} is due`,
  },
  merchant: { registration: 'the merchant was registered' },
} as const satisfies Record<string, Readonly<Record<string, string>>>

export const HELD_TEXTS: Readonly<Record<NonNullable<Held>, string>> = {
  paused: 'waits because the merchant has paused its endpoint',
  none: 'waits for the merchant to set an endpoint',
  'too old': 'waits for a replay: it was too old to be sent when the endpoint was set',
}

const ACTORS: Facts = {
  PAYER: 'the payer',
  MERCHANT: 'the merchant',
  PLATFORM: 'an operator',
  BATCH_JOB: 'the service',
}

/** The slots that are computed from the facts of a row. */
const SLOTS: Readonly<Record<string, (facts: Facts) => Facts[string] | undefined>> = {
  money: (it) => amountWithCurrency(String(it['amount']), String(it['currency'])),
  failure: (it) => failureCodeText(it['failure_code']),
  opener: (it) => ACTORS[String(it['changed_by'])],
  submitted: (it) => (it['is_first'] === true ? 'submitted' : 'added'),
  reporter: (it) => (it['by_browser'] === true ? "the payer's browser" : "the bank's callback"),
  held: ({ held }) => (isHeldReason(held) ? `, which ${HELD_TEXTS[held]}` : ''),
  outcome: ({ outcome, http_status }) =>
    outcome === 'delivered' ? `delivered with HTTP ${http_status ?? '2xx'}` : outcomeText(String(outcome)),
  unanswered: ({ attempt_count: count }) =>
    typeof count === 'number' && count > 0 ? ` (${countText(count, 'request')} without an answer so far)` : '',
  endpoint: endpointText,
  status: ({ now }) => now ?? 'another status',
  schedule: ({ now }) => now ?? 'another schedule',
  held_or_released: ({ now }) => (now === 'true' ? 'held' : 'released'),
  enabled_or_disabled: ({ now }) => (now === 'true' ? 'enabled' : 'disabled'),
  by_length: ({ now }) => (now === null ? '' : ` by ${lengthText(Number(now))}`),
}

/** The phrase of what happened; the name itself of what has none, such as an action that no timeline asks for. */
export function phraseOf(kind: string, what: string, facts: Facts, own: Facts = {}): string {
  const phrases: Readonly<Record<string, Readonly<Record<string, string>>>> = PHRASES
  const phrase = phrases[kind]?.[what]
  if (phrase !== undefined) return fill(phrase, facts, own)
  if (kind !== 'operator' && kind !== 'merchant') return what
  return `${kind === 'operator' ? 'an operator' : 'the merchant'} ${fill(ACTIONS[what]?.text ?? `performed ${what}`, facts, {})}`
}

function fill(phrase: string, facts: Facts, own: Facts): string {
  return phrase.replaceAll(/\{(\w+)\}/g, (_, slot: string) => {
    const value = own[slot] ?? SLOTS[slot]?.(facts) ?? facts[slot]
    if (value === undefined || value === null) throw new Error(`no ${slot} for the phrase "${phrase}"`)
    return String(value)
  })
}

/** A failure code with its fixed words (decision 51). */
export function failureCodeText(code: Facts[string] | undefined): string {
  return typeof code === 'string' && isFailureCode(code)
    ? `${failureOf(code).reason} (${code})`
    : 'no reason is recorded'
}

function isHeldReason(held: Facts[string] | undefined): held is NonNullable<Held> {
  return typeof held === 'string' && Object.hasOwn(HELD_TEXTS, held)
}

function endpointText({ was, now, had_endpoint, has_endpoint }: Facts): string {
  if (has_endpoint !== true) return 'removed'
  if (now === 'true' && was !== 'true') return 'paused'
  if (was === 'true' && now !== 'true') return 'resumed'
  return had_endpoint === true ? 'changed' : 'set'
}

type Action = {
  /** The timelines that show it. Those of a delivery and a payout show every action on themselves, too. */
  on: readonly Subject['kind'][]
  text: string
  /** The member whose values before and after it are the facts `was` and `now`. */
  member?: string
}

/** The actions on a merchant, of operators or of its own team, that timelines show. */
export const ACTIONS: Readonly<Record<string, Action>> = {
  'merchant.kyb': { on: ['payment', 'merchant'], member: 'kyb_status', text: 'set KYB to {status}' },
  'merchant.hold': { on: ['payment', 'merchant'], member: 'payout_held', text: '{held_or_released} payouts' },
  'merchant.active': { on: ['payment', 'merchant'], member: 'is_active', text: '{enabled_or_disabled} the merchant' },
  'merchant.fees': { on: ['merchant'], text: 'changed the fees' },
  'merchant.settlement_schedule': {
    on: ['merchant'],
    member: 'settlement_schedule',
    text: 'set settlements to {schedule}',
  },
  'payout.retry': { on: [], text: 'retried the payout' },
  'payout.fail': { on: [], text: 'recorded that the bank has not made the payout' },
  'refund.fail': { on: [], text: 'recorded that the bank has not made the refund' },
  'payment.resolve': { on: ['payment'], text: 'recorded what became of the payment at the bank' },
  'balance.correct': { on: ['merchant'], text: 'corrected the balance' },
  'settlement.close': { on: ['merchant'], text: 'closed a settlement' },
  'merchant.limits': { on: ['merchant'], text: 'changed the limits' },
  'webhook.endpoint': { on: ['delivery', 'merchant'], member: 'paused', text: '{endpoint} the webhook endpoint' },
  'webhook.replay': { on: [], text: 'replayed the delivery' },
  'webhook.replay_many': { on: ['delivery', 'merchant'], text: 'replayed DEAD deliveries' },
  'webhook_secret.rotate': { on: ['merchant'], text: 'rotated the signing secret' },
  'webhook_secret.end_overlap': { on: ['merchant'], text: 'ended the overlap of the signing secrets' },
  'bank_account.add': { on: ['merchant'], text: 'added a bank account' },
  'bank_account.disable': { on: ['merchant'], text: 'disabled a bank account' },
  'checkout_origins.set': { on: ['merchant'], text: 'set the checkout origins' },
  'branding.set': { on: ['merchant'], text: 'changed the branding' },
  'sandbox.clock': {
    on: ['payment', 'delivery', 'merchant'],
    member: 'advance_ms',
    text: 'advanced the sandbox clock{by_length}',
  },
}
