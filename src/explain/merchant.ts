import { KYB_TRANSITIONS } from '../merchants/states.ts'
import type { KybTrigger } from '../merchants/states.ts'
import type { KybStatus } from '../wire/admin.ts'
import type { MerchantFacts } from './facts-sql.ts'
import { endpointActions, forMerchant, forOperator } from './steps.ts'
import type { Action, Command, Move, SubjectKind } from './steps.ts'
import { countText, momentText } from './text.ts'
import { canSeeWebhooks } from './viewer.ts'
import type { Viewer } from './viewer.ts'

const STANDING: Readonly<Record<KybStatus, (merchant: MerchantFacts) => string>> = {
  PENDING: () => "waits for an operator's approval; until then it creates no payments",
  APPROVED: (it) => (it.is_active && !it.payout_held ? 'approved: it can create payments' : 'approved'),
  SUSPENDED: (it) =>
    `${it.was_rejected ? 'rejected' : 'suspended'}: it creates no payments, while refunds and disputes continue`,
}

export const MERCHANT: SubjectKind<KybTrigger, MerchantFacts> = {
  title: ({ trading_name: name, realm_slug: realm }) => `merchant ${name}${realm === null ? '' : ` (${realm})`}`,
  standing: (merchant, viewer) => [STANDING[merchant.status](merchant), ...obstacles(merchant, viewer)].join('; '),
  table: () => KYB_TRANSITIONS,
  moves: {
    registration: { by: 'the merchant, by registering' },
    approval: decision('approve'),
    rejection: decision('refuse'),
    suspension: decision('suspend'),
    reinstatement: decision('reinstate'),
  },
  also: actions,
}

/** What stands in the way of its payments and webhooks besides its KYB status. */
function obstacles(merchant: MerchantFacts, viewer: Viewer): string[] {
  const { payout_held_at: heldAt, dead_delivery_count: deadCount, open_dispute_count: disputeCount } = merchant
  const since = heldAt === null ? '' : ` since ${momentText(heldAt)}`
  const seesWebhooks = canSeeWebhooks(viewer)
  const parts: [applies: boolean, text: string][] = [
    [merchant.payout_held, `its payouts are held${since}: it creates no payments while they are`],
    [!merchant.is_active, 'it is disabled: its team can only read, refund, answer disputes and end mandates'],
    [seesWebhooks && merchant.endpoint === 'paused', 'its webhook endpoint is paused'],
    [seesWebhooks && merchant.endpoint === 'none', 'it has no webhook endpoint: deliveries wait for one'],
    [seesWebhooks && deadCount > 0, `${countText(deadCount, 'webhook')} DEAD`],
    [disputeCount > 0, countText(disputeCount, 'open dispute')],
  ]
  return parts.flatMap(([applies, text]) => (applies ? [text] : []))
}

function actions(merchant: MerchantFacts): Action[] {
  const byOperator = (what: string, command: string): Action => ({
    what,
    by: 'an operator',
    how: [onMerchant(merchant, command)],
  })
  const listDead = forMerchant('manage webhooks', 'svc webhooks list --status DEAD')
  return [
    ...(merchant.payout_held ? [byOperator('release its payouts', 'hold release')] : []),
    ...(merchant.is_active ? [] : [byOperator('enable it', 'merchants enable')]),
    ...endpointActions(merchant.endpoint),
    ...(merchant.dead_delivery_count === 0
      ? []
      : [{ what: 'list DEAD deliveries', by: 'the merchant', how: [listDead] }]),
  ]
}

function decision(verb: string): Move<MerchantFacts> {
  return { by: 'an operator', how: (it) => [onMerchant(it, `kyb ${verb}`)] }
}

function onMerchant({ id, realm_slug }: MerchantFacts, command: string): Command {
  return forOperator(`svc ${command} ${realm_slug ?? id} --reason "..."`)
}
