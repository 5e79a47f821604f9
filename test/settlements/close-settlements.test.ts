import { randomUUID } from 'node:crypto'
import t from 'tap'
import { keepBalances } from '../../src/ledger/keep-balances.ts'
import { postMovements } from '../../src/ledger/sql.ts'
import type { Posting } from '../../src/ledger/movements.ts'
import { closeDueSettlements as closeSettlements } from '../../src/settlements/close-settlements.ts'
import { testService } from '../support/app.ts'
import { balancesOf } from '../support/ledger.ts'

const service = await testService(t)
const { app, owner } = service

/** Posts movements, and lets a number of hours pass for the merchant. */
async function post(merchantId: string, ...movements: [Posting['movement'], amount: string][]): Promise<void> {
  const postings = movements.map(
    ([movement, amount]) => ({ merchantId, movement, subjectId: randomUUID(), amount, currency: 'GBP' }) as Posting,
  )
  await app.pool.transaction((tx) => postMovements(tx, postings))
}

function pass(merchantId: string, by: string): Promise<unknown> {
  return owner.query('select advance_sandbox_clock($1, array[]::uuid[], $2)', [merchantId, by])
}

async function settlementsOf(merchantId: string): Promise<Record<string, unknown>[]> {
  const { rows } = await owner.query<Record<string, unknown>>(
    `select kind, opening_balance, gross_amount, fee_amount, refunded_amount, rounding_amount, net_amount, payable_amount,
       line_count
     from settlements where merchant_id = $1 order by period_to`,
    [merchantId],
  )
  return rows
}

t.test('a day closes after midnight in London, with its totals, and its money becomes payable', async (t) => {
  const merchant = await service.merchant()
  await post(merchant.id, ['payment_settled', '50.0000'], ['fee_taken', '0.7125'], ['payment_refunded', '10.0000'])
  await closeSettlements(app)
  t.same(await settlementsOf(merchant.id), [])
  await keepBalances(app)
  await pass(merchant.id, '1 day')
  await closeSettlements(app)
  await closeSettlements(app)
  t.match(await settlementsOf(merchant.id), [
    {
      kind: 'DAILY',
      opening_balance: '0.0000',
      gross_amount: '50.0000',
      fee_amount: '0.7125',
      refunded_amount: '10.0000',
      rounding_amount: '0.0025',
      net_amount: '39.2900',
      payable_amount: '39.2900',
      line_count: 4,
    },
  ])
  t.match(await balancesOf(service, merchant), {
    GBP: { clearing: '0.0000', merchant_payable: '39.2900', rounding: '-0.0025', fees_earned: '0.7125' },
  })
})

t.test('a debt remains in clearing, and the next settlement opens with it', async (t) => {
  const merchant = await service.merchant()
  await post(merchant.id, ['payment_settled', '1.0000'], ['payment_refunded', '3.5000'])
  await keepBalances(app)
  await pass(merchant.id, '1 day')
  await closeSettlements(app)
  t.match(await balancesOf(service, merchant), { GBP: { clearing: '-2.5000', merchant_payable: '0.0000' } })
  await post(merchant.id, ['payment_settled', '4.0012'])
  await keepBalances(app)
  await pass(merchant.id, '1 day')
  await closeSettlements(app)
  t.match(await settlementsOf(merchant.id), [
    {
      opening_balance: '0.0000',
      net_amount: '-2.5000',
      payable_amount: '0.0000',
      rounding_amount: '0.0000',
      line_count: 2,
    },
    {
      opening_balance: '-2.5000',
      net_amount: '1.5000',
      payable_amount: '1.5000',
      rounding_amount: '-0.0012',
      line_count: 2,
    },
  ])
  t.match(await balancesOf(service, merchant), { GBP: { clearing: '0.0000', merchant_payable: '1.5000' } })
})
