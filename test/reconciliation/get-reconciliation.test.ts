import { randomUUID } from 'node:crypto'
import t from 'tap'
import { keepBalances } from '../../src/ledger/keep-balances.ts'
import type { App } from '../../src/app.ts'
import { sql } from '../../src/db/sql.ts'
import { getReconciliation } from '../../src/reconciliation/get-reconciliation.ts'
import { listWindows } from '../../src/reconciliation/windows-sql.ts'
import { createPayment, testService } from '../support/app.ts'
import type { Answer, TestMerchant } from '../support/app.ts'
import { britishFile } from '../support/bank-files.ts'
import { byHandOf } from '../support/by-hand.ts'
import { exportByFile } from '../support/payout-bank.ts'
import { payableMerchant } from '../support/payouts.ts'
import { refund, settledPayment } from '../support/payments.ts'

const service = await testService(t)
const { app, owner } = service
const headers = await service.operator('OPS')

/** The whole report, or a merchant's. */
const reconcile = (query = ''): Promise<Answer> =>
  service.call('GET', `/api/v1/admin/reconciliation${query}`, { headers })

const byHand = byHandOf(owner)

async function story(): Promise<{ merchant: TestMerchant; paymentId: string; refundId: string }> {
  const merchant = await service.merchant()
  const paymentId = await settledPayment(service, merchant, { amount: '50.00' })
  await settledPayment(service, merchant, { amount: '20.00' })
  await createPayment(service, merchant)
  const { body } = await refund(service, merchant, { id: paymentId, body: { amount: '5.00' } })
  return { merchant, paymentId, refundId: body.refund_id ?? body.id }
}

t.test('more than one request can compare is rejected with what to do instead', async (t) => {
  await story()
  const hurried = {
    pool: {
      ...app.pool,
      transaction: (run: Parameters<typeof app.pool.transaction>[0]) =>
        app.pool.transaction(async (tx) => {
          await tx.query(sql.typeAlias('void')`set local statement_timeout = 1`)
          return run(tx)
        }),
    },
    comparisons: app.comparisons,
  } as Pick<App, 'pool' | 'comparisons'>
  const compare = (from?: string) => getReconciliation(hurried, { merchantId: undefined, from })
  const rejected = (message: RegExp) => ({
    code: 'VALIDATION_FAILED',
    errors: [{ path: 'from', code: 'TOO_MUCH', message }],
  })
  await t.rejects(compare(), rejected(/^is required: everything is more than one request can compare/))
  await t.rejects(compare('2020-01-01T00:00:00Z'), rejected(/^is too early/))
})

t.test('untouched books add up, for the operator and for the merchant', async (t) => {
  const { merchant } = await story()
  await keepBalances(app)
  const { status, body } = await reconcile(`?merchant_id=${merchant.id}`)
  t.equal(status, 200)
  t.match(body, {
    from: null,
    is_balanced: true,
    differences: [],
    has_more: false,
    totals: [
      {
        merchant_id: merchant.id,
        currency: 'GBP',
        settled_amount: '70.00',
        ledger_settled_amount: '70.00',
        refunded_amount: '5.00',
        ledger_refunded_amount: '5.00',
      },
    ],
  })
  t.equal(body.totals[0].fee_amount, body.totals[0].ledger_fee_amount)
  const { body: own } = await service.call('GET', '/api/v1/portal/reconciliation', { merchant })
  t.same({ ...own, as_of: null }, { ...body, as_of: null })
  const { body: other } = await service.call('GET', '/api/v1/portal/reconciliation', {
    merchant: await service.merchant(),
  })
  t.match(other, { totals: [], is_balanced: true }, 'another merchant sees nothing of it')
  t.match((await reconcile(`?as_of=2020-01-01T00:00:00Z`)).body, { totals: [], is_balanced: true })
  t.match(await reconcile('?merchant_id=acme'), { status: 404, body: { code: 'MERCHANT_NOT_FOUND' } })
  t.match(await reconcile('?as_of=yesterday'), { status: 400, body: { errors: [{ path: 'as_of' }] } })
})

t.test('each corruption by hand is named with its row and both amounts', async (t) => {
  type Fixture = { merchant: TestMerchant; paymentId: string; refundId: string }
  const cases: [name: string, break_: (given: Fixture) => Promise<void>, expected: (given: Fixture) => object[]][] = [
    [
      'the gross amount of a settled payment: 50 becomes 5000',
      ({ paymentId }) =>
        byHand([
          `update payment_intents set gross_amount = 5000, amount = 5000, net_amount = 5000 - fee_amount where id = $1`,
          [paymentId],
        ]),
      ({ paymentId: subject }) => [
        { kind: 'PAYMENT_LEDGER', trading_name: 'Acme', subject, expected_amount: '5000.00', found_amount: '50.00' },
        { kind: 'BANK_DEBIT', subject, expected_amount: '5000.00', found_amount: '50.00' },
      ],
    ],
    [
      'the fee',
      ({ paymentId }) =>
        byHand([`update payment_intents set fee_amount = 0, net_amount = gross_amount where id = $1`, [paymentId]]),
      ({ paymentId: subject }) => [{ kind: 'FEE_LEDGER', subject, expected_amount: null }],
    ],
    [
      'a refund',
      ({ refundId }) => byHand([`update payment_refunds set amount = 4 where id = $1`, [refundId]]),
      ({ refundId, paymentId }) => [
        {
          kind: 'REFUND_LEDGER',
          subject: refundId,
          payment_id: paymentId,
          expected_amount: '4.00',
          found_amount: '5.00',
        },
        { kind: 'REFUNDED_AMOUNT', subject: paymentId, expected_amount: '4.00', found_amount: '5.00' },
        { kind: 'BANK_CREDIT', subject: refundId, expected_amount: '4.00', found_amount: '5.00' },
      ],
    ],
    [
      'a refund that is said to have failed',
      ({ refundId }) =>
        byHand([`update payment_refunds set status = 'FAILED', failure_code = 'X' where id = $1`, [refundId]]),
      ({ refundId, paymentId }) => [
        { kind: 'LEDGER_WITHOUT_REFUND', subject: refundId, expected_amount: null, found_amount: '5.00' },
        { kind: 'REFUNDED_AMOUNT', subject: paymentId, expected_amount: '0.00' },
        { kind: 'BANK_CREDIT_UNKNOWN', subject: refundId, payment_id: paymentId, found_amount: '5.00' },
      ],
    ],
    [
      'a payment that is said to have failed',
      ({ paymentId }) =>
        byHand([
          `update payment_intents set status = 'Failed', failure_code = 'X', failure_source = 'BANK' where id = $1`,
          [paymentId],
        ]),
      ({ paymentId: subject }) => [
        { kind: 'LEDGER_WITHOUT_PAYMENT', subject, found_amount: '0.70' },
        { kind: 'LEDGER_WITHOUT_PAYMENT', subject, found_amount: '50.00' },
        { kind: 'BANK_DEBIT_OF_FAILED', subject, expected_amount: null, found_amount: '50.00' },
      ],
    ],
    [
      'the event of a settlement that is gone',
      ({ paymentId }) =>
        byHand([`delete from payment_events where payment_intent_id = $1 and new_status = 'Settled'`, [paymentId]]),
      ({ paymentId: subject }) => [
        { kind: 'LEDGER_WITHOUT_PAYMENT', subject },
        { kind: 'LEDGER_WITHOUT_PAYMENT', subject },
      ],
    ],
    [
      'the currency of a payment',
      ({ paymentId }) => byHand([`update payment_intents set currency = 'EUR' where id = $1`, [paymentId]]),
      ({ paymentId, refundId }) =>
        [
          { kind: 'PAYMENT_LEDGER', subject: paymentId, expected_amount: '50.00', found_amount: '50.00' },
          { kind: 'FEE_LEDGER', subject: paymentId },
          { kind: 'REFUND_LEDGER', subject: refundId },
          { kind: 'BANK_DEBIT', subject: paymentId, found_amount: null },
          { kind: 'BANK_CREDIT', subject: refundId, found_amount: null },
        ].map((each) => ({ currency: 'EUR', ...each })),
    ],
    [
      'a refund that is gone',
      ({ refundId }) => byHand([`delete from payment_refunds where id = $1`, [refundId]]),
      ({ refundId, paymentId }) => [
        { kind: 'LEDGER_WITHOUT_REFUND', subject: refundId, expected_amount: null, found_amount: '5.00' },
        { kind: 'REFUNDED_AMOUNT', subject: paymentId, expected_amount: '0.00', found_amount: '5.00' },
        { kind: 'BANK_CREDIT_UNKNOWN', subject: refundId, expected_amount: null, found_amount: '5.00' },
      ],
    ],
    [
      'the refunded amount of a payment',
      ({ paymentId }) => byHand([`update payment_intents set refunded_amount = 0 where id = $1`, [paymentId]]),
      ({ paymentId: subject }) => [{ kind: 'REFUNDED_AMOUNT', subject, expected_amount: '5.00', found_amount: '0.00' }],
    ],
    [
      'the amount of a payment that is reserved for refunds',
      ({ paymentId }) => byHand([`update payment_intents set refund_reserved_amount = 40 where id = $1`, [paymentId]]),
      ({ paymentId: subject }) => [
        { kind: 'REFUNDED_AMOUNT', subject, expected_amount: '0.00', found_amount: '40.00' },
      ],
    ],
    [
      "a refund that is reserved, and in the bank's books for two days",
      ({ refundId }) =>
        byHand(
          [`update payment_refunds set status = 'PENDING' where id = $1`, [refundId]],
          [`update mock_bank.bank_credits set created_at = now() - interval '2 days' where refund_id = $1`, [refundId]],
        ),
      ({ refundId, paymentId }) => [
        { kind: 'LEDGER_WITHOUT_REFUND', subject: refundId, found_amount: '5.00' },
        { kind: 'REFUNDED_AMOUNT', subject: paymentId, expected_amount: '5.00', found_amount: '0.00' },
        { kind: 'REFUNDED_AMOUNT', subject: paymentId, expected_amount: '0.00', found_amount: '5.00' },
        { kind: 'BANK_CREDIT_UNKNOWN', subject: refundId, expected_amount: null, found_amount: '5.00' },
      ],
    ],
    [
      'a payment that is gone',
      ({ paymentId }) => byHand([`delete from payment_intents where id = $1`, [paymentId]]),
      ({ paymentId: subject }) => [
        { kind: 'LEDGER_WITHOUT_PAYMENT', subject, expected_amount: null, found_amount: '0.70' },
        { kind: 'LEDGER_WITHOUT_PAYMENT', subject, expected_amount: null, found_amount: '50.00' },
      ],
    ],
    [
      "the bank's debit in another currency",
      ({ paymentId }) =>
        byHand([`update mock_bank.bank_debits set currency = 'EUR' where payment_id = $1`, [paymentId]]),
      ({ paymentId: subject }) => [{ kind: 'BANK_DEBIT', subject, expected_amount: '50.00', found_amount: null }],
    ],
    [
      'an entry that is gone',
      ({ paymentId }) =>
        byHand([`delete from ledger_entries where subject_id = $1 and movement = 'payment_settled'`, [paymentId]]),
      ({ paymentId }) => [
        { kind: 'PAYMENT_LEDGER', subject: paymentId, expected_amount: '50.00', found_amount: null },
        { kind: 'LEDGER_BALANCE', subject: 'bank' },
        { kind: 'LEDGER_BALANCE', subject: 'clearing' },
        { kind: 'SETTLEMENT_LINE_WITHOUT_ENTRY', payment_id: paymentId, found_amount: '50.00' },
      ],
    ],
    [
      'the amount of an entry',
      ({ refundId }) => byHand([`update ledger_entries set amount = 50 where subject_id = $1`, [refundId]]),
      ({ refundId }) => [
        { kind: 'REFUND_LEDGER', subject: refundId, expected_amount: '5.00', found_amount: '50.00' },
        { kind: 'LEDGER_BALANCE', subject: 'bank' },
        { kind: 'LEDGER_BALANCE', subject: 'clearing' },
        { kind: 'SETTLEMENT_LINE', expected_amount: '-50.00', found_amount: '-5.00' },
      ],
    ],
    [
      'an entry of a payment that never was',
      ({ merchant }) =>
        byHand([
          `insert into ledger_entries (merchant_id, movement, subject_id, debit, credit, amount, currency, entry_hash)
           values ($1, 'payment_settled', $2, 'bank', 'clearing', 9, 'GBP', '')`,
          [merchant.id, randomUUID()],
        ]),
      () => [
        { kind: 'LEDGER_WITHOUT_PAYMENT', found_amount: '9.00' },
        { kind: 'LEDGER_BALANCE', subject: 'bank' },
        { kind: 'LEDGER_BALANCE', subject: 'clearing' },
        { kind: 'SETTLEMENT_LINE', expected_amount: '9.00', found_amount: null },
      ],
    ],
    [
      'a kept balance',
      ({ merchant }) =>
        byHand([
          `update ledger_kept_balances set clearing = clearing - 1, held = held + 1 where merchant_id = $1`,
          [merchant.id],
        ]),
      () => [
        { kind: 'LEDGER_BALANCE', subject: 'clearing' },
        { kind: 'LEDGER_BALANCE', subject: 'held', expected_amount: '0.00', found_amount: '-1.00' },
        { kind: 'HELD_BALANCE', expected_amount: '0.00', found_amount: '-1.00' },
      ],
    ],
    [
      "the bank's debit",
      ({ paymentId }) => byHand([`update mock_bank.bank_debits set amount = 49 where payment_id = $1`, [paymentId]]),
      ({ paymentId: subject }) => [{ kind: 'BANK_DEBIT', subject, expected_amount: '50.00', found_amount: '49.00' }],
    ],
    [
      "the bank's credit that is gone",
      ({ refundId }) => byHand([`delete from mock_bank.bank_credits where refund_id = $1`, [refundId]]),
      ({ refundId: subject }) => [{ kind: 'BANK_CREDIT', subject, expected_amount: '5.00', found_amount: null }],
    ],
    [
      'a matched line of a statement',
      async ({ paymentId }) => {
        const { rows } = await owner.query('select end_to_end_id from payment_intents where id = $1', [paymentId])
        const content = britishFile([{ amount: '50.00', ref: randomUUID(), e2e: rows[0].end_to_end_id }], {
          id: randomUUID().slice(0, 30),
        })
        const { body } = await service.call('POST', '/api/v1/admin/statements', { headers, body: { content } })
        t.equal(body.matched_line_count, 1)
        await byHand([`update bank_statement_lines set amount = 51 where payment_id = $1`, [paymentId]])
      },
      ({ paymentId }) => [
        { kind: 'STATEMENT_LINE', payment_id: paymentId, expected_amount: '50.00', found_amount: '51.00' },
      ],
    ],
  ]
  for (const [name, break_, expected] of cases) {
    const given = await story()
    await keepBalances(app)
    await break_(given)
    const { body } = await reconcile(`?merchant_id=${given.merchant.id}`)
    t.equal(body.is_balanced, false, name)
    const found = body.differences.map((each: object) => JSON.stringify(each)).toSorted()
    t.match(
      body.differences,
      expected(given).map((each) => ({ merchant_id: given.merchant.id, currency: 'GBP', cause: String, ...each })),
      `${name}: ${found.join(' ')}`,
    )
    t.equal(body.differences.length, expected(given).length, name)
  }
})

t.test('a time narrows it to what moved in it', async (t) => {
  const { merchant, paymentId } = await story()
  await keepBalances(app)
  await byHand([
    `update payment_intents set gross_amount = 5000, amount = 5000, net_amount = 5000 - fee_amount where id = $1`,
    [paymentId],
  ])
  const later = new Date(Date.now() + 1000).toISOString()
  t.match((await reconcile(`?merchant_id=${merchant.id}&from=${later}&as_of=${later}`)).body, {
    is_balanced: true,
    totals: [],
  })
  t.match((await reconcile(`?merchant_id=${merchant.id}&from=2020-01-01T00:00:00Z`)).body, { is_balanced: false })
})

/**
 * What is a difference by its age alone: all of it from shortly before an early entry of the ledger.
 * @returns the rows
 */
async function makeOverdue(): Promise<string[]> {
  const { paymentId, refundId } = await story()
  const paid = await payableMerchant(service)
  await exportByFile(app)
  const content = britishFile([{ amount: '12.00', ref: 'CHARGE', text: 'CHARGES' }], { id: 'OVERDUE' })
  t.match(await service.call('POST', '/api/v1/admin/statements', { headers, body: { content } }), { status: 200 })
  await byHand(
    [`update ledger_entries set created_at = now() - interval '11 days' where subject_id = $1`, [paymentId]],
    [`update payouts set sent_at = now() - interval '12 days' where merchant_id = $1`, [paid.id]],
    [
      `update payment_refunds r set status = 'PENDING', resume_at = null, end_to_end_id = 'SVC' || replace(r.id::text, '-', ''),
         file_id = p.file_id, sent_at = p.sent_at
       from payouts p where r.id = $1 and p.merchant_id = $2`,
      [refundId, paid.id],
    ],
    [
      `update mock_bank.bank_credits set created_at = now() - interval '11 days 1 hour' where refund_id = $1`,
      [refundId],
    ],
    [
      `update bank_statement_lines set booked_on = current_date - 12, created_at = now() - interval '12 days'
       where bank_reference = 'CHARGE'`,
    ],
  )
  const { rows } = await owner.query(
    `select id from payouts where merchant_id = $1
     union all select id from bank_statement_lines where bank_reference = 'CHARGE'`,
    [paid.id],
  )
  const [payout, line] = rows.map(({ id }) => id)
  return [
    `FILE_PAYOUT ${payout}`,
    `FILE_REFUND ${refundId}`,
    `BANK_CREDIT_UNKNOWN ${refundId}`,
    `STATEMENT_LINE_UNKNOWN ${line}`,
  ]
}

t.test('large books are compared part by part, with the same result', async (t) => {
  const { merchant, paymentId, refundId } = await story()
  const overdue = await makeOverdue()
  for (let count = 0; count < 4; count += 1) await settledPayment(service, merchant, { amount: '3.00' })
  await keepBalances(app)
  await byHand(
    [`update payment_intents set fee_amount = 1, net_amount = gross_amount - 1 where id = $1`, [paymentId]],
    [`update payment_refunds set amount = 4 where id = $1`, [refundId]],
    [`update ledger_kept_balances set clearing = clearing - 1, held = held + 1 where merchant_id = $1`, [merchant.id]],
    [
      `delete from ledger_entries where merchant_id = $1 and movement = 'fee_taken' and subject_id <> $2`,
      [merchant.id, paymentId],
    ],
  )
  for (const merchantId of [merchant.id, undefined]) {
    const input = { merchantId, as_of: new Date().toISOString() }
    const whole = await getReconciliation(app, input)
    const kinds = whole.difference_counts.map(({ kind }) => kind)
    for (const kind of ['FEE_LEDGER', 'REFUND_LEDGER', 'LEDGER_BALANCE', 'SETTLEMENT_LINE_WITHOUT_ENTRY'])
      t.ok(
        kinds.some((each) => each === kind),
        kind,
      )
    const found = whole.differences.map(({ kind, subject }) => `${kind} ${subject}`)
    t.same(merchantId === undefined ? overdue.filter((each) => !found.includes(each)) : [], [])
    const inParts = await getReconciliation(app, input, { windowEntries: 2 })
    const sorted = ({ differences }: typeof whole): string[] =>
      differences.map((each) => JSON.stringify(each)).toSorted()
    t.same(sorted(inParts), sorted(whole))
    t.same({ ...inParts, differences: [] }, { ...whole, differences: [] })
    await t.rejects(getReconciliation(app, input, { windowEntries: 2, windowsMax: 1 }), {
      code: 'VALIDATION_FAILED',
      errors: [{ path: 'from', code: 'TOO_MUCH' }],
    })
  }
})

t.test('the parts cover all the time that is compared, and do not overlap', async (t) => {
  const { merchant } = await story()
  for (const merchantId of [merchant.id, undefined]) {
    const asOf = new Date().toISOString()
    const windows = await listWindows(app.pool, { merchantId, from: undefined, asOf }, 3)
    t.ok(windows.length > 1)
    t.match([windows[0]?.from, windows.at(-1)?.until], [undefined, undefined])
    t.same(new Set(windows.map((each) => each.asOf)), new Set([asOf]), 'what is old by then is old in each')
    const gaps = await Promise.all(
      windows.slice(1).map(async ({ from }, index) => {
        const values = [from, windows[index]?.until]
        const { rows } = await owner.query('select ($1::timestamptz - $2::timestamptz)::text as gap', values)
        return rows[0].gap
      }),
    )
    t.ok(gaps.every((gap) => gap === '00:00:00.000001'))
    const [first] = windows
    const until = first?.until ?? ''
    t.same(await listWindows(app.pool, { merchantId, from: until, asOf: until }, 3), [
      { merchantId, from: until, asOf: until, until: undefined },
    ])
  }
})

t.test('reading while payments settle finds no difference', async (t) => {
  const merchant = await service.merchant()
  let isDone = false
  const busy = (async () => {
    for (let count = 0; count < 15; count += 1) await settledPayment(service, merchant, { amount: '3.00' })
    isDone = true
  })()
  do {
    const { body } = await reconcile(`?merchant_id=${merchant.id}`)
    t.same(body.differences, [])
  } while (!isDone)
  await busy
})

t.test('a caller compares once at a time, so that connections are left for payments', async (t) => {
  const { merchant } = await story()
  const mine = () => service.call('GET', '/api/v1/portal/reconciliation', { merchant })
  const answers = await Promise.all(Array.from({ length: 10 }, mine))
  const refused = answers.filter(({ status }) => status !== 200)
  t.ok(refused.length > 0 && refused.length < 10, `${refused.length} of 10`)
  for (const { status, body, headers: sent } of refused)
    t.match({ status, body, wait: sent['retry-after'] }, { status: 429, body: { code: 'RATE_LIMITED' }, wait: /^\d+$/ })
  t.match(await mine(), { status: 200 }, 'what has ended makes room')
})
