import { KYB_TRANSITIONS } from '../merchants/states.ts'
import type { KybTrigger } from '../merchants/states.ts'
import type { KybStatus } from '../wire/admin.ts'
import type { OtherStep } from '../wire/explain.ts'
import type { ActionRow, MerchantFacts } from './record.ts'
import { canSeeWebhooks, endpointSteps, forMerchant, forOperator, nextSteps, otherStep } from './steps.ts'
import type { Command, Description, Move, Moves, Viewer } from './steps.ts'
import { countText, lengthText, momentText } from './text.ts'

const MOVES: Moves<KybTrigger, MerchantFacts> = {
  registration: { by: 'the merchant, by registering' },
  approval: decision('approve'),
  refusal: decision('refuse'),
  suspension: decision('suspend'),
  reinstatement: decision('reinstate'),
}

const STANDING: Readonly<Record<KybStatus, (merchant: MerchantFacts) => string>> = {
  PENDING: () => "waits for an operator's approval; until then it creates no payments",
  APPROVED: (it) => (it.is_active && !it.payout_held ? 'approved: it can create payments' : 'approved'),
  SUSPENDED: (it) =>
    `${it.was_rejected ? 'rejected' : 'suspended'}: it creates no payments, while refunds and disputes continue`,
}

/** What the timeline says of each action on a merchant, of operators or of its own people. */
const ACTION_PHRASES: Readonly<Record<string, (row: ActionRow) => string>> = {
  'merchant.kyb': ({ to }) => `set KYB to ${to ?? 'another status'}`,
  'merchant.hold': ({ to }) => (to === 'true' ? 'held payouts' : 'released payouts'),
  'merchant.active': ({ to }) => (to === 'true' ? 'enabled the merchant' : 'disabled the merchant'),
  'merchant.fees': () => 'changed the fees',
  'webhook.endpoint': endpointPhrase,
  'webhook.replay': () => 'replayed the delivery',
  'webhook.replay_many': () => 'replayed DEAD deliveries',
  'webhook_secret.rotate': () => 'rotated the signing secret',
  'webhook_secret.end_overlap': () => 'ended the overlap of the signing secrets',
  'bank_account.add': () => 'added a bank account',
  'bank_account.disable': () => 'disabled a bank account',
  'checkout_origins.set': () => 'set the checkout origins',
  'branding.set': () => 'changed the branding',
  'sandbox.clock': ({ to }) => `advanced the sandbox clock${to === null ? '' : ` by ${lengthText(Number(to))}`}`,
}

export function actionPhrase(row: ActionRow): string {
  const { action } = row.facts
  const phrase = Object.hasOwn(ACTION_PHRASES, action) ? ACTION_PHRASES[action] : undefined
  return phrase?.(row) ?? `performed ${action}`
}

function endpointPhrase({ from, to, facts: { had_endpoint, has_endpoint } }: ActionRow): string {
  if (!has_endpoint) return 'removed the webhook endpoint'
  if (to === 'true' && from !== 'true') return 'paused the webhook endpoint'
  if (from === 'true' && to !== 'true') return 'resumed the webhook endpoint'
  return had_endpoint ? 'changed the webhook endpoint' : 'set the webhook endpoint'
}

export function describeMerchant(merchant: MerchantFacts, viewer: Viewer): Description {
  const { trading_name: name, realm_slug: realm } = merchant
  return {
    title: `merchant ${name}${realm === null ? '' : ` (${realm})`}`,
    standing: `${standingParts(merchant, viewer).join('; ')}.`,
    next: nextSteps({ table: KYB_TRANSITIONS, moves: MOVES }, merchant, viewer),
    also: otherSteps(merchant, viewer),
  }
}

/** Why it has its KYB status, and what else keeps it from working. */
function standingParts(merchant: MerchantFacts, viewer: Viewer): string[] {
  const { payout_held_at: heldAt, dead_delivery_count: deadCount, open_dispute_count: disputeCount } = merchant
  const held = `its payouts are held${heldAt === null ? '' : ` since ${momentText(heldAt)}`}: it creates no payments while they are`
  const seesWebhooks = canSeeWebhooks(viewer)
  return [
    STANDING[merchant.status](merchant),
    ...(merchant.payout_held ? [held] : []),
    ...(merchant.is_active ? [] : ['it is disabled: its team can only read and refund']),
    ...(seesWebhooks && merchant.endpoint === 'paused' ? ['its webhook endpoint is paused'] : []),
    ...(seesWebhooks && merchant.endpoint === 'none' ? ['it has no webhook endpoint: deliveries wait for one'] : []),
    ...(seesWebhooks && deadCount > 0 ? [`${countText(deadCount, 'webhook')} DEAD`] : []),
    ...(disputeCount === 0 ? [] : [countText(disputeCount, 'open dispute')]),
  ]
}

function otherSteps(merchant: MerchantFacts, viewer: Viewer): OtherStep[] {
  const byOperator = (what: string, command: string): OtherStep =>
    otherStep(viewer, what, 'an operator', [onMerchant(merchant, command)])
  const listDead = forMerchant('manage webhooks', 'svc webhooks list --status DEAD')
  return [
    ...(merchant.payout_held ? [byOperator('release its payouts', 'hold release')] : []),
    ...(merchant.is_active ? [] : [byOperator('enable it', 'merchants enable')]),
    ...endpointSteps(merchant.endpoint, viewer),
    ...(merchant.dead_delivery_count === 0
      ? []
      : [otherStep(viewer, 'list DEAD deliveries', 'the merchant', [listDead])]),
  ]
}

function decision(verb: string): Move<MerchantFacts> {
  return { by: 'an operator', how: (it) => [onMerchant(it, `kyb ${verb}`)] }
}

function onMerchant({ id, realm_slug }: MerchantFacts, command: string): Command {
  return forOperator(`svc ${command} ${realm_slug ?? id} --reason "..."`)
}
