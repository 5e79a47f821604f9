import type { App } from '../app.ts'
import { formatNumeric } from '../lib/money.ts'
import type { Overview } from '../wire/console.ts'
import type { PaymentStatus } from '../wire/payments.ts'
import { countByMinute, countByStatus, findStanding, sumSettledToday } from './overview-sql.ts'
import type { Standing, Whose } from './overview-sql.ts'

const MINUTES = 60

/** What is being read, so that many who look at the same moment are answered by one reading. */
const underWay = new WeakMap<App['pool'], Map<string, Promise<Overview>>>()

/** How things stand at one merchant, or at all: a few bounded reads, each of its own moment. */
export function getOverview({ pool }: Pick<App, 'pool'>, whose: Whose): Promise<Overview> {
  const readings = underWay.get(pool) ?? new Map<string, Promise<Overview>>()
  underWay.set(pool, readings)
  const key = whose.merchantId ?? ''
  const reading =
    readings.get(key) ?? lookOver(pool, whose).finally(() => readings.get(key) === reading && readings.delete(key))
  readings.set(key, reading)
  return reading
}

async function lookOver(pool: App['pool'], whose: Whose): Promise<Overview> {
  const [byStatus, byMinute, money, standing] = await Promise.all([
    countByStatus(pool, whose),
    countByMinute(pool, whose),
    sumSettledToday(pool, whose),
    findStanding(pool, whose),
  ])
  const counts = new Map(byStatus.map(({ status, count }) => [status, count]))
  const minutes = new Map(byMinute.map(({ minutes_ago: ago, count }) => [ago, count]))
  return {
    as_of: standing.as_of,
    payments: {
      by_status: statusCounts(counts),
      per_minute: Array.from({ length: MINUTES }, (_, index) => minutes.get(MINUTES - 1 - index) ?? 0),
    },
    money_today: money.map(({ currency, count, gross_amount, fee_amount, net_amount }) => ({
      currency,
      count,
      gross_amount: formatNumeric(gross_amount, currency),
      fee_amount: formatNumeric(fee_amount, currency),
      net_amount: formatNumeric(net_amount, currency),
    })),
    ...waiting(standing, whose),
  }
}

function statusCounts(counts: ReadonlyMap<PaymentStatus, number>): Overview['payments']['by_status'] {
  const of = (status: PaymentStatus): number => counts.get(status) ?? 0
  return {
    Initiated: of('Initiated'),
    AwaitingAuthorisation: of('AwaitingAuthorisation'),
    Authorised: of('Authorised'),
    Settled: of('Settled'),
    Failed: of('Failed'),
    Refunded: of('Refunded'),
  }
}

function waiting(standing: Standing, { merchantId }: Whose): Omit<Overview, 'as_of' | 'payments' | 'money_today'> {
  return {
    kyb:
      merchantId === undefined
        ? { pending: standing.kyb_pending, oldest_pending_at: standing.oldest_pending_at }
        : null,
    deliveries: {
      pending: standing.deliveries_pending,
      dead: standing.deliveries_dead,
      oldest_due_at: standing.oldest_due_at,
    },
    disputes: {
      open: standing.disputes_open,
      under_review: standing.disputes_under_review,
      escalated: standing.disputes_escalated,
      oldest_open_at: standing.oldest_open_at,
      next_evidence_due_at: standing.next_evidence_due_at,
    },
    worker: { lag_ms: standing.lag_ms },
  }
}
