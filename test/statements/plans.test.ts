import type { DatabaseTransactionConnection } from 'slonik'
import t from 'tap'
import { listDifferences } from '../../src/reconciliation/sql.ts'
import { cursorOf } from '../../src/lib/cursor.ts'
import { listUnmatchedMovements } from '../../src/statements/list-statements.ts'
import { listUnmatchedRows } from '../../src/statements/movements-sql.ts'
import { listLineRows } from '../../src/statements/sql.ts'
import { matchById, matchByReferences } from '../../src/statements/match-open-lines.ts'
import { listByReference } from '../../src/statements/by-reference-sql.ts'
import { listDays, matchByReference, matchLines } from '../../src/statements/match-sql.ts'
import type { Days } from '../../src/statements/parts-of-days.ts'
import { createPayment, testService } from '../support/app.ts'
import { measurePlan } from '../support/kept-plan.ts'
import { plantPayments } from '../support/plant-payments.ts'
import { statementOf } from '../support/statement-of.ts'

/** Settled payments, ten a day up to today. */
const DAYS = 1_000
const EACH = 10

const service = await testService(t)
const { owner, app } = service
const merchant = await service.merchant()
const { body } = await createPayment(service, merchant)
await plantPayments(owner, {
  paymentId: body.payment_id,
  count: DAYS * EACH,
  columns: {
    remittance_reference: "'ORDER ' || n",
    created_at: `now() - n / ${EACH} * interval '1 day'`,
  },
})
await owner.query('set session_replication_role = replica')
// Every tenth is refunded.
await owner.query(`
  insert into payment_refunds (
    id, merchant_id, payment_intent_id, amount, status, request_fingerprint, raw_payload, resume_at, created_at
  )
  select gen_random_uuid(), merchant_id, id, gross_amount, 'EXECUTED', '', '{}', now(), created_at
  from payment_intents where idempotency_key like '%0'`)
await owner.query('set session_replication_role = origin')
await owner.query(
  `insert into bank_statements (
     id, format, reference, account, line_count, new_line_count, unbooked_count, file_hash, file_position, imported_by
   )
   values ($1, 'csv', 'x', 'GB00', 0, 0, 0, repeat('0', 64), 0, 'ada')`,
  [merchant.id],
)

/** An open line that names a payment by its reference, some days ago. */
async function addLine(name: string, days: number, changes: { imported?: number } = {}): Promise<string> {
  const id = app.ids.uuid()
  await owner.query(
    `insert into bank_statement_lines (
       id, statement_id, account, line_hash, booked_on, direction, amount, currency, is_reversal, remittance, created_at
     )
     values ($1::uuid, $2, 'GB00', repeat(md5($1::text), 2), (now() - $3::int * interval '1 day')::date, 'CREDIT', 50, 'GBP', false, $4,
       now() - $5::int * interval '1 day')`,
    [id, merchant.id, days, name, changes.imported ?? 0],
  )
  return id
}
await addLine('rent of the office', 900)
const recent = await addLine('order 30', 3)
const ancient = await addLine('order 5000', 500)
await addLine('order 3000', 300, { imported: 31 })
await owner.query('vacuum analyze')

const days = (): Promise<Days[]> => app.pool.transaction((tx) => listDays(tx, 'REFERENCE'))

t.test('lines of far days are matched in parts, each by the movements of its days', async (t) => {
  const parts = await days()
  t.equal(parts.length, 3, 'and a line that was imported a month ago is no longer tried')
  const [whole] = (await owner.query<{ pages: string }>(`select pg_relation_size('payment_intents') / 8192 as pages`))
    .rows
  for (const part of parts)
    for (const [rule, run] of Object.entries<(tx: DatabaseTransactionConnection) => unknown>({
      END_TO_END_ID: (tx) => matchLines(tx, { rule: 'END_TO_END_ID', days: part, paying: undefined }),
      END_TO_END_ID_31: (tx) => matchLines(tx, { rule: 'END_TO_END_ID_31', days: part, paying: undefined }),
      references: (tx) => listByReference(tx, part),
      REFERENCE: (tx) => matchByReference(tx, { days: part, movements: [] }),
    })) {
      const { text, values } = await statementOf(run)
      await owner.query('begin')
      const plan = await measurePlan(owner, text, values)
      await owner.query('rollback')
      t.ok(plan.buffers < Number(whole?.pages) / 2, `${rule}: ${plan.buffers} pages of ${whole?.pages}: ${plan.text}`)
    }
})

t.test('what is alike in other days does not count, and what is within the days does', async (t) => {
  const matched = async (id: string) => {
    await matchByReferences(app.pool)
    const { rows } = await owner.query('select matched_by from bank_statement_lines where id = $1', [id])
    return rows[0]?.matched_by
  }
  t.equal(await matched(recent), 'REFERENCE')
  t.equal(await matched(ancient), 'REFERENCE')
  await owner.query(
    `update payment_intents set remittance_reference = 'SAME' where idempotency_key in ('4000', '4200')`,
  )
  t.equal(await matched(await addLine('same', 400)), 'REFERENCE', 'one is 20 days earlier')
  await owner.query(`update payment_intents set remittance_reference = 'TWICE' where idempotency_key = '6000'`)
  const first = await addLine('twice', 599)
  // In the next part, as another line that may be the payment.
  const second = await addLine('twice', 592)
  t.equal(await matched(first), null)
  t.equal(await matched(second), null)
})

t.test('a part of the days that fails takes nothing back that others find', async (t) => {
  const [early, late] = [await addLine('order 8500', 850), await addLine('order 8000', 800)]
  const ruleOf = async (id: string) =>
    (await owner.query('select matched_by from bank_statement_lines where id = $1', [id])).rows[0]?.matched_by
  await owner.query('begin')
  await owner.query('select from bank_statement_lines where id = $1 for update', [early])
  await t.rejects(matchByReferences(app.pool), { message: /lock timeout/ })
  await owner.query('rollback')
  t.same([await ruleOf(early), await ruleOf(late)], [null, 'REFERENCE'])
  t.equal(await matchByReferences(app.pool), 1)
  t.equal(await ruleOf(early), 'REFERENCE')
})

t.test('a line that is no longer tried is not matched, and what it may be is not matched with another', async (t) => {
  await owner.query(`update payment_intents set remittance_reference = 'AGED' where idempotency_key = '7000'`)
  const first = await addLine('aged', 699, { imported: 31 })
  const second = await addLine('aged', 692)
  // In the days of a line that is tried.
  const alone = await addLine('order 6920', 692, { imported: 31 })
  await matchByReferences(app.pool)
  const { rows } = await owner.query('select id from bank_statement_lines where id = any($1) and matched_by is null', [
    [first, second, alone],
  ])
  t.same(new Set(rows.map(({ id }) => id)), new Set([first, second, alone]))
})

/** Days of refunds of one payment and of lines with its whole id, and which refund each line is. */
const ALIKE = {
  'a refund before the days of the line': { refunds: [-9, 5], lines: [6], are: [1] },
  'a line before the days of the refund': { refunds: [4], lines: [0, 6], are: [null, 0] },
  'each line is the first that is left of its days': { refunds: [-1, 2], lines: [0, 3], are: [0, 1] },
  'one line more than refunds': { refunds: [0, 0], lines: [0, 0, 1], are: [0, 1, null] },
} as const

t.test('lines of one whole id are its refunds in their order, wherever a part of the days begins', async (t) => {
  const found: { name: string; first: number; wanted: string; key: number }[] = []
  let key = 100
  for (let first = 0; first < 7; first += 1)
    for (const [name, { refunds, lines, are }] of Object.entries(ALIKE)) {
      key += 1
      const at = (day: number) => `2025-03-${String(15 + first + day).padStart(2, '0')}`
      const ids = refunds.map(() => app.ids.uuid())
      await owner.query('set session_replication_role = replica')
      for (const [index, day] of refunds.entries())
        await owner.query(
          `insert into payment_refunds (
             id, merchant_id, payment_intent_id, amount, status, request_fingerprint, raw_payload, resume_at, created_at
           )
           select $1, merchant_id, id, 1, 'EXECUTED', '', '{}', now(), $2::timestamptz from payment_intents where idempotency_key = $3`,
          [ids[index], `${at(day)}T12:0${index}:00Z`, String(key)],
        )
      await owner.query('set session_replication_role = origin')
      // A line of something else, so that a part may begin before.
      for (const [day, id] of [[0, 'other'], ...lines.map((day) => [day, undefined] as const)] as const) {
        const line = app.ids.uuid()
        await owner.query(
          `insert into bank_statement_lines (
             id, statement_id, account, line_hash, booked_on, direction, amount, currency, is_reversal, end_to_end_id, bank_reference
           )
           select $1::uuid, $2, 'GB00', repeat(md5($1::text), 2), $3::date, 'DEBIT', 1, 'GBP', false, coalesce($4, end_to_end_id), idempotency_key
           from payment_intents where idempotency_key = $5`,
          [line, merchant.id, at(day), id, String(key)],
        )
      }
      const wanted = JSON.stringify(are.map((index) => (index === null ? null : ids[index])))
      found.push({ name, first, wanted, key })
    }
  await app.pool.transaction((tx) => matchById(tx, { paying: undefined }))
  for (const { name, first, wanted, key } of found) {
    const { rows } = await owner.query(
      `select refund_id from bank_statement_lines where bank_reference = $1 and end_to_end_id <> 'other' order by booked_on, id`,
      [String(key)],
    )
    t.equal(JSON.stringify(rows.map(({ refund_id }) => refund_id)), wanted, `${name}, from day ${first}`)
  }
})

t.test('a page of lines reads these alone, and those of a payment are found by their index', async (t) => {
  await owner.query('begin')
  await owner.query(
    `insert into bank_statement_lines (
       id, statement_id, account, line_hash, booked_on, direction, amount, currency, is_reversal, merchant_id, payment_id,
       matched_by, matched_at
     )
     select gen_random_uuid(), $1, 'GB00', repeat(md5(id::text), 2), created_at::date, 'CREDIT', 50, 'GBP', false, merchant_id,
       id, 'END_TO_END_ID', now()
     from payment_intents p
     where status = 'Settled' and not exists (select from bank_statement_lines l where l.payment_id = p.id)`,
    [merchant.id],
  )
  await owner.query('analyze bank_statement_lines')
  const all = { statementId: undefined, paymentId: undefined, state: undefined, from: undefined, to: undefined }
  for (const page of [all, { ...all, state: 'matched' as const }, { ...all, paymentId: body.payment_id }]) {
    const { text, values } = await statementOf((tx) => listLineRows(tx, { ...page, afterId: undefined, limit: 50 }))
    const plan = await measurePlan(owner, text, values)
    t.ok(plan.buffers < 51 * 3, plan.text)
  }
  await owner.query('rollback')
})

t.test(
  'movements without a line are read from the page before on, and a page has no more days than it needs',
  async (t) => {
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
    const [from, to] = [day(120), day(0)]
    const read = async (more: object) => {
      const rows: string[] = []
      let pages = 0
      for (let cursor: string | null | undefined; cursor !== null; pages += 1) {
        const page = await listUnmatchedMovements(app, { from, to, limit: 100, ...more, cursor })
        rows.push(...page.rows.map(({ payment_id, refund_id }) => refund_id ?? payment_id ?? ''))
        cursor = page.nextCursor
      }
      return { rows, pages }
    }
    const whole = await app.pool.transaction((tx) =>
      listUnmatchedRows(tx, { from, to, after: undefined, limit: 5_000 }),
    )
    t.ok(whole.length > 120 * EACH)
    const ids = whole.map(({ payment_id, refund_id }) => refund_id ?? payment_id ?? '')
    t.same((await read({})).rows, ids)
    t.same((await read({ from: '2001-01-01', to: '2020-01-01' })).rows, [])
    const last = whole.at(-20)
    const after = { at: last?.created_at ?? '', id: last?.refund_id ?? last?.payment_id ?? '' }
    const { text, values } = await statementOf((tx) => listUnmatchedRows(tx, { from, to, after, limit: 10 }))
    const plan = await measurePlan(owner, text, values)
    const all = await measureAll(from, to)
    t.ok(plan.buffers < all / 3, `${plan.buffers} of ${all}: ${plan.text}`)
    t.match(await listUnmatchedMovements(app, { from, to, limit: 5, cursor: cursorOf(to) }), {
      rows: { length: Number },
    })
    await t.rejects(listUnmatchedMovements(app, { from, to, limit: 5, cursor: cursorOf('2026-13-01') }), {
      code: 'VALIDATION_FAILED',
    })
  },
)

async function measureAll(from: string, to: string): Promise<number> {
  const { text, values } = await statementOf((tx) => listUnmatchedRows(tx, { from, to, after: undefined, limit: 10 }))
  return (await measurePlan(owner, text, values)).buffers
}

t.test('lines that name the same id are found by their index, however many were explained', async (t) => {
  await owner.query('begin')
  await owner.query(
    `insert into bank_statement_lines (
       id, statement_id, account, line_hash, booked_on, direction, amount, currency, is_reversal, end_to_end_id, matched_by,
       matched_at, resolution_reason
     )
     select gen_random_uuid(), $1, 'GB00', repeat(md5('explained' || n), 2), current_date, 'DEBIT', 50, 'GBP', false,
       'SVC' || md5(n::text), 'MANUAL', now(), 'a charge'
     from generate_series(1, ${DAYS * EACH}) n`,
    [merchant.id],
  )
  await owner.query('analyze bank_statement_lines')
  await owner.query(
    `insert into bank_statement_lines (
       id, statement_id, account, line_hash, booked_on, direction, amount, currency, is_reversal, remittance
     )
     select gen_random_uuid(), $1, 'GB00', repeat(md5(id::text), 2), current_date, 'DEBIT', 50, 'GBP', false,
       'FPS OUT ' || upper(left(end_to_end_id, 18))
     from payment_intents where idempotency_key in ('1', '2', '3')`,
    [merchant.id],
  )
  const scope = { merchantId: undefined, from: undefined, asOf: new Date().toISOString() }
  const { text, values } = await statementOf((tx) =>
    listDifferences(tx, { name: 'STATEMENT_DEBIT_KNOWN', scope, limit: 10 }),
  )
  const plan = await measurePlan(owner, text, values)
  await owner.query('rollback')
  t.match(plan.text, /Index Scan using bank_statement_lines__named_id/)
  t.notMatch(plan.text, /Seq Scan on (bank_statement_lines|payment_intents)/)
})
