import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { runRecurring } from '../../src/instructions/recurring/run.ts'
import type { Runner } from '../../src/instructions/recurring/run.ts'
import { scheduleOf } from '../../src/instructions/recurring/schedule.ts'
import { firstRun, runAfter } from '../../src/lib/recurrence.ts'
import type { Run } from '../../src/lib/recurrence.ts'
import { drawn } from '../lib/recurrence-samples.ts'
import { testService, until } from '../support/app.ts'
import type { TestService } from '../support/app.ts'
import { capturedLog } from '../support/captured-log.ts'
import { addCustomer, balanceOf } from '../support/customers.ts'
import type { TestCustomer } from '../support/customers.ts'
import { PAYMENTS, byNumber, gbp } from '../support/orders.ts'
import {
  DAY_MS,
  RECURRING,
  inMs,
  makeDue,
  makeRunner,
  orderRecurring,
  ordersOf,
  plantRecurring,
} from '../support/recurring.ts'

/** Runs are made here by whom a test says; the other service has a worker. */
const service = await testService(t)
const { owner, app } = service
const grace = await addCustomer(service)

async function order(changes: Record<string, unknown> = {}, of = { service, customer: grace }): Promise<string> {
  const { status, body } = await orderRecurring(of.service, of.customer, changes)
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body.RecurringPaymentId
}

async function read(id: string, of: { service: TestService; customer: TestCustomer } = { service, customer: grace }) {
  return (await of.service.call('GET', `${RECURRING}/${id}`, { headers: of.customer.headers })).body
}

/** Makes runs until nothing is due. */
async function runAll(by: Runner = app): Promise<void> {
  while ((await runRecurring(by)).more);
}

/**
 * Recurring payments of every day that are due now; the first of their runs was `missed` days ago, and an hour more: where
 * clocks were set back since, the run of today is an hour later.
 */
async function plantDue(count: number, missed = 0): Promise<string[]> {
  const first = new Date(Date.now() - missed * DAY_MS - 3_601_000)
  const schedule = { frequency: 'EvryDay', first_payment_at: first.toISOString() }
  const run = firstRun(scheduleOf({ ...schedule, next_payment_at: null, final_payment_at: null }, new Set()))
  if (run === null) throw new Error('every day has a run')
  const ids = Array.from({ length: count }, () => randomUUID())
  await plantRecurring(
    service,
    grace,
    ids.map((id) => ({ id, frequency: 'EvryDay', first, run })),
  )
  return ids
}

/** The days of each recurring payment's runs, in the order in which they are carried out. */
async function daysOf(ids: readonly string[]): Promise<string[][]> {
  const orders = await ordersOf(service, ids)
  return ids.map((id) => orders.filter((each) => each.recurring_payment_id === id).map(({ run_day }) => run_day))
}

t.test('with a worker, each run is an ordinary payment that moves money, or is rejected by itself', async (t) => {
  const live = await testService(t, { worker: true })
  const payer = await addCustomer(live, { name: 'Pat Payer' })
  const payee = await addCustomer(live, { name: 'Lena Landlord', accounts: [{ balance: 0n }] })
  const of = { service: live, customer: payer }
  const id = await order(
    {
      FirstPaymentDateTime: inMs(-1),
      CreditorAccount: byNumber(payee.account.number),
      RemittanceInformation: { Reference: 'RENT' },
      ...gbp('300.00'),
    },
    of,
  )
  let runs = 0
  const ended = () => {
    runs += 1
    return until(async () => {
      const body = await read(id, of)
      const isEnded = /Completed|Rejected/.test(body.LastPayment?.Status)
      return body.NumberOfPayments === runs && isEnded ? body : undefined
    })
  }
  const nextRun = async () => {
    await makeDue(live, [id])
    live.app.wake.notify('run-recurring')
    return ended()
  }
  const balances = async () => [await balanceOf(live, payer.account.id), await balanceOf(live, payee.account.id)]

  const first = await ended()
  t.match(first, { Status: 'InitiationCompleted', LastPayment: { Status: 'AcceptedSettlementCompleted' } })
  t.same(await balances(), [70_000n, 30_000n])
  const payment = await live.call('GET', `${PAYMENTS}/${first.LastPayment.PaymentId}`, { headers: payer.headers })
  t.match(payment.body, {
    Status: 'AcceptedSettlementCompleted',
    RecurringPaymentId: id,
    InstructedAmount: { Amount: '300.00', Currency: 'GBP' },
    RemittanceInformation: { Reference: 'RENT' },
    InstructionIdentification: /^\d{8}[0-9A-Z]{25}$/,
    EndToEndIdentification: /^\d{8}[0-9A-Z]{25}$/,
  })
  const second = await nextRun()
  t.not(second.LastPayment.PaymentId, first.LastPayment.PaymentId)
  t.equal(second.StatusUpdateDateTime, first.StatusUpdateDateTime, 'a run is no change of status')
  await nextRun()
  t.same(await balances(), [10_000n, 90_000n])
  t.match((await nextRun()).LastPayment, { Status: 'Rejected', StatusReasonCode: 'AM04' }, 'there is no money')
  await live.owner.query(`select book_transfer($1, null, $2, 50000, 'GBP', 'Another bank', 'Pat', 'pay')`, [
    randomUUID(),
    payer.account.id,
  ])
  t.match(await nextRun(), { LastPayment: { Status: 'AcceptedSettlementCompleted' } }, 'and then there is')
  await live.owner.query(`update accounts set status = 'Closed' where id = $1`, [payer.account.id])
  t.match(await nextRun(), {
    Status: 'InitiationCompleted',
    NextRunDateTime: /T/,
    LastPayment: { Status: 'Rejected', StatusReasonCode: 'AC05' },
  })
  t.same(await balances(), [30_000n, 120_000n])
  const names = (await ordersOf(live, [id])).map((each) => each.end_to_end_identification.slice(0, 31))
  t.equal(new Set(names).size, 6, 'what Faster Payments carries of their names tells them apart')
})

t.test('for any schedule, the job stores step by step the runs of the calendar', async (t) => {
  const { holidays } = app.config
  const schedules = fc.sample(drawn, { numRuns: 60, seed: 20_261_121 }).flatMap(({ text: frequency, asked }) => {
    const times = { first: asked.first, next: asked.next, final: asked.final }
    const schedule = scheduleOf(
      {
        frequency,
        first_payment_at: asked.first.toISOString(),
        next_payment_at: asked.next?.toISOString() ?? null,
        final_payment_at: asked.final?.toISOString() ?? null,
      },
      holidays,
    )
    const run = firstRun(schedule)
    return run === null ? [] : [{ id: randomUUID(), frequency, ...times, schedule, run }]
  })
  await plantRecurring(service, grace, schedules)
  const ids = schedules.map(({ id }) => id)
  const expected = new Map(schedules.map(({ id, run }): [string, (Run | null)[]] => [id, [run]]))
  const days = new Map(schedules.map(({ id }): [string, string[]] => [id, []]))
  for (let step = 0; step < 4; step += 1) {
    const { rows } = await owner.query(
      'select id, next_run_day::text as day, next_run_at as at from recurring_payments where id = any ($1)',
      [ids],
    )
    for (const { id, day, at } of rows) {
      const run = expected.get(id)?.at(-1) ?? null
      const stored = day === null ? null : { day, at: new Date(at) }
      if (JSON.stringify(stored) !== JSON.stringify(run)) t.same(stored, run, id)
    }
    await makeDue(service, ids)
    await runRecurring(app)
    for (const { id, schedule } of schedules) {
      const run = expected.get(id)?.at(-1)
      if (run == null) continue
      days.get(id)?.push(run.day)
      expected.get(id)?.push(runAfter(schedule, run.day))
    }
  }
  t.same(await daysOf(ids), [...days.values()])
  t.ok([...days.values()].some((each) => each.length < 4) && [...days.values()].flat().length > 150)
  await owner.query(`update recurring_payments set next_run_day = null, next_run_at = null where id = any ($1)`, [ids])
})

t.test('missed runs are made up in order, one per day, and the final one ends the recurring payment', async (t) => {
  const ids = await plantDue(3, 5)
  const [open = '', ending = '', ended = ''] = ids
  await owner.query('update recurring_payments set final_payment_at = first_payment_at + $2 where id = $1', [
    ending,
    '4 days',
  ])
  await owner.query('update recurring_payments set final_payment_at = first_payment_at where id = $1', [ended])
  await Promise.all([runAll(), runAll()])
  const [all = [], five, one] = await daysOf(ids)
  const dayOf = (index: number) => new Date(Date.parse(all[0] ?? '') + index * DAY_MS).toISOString().slice(0, 10)
  t.same(all, [0, 1, 2, 3, 4, 5].map(dayOf))
  t.same(five, all.slice(0, 5))
  t.same(one, all.slice(0, 1))
  const { NumberOfPayments, NextRunDateTime } = await read(open)
  const inLondon = new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/London' })
  t.same([NumberOfPayments, inLondon.format(new Date(NextRunDateTime))], [6, dayOf(6)])
  for (const id of [ending, ended]) {
    await makeDue(service, [id])
    t.same(await runRecurring(app), { more: false })
    const body = await read(id)
    t.equal(body.Status, 'InitiationCompleted', 'the end is no change of status')
    t.notOk('NextRunDateTime' in body)
  }
  t.equal((await read(ending)).NumberOfPayments, 5)
  const { status } = await service.call('DELETE', `${RECURRING}/${ended}`, { headers: grace.headers })
  t.equal(status, 204, 'what has ended can still be cancelled')
})

t.test('of a concurrent cancellation and run, the run comes first or never happens', async (t) => {
  const seen = new Map<number, number>()
  for (let round = 0; round < 30; round += 1) {
    const [id = ''] = await plantDue(1)
    const cancel = () => service.call('DELETE', `${RECURRING}/${id}`, { headers: grace.headers })
    // Two of ten rounds are no race, so that both outcomes are always there.
    if (round % 10 === 0) await runRecurring(app)
    const cancelled = round % 10 === 5 ? [await cancel()] : []
    const [answer] = await Promise.all([
      cancelled[0] ?? cancel(),
      delay(round % 4).then(() => runRecurring(app)),
      runRecurring(app),
    ])
    t.equal(answer.status, 204)
    const { Status, NumberOfPayments, NextRunDateTime } = await read(id)
    const orders = await ordersOf(service, [id])
    t.same([Status, NextRunDateTime, NumberOfPayments], ['Cancelled', undefined, orders.length])
    await runAll()
    t.equal((await ordersOf(service, [id])).length, orders.length, 'none follows')
    seen.set(orders.length, (seen.get(orders.length) ?? 0) + 1)
  }
  t.same([...seen.keys()].toSorted(), [0, 1])
})

t.test('a cancellation waits for the run in progress, and a run waits for nothing', async (t) => {
  const [id = ''] = await plantDue(1)
  const written = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const slow: Runner = {
    ...app,
    pool: {
      ...app.pool,
      transaction: (handler) =>
        app.pool.transaction(async (tx) => {
          const result = await handler(tx)
          written.resolve()
          await released.promise
          return result
        }),
    },
  }
  const running = runRecurring(slow)
  await written.promise
  const { log, lines } = capturedLog()
  await runRecurring({ ...app, log })
  t.same(lines(), [], 'the others pass it over, and time out on no lock')
  let isCancelled = false
  const cancelling = service.call('DELETE', `${RECURRING}/${id}`, { headers: grace.headers }).then((answer) => {
    isCancelled = true
    return answer.status
  })
  await delay(50)
  t.notOk(isCancelled)
  released.resolve()
  await running
  t.equal(await cancelling, 204)
  t.match(await read(id), { Status: 'Cancelled', NumberOfPayments: 1 })
  t.equal((await ordersOf(service, [id])).length, 1)
})

for (const workers of [2, 4]) {
  t.test(`${workers} workers make each of many due runs once`, async (t) => {
    const runners = await Promise.all(Array.from({ length: workers }, () => makeRunner(service.databaseUrl)))
    t.teardown(() => Promise.all(runners.map(({ pool }) => pool.end())))
    const due = await plantDue(100)
    const behind = await plantDue(5, 6)
    await Promise.all(runners.map((runner) => runAll(runner)))
    await runAll()
    t.ok((await daysOf(due)).every((days) => days.length === 1))
    for (const days of await daysOf(behind)) t.same([days.length, days], [7, days.toSorted()])
    const { rows } = await owner.query(
      'select run_count, next_run_at > now() as waits, count(*)::int from recurring_payments where id = any ($1) group by 1, 2 order by 1',
      [[...due, ...behind]],
    )
    t.same(rows, [
      { run_count: 1, waits: true, count: 100 },
      { run_count: 7, waits: true, count: 5 },
    ])
  })
}

t.test('a run has one payment, whatever fails, and a failed run delays no other', async (t) => {
  const ids = await plantDue(3)
  const [twice = '', broken = '', sound = ''] = ids
  const plant = (at: string) =>
    owner.query(
      `insert into payment_orders (id, customer_id, instruction_identification, end_to_end_identification,
         debtor_account_id, creditor_scheme_name, creditor_identification, amount_minor, currency,
         recurring_payment_id, run_day, created_at)
       select $2, customer_id, 'x', 'x', debtor_account_id, creditor_scheme_name, creditor_identification, amount_minor,
         currency, id, next_run_day, now() + $3::interval from recurring_payments where id = $1`,
      [twice, randomUUID(), at],
    )
  await plant('0')
  await t.rejects(plant('0'), { code: '23505' })
  await owner.query(`update recurring_payments set frequency = 'EvryMoon' where id = $1`, [broken])
  const { log, lines } = capturedLog('error')
  await runAll({ ...app, log })
  t.same(
    lines()
      .map((line) => JSON.parse(line).recurring_payment_id)
      .toSorted(),
    [twice, broken].toSorted(),
  )
  t.same(
    (await daysOf(ids)).map((days) => days.length),
    [1, 0, 1],
  )
  t.match([await read(twice), await read(sound)], [{ NumberOfPayments: 1 }, { NumberOfPayments: 1 }])
  await owner.query(`update recurring_payments set frequency = 'EvryDay' where id = $1`, [broken])
  await runAll()
  t.same(await daysOf([broken]), [[]], 'it is put off')
  const { rows: putOff } = await owner.query(
    `update recurring_payments set retry_at = now() where id = $1 and retry_at > now() + interval '50 seconds' returning id`,
    [broken],
  )
  t.equal(putOff.length, 1, 'for a minute')
  await runAll()
  t.equal((await daysOf([broken]))[0]?.length, 1, 'and then made')
  const { rows: made } = await owner.query('select retry_at from recurring_payments where id = $1', [broken])
  t.same(made, [{ retry_at: null }])

  // As if another worker had made the run before in a transaction that began after this one's.
  await owner.query(
    `update payment_orders set created_at = now() + interval '1 hour' where recurring_payment_id = $1`,
    [sound],
  )
  await makeDue(service, [sound])
  t.same(await runRecurring(app), { more: false })
  t.equal((await read(sound)).NumberOfPayments, 1, 'no payment is dated before the one that it follows')
  await owner.query(`update payment_orders set created_at = now() where recurring_payment_id = $1`, [sound])
  await runAll()
  t.equal((await read(sound)).NumberOfPayments, 2)
})

t.test('a hundred failing payments delay no others', async (t) => {
  const ids = await plantDue(101)
  const sound = ids.at(-1) ?? ''
  await owner.query(
    `update recurring_payments set frequency = 'EvryMoon', next_run_at = next_run_at - interval '1 hour'
     where id = any ($1) and id <> $2`,
    [ids, sound],
  )
  for (let turn = 0; turn < 2; turn += 1) await runRecurring(app)
  t.equal((await read(sound)).NumberOfPayments, 1)
  const { log, lines } = capturedLog('error')
  await runRecurring({ ...app, log })
  t.same(lines(), [], 'which are left alone for a while')
  await owner.query(`update recurring_payments set next_run_day = null, next_run_at = null where id = any ($1)`, [ids])
})

t.test('a worker that is killed neither loses nor repeats a run', async (t) => {
  const ids = await plantDue(4)
  const child = fork(join(import.meta.dirname, '../support/recurring-worker.ts'), {
    env: { PATH: process.env['PATH'], SVC_DATABASE_URL: service.databaseUrl },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let holding = 0
  child.on('message', () => (holding += 1))
  await until(async () => holding === 4)
  t.equal((await ordersOf(service, ids)).length, 2, 'two are committed, and two are not')
  child.kill('SIGKILL')
  await once(child, 'exit')
  // What it left open is taken back by the server in its own time.
  await until(async () => {
    await runAll()
    return (await ordersOf(service, ids)).length >= 4
  })
  await runAll()
  t.same(
    (await daysOf(ids)).map((days) => days.length),
    [1, 1, 1, 1],
  )
  const { rows } = await owner.query('select distinct run_count from recurring_payments where id = any ($1)', [ids])
  t.same(rows, [{ run_count: 1 }])
})
