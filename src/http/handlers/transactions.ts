import { getTransaction } from '../../transactions/get-transaction.ts'
import { listTransactions } from '../../transactions/list-transactions.ts'
import type { TransactionRecord } from '../../transactions/record.ts'
import { formatNumeric } from '../../lib/money.ts'
import type * as wire from '../../wire/transactions.ts'
import type { Handlers } from '../endpoint.ts'
import { merchantIdOf } from '../principal.ts'

export const transactions: Handlers<typeof wire> = {
  /** GET /api/v1/portal/transactions */
  async listTransactions(app, { principal, query }) {
    const { transactions, nextCursor } = await listTransactions(app, { merchantId: merchantIdOf(principal), query })
    return {
      status: 200,
      body: { data: transactions.map(present), has_more: nextCursor !== null, next_cursor: nextCursor },
    }
  },

  /** GET /api/v1/portal/transactions/{id} */
  async getTransaction(app, { principal, params }) {
    const key = { merchantId: merchantIdOf(principal), id: params.id }
    return { status: 200, body: present(await getTransaction(app, key)) }
  },
}

function present(transaction: TransactionRecord): wire.Transaction {
  const { currency } = transaction
  return {
    ...transaction,
    gross_amount: formatNumeric(transaction.gross_amount, currency),
    fee_amount: formatNumeric(transaction.fee_amount, currency),
    net_amount: formatNumeric(transaction.net_amount, currency),
    refunded_amount: formatNumeric(transaction.refunded_amount, currency),
    payout_amount: formatNumeric(transaction.payout_amount, currency),
  }
}
