import { randomUUID } from 'node:crypto'
import t from 'tap'
import { keepBalances } from '../../src/ledger/keep-balances.ts'
import { resumeRefunds } from '../../src/payments/refunds/execute-refund.ts'
import { testService } from '../support/app.ts'
import type { TestMerchant } from '../support/app.ts'
import { byHandOf } from '../support/by-hand.ts'
import { accept, raise } from '../support/disputes.ts'
import { settledPayment } from '../support/payments.ts'

const service = await testService(t)
const { app, owner } = service
const headers = await service.operator('OPS')
const byHand = byHandOf(owner)

type Fixture = { merchant: TestMerchant; paymentId: string; disputeId: string; refundId: string }

/** A dispute that its merchant has accepted, with its refund of 50.00. */
async function story(): Promise<Fixture> {
  const merchant = await service.merchant()
  const paymentId = await settledPayment(service, merchant, { amount: '50.00' })
  const { id: disputeId } = (await raise(service, merchant, paymentId)).body
  await accept(service, merchant, disputeId, { body: { refund: true } })
  await resumeRefunds(app)
  await keepBalances(app)
  const { rows } = await owner.query('select refund_id from disputes where id = $1', [disputeId])
  return { merchant, paymentId, disputeId, refundId: rows[0].refund_id }
}

async function differences({ merchant }: Fixture): Promise<Record<string, unknown>[]> {
  const { body } = await service.call('GET', `/api/v1/admin/reconciliation?merchant_id=${merchant.id}`, { headers })
  return body.differences
}

t.test("an unchanged dispute agrees with its refund, the ledger and the bank's books", async (t) => {
  t.same(await differences(await story()), [])
})

t.test('each corruption of a dispute is named, with its row and both amounts', async (t) => {
  const cases: [name: string, break_: (given: Fixture) => Promise<void>, expected: (given: Fixture) => object[]][] = [
    [
      "the bank's credit for it",
      ({ refundId }) => byHand([`update mock_bank.bank_credits set amount = 49 where refund_id = $1`, [refundId]]),
      ({ refundId, disputeId }) => [
        { kind: 'BANK_CREDIT', subject: refundId, expected_amount: '50.00', found_amount: '49.00' },
        { kind: 'DISPUTE_REFUND', subject: disputeId, expected_amount: '50.00', found_amount: '49.00' },
      ],
    ],
    [
      'the refund that it names',
      ({ disputeId }) => byHand([`update disputes set refund_id = $2 where id = $1`, [disputeId, randomUUID()]]),
      ({ disputeId }) => [
        { kind: 'DISPUTE_REFUND', subject: disputeId, expected_amount: null, found_amount: '50.00' },
        { kind: 'DISPUTE_REFUND', subject: disputeId, expected_amount: null, found_amount: null },
      ],
    ],
    [
      'a dispute without its refund',
      ({ disputeId }) => byHand([`update disputes set refund_id = null where id = $1`, [disputeId]]),
      ({ disputeId }) => [{ kind: 'DISPUTE_REFUND', subject: disputeId, expected_amount: null, found_amount: '50.00' }],
    ],
    [
      "a refund that is no dispute's any more",
      ({ refundId }) => byHand([`update payment_refunds set dispute_id = null where id = $1`, [refundId]]),
      ({ refundId, disputeId }) => [
        { kind: 'REFUND_LEDGER', subject: refundId, expected_amount: '50.00', found_amount: null },
        { kind: 'DISPUTE_REFUND', subject: disputeId, expected_amount: null, found_amount: '50.00' },
      ],
    ],
    [
      'its entry of the ledger as that of an ordinary refund',
      ({ refundId }) =>
        byHand(
          [`update ledger_entries set movement = 'payment_refunded' where subject_id = $1`, [refundId]],
          [`update settlement_lines set movement = 'payment_refunded' where subject_id = $1`, [refundId]],
        ),
      ({ refundId, disputeId }) => [
        { kind: 'REFUND_LEDGER', subject: refundId, expected_amount: '50.00', found_amount: null },
        { kind: 'DISPUTE_REFUND', subject: disputeId, expected_amount: '50.00', found_amount: null },
      ],
    ],
  ]
  for (const [name, break_, expected] of cases) {
    const given = await story()
    await break_(given)
    const actual = await differences(given)
    const all = expected(given).map((each) => ({ merchant_id: given.merchant.id, currency: 'GBP', ...each }))
    t.match(actual, all, `${name}: ${JSON.stringify(actual)}`)
    t.equal(actual.length, all.length, name)
  }
})
