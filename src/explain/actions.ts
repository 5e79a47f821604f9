import type { Subject } from './subjects-sql.ts'
import { lengthText } from './text.ts'
import type { ActionRow } from './timeline-rows.ts'

type Action = {
  /** The timelines that show it. A delivery's shows every action on the delivery itself, too. */
  on: readonly Subject['kind'][]
  text: (row: ActionRow) => string
}

/** The actions on a merchant, of operators or of its own team, that timelines show. */
const ACTIONS: Readonly<Record<string, Action>> = {
  'merchant.kyb': { on: ['payment', 'merchant'], text: ({ to }) => `set KYB to ${to ?? 'another status'}` },
  'merchant.hold': {
    on: ['payment', 'merchant'],
    text: ({ to }) => (to === 'true' ? 'held payouts' : 'released payouts'),
  },
  'merchant.active': {
    on: ['payment', 'merchant'],
    text: ({ to }) => (to === 'true' ? 'enabled the merchant' : 'disabled the merchant'),
  },
  'merchant.fees': { on: ['merchant'], text: () => 'changed the fees' },
  'merchant.settlement_schedule': {
    on: ['merchant'],
    text: ({ to }) => `set settlements to ${to ?? 'another schedule'}`,
  },
  'payout.retry': { on: [], text: () => 'retried the payout' },
  'settlement.close': { on: ['merchant'], text: () => 'closed a settlement' },
  'merchant.limits': { on: ['merchant'], text: () => 'changed the limits' },
  'webhook.endpoint': { on: ['delivery', 'merchant'], text: endpointText },
  'webhook.replay': { on: [], text: () => 'replayed the delivery' },
  'webhook.replay_many': { on: ['delivery', 'merchant'], text: () => 'replayed DEAD deliveries' },
  'webhook_secret.rotate': { on: ['merchant'], text: () => 'rotated the signing secret' },
  'webhook_secret.end_overlap': { on: ['merchant'], text: () => 'ended the overlap of the signing secrets' },
  'bank_account.add': { on: ['merchant'], text: () => 'added a bank account' },
  'bank_account.disable': { on: ['merchant'], text: () => 'disabled a bank account' },
  'checkout_origins.set': { on: ['merchant'], text: () => 'set the checkout origins' },
  'branding.set': { on: ['merchant'], text: () => 'changed the branding' },
  'sandbox.clock': {
    on: ['payment', 'delivery', 'merchant'],
    text: ({ to }) => `advanced the sandbox clock${to === null ? '' : ` by ${lengthText(Number(to))}`}`,
  },
}

/** The names of the actions that the timeline of such a subject shows. */
export function actionsOn(kind: Subject['kind']): string[] {
  return Object.entries(ACTIONS).flatMap(([name, { on }]) => (on.includes(kind) ? [name] : []))
}

export function actionText(row: ActionRow): string {
  const { action } = row.facts
  const known = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined
  return known?.text(row) ?? `performed ${action}`
}

function endpointText({ from, to, facts: { had_endpoint, has_endpoint } }: ActionRow): string {
  if (!has_endpoint) return 'removed the webhook endpoint'
  if (to === 'true' && from !== 'true') return 'paused the webhook endpoint'
  if (from === 'true' && to !== 'true') return 'resumed the webhook endpoint'
  return had_endpoint ? 'changed the webhook endpoint' : 'set the webhook endpoint'
}
