import { correctBalance } from '../../ledger/correct-balance.ts'
import { getBalances } from '../../ledger/get-balances.ts'
import type { CurrencyBalances } from '../../ledger/get-balances.ts'
import { listBalances } from '../../ledger/list-balances.ts'
import type { CorrectionRecord, CurrencySums } from '../../ledger/record.ts'
import { formatNumeric, formatSum } from '../../lib/money.ts'
import type { MerchantNames } from '../../wire/common.ts'
import type * as wire from '../../wire/ledger.ts'
import type { Handlers } from '../endpoint.ts'
import { findBlocked } from '../../payouts/find-blocked.ts'
import { merchantIdOf, operatorOf } from '../principal.ts'

export const ledger: Handlers<typeof wire> = {
  /** GET /api/v1/portal/balances */
  async getBalances(app, { principal }) {
    const merchantId = merchantIdOf(principal)
    const [balances, blockOf] = await Promise.all([getBalances(app, merchantId), findBlocked(app, [merchantId])])
    const data = balances.map((row) => present(row, blockOf(merchantId, row.currency)))
    return { status: 200, body: { data, has_more: false, next_cursor: null } }
  },

  /** GET /api/v1/admin/balances */
  async listBalances(app, { query }) {
    const { rows, nextCursor, totals } = await listBalances(app, query)
    const blockOf = await findBlocked(
      app,
      rows.map((row) => row.merchant_id),
    )
    const data = rows.map((row) => {
      const { merchant_id, trading_name, realm_slug, currency } = row
      return {
        merchant_id,
        trading_name,
        realm_slug,
        ...presentAll(row),
        payout_blocked_by: blockOf(merchant_id, currency),
      }
    })
    const body = { data, has_more: nextCursor !== null, next_cursor: nextCursor, totals: totals.map(presentAll) }
    return { status: 200, body }
  },

  /** POST /api/v1/admin/merchants/{id}/corrections */
  async correctBalance(app, { principal, params, headers, body }) {
    const { booked_against: against, payment_id: paymentId, ...correction } = body
    const made = await correctBalance(app, {
      ...correction,
      merchantId: params.id,
      paymentId,
      bookedAgainst: against === 'BANK' ? 'bank' : 'fees_earned',
      idempotencyKey: headers['x-idempotency-key'],
      actor: operatorOf(principal).actor,
    })
    return { status: 201, body: presentCorrection(made) }
  },
}

export function presentCorrection({ id, booked_against: against, ...correction }: CorrectionRecord): wire.Correction {
  return {
    correction_id: id,
    ...correction,
    amount: formatNumeric(correction.amount, correction.currency),
    booked_against: against === 'bank' ? 'BANK' : 'FEES',
  }
}

function present({ currency, accounts }: CurrencyBalances, block: wire.PayoutBlock | null): wire.Balance {
  const { clearing, merchant_payable, held, payouts_in_transit, fees_earned } = accounts
  return {
    currency,
    clearing: formatSum([clearing], currency),
    merchant_payable: formatSum([merchant_payable], currency),
    held: formatSum([held], currency),
    payouts_in_transit: formatSum([payouts_in_transit], currency),
    total: formatSum([clearing, merchant_payable, held, payouts_in_transit], currency),
    fees_paid: formatSum([fees_earned], currency),
    payout_blocked_by: block,
  }
}

function presentAll(
  balances: CurrencySums,
): Omit<wire.MerchantBalance, keyof typeof MerchantNames | 'merchant_id' | 'payout_blocked_by'> {
  const { currency, bank, clearing, merchant_payable, held, payouts_in_transit, fees_earned, rounding } = balances
  return {
    currency,
    bank: formatSum([bank], currency),
    clearing: formatSum([clearing], currency),
    merchant_payable: formatSum([merchant_payable], currency),
    held: formatSum([held], currency),
    payouts_in_transit: formatSum([payouts_in_transit], currency),
    total: formatSum([clearing, merchant_payable, held, payouts_in_transit], currency),
    fees_earned: formatSum([fees_earned], currency),
    rounding: formatSum([rounding], currency),
  }
}
