import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { App } from '../app.ts'
import { countOutbox, measureOverdue } from './health-sql.ts'

/** The metrics of the service, in Prometheus' format at /metrics. */
export type Metrics = ReturnType<typeof makeMetrics>

const PAYMENT_MOVES = {
  name: 'svc_payment_moves_total',
  help: 'Status changes of payments',
  labelNames: ['from', 'to'],
} as const

/** The counter of payments' status changes for those that are rolled back, which no metric shows. */
export function makeUncountedMoves(): Metrics['paymentMoves'] {
  return new Counter({ ...PAYMENT_MOVES, registers: [] })
}

/** Makes the metrics of one app, with a registry of its own, so that two apps in one process do not mix. */
export function makeMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  return {
    registry,
    /** Seconds from the arrival of a request to the end of its response. */
    httpSeconds: new Histogram({
      name: 'svc_http_request_duration_seconds',
      help: 'Seconds from the arrival of a request to the end of its response',
      labelNames: ['operation', 'method', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    }),
    /** Status changes of payments, by old and new status. */
    paymentMoves: new Counter({ ...PAYMENT_MOVES, registers }),
    /** Webhook attempts, by outcome and what the delivery became: retries are those that FAILED. */
    webhookAttempts: new Counter({
      name: 'svc_webhook_attempts_total',
      help: 'Webhook attempts by outcome, and by what the delivery became: DELIVERED, FAILED (it is tried again) or DEAD',
      labelNames: ['outcome', 'status'],
      registers,
    }),
    /** Deliveries that a worker took to send. */
    webhookClaims: new Counter({
      name: 'svc_webhook_claims_total',
      help: 'Webhook deliveries that a worker took to send',
      registers,
    }),
    /** Webhook attempts in progress. */
    webhooksInFlight: new Gauge({ name: 'svc_webhooks_in_flight', help: 'Webhook attempts in progress', registers }),
    /** Open streams of events. */
    eventStreams: new Gauge({ name: 'svc_event_streams', help: 'Open streams of events', registers }),
    /** Differences that the last reconciliation found, by kind. */
    reconciliationDifferences: new Gauge({
      name: 'svc_reconciliation_differences',
      help: 'Differences that the last daily reconciliation found',
      labelNames: ['kind'],
      registers,
    }),
    /** When the last reconciliation ended: its age is time() less this. */
    reconciliationTime: unknownUntilSet(registry, {
      name: 'svc_reconciliation_last_run_timestamp_seconds',
      help: 'When the last daily reconciliation that compared everything ended',
    }),
    reconciliationSeconds: new Gauge({
      name: 'svc_reconciliation_duration_seconds',
      help: 'How long the last daily reconciliation took',
      registers,
    }),
    /** Rows that break an invariant of the database, as the last verification found them. */
    invariantViolations: new Gauge({
      name: 'svc_invariant_violations',
      help: 'Rows that break an invariant, as the last daily verification found them',
      labelNames: ['invariant'],
      registers,
    }),
    /** When the last verification ended: its age is time() less this. */
    verificationTime: unknownUntilSet(registry, {
      name: 'svc_verification_last_run_timestamp_seconds',
      help: 'When the last daily verification that checked everything ended',
    }),
    /** Calls to banks, by outcome: without an answer they are `unavailable`; those not sent are `unknown`. */
    bankCalls: new Counter({
      name: 'svc_bank_calls_total',
      help: 'Calls to banks by outcome: answered, refused, unavailable, unknown, failed',
      labelNames: ['bank', 'call', 'outcome'],
      registers,
    }),
    bankSeconds: new Histogram({
      name: 'svc_bank_call_duration_seconds',
      help: 'Seconds of a call to a bank',
      labelNames: ['bank', 'call'],
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    bankPayments: new Counter({
      name: 'svc_bank_payments_total',
      help: 'Payments that a bank has executed or rejected, with the failure code of the rejected',
      labelNames: ['bank', 'outcome', 'code'],
      registers,
    }),
    /** Whether a bank answers, as all processes know it (banks/outages). */
    bankAvailable: new Gauge({
      name: 'svc_bank_available',
      help: '1 while at least one process gets answers from the bank, else 0',
      labelNames: ['bank'],
      registers,
    }),
    /** Deliveries in the outbox, by state, each counted up to 10,000. */
    outbox: new Gauge({
      name: 'svc_outbox_deliveries',
      help: 'Webhook deliveries by state: waiting, due, dead, held; counted up to 10,000',
      labelNames: ['state'],
      registers,
    }),
    /** How late the oldest due row of each kind is. */
    overdueSeconds: new Gauge({
      name: 'svc_overdue_seconds',
      help: 'How long the oldest due row is overdue: webhooks that no worker has in hand, settlements, consents',
      labelNames: ['what'],
      registers,
    }),
    /** When each background job last succeeded in this process. */
    jobSuccess: new Gauge({
      name: 'svc_job_last_success_timestamp_seconds',
      help: 'When each background job last succeeded in this process',
      labelNames: ['job'],
      registers,
    }),
    /** Rows that retention has deleted. */
    rowsRemoved: new Counter({
      name: 'svc_retention_removed_total',
      help: 'Records that were deleted because they are older than the retention settings',
      labelNames: ['record'],
      registers,
    }),
    /** Runs of background jobs, by outcome. */
    jobRuns: new Counter({
      name: 'svc_job_runs_total',
      help: 'Runs of background jobs by outcome',
      labelNames: ['job', 'outcome'],
      registers,
    }),
  }
}

/** A time without a sample until it is known: as 0 it would be an age of fifty years, which is an alert. */
function unknownUntilSet(registry: Registry, { name, help }: { name: string; help: string }): Gauge {
  const gauge = new Gauge({ name, help, registers: [registry] })
  gauge.remove()
  return gauge
}

/**
 * The metrics as text. What is counted in the database is read at each scrape; without the database those values are
 * left out, because old ones would hide that it is away.
 */
export async function readMetrics({ metrics, pool, log }: Pick<App, 'metrics' | 'pool' | 'log'>): Promise<string> {
  const { outbox, overdueSeconds, registry } = metrics
  outbox.reset()
  overdueSeconds.reset()
  try {
    const [counts, overdue] = await Promise.all([countOutbox(pool), measureOverdue(pool)])
    for (const [state, count] of Object.entries(counts)) outbox.set({ state }, count)
    for (const [what, seconds] of Object.entries(overdue)) overdueSeconds.set({ what }, seconds)
  } catch (error) {
    log.warn({ err: error }, 'the database does not respond')
  }
  return registry.metrics()
}
