import type { App } from '../app.ts'
import { formatNumeric } from '../lib/money.ts'
import type { Overview } from '../wire/console.ts'
import type { PaymentStatus } from '../wire/payments.ts'
import { countByMinute, countByStatus, findOverviewCounts, sumSettledToday } from './overview-sql.ts'
import type { OverviewCounts, MerchantScope } from './overview-sql.ts'

const MINUTES = 60

/** Reads in progress: callers at the same moment share one. */
const inProgress = new WeakMap<App['pool'], Map<string, Promise<Overview>>>()

/** Counts of one merchant, or of all: a few bounded reads, each of its own moment. */
export function getOverview({ pool }: Pick<App, 'pool'>, scope: MerchantScope): Promise<Overview> {
  const reads = inProgress.get(pool) ?? new Map<string, Promise<Overview>>()
  inProgress.set(pool, reads)
  const key = scope.merchantId ?? ''
  const read = reads.get(key) ?? readOverview(pool, scope).finally(() => reads.get(key) === read && reads.delete(key))
  reads.set(key, read)
  return read
}

async function readOverview(pool: App['pool'], scope: MerchantScope): Promise<Overview> {
  const [byStatus, byMinute, money, totals] = await Promise.all([
    countByStatus(pool, scope),
    countByMinute(pool, scope),
    sumSettledToday(pool, scope),
    findOverviewCounts(pool, scope),
  ])
  const counts = new Map(byStatus.map(({ status, count }) => [status, count]))
  const minutes = new Map(byMinute.map(({ minutes_ago: ago, count }) => [ago, count]))
  return {
    as_of: totals.as_of,
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
    ...presentTotals(totals, scope),
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

function presentTotals(
  totals: OverviewCounts,
  { merchantId }: MerchantScope,
): Omit<Overview, 'as_of' | 'payments' | 'money_today'> {
  return {
    kyb: merchantId === undefined ? { pending: totals.kyb_pending, oldest_pending_at: totals.oldest_pending_at } : null,
    deliveries: {
      pending: totals.deliveries_pending,
      dead: totals.deliveries_dead,
      oldest_due_at: totals.oldest_due_at,
    },
    disputes: {
      open: totals.disputes_open,
      under_review: totals.disputes_under_review,
      escalated: totals.disputes_escalated,
      oldest_open_at: totals.oldest_open_at,
      next_evidence_due_at: totals.next_evidence_due_at,
    },
    worker: { lag_ms: totals.lag_ms },
  }
}
