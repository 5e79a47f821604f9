import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../app.ts'
import { claim, firstMerchant, leaseMs } from './claim.ts'
import type { ClaimedBatch } from './claim.ts'
import { makeLanes, SLOW_LANES_MAX, thisMoment } from './lanes.ts'
import type { Lanes, Ready } from './lanes.ts'
import { deliver, leaseSuffices } from './deliver.ts'
import type { AttemptResult, DeliverApp, DeliverInput } from './deliver.ts'
import { makeAutoResetEvent } from '../lib/auto-reset-event.ts'
import { moveToWaiting } from './move-to-waiting.ts'
import { attemptTimeoutMs, makePost } from './sending/post.ts'
import type { Post } from './sending/post.ts'
import { makeRecorder } from './record-attempts.ts'
import type { ClaimedDelivery } from './record.ts'
import { makeOpenSecrets } from '../signing/open-secrets.ts'
import type { OpenSecrets } from '../signing/open-secrets.ts'
import type { SigningSecrets } from '../signing/secret.ts'
import { postponeDue, releaseLanes } from './sql.ts'
import { attemptDelaysMs } from './states.ts'

/** The fallback for lost wake-ups (contract §Delivery rules 2). */
const POLL_MS = 5_000
const BACK_OFF_MIN_MS = 100

/** Under full load, the slots that become free within a few milliseconds are filled by one claim. */
const GATHER_MS = 4

/**
 * The number of claimed deliveries, as a multiple of the concurrency, so that no slot waits for a claim or a record. A
 * claim has fixed costs, so it takes at least a quarter of them.
 */
const CLAIMED_MAX = 4

/**
 * A claimed delivery that could not be started for this time is dropped, and claimed again later: its endpoint may have
 * been changed, or paused, in the meantime. It counts from when the claim was answered, which may itself take longer.
 */
const STALE_MS = 1_000

/** Slow endpoints together have half of the slots, so that others find one. */
const SLOW_SHARE = 0.5

/** The delay of deliveries whose secret this worker can't open. */
const UNOPENED_SECONDS = 60
const POSTPONED_MAX = 1_000

/** How long the database may be unavailable before waiters for idleness are rejected. */
const FAILING_MAX_MS = 30_000

/** A stopping worker waits for the attempts in progress, at most five seconds, and their recording. */
const STOP_MAX_MS = attemptTimeoutMs + 1_000

export type DeliveriesApp = DeliverApp & Pick<App, 'pool' | 'log' | 'sealer'>

export type Deliveries = {
  /** Checks for due deliveries now. */
  wake(): void
  /**
   * Resolves when nothing is due and nothing is in progress.
   * @throws the error of the last claim, when none has succeeded for half a minute: it is then unknown what is due
   */
  idle(): Promise<void>
  /** Stops claiming, waits for attempts in progress, and releases rows that were not started. */
  stop(): Promise<void>
}

type IdleWaiter = { resolve(): void; reject(error: unknown): void }

type Run = {
  app: DeliveriesApp
  /** The owner of the leases: unique for every start of every process. */
  worker: string
  post: Post
  openSecrets: OpenSecrets
  recorder: ReturnType<typeof makeRecorder>
  /** Set when something may have become due. */
  gate: ReturnType<typeof makeAutoResetEvent>
  /** Set when a delivery is recorded. */
  slots: ReturnType<typeof makeAutoResetEvent>
  /** What is claimed and not yet recorded. */
  lanes: Lanes
  /** The number of attempts that wait for a response. */
  sending: number
  /** Deliveries started and not yet recorded, including the attempts in progress. */
  underWay: Set<Promise<void>>
  /** The callers of `idle`. */
  waitingForIdle: IdleWaiter[]
  /** The start of failing claims, in monotonic time; undefined after a successful one. */
  failingSince: number | undefined
  /** How long claims may fail until the callers of `idle` are rejected, in milliseconds. */
  giveUpMs: number
  stopping: boolean
}

/**
 * Delivers webhooks as long as the process runs: a bounded number of attempts at once (config
 * `SVC_WEBHOOK_CONCURRENCY`), refilled as they end. Any number of processes may do so; a merchant's lane is held by one.
 * @param options `post` replaces the HTTP client, and `giveUpMs` the time that claims may fail, for tests
 */
export function runDeliveries(app: DeliveriesApp, options: { post?: Post; giveUpMs?: number } = {}): Deliveries {
  const worker = `${hostname().slice(0, 64)}.${process.pid}.${randomBytes(6).toString('hex')}`
  const run: Run = {
    app,
    worker,
    post: options.post ?? makePost({ allowPrivate: app.config.webhookAllowPrivate }),
    openSecrets: makeOpenSecrets(app),
    recorder: makeRecorder(app, worker),
    gate: makeAutoResetEvent(),
    slots: makeAutoResetEvent(),
    lanes: makeLanes({
      perMerchantMax: app.config.webhookConcurrencyPerMerchant,
      slowMax: Math.ceil(app.config.webhookConcurrency * SLOW_SHARE),
    }),
    sending: 0,
    underWay: new Set(),
    waitingForIdle: [],
    failingSince: undefined,
    giveUpMs: options.giveUpMs ?? FAILING_MAX_MS,
    stopping: false,
  }
  const loop = dispatch(run)
  let stopped: Promise<void> | undefined
  return {
    wake: () => run.gate.open(),
    idle: () =>
      new Promise((resolve, reject) => {
        run.waitingForIdle.push({ resolve, reject })
        run.gate.open()
      }),
    stop: () => (stopped ??= stop(run, loop)),
  }
}

/**
 * Claims and starts deliveries until stopped. Ended attempts, wake-ups and due times wake it; errors only slow it down.
 */
async function dispatch(run: Run): Promise<void> {
  const { app, gate } = run
  // A schedule that is scaled down for a test is polled accordingly more often.
  const pollMs = Math.max(Math.min(POLL_MS, (attemptDelaysMs[1] / app.config.webhookTimeScale) * 0.5), 20)
  let after = firstMerchant
  let backOffMs = 0
  let moreIsDue = false
  let emptyCount = 0
  let wasIdle = true
  let asked = 0
  while (!run.stopping) {
    if (moreIsDue) await delay(GATHER_MS)
    const free = freeSlots(run, moreIsDue)
    if (free <= 0) {
      await run.slots.wait(POLL_MS)
      continue
    }
    try {
      // What was under way at a claim filled its merchant's cap then, even if it has ended since: the rest may be due.
      wasIdle = (wasIdle || emptyCount === 0) && run.lanes.count() === 0
      // Who asks during a round of claims may know of deliveries that its first claims did not see.
      if (emptyCount === 0) asked = run.waitingForIdle.length
      const claimed = await claim(app, { worker: run.worker, after, rowsMax: free, lanes: run.lanes })
      after = claimed.after
      backOffMs = 0
      run.failingSince = undefined
      app.metrics.webhookClaims.inc(claimed.deliveries.length)
      app.metrics.jobSuccess.set({ job: 'deliver-webhooks' }, Date.now() / 1_000)
      take(run, claimed)
      // Each claim reads a few of the slow merchants: one that found nothing is repeated until all had their turn.
      const isUnread = claimed.deliveries.length === 0 && claimed.skippedCount > SLOW_LANES_MAX * emptyCount
      emptyCount = isUnread ? emptyCount + 1 : 0
      // Fewer rows than requested means no more: the rest is not due, or waits for an attempt in progress.
      moreIsDue = claimed.deliveries.length === free || isUnread
      // Each ended attempt sets the event, so that there is another claim after the last one.
      if (claimed.deliveries.length === 0 && wasIdle && !isUnread)
        for (const { resolve } of run.waitingForIdle.splice(0, asked)) resolve()
      if (!moreIsDue) await gate.wait(pollMs)
    } catch (error) {
      backOffMs = Math.min(Math.max(backOffMs * 2, BACK_OFF_MIN_MS), POLL_MS)
      app.log.error({ err: error, retryMs: backOffMs }, 'due webhooks could not be claimed')
      rejectAfter(run, error)
      await gate.wait(backOffMs)
    }
  }
}

/** Rejects the callers of `idle` once claims have failed for long enough. */
function rejectAfter(run: Run, error: unknown): void {
  run.failingSince ??= performance.now()
  if (performance.now() - run.failingSince < run.giveUpMs) return
  for (const { reject } of run.waitingForIdle.splice(0)) reject(error)
}

/**
 * The number of deliveries to claim: none while there are enough, because a large claim costs less per delivery. A claim
 * that came short visited every merchant: the next one has half of them to find.
 */
function freeSlots({ app, lanes }: Run, moreIsDue: boolean): number {
  const claimedMax = CLAIMED_MAX * app.config.webhookConcurrency
  const free = claimedMax - lanes.load()
  return free < claimedMax / (moreIsDue ? 4 : 2) ? 0 : free
}

function take(run: Run, { deliveries, claimedAt }: ClaimedBatch): void {
  const read = thisMoment()
  // A machine that was suspended during the claim: its leases went on.
  const suspendedMs = Math.max(read.ofDay - claimedAt.ofDay - (read.monotonic - claimedAt.monotonic), 0)
  const leasesBeganAt = claimedAt.monotonic - suspendedMs
  for (const delivery of deliveries) run.lanes.add({ delivery, read, leaseEndsAt: leasesBeganAt + delivery.lease_ms })
  startAll(run)
}

/** Starts claimed deliveries while there are free slots. */
function startAll(run: Run): void {
  const withoutEndpoint: ClaimedDelivery[] = []
  const unopened: ClaimedDelivery[] = []
  while (run.sending < run.app.config.webhookConcurrency) {
    const ready = run.lanes.next()
    if (ready === undefined) break
    const { delivery } = ready
    const { webhook_url } = delivery
    if (!mayStart(run, ready)) drop(run, delivery)
    else if (webhook_url === null) withoutEndpoint.push(delivery)
    else {
      const secrets = openOrError(run, delivery)
      if (secrets instanceof Error) unopened.push(delivery)
      else start(run, [delivery], deliverAndRecord(run, { secrets, delivery: { ...delivery, webhook_url } }))
    }
  }
  for (const deliveries of byMerchant(withoutEndpoint))
    start(run, deliveries, moveToWaiting(run.app, run.worker, deliveries))
  for (const deliveries of byMerchant(unopened)) start(run, deliveries, postpone(run, deliveries))
}

function byMerchant(deliveries: readonly ClaimedDelivery[]): Iterable<ClaimedDelivery[]> {
  return deliveries.length === 0 ? [] : Map.groupBy(deliveries, (each) => each.merchant_id).values()
}

function drop(run: Run, delivery: ClaimedDelivery): void {
  run.lanes.done(delivery)
  run.slots.open()
  run.gate.open()
}

function mayStart({ stopping }: Run, { read, leaseEndsAt }: Ready): boolean {
  const age = Math.max(performance.now() - read.monotonic, Date.now() - read.ofDay)
  return !stopping && age < STALE_MS && leaseSuffices(leaseEndsAt)
}

/** Tracks the work as in progress. If it fails, its rows are claimed again after a while. */
function start(run: Run, deliveries: readonly ClaimedDelivery[], work: Promise<unknown>): void {
  const done = work.then(
    () => finish(run, deliveries),
    (error: unknown) => {
      run.app.log.error(
        { err: error },
        'claimed webhooks could not be processed; they are claimed again in half a minute',
      )
      setTimeout(() => finish(run, deliveries), leaseMs).unref()
    },
  )
  const tracked = done.then(() => {
    run.underWay.delete(tracked)
    run.app.metrics.webhooksInFlight.set(run.underWay.size)
  })
  run.underWay.add(tracked)
  run.app.metrics.webhooksInFlight.set(run.underWay.size)
}

function finish(run: Run, deliveries: readonly ClaimedDelivery[]): void {
  for (const delivery of deliveries) run.lanes.done(delivery)
  startAll(run)
  run.slots.open()
  run.gate.open()
}

async function deliverAndRecord(run: Run, input: Omit<DeliverInput, 'post'>): Promise<void> {
  const recorded = run.recorder.record(await send(run, input))
  // All lanes are at their limit, or empty: nothing is sent until this is recorded.
  if (run.sending === 0) run.recorder.hurry()
  await recorded
}

/** Delivers in a slot, which is freed before the attempt is recorded. */
async function send(run: Run, { secrets, delivery }: Omit<DeliverInput, 'post'>): Promise<AttemptResult> {
  run.sending += 1
  run.lanes.begun(delivery)
  try {
    return await deliver(run.app, { post: run.post, secrets, delivery })
  } finally {
    run.sending -= 1
    run.lanes.answered(delivery)
    startAll(run)
  }
}

function openOrError({ openSecrets }: Pick<Run, 'openSecrets'>, delivery: ClaimedDelivery): SigningSecrets | Error {
  try {
    return openSecrets(delivery)
  } catch (error) {
    return error instanceof Error ? error : new Error("it can't be opened", { cause: error })
  }
}

/**
 * A secret that this worker's master key can't open does not count as a failure of the merchant's endpoint. All that is
 * due of the merchant waits, in a few statements and log lines, however much it is.
 */
async function postpone(
  { app, worker, openSecrets, lanes }: Run,
  deliveries: readonly ClaimedDelivery[],
): Promise<void> {
  const [first] = deliveries
  if (first === undefined) return
  const err = openOrError({ openSecrets }, first)
  const { merchant_id } = first
  const own = new Set(deliveries.map(({ delivery_id: id }) => id))
  // Those that were sent are recorded by the time that they were due at: postponed, a failure would not count.
  const except = lanes.startedOf(merchant_id).filter((id) => !own.has(id))
  const input = { seconds: UNOPENED_SECONDS, rowsMax: POSTPONED_MAX, except }
  const { count } = await postponeDue(app.pool, worker, first, input)
  app.log.error({ err, merchant_id, count }, "a signing secret can't be opened; the webhooks that are due wait")
}

async function stop(run: Run, loop: Promise<void>): Promise<void> {
  run.stopping = true
  run.gate.open()
  run.slots.open()
  const deadline = AbortSignal.timeout(STOP_MAX_MS)
  const tooLate = new Promise<void>((resolve) => deadline.addEventListener('abort', () => resolve()))
  // The loop may be in the middle of a claim, whose rows it releases.
  await Promise.race([loop.then(() => Promise.all(run.underWay)), tooLate])
  await run.post.close()
  const { merchants } = run.lanes.held()
  if (merchants.length === 0) return
  await releaseLanes(run.app.pool, run.worker, merchants).catch((error: unknown) =>
    run.app.log.error(
      { err: error },
      'the lanes of webhooks could not be released; they are free when their lease ends',
    ),
  )
}
