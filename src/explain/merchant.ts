import { KYB_TRANSITIONS } from '../merchants/states.ts'
import type { KybTrigger } from '../merchants/states.ts'
import type { KybStatus } from '../wire/admin.ts'
import type { OtherStep } from '../wire/explain.ts'
import type { MerchantFacts } from './record.ts'
import { canSeeWebhooks, endpointSteps, forMerchant, forOperator, otherStep } from './steps.ts'
import type { Command, Move, Moves, SubjectKind, Viewer } from './steps.ts'
import { countText, momentText } from './text.ts'

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

export const MERCHANT: SubjectKind<KybTrigger, MerchantFacts> = {
  title: ({ trading_name: name, realm_slug: realm }) => `merchant ${name}${realm === null ? '' : ` (${realm})`}`,
  standing: (merchant, viewer) => standingParts(merchant, viewer).join('; '),
  table: () => KYB_TRANSITIONS,
  moves: MOVES,
  also: otherSteps,
}

/** Why it has its KYB status, and the other obstacles to its payments. */
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
