import { randomUUID } from 'node:crypto'
import t from 'tap'
import { keepBalances } from '../../src/ledger/keep-balances.ts'
import { collectReturns } from '../../src/payouts/collect-returns.ts'
import { createPayouts } from '../../src/payouts/create-payouts.ts'
import { sendPayouts } from '../../src/payouts/send-payouts.ts'
import { testService } from '../support/app.ts'
import { byHandOf } from '../support/by-hand.ts'
import type { TestMerchant } from '../support/app.ts'
import { settledPayment } from '../support/payments.ts'
import { payoutAccount, payoutsOf } from '../support/payouts.ts'

const service = await testService(t)
const { app, owner } = service
const headers = await service.operator('OPS')

type Fixture = { merchant: TestMerchant; paid: string; failed: string; returned: string }

/** Three payouts: one that failed, one that came back, and one that paid the money of both. */
async function story(): Promise<Fixture> {
  const merchant = await service.merchant()
  await payoutAccount(service, merchant)
  await settledPayment(service, merchant)
  await service.call('POST', '/api/v1/portal/settlements', { merchant, body: {} })
  const run = async (faults: object): Promise<void> => {
    const body = { merchant_id: merchant.id, ...faults }
    await service.call('PUT', '/api/v1/sandbox/bank/faults', { headers, body })
    await owner.query('update payouts set retry_at = now() where merchant_id = $1 and retry_at is not null', [
      merchant.id,
    ])
    await createPayouts(app)
    await sendPayouts(app)
    await collectReturns(app)
  }
  await run({ fail_payout: '100%' })
  await run({ return_payout: '100%' })
  await run({})
  await keepBalances(app)
  const [failed, returned, paid] = (await payoutsOf(service, merchant)).map(({ id }) => id)
  return { merchant, failed: failed ?? '', returned: returned ?? '', paid: paid ?? '' }
}

const byHand = byHandOf(owner)

async function differences({ merchant }: Fixture): Promise<Record<string, unknown>[]> {
  const { body } = await service.call('GET', `/api/v1/admin/reconciliation?merchant_id=${merchant.id}`, { headers })
  return body.differences
}

t.test('unchanged payouts agree with the ledger, their settlements and the bank', async (t) => {
  const given = await story()
  t.match(await payoutsOf(service, given.merchant), [{ status: 'FAILED' }, { status: 'RETURNED' }, { status: 'PAID' }])
  t.same(await differences(given), [])
})

t.test('each corruption of a payout is named, with its row and both amounts', async (t) => {
  type Case = [name: string, text: string, values: (given: Fixture) => unknown[], found: (given: Fixture) => object[]]
  const CASES: Case[] = [
    [
      'the amount of a payout',
      'update payouts set amount = 4930 where id = $1',
      ({ paid }) => [paid],
      ({ paid: subject }) => [
        { kind: 'PAYOUT_LEDGER', subject, expected_amount: '4930.00', found_amount: '49.30' },
        { kind: 'PAYOUT_LEDGER', subject, expected_amount: '4930.00', found_amount: '49.30' },
        { kind: 'SETTLEMENT_PAYOUT', subject, expected_amount: '49.30', found_amount: '4930.00' },
        { kind: 'BANK_PAYOUT', subject, expected_amount: '4930.00', found_amount: '49.30' },
        { kind: 'BANK_PAYOUT', subject, expected_amount: '4930.00', found_amount: '49.30' },
      ],
    ],
    [
      'a paid payout that is set back, to be paid again',
      `update payouts set status = 'CREATED', paid_at = null, sent_at = null where id = $1`,
      ({ paid }) => [paid],
      ({ paid: subject }) => [
        { kind: 'PAYOUT_LEDGER', subject, expected_amount: null, found_amount: '49.30' },
        { kind: 'BANK_PAYOUT', subject, expected_amount: null, found_amount: '49.30' },
        { kind: 'BANK_PAYOUT', subject, expected_amount: null, found_amount: '49.30' },
      ],
    ],
    [
      'a failed payout that is made paid',
      `update payouts set status = 'PAID', paid_at = now(), failed_at = null, retry_at = null, failure_code = null where id = $1`,
      ({ failed }) => [failed],
      ({ failed: subject }) => [
        { kind: 'PAYOUT_LEDGER', subject, expected_amount: null, found_amount: '49.30' },
        { kind: 'PAYOUT_LEDGER', subject, expected_amount: '49.30', found_amount: null },
        { kind: 'SETTLEMENT_PAYOUT', subject, expected_amount: '0.00', found_amount: '49.30' },
        { kind: 'BANK_PAYOUT', subject, expected_amount: '49.30', found_amount: null },
        { kind: 'BANK_PAYOUT', subject, expected_amount: '49.30', found_amount: null },
      ],
    ],
    [
      'a payout that is gone',
      'delete from payouts where id = $1',
      ({ failed }) => [failed],
      ({ failed: subject }) => [
        { kind: 'LEDGER_WITHOUT_PAYOUT', subject, expected_amount: null, found_amount: '49.30' },
        { kind: 'LEDGER_WITHOUT_PAYOUT', subject, expected_amount: null, found_amount: '49.30' },
      ],
    ],
    [
      'an entry of a payout that never was',
      `insert into ledger_entries (merchant_id, movement, subject_id, debit, credit, amount, currency, entry_hash)
       values ($1, 'payout_paid', $2, 'payouts_in_transit', 'bank', 9, 'GBP', '')`,
      ({ merchant }) => [merchant.id, randomUUID()],
      () => [
        { kind: 'LEDGER_BALANCE', subject: 'bank' },
        { kind: 'LEDGER_BALANCE', subject: 'payouts_in_transit' },
        { kind: 'LEDGER_WITHOUT_PAYOUT', expected_amount: null, found_amount: '9.00' },
      ],
    ],
    [
      'the amount of an entry',
      `update ledger_entries set amount = 4 where subject_id = $1 and movement = 'payout_returned'`,
      ({ returned }) => [returned],
      ({ returned: subject }) => [
        { kind: 'LEDGER_BALANCE', subject: 'bank' },
        { kind: 'LEDGER_BALANCE', subject: 'merchant_payable' },
        { kind: 'PAYOUT_LEDGER', subject, expected_amount: '49.30', found_amount: '4.00' },
      ],
    ],
    [
      'a settlement that is taken out of its payout, to be paid again',
      'update settlements set payout_id = null where payout_id = $1',
      ({ paid }) => [paid],
      ({ paid: subject }) => [{ kind: 'SETTLEMENT_PAYOUT', subject, expected_amount: '0.00', found_amount: '49.30' }],
    ],
    [
      "the transfer in the bank's books",
      'update transfers set amount_minor = 1 where id = $1',
      ({ paid }) => [paid],
      ({ paid: subject }) => [{ kind: 'BANK_PAYOUT', subject, expected_amount: '49.30', found_amount: '0.01' }],
    ],
    [
      "the bank's booking",
      'delete from mock_bank.payouts where payout_id = $1',
      ({ returned }) => [returned],
      ({ returned: subject }) => [
        { kind: 'BANK_PAYOUT', subject, expected_amount: '49.30', found_amount: null },
        { kind: 'BANK_PAYOUT_RETURN', subject, expected_amount: '49.30', found_amount: null },
      ],
    ],
    [
      'a transfer of the bank for no payout',
      `insert into mock_bank.payouts (payout_id, merchant_id, amount, currency, creditor_hash, bank_reference)
       values ($2, $1, 7, 'GBP', repeat('0', 64), 'MB7')`,
      ({ merchant }) => [merchant.id, randomUUID()],
      () => [{ kind: 'BANK_PAYOUT_UNKNOWN', expected_amount: null, found_amount: '7.00' }],
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
