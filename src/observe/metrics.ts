import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

/** What the service counts about itself, in Prometheus' form at /metrics. */
export type Metrics = ReturnType<typeof makeMetrics>

/** A registry of its own for each app, so that two apps in one process do not mix. */
export function makeMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  return {
    registry,
    /** Seconds from the request's arrival to the end of its answer. */
    httpSeconds: new Histogram({
      name: 'svc_http_request_duration_seconds',
      help: "Seconds from a request's arrival to the end of its answer",
      labelNames: ['operation', 'method', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    }),
    /** Payments moved, by the status they came from and went to. */
    paymentMoves: new Counter({
      name: 'svc_payment_moves_total',
      help: 'Status changes of payments',
      labelNames: ['from', 'to'],
      registers,
    }),
    /** Webhook attempts, by what became of them. */
    webhookAttempts: new Counter({
      name: 'svc_webhook_attempts_total',
      help: 'Webhook attempts by outcome',
      labelNames: ['outcome'],
      registers,
    }),
    /** Webhook attempts under way now. */
    webhooksInFlight: new Gauge({ name: 'svc_webhooks_in_flight', help: 'Webhook attempts under way', registers }),
    /** Streams of events that are open now. */
    eventStreams: new Gauge({ name: 'svc_event_streams', help: 'Open streams of events', registers }),
    /** Runs of background jobs, by what became of them. */
    jobRuns: new Counter({
      name: 'svc_job_runs_total',
      help: 'Runs of background jobs by outcome',
      labelNames: ['job', 'outcome'],
      registers,
    }),
  }
}
