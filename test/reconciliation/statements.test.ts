import t from 'tap'
import type { Test } from 'tap'
import { createPayouts } from '../../src/payouts/create-payouts.ts'
import { testService } from '../support/app.ts'
import type { TestMerchant } from '../support/app.ts'
import { britishFile } from '../support/bank-files.ts'
import { byHandOf } from '../support/by-hand.ts'
import { statementOf } from '../support/payout-bank.ts'
import type { Instructed } from '../support/payout-bank.ts'
import { payableMerchant, payoutsOf } from '../support/payouts.ts'
import { createPayment } from '../support/app.ts'
import { refund, settledPayment } from '../support/payments.ts'
import { STATEMENT_ENV, statementLines } from '../support/statement-lines.ts'

const service = await testService(t, { env: STATEMENT_ENV })
const { app, owner } = service
const headers = await service.operator('OPS')
const { differences, onlyLine, post, resolveLine, sentPayout, tasks } = await statementLines(service)
const byHand = byHandOf(owner)

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)

/** Lets a merchant's time pass, as the sandbox clock records it. */
async function pass({ id }: { id: string }, by: string): Promise<void> {
  await owner.query('insert into sandbox_clock_shifts values ($1, now(), $2)', [id, by])
}

async function failedPayment(
  amount: string,
): Promise<{ merchant: TestMerchant; payment_id: string; end_to_end_id: string }> {
  const merchant = await service.merchant()
  const { body } = await createPayment(service, merchant, { amount })
  await service.call('POST', `/api/v1/payments/${body.payment_id}/cancel`, { merchant })
  return { ...body, merchant }
}

t.test('a payout by file without its line is a difference after days, in the time of its merchant', async (t) => {
  const { merchant, sent, id: subject } = await sentPayout('49.30')
  t.same(await differences(), [], 'a bank needs days')
  const late = { kind: 'FILE_PAYOUT', subject, merchant_id: merchant.id, expected_amount: '49.30', found_amount: null }
  t.same(await tasks('payouts_unanswered'), [])
  await pass(merchant, '4 days')
  t.match(await tasks('payouts_unanswered'), [{ merchant_id: merchant.id, count: 1 }], 'a task after three')
  t.same(await differences(), [])
  await pass(merchant, '7 days')
  t.match(await differences(), [late], 'and a difference after ten')
  await post('statements', { content: statementOf([sent]) })
  t.same([await differences(), await tasks('payouts_unanswered')], [[], []])

  await byHand([`delete from bank_statement_lines where payout_id = $1`, [subject]])
  t.match(await differences(), [late], 'paid without a line')
  await byHand([
    `update payouts set status = 'RETURNED', failure_code = 'BANK_ERROR', retry_at = now(), returned_at = now() where id = $1`,
    [subject],
  ])
  t.match(await differences(), [late, late], 'returned without either')
  await byHand([`update payouts set connector = 'mock' where id = $1`, [subject]])
})

t.test(
  'a settled payment of a real bank that no statement has is a difference, where there are statements',
  async (t) => {
    const merchant = await service.merchant()
    const id = await settledPayment(service, merchant, { amount: '20.00' })
    await byHand(
      [
        `update payment_intents set bank_connector = 'obie', created_at = now() - interval '20 days' where id = $1`,
        [id],
      ],
      [`update payment_events set created_at = now() - interval '20 days' where payment_intent_id = $1`, [id]],
    )
    const of = `?merchant_id=${merchant.id}`
    await post('statements', { content: statementOf([], [{ amount: '1.00', ref: 'TODAY', text: 'a' }]) })
    t.same(await differences(of), [], 'the only statement is of today')
    await post('statements', {
      content: statementOf([], [{ amount: '1.00', on: daysAgo(25), ref: 'BEFORE', text: 'a' }]),
    })
    for (const ref of ['BEFORE', 'TODAY']) await resolveLine(await onlyLine(ref))
    t.match(await differences(of), [
      { kind: 'STATEMENT_LINE_MISSING', subject: id, payment_id: id, expected_amount: '20.00', found_amount: null },
    ])
    await byHand([
      `update payment_events set created_at = now() - interval '9 days' where payment_intent_id = $1`,
      [id],
    ])
    t.same(await differences(of), [], 'its days are not over')
    await byHand([
      `update payment_events set created_at = now() - interval '20 days' where payment_intent_id = $1`,
      [id],
    ])
    const { rows } = await owner.query('select end_to_end_id from payment_intents where id = $1', [id])
    const line = { amount: '20.00', e2e: rows[0].end_to_end_id, on: daysAgo(19), ref: 'MINE' }
    t.match(await post('statements', { content: statementOf([], [line]) }), { body: { matched_line_count: 1 } })
    t.same(await differences(of), [])
  },
)

t.test('what the bank has booked and no rule matches is a difference after three days, of no merchant', async (t) => {
  const lines = [
    { amount: '12.00', on: daysAgo(4), ref: 'CHARGE', direction: 'DBIT' as const, text: 'CHARGES' },
    { amount: '13.00', on: daysAgo(4), ref: 'GIFT', text: 'A GIFT' },
    { amount: '14.00', on: daysAgo(1), ref: 'FRESH', text: 'SOON' },
  ]
  t.match(await post('statements', { content: statementOf([], lines) }), { body: { unmatched_line_count: 3 } })
  const unknown = { kind: 'STATEMENT_LINE_UNKNOWN', merchant_id: null, trading_name: null, currency: 'GBP' }
  const found = await differences()
  t.match(
    new Set(found.map(({ subject, found_amount, ...rest }) => ({ ...rest, of: `${subject} ${found_amount}` }))),
    new Set([
      { ...unknown, of: `${await onlyLine('CHARGE')} -12.00` },
      { ...unknown, of: `${await onlyLine('GIFT')} 13.00` },
    ]),
  )
  t.equal(found.length, 2)
  t.same(await differences(`?merchant_id=${(await service.merchant()).id}`), [], 'merchants have nothing to do with it')
  t.match(await differences('?from=2020-01-01T00:00:00Z'), [unknown, unknown])
  t.same(await differences('?as_of=2020-01-01T00:00:00Z'), [])
  for (const ref of ['CHARGE', 'GIFT', 'FRESH']) t.match(await resolveLine(await onlyLine(ref)), { status: 200 })
  t.same(await differences(), [])
})

t.test('a debit with the form of an id of ours that nothing here has is a difference at once', async (t) => {
  const id = `SVC${'0a1b'.repeat(8)}`
  const debit = <More extends object>(more: More) => ({ amount: '17.00', direction: 'DBIT' as const, ...more })
  const lines = [
    debit({ ref: 'FORGOTTEN', e2e: id }),
    debit({ ref: 'CUT-31', e2e: id.slice(0, 31) }),
    debit({ ref: 'CUT-18', text: id.slice(0, 18) }),
    debit({ ref: 'UPPER', e2e: id.toUpperCase() }),
    debit({ ref: 'WORDS', text: `FPS OUT ${id.slice(0, 18).toUpperCase()} ACME LTD` }),
    debit({ ref: 'PREFIX', e2e: 'NOTPROVIDED', text: `/REF/${id.slice(0, 31)}/` }),
    debit({ ref: 'OLD', e2e: id.replace('0a', '0b'), on: daysAgo(4) }),
  ]
  const others = [
    debit({ ref: 'SHORT', e2e: id.slice(0, 17) }),
    debit({ ref: 'TAKES-BACK', e2e: id, reversal: true }),
    { amount: '17.00', ref: 'CREDIT', e2e: id },
  ]
  t.match(await post('statements', { content: statementOf([], [...lines, ...others]) }), {
    body: { new_line_count: 10, matched_line_count: 0 },
  })
  const found = await differences()
  t.same(
    new Set(
      found.map(({ kind, subject, merchant_id, found_amount }) => [kind, subject, merchant_id, found_amount].join()),
    ),
    new Set(
      await Promise.all(
        lines.map(async ({ ref }) => ['STATEMENT_DEBIT_UNKNOWN', await onlyLine(ref), null, '-17.00'].join()),
      ),
    ),
  )
  t.equal(found.length, lines.length, 'each once')
  t.same(await differences(`?merchant_id=${(await service.merchant()).id}`), [])
  for (const { ref } of [...lines, ...others]) t.match(await resolveLine(await onlyLine(ref)), { status: 200 })
  t.same(await differences(), [])
})

/** Imports a debit, and expects it to be the only difference, with a cause of its own. */
async function expectKnown(
  t: Test,
  content: string,
  { ref, cause, ...known }: Record<string, unknown> & { ref: string },
) {
  t.match(await post('statements', { content }), { status: 200, body: { matched_line_count: 0 } }, ref)
  const subject = await onlyLine(ref)
  const found = await differences()
  t.match(found, [{ kind: 'STATEMENT_DEBIT_KNOWN', subject, ...known }], ref)
  t.equal(found.length, 1, ref)
  t.equal(found[0].cause, String(cause).replaceAll('LINE', subject), ref)
  return subject
}

t.test('a debit under an id that is known here is said to be that, with the command that resolves it', async (t) => {
  const { merchant, sent, id: payout } = await sentPayout('17.00')
  const debit = { amount: '17.00', direction: 'DBIT' as const, e2e: sent.endToEndId }
  const of = { merchant_id: merchant.id, payment_id: null, found_amount: '17.00' }
  const elsewhere = britishFile([{ ...debit, ref: 'ELSEWHERE' }], { id: 'OLD-ACCOUNT' })
  const line = await expectKnown(t, elsewhere, {
    ref: 'ELSEWHERE',
    ...of,
    cause: `it is payout ${payout}, on another account or late: svc statements resolve LINE --payout ${payout}`,
  })
  t.same(await differences(`?merchant_id=${(await service.merchant()).id}`), [])
  t.match(
    await service.call('PUT', `/api/v1/admin/statement-lines/${line}/resolution`, {
      headers,
      body: { payout_id: payout, reason: 'paid from the account that was replaced' },
    }),
    { status: 200, body: { payout_id: payout } },
  )
  t.same(await differences(), [])
  t.match(await payoutsOf(service, merchant), [{ status: 'PAID' }])

  const twice = await expectKnown(
    t,
    statementOf([], [{ ...debit, e2e: sent.endToEndId.toUpperCase(), ref: 'TWICE' }]),
    {
      ref: 'TWICE',
      ...of,
      cause: `payout ${payout} has its line already, and was paid twice: ask the bank for the money, then svc statements resolve LINE`,
    },
  )
  await resolveLine(twice)
  const more = await expectKnown(t, statementOf([], [{ ...debit, amount: '17.01', ref: 'MORE' }]), {
    ref: 'MORE',
    ...of,
    found_amount: '17.01',
    cause: `payout ${payout} is of another amount: ask the bank, then svc statements resolve LINE`,
  })
  await resolveLine(more)
  t.same(await differences(), [])
})

t.test('so is the debit of a payout that waits here, since the back-up is older than its file', async (t) => {
  const merchant = await payableMerchant(service, { amount: '19.0000' })
  await createPayouts(app)
  const { rows } = await owner.query('select id, end_to_end_id from payouts where merchant_id = $1', [merchant.id])
  const [{ id: payout, end_to_end_id: e2e }] = rows
  const paid = { amount: '19.00', direction: 'DBIT' as const, ref: 'EARLY', e2e }
  await expectKnown(t, statementOf([], [paid]), {
    ref: 'EARLY',
    merchant_id: merchant.id,
    cause: `payout ${payout} waits here and would be paid again: bring its next file to no bank, then svc statements resolve LINE --payout ${payout}`,
  })
  await post('payout-files')
  await post('statements', { content: statementOf([], [{ amount: '1.00', ref: 'NEXT' }]) })
  t.same(await differences(), [], 'once a file has it, the next import matches the line')
  t.match(await payoutsOf(service, merchant), [{ status: 'PAID' }])
  await resolveLine(await onlyLine('NEXT'))
})

t.test('so is the debit of a payment that the bank takes back, also as a reversal', async (t) => {
  const { merchant, ...body } = await failedPayment('30.00')
  const settled = await settledPayment(service, merchant, { amount: '30.00' })
  const { rows } = await owner.query('select end_to_end_id from payment_intents where id = $1', [settled])
  const take = `svc merchants correct ${merchant.id} --amount=-30.00 --currency GBP --against BANK`
  for (const [id, e2e, causes] of [
    [
      body.payment_id,
      body.end_to_end_id,
      Array.from({ length: 2 }).fill(
        `the bank has sent payment ${body.payment_id} back, which failed here: take it from the merchant's balance if it was added there (${take}), then svc statements resolve LINE`,
      ),
    ],
    [
      settled,
      rows[0].end_to_end_id,
      [
        `the bank has taken settled payment ${settled} back: take it from the merchant's balance (${take}), then svc statements resolve LINE`,
        `settled payment ${settled} was taken back 2 times and credited again 0 times: take 60.00 GBP in all, what was corrected before included, from the merchant's balance (svc merchants correct), then svc statements resolve LINE`,
      ],
    ],
  ])
    for (const [index, reversal] of [true, false].entries()) {
      const line = { amount: '30.00', direction: 'DBIT' as const, ref: `BACK-${reversal}-${id}`, e2e, reversal }
      const of = { ref: line.ref, merchant_id: merchant.id, payment_id: id, cause: causes[index] }
      await resolveLine(await expectKnown(t, statementOf([], [line]), of))
      t.same(await differences(), [])
    }
})

t.test(
  'a late refund is no payment that was taken back, and what was credited twice can be taken back once',
  async (t) => {
    const merchant = await service.merchant()
    const id = await settledPayment(service, merchant, { amount: '40.00' })
    const { rows } = await owner.query('select end_to_end_id from payment_intents where id = $1', [id])
    const of = { merchant_id: merchant.id, payment_id: id }
    const credit = { amount: '40.00', e2e: rows[0].end_to_end_id }
    const debit = { ...credit, direction: 'DBIT' as const }
    t.match(await post('statements', { content: statementOf([], [{ ...credit, ref: 'ONCE' }]) }), {
      body: { matched_line_count: 1 },
    })
    const { body } = await refund(service, merchant, { id, body: { amount: '5.00' } })
    await byHand([`update payment_refunds set created_at = now() - interval '20 days' where id = $1`, [body.refund_id]])
    const late = await expectKnown(t, statementOf([], [{ ...debit, amount: '5.00', ref: 'LATE' }]), {
      ref: 'LATE',
      ...of,
      cause: `it is refund ${body.refund_id}, which no rule has matched: svc statements resolve LINE --payment ${id} --refund ${body.refund_id}`,
    })
    await byHand([`update payment_refunds set status = 'PENDING' where id = $1`, [body.refund_id]])
    t.match(await differences(), [
      {
        kind: 'STATEMENT_DEBIT_KNOWN',
        ...of,
        cause: /waits for the word of its bank: an import after it matches the line$/,
      },
    ])
    await byHand([`update payment_refunds set status = 'EXECUTED' where id = $1`, [body.refund_id]])
    t.match(await resolveLine(late, { payment_id: id, refund_id: body.refund_id }), { status: 200 })
    t.same(await differences(), [])

    await post('statements', { content: statementOf([], [{ ...credit, ref: 'TWICE-IN' }]) })
    t.match(await differences(), [
      {
        kind: 'STATEMENT_CREDIT_KNOWN',
        ...of,
        cause: /has its line already: ask the bank whether it was credited twice/,
      },
    ])
    await post('statements', { content: statementOf([], [{ ...debit, ref: 'ONCE-OUT' }]) })
    const cause = /was credited twice, and once was taken back: correct nothing; svc statements resolve/
    t.match(await differences(), [
      { kind: 'STATEMENT_DEBIT_KNOWN', ...of, cause },
      { kind: 'STATEMENT_CREDIT_KNOWN', ...of, cause },
    ])
    for (const ref of ['ONCE-OUT', 'TWICE-IN']) await resolveLine(await onlyLine(ref))
    t.same(await differences(), [])
  },
)

t.test('a debit of a payment that has not ended says to wait, and then what it is', async (t) => {
  const merchant = await service.merchant()
  const { body } = await createPayment(service, merchant, { amount: '41.00' })
  const line = { amount: '41.00', direction: 'DBIT' as const, e2e: body.end_to_end_id, ref: 'EARLY-BACK' }
  const of = { merchant_id: merchant.id, payment_id: body.payment_id }
  await expectKnown(t, statementOf([], [line]), {
    ref: line.ref,
    ...of,
    cause: `the bank has taken payment ${body.payment_id} back, which is AwaitingAuthorisation here: wait until it has ended (svc explain ${body.payment_id})`,
  })
  await service.call('POST', `/api/v1/payments/${body.payment_id}/cancel`, { merchant })
  t.match(await differences(), [{ kind: 'STATEMENT_DEBIT_KNOWN', ...of, cause: /back, which failed here: take it/ }])
  await resolveLine(await onlyLine(line.ref))
  t.same(await differences(), [])
})

t.test('a line of a payment that has failed is a task and a difference at once, until it is explained', async (t) => {
  const { merchant, ...body } = await failedPayment('30.00')
  const e2e: string = body.end_to_end_id
  for (const [cut, line] of Object.entries({
    whole: { e2e },
    thirty: { e2e: e2e.slice(0, 31) },
    eighteen: { text: e2e.slice(0, 18) },
    upper: { text: `FPS IN ${e2e.slice(0, 18).toUpperCase()}` },
  })) {
    const content = statementOf([], [{ amount: '30.00', ref: `LATE-${cut}`, ...line }])
    t.match(await post('statements', { content }), { body: { matched_line_count: 0 } })
    const subject = await onlyLine(`LATE-${cut}`)
    const named = {
      kind: 'STATEMENT_LINE_OF_FAILED',
      subject,
      payment_id: body.payment_id,
      found_amount: '30.00',
      cause:
        /^the bank has booked payment \S+ which failed here: add it to the merchant's balance \(.* --amount=30\.00 |: add \d+\.00 GBP in all/,
    }
    t.match(await differences(`?merchant_id=${merchant.id}`), [{ ...named, merchant_id: merchant.id }], cut)
    t.match(await tasks('statement_credit_of_failed'), [
      {
        id: subject,
        merchant_id: merchant.id,
        summary: /in no balance/,
        command: `svc reconcile --merchant ${merchant.realm}`,
      },
    ])
    t.same(await differences(`?merchant_id=${(await service.merchant()).id}`), [])
    await resolveLine(subject)
    t.same([await differences(), await tasks('statement_credit_of_failed')], [[], []])
  }
})

const addTo = async ({ id }: { id: string }, body: object) =>
  service.call('POST', `/api/v1/admin/merchants/${id}/corrections`, {
    headers: await service.operator('OWNER'),
    body: { currency: 'GBP', booked_against: 'BANK', reason: 'late', ...body },
  })

t.test('what a correction has added of it already is not to be added again', async (t) => {
  const { merchant, ...body } = await failedPayment('31.00')
  const line = { amount: '31.00', e2e: body.end_to_end_id, ref: 'LATE-ADDED' }
  await post('statements', { content: statementOf([], [line]) })
  const [{ cause: add }] = await differences()
  const command = `svc merchants correct ${merchant.id} --amount=31.00 --currency GBP --against BANK --payment ${body.payment_id}`
  t.match(add, command)
  await addTo(merchant, { amount: '31.00', payment_id: body.payment_id })
  const subject = await onlyLine(line.ref)
  const cause = /corrections that name it have added it to the merchant's balance: correct nothing; svc/
  t.match(await differences(), [{ subject, cause }])
  await resolveLine(subject)
  t.same(await differences(), [])
})

t.test('but what the bank has booked beyond it is', async (t) => {
  const { merchant, ...body } = await failedPayment('32.00')
  const lineOf = (ref: string) => statementOf([], [{ amount: '32.00', e2e: body.end_to_end_id, ref }])
  const expectCauses = async (cause: RegExp, refs: string[]) => {
    const found = await differences()
    t.strictSame(found.map(({ subject }) => subject).toSorted(), (await Promise.all(refs.map(onlyLine))).toSorted())
    for (const each of found) t.match(each.cause, cause)
  }
  const twice = ['TWICE-1', 'TWICE-2']
  const all = /was booked 2 times and sent back 0 times: add 64\.00 GBP in all, what was corrected before included/
  for (const ref of twice) await post('statements', { content: lineOf(ref) })
  await expectCauses(all, twice)
  t.match(await addTo(merchant, { amount: '32.00', payment_id: body.payment_id }), { status: 201 })
  await expectCauses(all, twice)
  await resolveLine(await onlyLine('TWICE-1'))
  await expectCauses(all, ['TWICE-2'])
  await resolveLine(await onlyLine('TWICE-2'))
  t.same(await differences(), [])
})

t.test('and what it lacks of one', async (t) => {
  const { merchant, ...body } = await failedPayment('33.00')
  await post('statements', { content: statementOf([], [{ amount: '33.00', e2e: body.end_to_end_id, ref: 'PART' }]) })
  t.match(await addTo(merchant, { amount: '3.00', payment_id: body.payment_id }), { status: 201 })
  t.match(await differences(), [{ cause: /add 33\.00 GBP in all, what was corrected before included/ }])
  t.match(await addTo(merchant, { amount: '30.00', payment_id: body.payment_id }), { status: 201 })
  t.match(await differences(), [{ cause: /correct nothing/ }])
  await resolveLine(await onlyLine('PART'))
})

t.test('also where the bank has booked other amounts of it', async (t) => {
  const { merchant, ...body } = await failedPayment('35.00')
  const parts = [
    { amount: '20.00', e2e: body.end_to_end_id, ref: 'FIRST' },
    { amount: '14.50', e2e: body.end_to_end_id, ref: 'SECOND' },
  ]
  await post('statements', { content: statementOf([], parts) })
  const all = { cause: /add 34\.50 GBP in all, what was corrected before included/ }
  t.match(await differences(), [all, all])
  t.match(await addTo(merchant, { amount: '20.00', payment_id: body.payment_id }), { status: 201 })
  t.match(await differences(), [all, all], 'one of the two is no whole')
  t.match(await addTo(merchant, { amount: '14.50', payment_id: body.payment_id }), { status: 201 })
  const nothing = { cause: /correct nothing/ }
  t.match(await differences(), [nothing, nothing])
  for (const { ref } of parts) await resolveLine(await onlyLine(ref))
})

t.test('more than the payment is no correction that names it alone', async (t) => {
  const { merchant, ...body } = await failedPayment('34.00')
  await post('statements', { content: statementOf([], [{ amount: '34.01', e2e: body.end_to_end_id, ref: 'ABOVE' }]) })
  t.match(await addTo(merchant, { amount: '34.01', payment_id: body.payment_id }), { status: 400 })
  const [{ cause }] = await differences()
  t.match(cause, /add 34\.01 GBP in all, .* with --payment up to its amount/)
  t.notMatch(cause, '--amount=34.01')
  await resolveLine(await onlyLine('ABOVE'))
})

t.test('so is the debit of a payout that has failed, which would be paid twice', async (t) => {
  const { merchant, sent, id } = await sentPayout('8.15')
  await post(`payouts/${id}/fail`, { failure_code: 'ACCOUNT_CLOSED', reason: 'so says the bank' })
  const paid: Instructed[] = [sent]
  t.match(await post('statements', { content: statementOf(paid) }), { body: { matched_line_count: 0 } })
  t.match(await differences(), [
    { kind: 'STATEMENT_LINE_OF_FAILED', merchant_id: merchant.id, payment_id: null, found_amount: '8.15' },
  ])
  t.match(await tasks('statement_debit_of_failed'), [{ merchant_id: merchant.id, summary: /take it from/ }])
})
