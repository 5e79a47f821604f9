import { PLATFORM_ROLES } from '../lib/permissions.ts'
import type { TimelineEntry } from '../wire/explain.ts'
import type { ToldAct } from './record.ts'
import { entry, newest } from './timeline.ts'
import type { Told } from './timeline.ts'
import { wordsFor } from './viewer.ts'
import type { Viewer } from './viewer.ts'
import { lengthText } from './words.ts'

/** How many acts are told. */
export const ACTS_MAX = 50

/** What operators do to a merchant that bears on its payments. */
export const ACTS_ON_PAYMENTS = ['merchant.kyb', 'merchant.hold', 'merchant.active', 'sandbox.clock'] as const
/** What bears on where its webhooks go. */
export const ACTS_ON_WEBHOOKS = ['webhook.endpoint', 'webhook.replay_many', 'sandbox.clock'] as const
/** What is told of a merchant itself. */
export const ACTS_ON_MERCHANT = [
  ...ACTS_ON_PAYMENTS,
  ...ACTS_ON_WEBHOOKS,
  'merchant.fees',
  'webhook_secret.rotate',
  'webhook_secret.end_overlap',
  'bank_account.add',
  'bank_account.disable',
  'checkout_origins.set',
  'branding.set',
] as const

type KnownAct = (typeof ACTS_ON_MERCHANT)[number] | 'webhook.replay'

const TEXTS: Readonly<Record<KnownAct, (act: ToldAct) => string>> = {
  'merchant.kyb': (act) => `set KYB to ${act.kyb_status ?? 'another status'}`,
  'merchant.hold': (act) => (act.payout_held === true ? 'held payouts' : 'released payouts'),
  'merchant.active': (act) => (act.is_active === true ? 'enabled the merchant' : 'disabled the merchant'),
  'merchant.fees': () => 'set other fees',
  'webhook.endpoint': endpointText,
  'webhook.replay': () => 'replayed the delivery',
  'webhook.replay_many': () => 'replayed DEAD deliveries',
  'webhook_secret.rotate': () => 'rotated the signing secret',
  'webhook_secret.end_overlap': () => 'ended the overlap of the signing secrets',
  'bank_account.add': () => 'added a bank account',
  'bank_account.disable': () => 'disabled a bank account',
  'checkout_origins.set': () => 'set the checkout origins',
  'branding.set': () => 'changed the branding',
  'sandbox.clock': ({ advance_ms: ms }) => `let ${ms === null ? 'time' : lengthText(Number(ms))} pass`,
}

function endpointText({ had_endpoint, has_endpoint, was_paused, is_paused }: ToldAct): string {
  if (!has_endpoint) return 'removed the webhook endpoint'
  if (is_paused === true && was_paused !== true) return 'paused the webhook endpoint'
  if (was_paused === true && is_paused !== true) return 'resumed the webhook endpoint'
  return had_endpoint ? 'changed the webhook endpoint' : 'set the webhook endpoint'
}

/** What people did; read newest first, with one more than is told where there are more. Merchants read no names. */
export function tellActs(read: readonly ToldAct[], viewer: Viewer): Told {
  const { rows, hasMore } = newest(read, ACTS_MAX)
  return {
    entries: rows.map((act) => actEntry(act, viewer)),
    leftOut: hasMore ? [`acts of people before the last ${ACTS_MAX}`] : [],
  }
}

function actEntry(act: ToldAct, viewer: Viewer): TimelineEntry {
  const isOperators = PLATFORM_ROLES.some((role) => role === act.actor_role)
  const tells = viewer.side === 'operator'
  const reason = tells && act.reason !== null ? `: ${wordsFor(viewer, act.reason)}` : ''
  const what = isKnown(act.action) ? TEXTS[act.action](act) : `acted (${act.action})`
  return entry({
    at: act.created_at,
    kind: isOperators ? 'operator' : 'merchant',
    by: tells ? act.actor_name : null,
    text: `${isOperators ? 'an operator' : 'the merchant'} ${what}${reason}`,
  })
}

function isKnown(action: string): action is KnownAct {
  return Object.hasOwn(TEXTS, action)
}
