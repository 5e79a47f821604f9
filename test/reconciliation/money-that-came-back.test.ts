import t from 'tap'
import { createPayouts } from '../../src/payouts/create-payouts.ts'
import { testService } from '../support/app.ts'
import type { Answer } from '../support/app.ts'
import { britishFile } from '../support/bank-files.ts'
import { byHandOf } from '../support/by-hand.ts'
import { balancesOf } from '../support/ledger.ts'
import { statementOf } from '../support/payout-bank.ts'
import type { Instructed } from '../support/payout-bank.ts'
import { passPayoutTimes, payoutsOf } from '../support/payouts.ts'
import { STATEMENT_ENV, statementLines } from '../support/statement-lines.ts'
import type { SentPayout } from '../support/statement-lines.ts'
import { until } from '../support/until.ts'

/*
 * What leaves twice, or has failed here, and comes back: each instruction of reconciliation is followed to its end, where
 * the merchant has its money once and nothing is left to do.
 */
const service = await testService(t, { env: STATEMENT_ENV })
const { app, owner } = service
const { causes, differences, imported, onlyLine, post, resolveLine, sentPayout, tasks } = await statementLines(service)
const byOwner = await service.operator('OWNER')

const debit = ({ amount, endToEndId: e2e }: Instructed, ref: string, more: object = {}) => ({
  amount,
  e2e,
  ref,
  direction: 'DBIT' as const,
  ...more,
})
const credit = (sent: Instructed, ref: string, more: object = {}) => ({
  ...debit(sent, ref),
  direction: 'CRDT' as const,
  ...more,
})

/** The statuses of a merchant's payouts, once the next ones were created. */
async function statusesOf({ merchant }: SentPayout): Promise<string[]> {
  await passPayoutTimes(service, merchant)
  await createPayouts(app)
  return (await payoutsOf(service, merchant)).map(({ status }) => status)
}

/** Runs the correction that a cause has, as an OWNER. */
async function correctAs(cause: string | undefined): Promise<Answer> {
  const [, id, amount] =
    /svc merchants correct (\S+) --amount=(\S+) --currency GBP --against BANK/.exec(cause ?? '') ?? []
  return service.call('POST', `/api/v1/admin/merchants/${id}/corrections`, {
    headers: byOwner,
    body: { amount, currency: 'GBP', booked_against: 'BANK', reason: 'as reconciliation says' },
  })
}

let name = 0
const names = (count: number): string[] => Array.from({ length: count }, () => `L${(name += 1)}`)

t.test('the money of a second debit is no return, however it names the payout', async (t) => {
  for (const [how, cut] of Object.entries({
    whole: (id: string) => ({ e2e: id }),
    upper: (id: string) => ({ e2e: id.toUpperCase() }),
    thirty: (id: string) => ({ e2e: id.slice(0, 31) }),
    eighteen: (id: string) => ({ e2e: 'NOTPROVIDED', text: id.slice(0, 18) }),
  })) {
    const payout = await sentPayout('17.00')
    const { sent, id } = payout
    const [first = '', twice = '', back = ''] = names(3)
    await imported(statementOf([], [debit(sent, first)]), 1)
    await imported(statementOf([], [debit(sent, twice, cut(sent.endToEndId))]), 0)
    t.match(await causes(), { [`STATEMENT_DEBIT_KNOWN ${twice}`]: /was paid twice: ask the bank for the money/ }, how)
    if (how !== 'upper') await resolveLine(await onlyLine(twice))
    await imported(statementOf([], [credit(sent, back, cut(sent.endToEndId))]), 0)
    t.equal(
      (await causes())[`STATEMENT_CREDIT_KNOWN ${back}`],
      `payout ${id} left 2 times, and this is one too many of it: correct nothing, unless its debit was taken from a balance; svc statements resolve LINE; or, if only one of the debits was a payment, svc statements resolve LINE --payout ${id}`,
    )
    t.same(await statusesOf(payout), ['PAID'], 'it is not paid out again')
    await resolveLine(await onlyLine(back))
    if (how === 'upper')
      t.same(await causes(), {
        [`STATEMENT_DEBIT_KNOWN ${twice}`]: `what left under the id of payout ${id} came back: correct nothing; svc statements resolve LINE`,
      })
    if (how === 'upper') await resolveLine(await onlyLine(twice))
    t.same(await differences(), [], how)
    t.same(await statusesOf(payout), ['PAID'])
  }
})

t.test('nor where one statement has all three, in any order, or the debits have another amount', async (t) => {
  const payout = await sentPayout('18.00')
  const { sent } = payout
  const [back = '', first = '', twice = ''] = names(3)
  await imported(statementOf([], [credit(sent, back), debit(sent, first), debit(sent, twice)]), 1)
  t.same(await statusesOf(payout), ['PAID'])
  const open = await causes()
  t.match(open[`STATEMENT_CREDIT_KNOWN ${back}`], /left 2 times, and this is one too many/)
  const [extra = ''] = Object.keys(open).filter((key) => key.includes('DEBIT'))
  t.match(open[extra], /came back: correct nothing; svc statements resolve LINE$/)
  t.equal(Object.keys(open).length, 2)
  for (const key of Object.keys(open)) await resolveLine(await onlyLine(key.split(' ')[1] ?? ''))
  t.same(await differences(), [])

  const other = await sentPayout('19.00')
  const lines = names(3)
  const content = [
    debit(other.sent, lines[0] ?? ''),
    debit(other.sent, lines[1] ?? '', { amount: '19.01' }),
    credit(other.sent, lines[2] ?? ''),
  ]
  await imported(statementOf([], content), 2)
  t.same(await statusesOf(other), ['RETURNED', 'CREATED'], 'the return of the one that is whole')
  await resolveLine(await onlyLine(lines[1] ?? ''))
  t.same(await differences(), [])
})

t.test('where one of two debits was an entry under another name, what comes back is the return', async (t) => {
  const payout = await sentPayout('20.00')
  const { sent, id } = payout
  const [first = '', again = '', back = ''] = names(3)
  await imported(statementOf([], [debit(sent, first)]), 1)
  await imported(statementOf([], [debit(sent, again)]), 0)
  await resolveLine(await onlyLine(again), { reason: 'the same entry' })
  await imported(statementOf([], [credit(sent, back)]), 0)
  const cause = (await causes())[`STATEMENT_CREDIT_KNOWN ${back}`] ?? ''
  t.equal(
    cause.endsWith(`; or, if only one of the debits was a payment, svc statements resolve LINE --payout ${id}`),
    true,
  )
  t.match(await resolveLine(await onlyLine(back), { payout_id: id }), { status: 200 })
  t.same(await statusesOf(payout), ['RETURNED', 'CREATED'])
  t.same(await differences(), [])
})

t.test('where all of it has come back, one of the credits is the return', async (t) => {
  const payout = await sentPayout('21.00')
  const { sent, id } = payout
  const [first = '', twice = '', one = '', two = ''] = names(4)
  await imported(statementOf([], [debit(sent, first), debit(sent, twice), credit(sent, one), credit(sent, two)]), 1)
  const all = `payout ${id} left 2 times, and all of it has come back: svc statements resolve LINE --payout ${id}; then the others without it`
  t.match(await causes(), { [`STATEMENT_CREDIT_KNOWN ${one}`]: all, [`STATEMENT_CREDIT_KNOWN ${two}`]: all })
  t.match(await resolveLine(await onlyLine(one), { payout_id: id }), { status: 200 })
  t.same(await statusesOf(payout), ['RETURNED', 'CREATED'])
  t.match(await causes(), {
    [`STATEMENT_CREDIT_KNOWN ${two}`]: /this is one too many of it: correct nothing,.* svc statements resolve LINE$/,
  })
  for (const key of Object.keys(await causes())) await resolveLine(await onlyLine(key.split(' ')[1] ?? ''))
  t.same(await differences(), [])
  t.same(await statusesOf(payout), ['RETURNED', 'CREATED'], 'and is paid once more, not twice')
})

t.test('a payout that failed here and that the bank made and sent back needs no correction', async (t) => {
  const payout = await sentPayout('8.15')
  const { sent, id } = payout
  await post(`payouts/${id}/fail`, { failure_code: 'ACCOUNT_CLOSED', reason: 'so says the bank' })
  const [left = '', back = ''] = names(2)
  await imported(statementOf([], [debit(sent, left), credit(sent, back)]), 0)
  const cause = `payout ${id} failed here, and its money came back: correct nothing; svc statements resolve LINE`
  t.same(await causes(), { [`STATEMENT_DEBIT_KNOWN ${left}`]: cause, [`STATEMENT_CREDIT_KNOWN ${back}`]: cause })
  t.same(await tasks('statement_debit_of_failed'), [])
  await resolveLine(await onlyLine(left))
  t.same(await tasks('statement_debit_of_failed'), [])
  await resolveLine(await onlyLine(back))
  t.same(await differences(), [])
})

t.test('of one that failed here and comes back less charges, no more than the charges are taken', async (t) => {
  const arrivals: [name: string, order: ('left' | 'back')[]][] = [
    ['the debit is explained first', ['left', 'back']],
    ['the credit is explained first', ['back', 'left']],
  ]
  for (const [how, order] of arrivals) {
    const { sent, id } = await sentPayout('100.00')
    await post(`payouts/${id}/fail`, { failure_code: 'ACCOUNT_CLOSED', reason: 'so says the bank' })
    const [left = '', back = ''] = names(2)
    await imported(statementOf([], [debit(sent, left), credit(sent, back, { amount: '98.50' })]), 0)
    const cause = `payout ${id} failed here, and came back with another amount than it left with: take at most 1.50 GBP in all, what was corrected before included, from the merchant's balance (svc merchants correct), then svc statements resolve LINE`
    t.same(
      await causes(),
      { [`STATEMENT_LINE_OF_FAILED ${left}`]: cause, [`STATEMENT_CREDIT_KNOWN ${back}`]: cause },
      how,
    )
    t.match(await tasks('statement_debit_of_failed'), [{ summary: /take it from .* balance, less what came back$/ }])
    for (const ref of order) {
      t.same(new Set(Object.values(await causes())), new Set([cause]), 'also where one of them is explained')
      await resolveLine(await onlyLine(ref === 'left' ? left : back))
    }
    t.same(await differences(), [])
  }
})

t.test('one that the bank has made is taken from the balance, and added again where it comes back later', async (t) => {
  const payout = await sentPayout('8.20')
  const { merchant, sent, id } = payout
  await post(`payouts/${id}/fail`, { failure_code: 'BANK_ERROR', reason: 'so says the bank' })
  const clearing = async () => Number((await balancesOf(service, merchant))['GBP']?.['clearing'] ?? 0)
  const before = await clearing()
  const [left = '', back = ''] = names(2)
  await imported(statementOf([], [debit(sent, left)]), 0)
  const take = (await causes())[`STATEMENT_LINE_OF_FAILED ${left}`]
  t.equal(
    take,
    `the bank has made payout ${id} although it failed here: take it from the merchant's balance (svc merchants correct ${merchant.id} --amount=-8.20 --currency GBP --against BANK), then svc statements resolve LINE`,
  )
  t.match(await tasks('statement_debit_of_failed'), [
    { merchant_id: merchant.id, summary: /take it from/, command: `svc reconcile --merchant ${merchant.realm}` },
  ])
  t.match(await correctAs(take), { status: 201, body: { amount: '-8.20' } })
  t.equal(await clearing(), before - 8.2)
  await resolveLine(await onlyLine(left))
  t.same([await differences(), await tasks('statement_debit_of_failed')], [[], []])

  await imported(statementOf([], [credit(sent, back)]), 0)
  const add = (await causes())[`STATEMENT_CREDIT_KNOWN ${back}`]
  t.match(add, /failed here, and its money came back: add it again if its debit was taken from the merchant's balance/)
  t.match(await correctAs(add), { status: 201, body: { amount: '8.20' } })
  await resolveLine(await onlyLine(back))
  t.same(await differences(), [])
  t.equal(await clearing(), before)
})

t.test(
  'what left several times although it failed says what it comes to, in whichever order it is explained',
  async (t) => {
    const { sent, id } = await sentPayout('8.30')
    await post(`payouts/${id}/fail`, { failure_code: 'BANK_ERROR', reason: 'so says the bank' })
    const [one = '', two = '', back = ''] = names(3)
    await imported(statementOf([], [debit(sent, one), debit(sent, two), credit(sent, back)]), 0)
    const cause = `payout ${id} failed here, left 2 times and came back 1 times: take 8.30 GBP in all, what was corrected before included, from the merchant's balance (svc merchants correct), then svc statements resolve LINE`
    for (const ref of [one, back, two]) {
      t.same(new Set(Object.values(await causes())), new Set([cause]))
      await resolveLine(await onlyLine(ref))
    }
    t.same(await differences(), [])
  },
)

t.test('a return of another amount is added to the balance by hand', async (t) => {
  const payout = await sentPayout('100.00')
  const { merchant, sent, id } = payout
  const [left = '', back = ''] = names(2)
  await imported(statementOf([], [debit(sent, left), credit(sent, back, { amount: '98.50' })]), 1)
  t.match(await resolveLine(await onlyLine(back), { payout_id: id }), {
    status: 400,
    body: {
      errors: [
        {
          code: 'MISMATCH',
          message:
            'is a credit of 100.00 GBP, and the line a credit of 98.50 GBP: add what came back with svc merchants correct, and resolve the line by its reason alone',
        },
      ],
    },
  })
  const cause = (await causes())[`STATEMENT_CREDIT_KNOWN ${back}`]
  t.equal(
    cause,
    `payout ${id} came back with another amount: ask the bank, add what came back to the merchant's balance (svc merchants correct ${merchant.id} --amount=98.50 --currency GBP --against BANK), then svc statements resolve LINE`,
  )
  t.match(await correctAs(cause), { status: 201, body: { amount: '98.50' } })
  await resolveLine(await onlyLine(back))
  t.same(await differences(), [])
  t.same(await statusesOf(payout), ['PAID'])
})

t.test('a debit that the bank takes back is a return once it is not booked again', async (t) => {
  const payout = await sentPayout('23.00')
  const { sent, id } = payout
  const [left = '', back = '', elsewhere = ''] = names(3)
  await imported(statementOf([], [debit(sent, left), credit(sent, back, { reversal: true })]), 1)
  t.equal(
    (await causes())[`STATEMENT_CREDIT_KNOWN ${back}`],
    `the bank has taken its debit of payout ${id} back: if it does not book it again, svc statements resolve LINE --payout ${id}`,
  )
  await resolveLine(await onlyLine(back), { payout_id: id })
  t.same(await statusesOf(payout), ['RETURNED', 'CREATED'])
  t.same(await differences(), [])
  await imported(britishFile([credit(sent, elsewhere)], { id: 'ELSEWHERE' }), 0)
  t.match(await causes(), {
    [`STATEMENT_CREDIT_KNOWN ${elsewhere}`]: /has come back already: ask the bank what this is/,
  })
  await resolveLine(await onlyLine(elsewhere))
})

t.test('a return on another account is named, with the command', async (t) => {
  const payout = await sentPayout('24.00')
  const { sent, id } = payout
  const [left = '', back = ''] = names(2)
  await imported(statementOf([], [debit(sent, left)]), 1)
  await imported(britishFile([credit(sent, back)], { id: 'RETURN' }), 0)
  t.same(await causes(), {
    [`STATEMENT_CREDIT_KNOWN ${back}`]: `it is the return of payout ${id}, on another account or late: svc statements resolve LINE --payout ${id}`,
  })
  await resolveLine(await onlyLine(back), { payout_id: id })
  t.same(await statusesOf(payout), ['RETURNED', 'CREATED'])
  t.same(await differences(), [])
})

t.test('a line is not matched with a payout that fails while it is matched, by import or by hand', async (t) => {
  const failing = async ({ id }: SentPayout, match: () => Promise<Answer>): Promise<Answer> => {
    await owner.query('begin')
    await owner.query(
      `update payouts set status = 'FAILED', failure_code = 'BANK_ERROR', failed_at = now(), retry_at = 'infinity', changed_by = 'OPERATOR'
       where id = $1`,
      [id],
    )
    await owner.query('update settlements set payout_id = null where payout_id = $1', [id])
    const matched = match()
    await until('the match waits for the payout', async () => {
      const { rows } = await owner.query(
        `select from pg_locks where locktype = 'transactionid' and not granted and transactionid = pg_current_xact_id()::xid`,
      )
      return rows.length > 0
    })
    await owner.query('commit')
    return matched
  }
  const payout = await sentPayout('31.00')
  const [left = '', named = ''] = names(2)
  const content = statementOf([], [debit(payout.sent, left)])
  t.match(await failing(payout, () => post('statements', { content })), {
    status: 200,
    body: { matched_line_count: 0 },
  })
  t.match(await causes(), { [`STATEMENT_LINE_OF_FAILED ${left}`]: /has made payout .* although it failed here/ })
  await resolveLine(await onlyLine(left))

  const other = await sentPayout('32.00')
  await imported(britishFile([debit(other.sent, named)], { id: 'BY-HAND' }), 0)
  const line = await onlyLine(named)
  t.match(await failing(other, () => resolveLine(line, { payout_id: other.id })), {
    status: 404,
    body: { code: 'PAYOUT_NOT_FOUND' },
  })
  t.match(await causes(), { [`STATEMENT_LINE_OF_FAILED ${named}`]: /has made payout .* although it failed here/ })
  await resolveLine(line)
  t.same(await differences(), [])
})

t.test('a line that is matched with what has failed nevertheless is a difference', async (t) => {
  const { merchant, sent, id } = await sentPayout('33.00')
  const [left = ''] = names(1)
  await imported(statementOf([], [debit(sent, left)]), 1)
  const byHand = byHandOf(owner)
  await byHand([
    `update payouts set status = 'FAILED', failure_code = 'BANK_ERROR', retry_at = 'infinity', failed_at = now(), paid_at = null where id = $1`,
    [id],
  ])
  t.match(await differences(), [{ kind: 'STATEMENT_LINE', merchant_id: merchant.id, subject: await onlyLine(left) }])
  await byHand([
    `update payouts set status = 'PAID', failure_code = null, retry_at = null, failed_at = null, paid_at = now() where id = $1`,
    [id],
  ])
  t.same(await differences(), [])
})

t.test('merchants are shown nothing of lines that operators have to explain', async (t) => {
  const { merchant, sent, id } = await sentPayout('35.00')
  const failed = await sentPayout('36.00')
  await post(`payouts/${failed.id}/fail`, { failure_code: 'BANK_ERROR', reason: 'so says the bank' })
  const [first = '', twice = '', back = '', made = ''] = names(4)
  await imported(
    statementOf([], [debit(sent, first), debit(sent, twice), credit(sent, back), debit(failed.sent, made)]),
    1,
  )
  t.same(
    Object.keys(await causes()).map((key) => key.split(' ')[0]),
    ['STATEMENT_LINE_OF_FAILED', 'STATEMENT_DEBIT_KNOWN', 'STATEMENT_CREDIT_KNOWN'],
  )
  t.equal((await differences(`?merchant_id=${merchant.id}`)).length, 2, id)
  for (const each of [merchant, failed.merchant]) {
    const { status, body } = await service.call('GET', '/api/v1/portal/reconciliation', { merchant: each })
    t.equal(status, 200)
    t.same(
      body.differences.filter(({ kind }: { kind: string }) => kind.startsWith('STATEMENT')),
      [],
    )
  }
})
