import { formatNumeric } from '../../lib/money.ts'
import { withMerchantName, withMerchantNames } from '../../merchants/with-names.ts'
import { closeSettlements } from '../../settlements/close-settlements.ts'
import { getSettlement } from '../../settlements/get-settlement.ts'
import { listSettlementLines, listSettlements } from '../../settlements/list-settlements.ts'
import type { SettlementRecord } from '../../settlements/record.ts'
import { getSettlementSchedule, setSettlementSchedule } from '../../settlements/settlement-schedule.ts'
import type * as wire from '../../wire/settlements.ts'
import type { Handlers } from '../endpoint.ts'
import { merchantIdOf, merchantOf, operatorOf } from '../principal.ts'
import { viewOf } from '../view-of.ts'

export const settlements: Handlers<typeof wire> = {
  /** GET /api/v1/portal/settlements */
  async listSettlements(app, { principal, query }) {
    return listBody(await listSettlements(app, { merchantId: merchantIdOf(principal), query }))
  },

  /** GET /api/v1/portal/settlements/{id} */
  async getSettlement(app, { principal, params }) {
    const key = { merchantId: merchantIdOf(principal), id: params.id }
    return { status: 200, body: present(await getSettlement(app, key)) }
  },

  /** GET /api/v1/portal/settlements/{id}/lines */
  async listSettlementLines(app, { principal, params, query }) {
    const key = { merchantId: merchantIdOf(principal), id: params.id }
    return linesBody(await listSettlementLines(app, { ...key, ...query }))
  },

  /** POST /api/v1/portal/settlements */
  async closeSettlements(app, { principal, body: { currency } }) {
    const { merchantId, actor } = merchantOf(principal)
    const closed = await closeSettlements(app, { merchantId, currency, actor })
    return { status: 200, body: { settlements: closed.map(present) } }
  },

  /** GET /api/v1/portal/settlement-schedule */
  async getSettlementSchedule(app, { principal }) {
    return { status: 200, body: await getSettlementSchedule(app, merchantIdOf(principal)) }
  },

  /** PUT /api/v1/portal/settlement-schedule */
  async putSettlementSchedule(app, { principal, body: { settlement_schedule: schedule } }) {
    const { merchantId: id, actor } = merchantOf(principal)
    return { status: 200, body: await setSettlementSchedule(app, { id, schedule, actor }) }
  },

  /** GET /api/v1/admin/settlements */
  async listAdminSettlements(app, { principal, query: { merchant_id: merchantId, ...query } }) {
    const { status, body } = listBody(await listSettlements(app, { merchantId, query }))
    const data = await withMerchantNames(app, body.data)
    return { status, body: viewOf(operatorOf(principal))({ ...body, data }) }
  },

  /** GET /api/v1/admin/settlements/{id} */
  async getAdminSettlement(app, { principal, params }) {
    const settlement = present(await getSettlement(app, { merchantId: undefined, id: params.id }))
    const body = await withMerchantName(app, settlement)
    return { status: 200, body: viewOf(operatorOf(principal))(body) }
  },

  /** GET /api/v1/admin/settlements/{id}/lines */
  async listAdminSettlementLines(app, { principal, params, query }) {
    const view = viewOf(operatorOf(principal))
    const { status, body } = linesBody(
      await listSettlementLines(app, { merchantId: undefined, id: params.id, ...query }),
    )
    return { status, body: view(body) }
  },

  /** PUT /api/v1/admin/merchants/{id}/settlement-schedule */
  async setSettlementSchedule(app, { principal, params, body }) {
    const { settlement_schedule: schedule, reason, expected } = body
    const action = { id: params.id, reason, expected, actor: operatorOf(principal).actor }
    return { status: 200, body: await setSettlementSchedule(app, { ...action, schedule }) }
  },
}

function listBody({ rows, nextCursor }: Awaited<ReturnType<typeof listSettlements>>) {
  const body = { data: rows.map(present), has_more: nextCursor !== null, next_cursor: nextCursor }
  return { status: 200 as const, body }
}

function linesBody({ rows, nextCursor }: Awaited<ReturnType<typeof listSettlementLines>>) {
  const data = rows.map((line) => ({ ...line, amount: formatNumeric(line.amount, line.currency) }))
  return { status: 200 as const, body: { data, has_more: nextCursor !== null, next_cursor: nextCursor } }
}

function present(settlement: SettlementRecord): wire.Settlement {
  const money = (amount: string): string => formatNumeric(amount, settlement.currency)
  return {
    ...settlement,
    opening_balance: money(settlement.opening_balance),
    gross_amount: money(settlement.gross_amount),
    fee_amount: money(settlement.fee_amount),
    refunded_amount: money(settlement.refunded_amount),
    corrected_amount: money(settlement.corrected_amount),
    deducted_amount: money(settlement.deducted_amount),
    rounding_amount: money(settlement.rounding_amount),
    net_amount: money(settlement.net_amount),
    payable_amount: money(settlement.payable_amount),
  }
}
