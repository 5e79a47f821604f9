import { randomUUID } from 'node:crypto'
import t from 'tap'
import { keepBalances } from '../../src/ledger/keep-balances.ts'
import { testService } from '../support/app.ts'
import { byHandOf } from '../support/by-hand.ts'
import type { TestMerchant } from '../support/app.ts'
import { refund, settledPayment } from '../support/payments.ts'

const service = await testService(t)
const { app, owner } = service
const headers = await service.operator('OPS')

type Fixture = { merchant: TestMerchant; paymentId: string; debt: string; settlement: string }

/** A settlement that is a debt, and one that is paid, with rounding, of a payment and a refund. */
async function story(): Promise<Fixture> {
  const merchant = await service.merchant()
  const close = async (): Promise<string> => {
    const { body } = await service.call('POST', '/api/v1/portal/settlements', { merchant, body: {} })
    return body.settlements[0].settlement_id
  }
  const early = await settledPayment(service, merchant, { amount: '20.00' })
  await close()
  await refund(service, merchant, { id: early, body: { amount: '5.00' } })
  const debt = await close()
  const paymentId = await settledPayment(service, merchant, { amount: '50.25' })
  const settlement = await close()
  await settledPayment(service, merchant, { amount: '30.00' })
  await keepBalances(app)
  return { merchant, paymentId, debt, settlement }
}

const byHand = byHandOf(owner)

async function differences({ merchant }: Fixture): Promise<Record<string, unknown>[]> {
  const { body } = await service.call('GET', `/api/v1/admin/reconciliation?merchant_id=${merchant.id}`, { headers })
  return body.differences
}

t.test('unchanged settlements agree with their lines, the ledger and each other', async (t) => {
  const given = await story()
  t.same(await differences(given), [])
})

t.test('each corruption of a settlement is named, with its row and both amounts', async (t) => {
  type Case = [name: string, text: string, values: (given: Fixture) => unknown[], found: (given: Fixture) => object[]]
  const CASES: Case[] = [
    [
      'the amount of a line',
      `update settlement_lines set amount = 500 where subject_id = $1 and movement = 'payment_settled'`,
      ({ paymentId }) => [paymentId],
      ({ paymentId, settlement }) => [
        { kind: 'SETTLEMENT_LINE', payment_id: paymentId, expected_amount: '50.25', found_amount: '500.00' },
        { kind: 'SETTLEMENT_TOTAL', subject: settlement, expected_amount: '494.30', found_amount: '44.55' },
        { kind: 'SETTLEMENT_TOTAL', subject: settlement, expected_amount: '500.00', found_amount: '50.25' },
      ],
    ],
    [
      'a line that is gone',
      `delete from settlement_lines where subject_id = $1 and movement = 'fee_taken'`,
      ({ paymentId }) => [paymentId],
      ({ paymentId, settlement }) => [
        { kind: 'SETTLEMENT_LINE', payment_id: paymentId, expected_amount: '-0.7025', found_amount: null },
        { kind: 'SETTLEMENT_TOTAL', subject: settlement, expected_amount: '0.00', found_amount: '0.7025' },
        { kind: 'SETTLEMENT_TOTAL', subject: settlement, expected_amount: '45.2525', found_amount: '44.55' },
      ],
    ],
    [
      'an entry that is settled twice',
      `insert into settlement_lines
       select merchant_id, nextval('ledger_entries_ordinal_seq'), currency, movement, subject_id, amount, occurred_at, settlement_id
       from settlement_lines where subject_id = $1 and movement = 'payment_settled'`,
      ({ paymentId }) => [paymentId],
      ({ paymentId, settlement }) => [
        { kind: 'SETTLEMENT_LINE_WITHOUT_ENTRY', payment_id: paymentId, expected_amount: null, found_amount: '50.25' },
        { kind: 'SETTLEMENT_TOTAL', subject: settlement },
        { kind: 'SETTLEMENT_TOTAL', subject: settlement, expected_amount: '100.50', found_amount: '50.25' },
      ],
    ],
    [
      'a line that was taken out of its settlement, to be paid again',
      `update settlement_lines set settlement_id = null where subject_id = $1 and movement = 'payment_settled'`,
      ({ paymentId }) => [paymentId],
      ({ settlement }) => [
        { kind: 'SETTLEMENT_TOTAL', subject: settlement },
        { kind: 'SETTLEMENT_TOTAL', subject: settlement, expected_amount: '0.00', found_amount: '50.25' },
      ],
    ],
    [
      'what a settlement pays',
      `update settlements set gross_amount = gross_amount + 100, net_amount = net_amount + 100, payable_amount = payable_amount + 100
       where id = $1`,
      ({ settlement }) => [settlement],
      ({ settlement: subject }) => [
        { kind: 'SETTLEMENT_TOTAL', subject, expected_amount: '44.55', found_amount: '144.55' },
        { kind: 'SETTLEMENT_TOTAL', subject, expected_amount: '50.25', found_amount: '150.25' },
        { kind: 'SETTLEMENT_LEDGER', subject, expected_amount: '144.55', found_amount: '44.55' },
      ],
    ],
    [
      'a debt that is forgotten',
      `update settlements set opening_balance = 0, corrected_amount = opening_balance where id = $1`,
      ({ settlement }) => [settlement],
      ({ settlement: subject }) => [
        { kind: 'SETTLEMENT_TOTAL', subject, expected_amount: '0.00', found_amount: '-5.00' },
        { kind: 'SETTLEMENT_TOTAL', subject, expected_amount: '49.55', found_amount: '44.55' },
        { kind: 'SETTLEMENT_OPENING', subject, expected_amount: '-5.00', found_amount: '0.00' },
      ],
    ],
    [
      'a settlement that is gone',
      'delete from settlements where id = $1',
      ({ debt }) => [debt],
      ({ debt, settlement }) => [
        { kind: 'LINE_WITHOUT_SETTLEMENT', subject: debt, expected_amount: null, found_amount: '-5.00' },
        { kind: 'SETTLEMENT_OPENING', subject: settlement, expected_amount: '0.00', found_amount: '-5.00' },
      ],
    ],
    [
      'the entry of a settlement',
      `update ledger_entries set amount = 4455 where subject_id = $1 and movement = 'settlement_closed'`,
      ({ settlement }) => [settlement],
      ({ settlement: subject }) => [
        { kind: 'LEDGER_BALANCE', subject: 'clearing' },
        { kind: 'LEDGER_BALANCE', subject: 'merchant_payable' },
        { kind: 'SETTLEMENT_LEDGER', subject, expected_amount: '44.55', found_amount: '4455.00' },
      ],
    ],
    [
      'an entry of a settlement that never was',
      `insert into ledger_entries (merchant_id, movement, subject_id, debit, credit, amount, currency, entry_hash)
       values ($1, 'settlement_closed', $2, 'clearing', 'merchant_payable', 9, 'GBP', '')`,
      ({ merchant }) => [merchant.id, randomUUID()],
      () => [
        { kind: 'LEDGER_BALANCE', subject: 'clearing' },
        { kind: 'LEDGER_BALANCE', subject: 'merchant_payable' },
        { kind: 'SETTLEMENT_LEDGER', expected_amount: null, found_amount: '9.00' },
      ],
    ],
  ]
  for (const [name, text, values, found] of CASES) {
    const given = await story()
    await byHand([text, values(given)])
    const actual = await differences(given)
    const expected = found(given).map((each) => ({ merchant_id: given.merchant.id, currency: 'GBP', ...each }))
    t.match(actual, expected, `${name}: ${JSON.stringify(actual)}`)
    t.equal(actual.length, expected.length, name)
  }
})
