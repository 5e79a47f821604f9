import type { KybStatus } from '../wire/admin.ts'
import type { ToldMerchant } from './record.ts'
import { countText, momentText } from './words.ts'

/** Where a status comes from matters: one that was never approved was refused, any other suspended. */
export type MerchantFacts = { merchant: ToldMerchant; wasRefused: boolean; seesWebhooks: boolean }

const STANDING: Readonly<Record<KybStatus, (facts: MerchantFacts) => string>> = {
  PENDING: () => "waits for an operator's approval; until then it creates no payments",
  APPROVED: ({ merchant }) => (creates(merchant) ? 'approved: it can create payments' : 'approved'),
  SUSPENDED: ({ wasRefused }) =>
    `${wasRefused ? 'refused' : 'suspended'}: it creates no payments, while refunds and disputes go on`,
}

/** Why a merchant stands where it stands, and what else is in its way. */
export function merchantStanding(facts: MerchantFacts): string {
  const { merchant } = facts
  const { payout_held_at: heldAt } = merchant
  const held = `its payouts are held${heldAt === null ? '' : ` since ${momentText(heldAt)}`}: it creates no payments while they are`
  return `${[
    STANDING[merchant.kyb_status](facts),
    ...(merchant.payout_held ? [held] : []),
    ...(merchant.is_active ? [] : ['it is disabled: its people can read and refund, and nothing else']),
    ...(facts.seesWebhooks ? webhooksOf(merchant) : []),
    ...(merchant.open_disputes === 0 ? [] : [countText(merchant.open_disputes, 'open dispute')]),
  ].join('; ')}.`
}

function creates({ payout_held, is_active }: ToldMerchant): boolean {
  return !payout_held && is_active
}

function webhooksOf({ has_endpoint, is_paused, dead_deliveries }: ToldMerchant): string[] {
  const where = is_paused
    ? ['its webhook endpoint is paused']
    : has_endpoint
      ? []
      : ['it has no webhook endpoint: deliveries wait for one']
  return [...where, ...(dead_deliveries === 0 ? [] : [`${countText(dead_deliveries, 'webhook')} DEAD`])]
}
