import type { CommonQueryMethods } from 'slonik'
import type { Explanation } from '../wire/explain.ts'
import { merchantStanding } from './merchant-standing.ts'
import { merchantSteps, otherMerchantSteps } from './merchant-steps.ts'
import { findMerchant, listActs } from './merchants-sql.ts'
import type { ToldMerchant } from './record.ts'
import { ACTS_MAX, ACTS_ON_MERCHANT, tellActs } from './tell-acts.ts'
import { entry, inOrder, joined } from './timeline.ts'
import type { Told } from './timeline.ts'
import { seesWebhooks } from './viewer.ts'
import type { Viewer } from './viewer.ts'

/** The story of a merchant; null where there is none. */
export async function explainMerchant(
  tx: CommonQueryMethods,
  { id, viewer }: { id: string; viewer: Viewer },
): Promise<Explanation | null> {
  const merchant = await findMerchant(tx, id)
  if (merchant === null) return null
  const acts = await listActs(tx, {
    merchantId: id,
    actions: ACTS_ON_MERCHANT,
    subjectIds: [],
    since: null,
    until: null,
    limit: ACTS_MAX + 1,
  })
  const told = joined([tellRegistration(merchant), tellActs(acts, viewer)])
  const decision = acts.find(({ action }) => action === 'merchant.kyb')
  const wasRefused = decision?.kyb_before === 'PENDING' && decision.kyb_status === 'SUSPENDED'
  return {
    kind: 'merchant',
    id,
    merchant_id: id,
    title: `merchant ${merchant.trading_name}${merchant.realm_slug === null ? '' : ` (${merchant.realm_slug})`}`,
    status: merchant.kyb_status,
    standing: merchantStanding({ merchant, wasRefused, seesWebhooks: seesWebhooks(viewer) }),
    as_of: merchant.now,
    timeline: inOrder(told.entries),
    left_out: told.leftOut,
    next: merchantSteps(merchant, viewer),
    also: otherMerchantSteps(merchant, viewer),
  }
}

function tellRegistration({ created_at }: ToldMerchant): Told {
  return { entries: [entry({ at: created_at, kind: 'merchant', text: 'the merchant was registered' })], leftOut: [] }
}
