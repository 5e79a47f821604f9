import { failureOf, isFailureCode } from '../../lib/failure-codes.ts'
import { formatNumeric } from '../../lib/money.ts'
import { failPayout } from '../../payouts/fail-payout.ts'
import { getPayout } from '../../payouts/get-payout.ts'
import type { PayoutDetails } from '../../payouts/get-payout.ts'
import { withMerchantName, withMerchantNames } from '../../merchants/with-names.ts'
import { listPayouts } from '../../payouts/list-payouts.ts'
import type { PayoutRecord } from '../../payouts/record.ts'
import { retryPayout } from '../../payouts/retry-payout.ts'
import type * as wire from '../../wire/payouts.ts'
import type { Handlers } from '../endpoint.ts'
import { merchantIdOf, operatorOf } from '../principal.ts'
import { viewOf } from '../view-of.ts'

export const payouts: Handlers<typeof wire> = {
  /** GET /api/v1/portal/payouts */
  async listPayouts(app, { principal, query }) {
    return pageBody(await listPayouts(app, { merchantId: merchantIdOf(principal), query }))
  },

  /** GET /api/v1/portal/payouts/{id} */
  async getPayout(app, { principal, params }) {
    const found = await getPayout(app, { merchantId: merchantIdOf(principal), id: params.id })
    return { status: 200, body: presentDetails(found) }
  },

  /** GET /api/v1/admin/payouts */
  async listAdminPayouts(app, { principal, query: { merchant_id: merchantId, ...query } }) {
    const { status, body } = pageBody(await listPayouts(app, { merchantId, query }))
    const data = await withMerchantNames(app, body.data)
    return { status, body: viewOf(operatorOf(principal))({ ...body, data }) }
  },

  /** GET /api/v1/admin/payouts/{id} */
  async getAdminPayout(app, { principal, params }) {
    const payout = presentDetails(await getPayout(app, { merchantId: undefined, id: params.id }))
    const body = await withMerchantName(app, payout)
    return { status: 200, body: viewOf(operatorOf(principal))(body) }
  },

  /** POST /api/v1/admin/payouts/{id}/retry */
  async retryPayout(app, { principal, params, body }) {
    const { actor } = operatorOf(principal)
    return { status: 200, body: presentPayout(await retryPayout(app, { id: params.id, reason: body.reason, actor })) }
  },

  /** POST /api/v1/admin/payouts/{id}/fail */
  async failPayout(app, { principal, params, body }) {
    const { actor } = operatorOf(principal)
    return { status: 200, body: presentPayout(await failPayout(app, { ...body, id: params.id, actor })) }
  },
}

function pageBody({ rows, nextCursor }: { rows: readonly PayoutRecord[]; nextCursor: string | null }) {
  return {
    status: 200 as const,
    body: { data: rows.map(presentPayout), has_more: nextCursor !== null, next_cursor: nextCursor },
  }
}

function presentPayout({ id, failure_code: code, ...payout }: PayoutRecord): wire.Payout {
  if (code !== null && !isFailureCode(code)) throw new Error(`the payout has an unknown failure ${code}`)
  return {
    payout_id: id,
    ...payout,
    amount: formatNumeric(payout.amount, payout.currency),
    debt_deducted: formatNumeric(payout.debt_deducted, payout.currency),
    failure: code === null ? null : failureOf(code),
  }
}

function presentDetails({ payout, settlementIds, events }: PayoutDetails): wire.PayoutWithEvents {
  return { ...presentPayout(payout), settlement_ids: settlementIds, status_history: [...events] }
}
