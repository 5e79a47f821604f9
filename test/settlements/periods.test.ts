import { DateTime } from 'luxon'
import t from 'tap'
import { keepBalances } from '../../src/ledger/keep-balances.ts'
import { closeDueSettlements } from '../../src/settlements/close-settlements.ts'
import { testService } from '../support/app.ts'
import type { TestMerchant } from '../support/app.ts'
import { postFor } from '../support/ledger.ts'
import { settledPayment } from '../support/payments.ts'

const service = await testService(t, { worker: true })
const { app, owner } = service
const OPERATOR = await service.operator()
const ZONE = 'Europe/London'

type Settlement = { kind: string; period_from: string; period_to: string; gross_amount: string }

/** A merchant's settlements, the first period first. */
async function settlementsOf(merchant: TestMerchant): Promise<Settlement[]> {
  const { body } = await service.call('GET', '/api/v1/portal/settlements?limit=100', { merchant })
  return body.data.toReversed()
}

/** Sets the merchant's clock forward, without a worker that closes in between. */
async function passUntil(merchant: TestMerchant, time: string): Promise<void> {
  await keepBalances(app)
  await owner.query(
    `select advance_sandbox_clock($1, array[]::uuid[], $2::timestamptz - now() - sandbox_clock_ahead($1, '-infinity'))`,
    [merchant.id, time],
  )
}

/** Advances the sandbox clock as operators do: it stops at each due time and lets the worker do what is due. */
async function advance(merchant: TestMerchant, wish: { by: string } | { to: string }): Promise<void> {
  const answer = await service.call('POST', '/api/v1/sandbox/clock/advance', {
    headers: OPERATOR,
    body: { merchant_id: merchant.id, ...wish },
  })
  if (answer.status !== 200) throw new Error(answer.text)
}

t.test('periods begin and end at midnight in London, on days of 23 and 25 hours too', async (t) => {
  const days = ['2026-03-28', '2026-03-29', '2026-03-30', '2026-10-24', '2026-10-25', '2026-10-26', '2026-12-31']
  const times = days.flatMap((day) =>
    [0, 1, 59, 60, 61, 90, 119, 120, 121, 720, 1380, 1439].map((minutes) =>
      DateTime.fromISO(day, { zone: ZONE }).plus({ minutes }),
    ),
  )
  for (const [schedule, unit] of [
    ['DAILY', 'day'],
    ['WEEKLY', 'week'],
  ] as const) {
    for (const time of times) {
      const { rows } = await owner.query('select starts_at, ends_at from settlement_period($1, $2)', [
        schedule,
        time.toISO(),
      ])
      const start = time.startOf(unit)
      const expected = [start, start.plus({ [unit]: 1 })].map((each) => each.toMillis())
      t.same(
        [rows[0].starts_at, rows[0].ends_at].map((each) => new Date(each).getTime()),
        expected,
        `${schedule} ${time.toISO()}`,
      )
    }
  }
  const { rows } = await owner.query(`select ends_at from settlement_period('MANUAL', now())`)
  t.equal(rows[0].ends_at, null)
})

t.test(
  'a payment just before midnight and one just after are in different settlements, when clocks change too',
  async (t) => {
    const CHANGES: [month: number, hours: number][] = [
      [3, 23],
      [10, 25],
    ]
    const nextYear = DateTime.now().setZone(ZONE).plus({ years: 1 }).startOf('year')
    for (const [month, hours] of CHANGES) {
      const merchant = await service.merchant()
      // The last Sunday of the month.
      const lastDay = nextYear.set({ month }).endOf('month').startOf('day')
      const midnight = lastDay.minus({ days: lastDay.weekday % 7 })
      const next = midnight.plus({ days: 1 })
      t.equal(next.diff(midnight).as('hours'), hours)
      const at = async (time: DateTime, amount: string) => {
        await passUntil(merchant, time.toISO() ?? '')
        await postFor(service, merchant.id, ['payment_settled', amount])
      }
      await at(midnight.minus({ seconds: 20 }), '1.00')
      await at(midnight, '2.00')
      await at(next.minus({ seconds: 20 }), '4.00')
      await at(next, '8.00')
      await passUntil(merchant, next.plus({ days: 1 }).toISO() ?? '')
      while ((await closeDueSettlements(app)).more);
      const iso = (time: DateTime) => time.toUTC().toISO()
      t.match(await settlementsOf(merchant), [
        { gross_amount: '1.00', period_to: iso(midnight) },
        { gross_amount: '6.00', period_from: iso(midnight), period_to: iso(next) },
        { gross_amount: '8.00', period_from: iso(next) },
      ])
    }
  },
)

t.test('advancing the sandbox clock closes every day with payments that it passes', async (t) => {
  const merchant = await service.merchant()
  await settledPayment(service, merchant, { amount: '10.00' })
  await advance(merchant, { by: '25h' })
  t.match(await settlementsOf(merchant), [{ kind: 'DAILY', gross_amount: '10.00' }])
  await advance(merchant, { by: '3d' })
  await settledPayment(service, merchant, { amount: '20.00' })
  await advance(merchant, { by: '10d' })
  const found = await settlementsOf(merchant)
  t.match(found, [{ gross_amount: '10.00' }, { kind: 'DAILY', gross_amount: '20.00' }])
  for (const { period_from, period_to } of found) {
    const [from, to] = [period_from, period_to].map((time) => DateTime.fromISO(time, { zone: ZONE }))
    t.match([from?.toFormat('HH:mm'), to?.toFormat('HH:mm')], ['00:00', '00:00'])
    t.equal(to?.diff(from!, 'days').days, 1)
  }
})

t.test('a weekly period ends on Monday, and one by hand only by hand', async (t) => {
  const [weekly, manual] = [await service.merchant(), await service.merchant()]
  for (const [merchant, settlement_schedule] of [
    [weekly, 'WEEKLY'],
    [manual, 'MANUAL'],
  ] as const) {
    await service.call('PUT', '/api/v1/portal/settlement-schedule', { merchant, body: { settlement_schedule } })
    await settledPayment(service, merchant, { amount: '10.00' })
    await advance(merchant, { by: '15d' })
  }
  const [settlement] = await settlementsOf(weekly)
  t.match(settlement, { kind: 'WEEKLY', gross_amount: '10.00' })
  const end = DateTime.fromISO(settlement?.period_to ?? '', { zone: ZONE })
  t.same([end.weekday, end.toFormat('HH:mm')], [1, '00:00'])
  t.same(await settlementsOf(manual), [])
  await service.call('POST', '/api/v1/portal/settlements', { merchant: manual, body: {} })
  t.match(await settlementsOf(manual), [{ kind: 'MANUAL', gross_amount: '10.00' }])
})

t.test('a day that was closed early by hand has the rest of it as another period', async (t) => {
  const merchant = await service.merchant()
  await postFor(service, merchant.id, ['payment_settled', '10.00'])
  await service.call('POST', '/api/v1/portal/settlements', { merchant, body: {} })
  await postFor(service, merchant.id, ['payment_settled', '20.00'])
  await advance(merchant, { by: '25h' })
  const [first, second] = await settlementsOf(merchant)
  t.match(
    [first, second],
    [
      { kind: 'MANUAL', gross_amount: '10.00' },
      { kind: 'DAILY', gross_amount: '20.00', period_from: first?.period_to },
    ],
  )
})

t.test('by hand, days that have ended already are closed as days', async (t) => {
  const merchant = await service.merchant()
  await service.call('PUT', '/api/v1/portal/settlement-schedule', { merchant, body: { settlement_schedule: 'MANUAL' } })
  await postFor(service, merchant.id, ['payment_settled', '1.00'])
  await passUntil(merchant, DateTime.now().plus({ days: 2 }).toISO())
  await postFor(service, merchant.id, ['payment_settled', '2.00'])
  await keepBalances(app)
  await owner.query(`update merchants set settlement_schedule = 'DAILY' where id = $1`, [merchant.id])
  const { body } = await service.call('POST', '/api/v1/portal/settlements', { merchant, body: {} })
  t.match(body.settlements, [
    { kind: 'DAILY', gross_amount: '1.00' },
    { kind: 'MANUAL', gross_amount: '2.00' },
  ])
})

t.test("one merchant's clock does not close another's period", async (t) => {
  const [early, late] = [await service.merchant(), await service.merchant()]
  for (const merchant of [early, late]) await settledPayment(service, merchant, { amount: '10.00' })
  await advance(early, { by: '25h' })
  t.equal((await settlementsOf(early)).length, 1)
  t.equal((await settlementsOf(late)).length, 0)
})
