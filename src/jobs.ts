import type { App } from './app.ts'
import { alertOperators } from './alerts/alert-operators.ts'
import { sealAudit } from './audit/seal.ts'
import { removeOldRecords } from './retention/remove-old-records.ts'
import { resealSecrets } from './keys/reseal.ts'
import { makeAutoResetEvent } from './lib/auto-reset-event.ts'
import { expireEvidence } from './disputes/expire-evidence.ts'
import { keepBalances } from './ledger/keep-balances.ts'
import { sendMails } from './mail/send.ts'
import { deleteExpiredOrderKeys } from './instructions/delete-expired-keys.ts'
import { executeOrders } from './instructions/orders/execute.ts'
import { runRecurring } from './instructions/recurring/run.ts'
import { expireRequests } from './instructions/requests/expire.ts'
import { forgetSignIns } from './payers/forget-sign-ins.ts'
import { sendPayerLinks } from './payers/send-links.ts'
import { inviteAdmins } from './registrations/invite-admins.ts'
import { sweepRegistrations } from './registrations/sweep.ts'
import { endMandates } from './consents/end-mandates.ts'
import { expireMandates } from './consents/expire-mandates.ts'
import { payMandates } from './payments/mandates/pay-mandates.ts'
import { expireConsents } from './payments/expire-consents.ts'
import { collectReturns } from './payouts/collect-returns.ts'
import { createPayouts } from './payouts/create-payouts.ts'
import { sendPayouts } from './payouts/send-payouts.ts'
import { resumeRefunds } from './payments/refunds/execute-refund.ts'
import { settlePayments } from './payments/settle-payments.ts'
import { stagePayments } from './payments/stage-payments.ts'
import { closeDueSettlements } from './settlements/close-settlements.ts'
import { playDisputes } from './sandbox/play-disputes.ts'
import { runReconciliation } from './reconciliation/run-reconciliation.ts'
import { runVerification } from './verify/run-verification.ts'
import { deleteExpiredSecrets } from './signing/end-secret-overlap.ts'
import { scheduleWaitingDeliveries } from './webhooks/schedule-waiting-deliveries.ts'
import { runDeliveries } from './webhooks/run-deliveries.ts'

/** A background job: runs at its cadence, and immediately when it is woken by its name (db/wake.ts). */
export type PeriodicJob = {
  name: string
  /** Milliseconds from the end of one run to the next. */
  everyMs: number
  /** One bounded run. `more` requests the next run immediately. `signal` aborts when the process stops. */
  run(app: App, signal: AbortSignal): Promise<{ more: boolean }>
  /** Whether work continues between its runs (lib/concurrent-batches.ts): a last run at the end waits for that work. */
  hasOpenWork?: true
}

/** A job that runs continuously, at its own pace, as long as the process runs. */
export type StreamingJob = {
  name: string
  start(app: App): Streaming
}

type Streaming = {
  wake(): void
  /** Resolves when there is nothing to do now. @throws if that can't be determined, because the database stays unavailable */
  idle(): Promise<void>
  stop(): Promise<void>
}

export type Job = PeriodicJob | StreamingJob

/** The job table: everything that the service does in the background. */
export const jobs: readonly Job[] = [
  { name: 'deliver-webhooks', start: (app) => runDeliveries(app) },
  { name: 'settle-payments', everyMs: 1_000, run: settlePayments, hasOpenWork: true },
  { name: 'expire-consents', everyMs: 30_000, run: expireConsents },
  { name: 'expire-evidence', everyMs: 30_000, run: expireEvidence },
  { name: 'expire-requests', everyMs: 30_000, run: expireRequests },
  // Only in the sandbox.
  { name: 'play-disputes', everyMs: 1_000, run: playDisputes },
  { name: 'resume-refunds', everyMs: 5_000, run: resumeRefunds, hasOpenWork: true },
  { name: 'keep-balances', everyMs: 5_000, run: keepBalances },
  { name: 'close-settlements', everyMs: 60_000, run: closeDueSettlements },
  { name: 'create-payouts', everyMs: 10_000, run: createPayouts },
  { name: 'send-payouts', everyMs: 5_000, run: sendPayouts, hasOpenWork: true },
  { name: 'collect-payout-returns', everyMs: 10_000, run: collectReturns },
  { name: 'stage-payments', everyMs: 10_000, run: stagePayments },
  { name: 'pay-mandates', everyMs: 2_000, run: payMandates, hasOpenWork: true },
  { name: 'end-mandates', everyMs: 5_000, run: endMandates, hasOpenWork: true },
  { name: 'expire-mandates', everyMs: 30_000, run: expireMandates },
  { name: 'schedule-deliveries', everyMs: 60_000, run: scheduleWaitingDeliveries },
  { name: 'execute-orders', everyMs: 1_000, run: executeOrders },
  { name: 'run-recurring', everyMs: 5_000, run: runRecurring },
  { name: 'delete-expired-order-keys', everyMs: 3_600_000, run: deleteExpiredOrderKeys },
  { name: 'send-mails', everyMs: 5_000, run: sendMails },
  { name: 'send-payer-links', everyMs: 5_000, run: sendPayerLinks },
  { name: 'forget-sign-ins', everyMs: 60_000, run: forgetSignIns },
  { name: 'invite-admins', everyMs: 10_000, run: inviteAdmins },
  { name: 'delete-expired-secrets', everyMs: 60_000, run: deleteExpiredSecrets },
  { name: 'reseal-secrets', everyMs: 60_000, run: resealSecrets },
  { name: 'sweep-registrations', everyMs: 60_000, run: sweepRegistrations },
  // Once a day.
  { name: 'reconcile', everyMs: 60_000, run: runReconciliation },
  { name: 'verify', everyMs: 60_000, run: runVerification },
  { name: 'alert-operators', everyMs: 30_000, run: alertOperators },
  { name: 'remove-old-records', everyMs: 600_000, run: removeOldRecords },
  { name: 'seal-audit', everyMs: 600_000, run: sealAudit },
  {
    name: 'maintain-identity',
    everyMs: 60_000,
    run: async ({ identity }) => (await identity.maintain?.()) ?? { more: false },
  },
]

type Running = { name: string; wake(): void; stop(): Promise<void> }

/**
 * Runs every job of the table in this process until `stop`, which waits for the runs in progress. A job never runs twice
 * at a time in one process. An error of a job is logged and counted, and the job continues with its next run. Any number
 * of processes may run the same table: each job claims the rows that it works on.
 */
export function startJobs(app: App, table: readonly Job[] = jobs): { stop(): Promise<void> } {
  const running = table.map((job) =>
    'start' in job ? { name: job.name, ...bindStreaming(job.start(app)) } : startPeriodic(app, job),
  )
  const listening = app.wake.listen((name) => running.find((job) => job.name === name)?.wake())
  return {
    stop: async () => {
      await Promise.all([listening.then((unlisten) => unlisten()), ...running.map((job) => job.stop())])
    },
  }
}

/**
 * Runs what is due now: each job in the order of the table, again while it reports more. Waits for all of it. Work that a
 * job makes due for an earlier one is left to the next call.
 * @returns the names of the jobs that failed; the log says why
 * @throws if a streaming job can't determine what is due, because the database has been unavailable for half a minute
 */
export async function runJobsOnce(app: App, table: readonly Job[] = jobs): Promise<string[]> {
  const streaming = table.flatMap((job) => ('start' in job ? [job] : []))
  const periodic = table.flatMap((job) => ('start' in job ? [] : [job]))
  const never = new AbortController().signal
  const failed: string[] = []
  for (const job of periodic) {
    let outcome = await runOnce(app, job, never)
    while (outcome === 'more') outcome = await runOnce(app, job, never)
    // After a failed run too: what the runs before it began is waited for.
    const last = job.hasOpenWork === true ? await runOnce(app, job, STOPPED) : outcome
    if (outcome === 'failed' || last === 'failed') failed.push(job.name)
  }
  for (const job of streaming) {
    const running = job.start(app)
    try {
      await running.idle()
    } finally {
      await running.stop()
    }
  }
  return failed
}

/** The signal of the last run: a job waits for its open work, and takes no more. */
const STOPPED = AbortSignal.abort()

function bindStreaming(started: Streaming): Omit<Running, 'name'> {
  return { wake: () => started.wake(), stop: () => started.stop() }
}

function startPeriodic(app: App, job: PeriodicJob): Running {
  const gate = makeAutoResetEvent()
  const controller = new AbortController()
  const loop = runPeriodically(app, { job, gate, signal: controller.signal })
  return {
    name: job.name,
    wake: () => gate.open(),
    stop: () => {
      controller.abort(new Error('the process stops'))
      gate.open()
      return loop
    },
  }
}

type Periodic = { job: PeriodicJob; gate: ReturnType<typeof makeAutoResetEvent>; signal: AbortSignal }

async function runPeriodically(app: App, { job, gate, signal }: Periodic): Promise<void> {
  while (!signal.aborted) {
    const outcome = await runOnce(app, job, signal)
    // Yields to the event loop first, so that a job that always has more does not starve the process.
    if (outcome === 'more') await new Promise((resolve) => setImmediate(resolve))
    else await gate.wait(job.everyMs)
  }
  if (job.hasOpenWork === true) await runOnce(app, job, signal)
}

async function runOnce(app: App, job: PeriodicJob, signal: AbortSignal): Promise<'done' | 'more' | 'failed'> {
  try {
    const { more } = await job.run(app, signal)
    app.metrics.jobRuns.inc({ job: job.name, outcome: 'done' })
    app.metrics.jobSuccess.set({ job: job.name }, Date.now() / 1_000)
    return more ? 'more' : 'done'
  } catch (error) {
    // A run that gives up because the process stops has not failed.
    if (signal.aborted && error === signal.reason) return 'done'
    app.metrics.jobRuns.inc({ job: job.name, outcome: 'failed' })
    app.log.error({ err: error, job: job.name }, 'a job failed; it runs again at its next cadence')
    return 'failed'
  }
}
