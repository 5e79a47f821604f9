import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../app.ts'
import { claim, firstMerchant } from './claim.ts'
import type { ClaimedBatch } from './claim.ts'
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
import { postponeLease, releaseLeases } from './sql.ts'
import { attemptDelaysMs } from './states.ts'

/** The safety net beneath wake-ups (contract §Delivery rules 2). */
const POLL_MS = 5_000
const BACK_OFF_MIN_MS = 100

/** While more is due than fits, the slots that come free within a few milliseconds are filled by one claim. */
const GATHER_MS = 4

/** How many times the attempts at once may be claimed and not yet recorded, so that no slot waits for a record. */
const UNRECORDED_MAX = 4

/** How long a delivery waits whose secret this worker can't open. */
const UNOPENED_SECONDS = 60

/** So long a database that is away may take to come back, before whoever waits for the end of all work hears of it. */
const FAILING_MAX_MS = 30_000

/** A stopping worker waits for the attempts under way, which take five seconds at most, and their record. */
const STOP_MAX_MS = attemptTimeoutMs + 1_000

export type DeliveriesApp = DeliverApp & Pick<App, 'pool' | 'log' | 'sealer'>

export type Deliveries = {
  /** Looks for due deliveries now. */
  wake(): void
  /**
   * Resolves when nothing is due and nothing is under way.
   * @throws what the last claim threw, where none has worked for half a minute: nobody knows then what is due
   */
  idle(): Promise<void>
  /** Claims no more, waits for attempts under way, and gives rows back that were not started. */
  stop(): Promise<void>
}

type IdleWaiter = { resolve(): void; reject(error: unknown): void }

type Run = {
  app: DeliveriesApp
  /** Who holds the leases: unique for every start of every process. */
  worker: string
  post: Post
  openSecrets: OpenSecrets
  recorder: ReturnType<typeof makeRecorder>
  /** Opens when something may have become due. */
  gate: ReturnType<typeof makeAutoResetEvent>
  /** Opens when an attempt ends. */
  slots: ReturnType<typeof makeAutoResetEvent>
  /** Attempts that wait for their answer. */
  sending: number
  /** What is claimed and not yet recorded, the attempts under way among it. */
  underWay: Set<Promise<void>>
  /** Those who wait for the moment when there is nothing to do. */
  waitingForIdle: IdleWaiter[]
  /** Since when no claim has worked, on performance.now()'s clock; undefined where the last one did. */
  failingSince: number | undefined
  /** How long claims may fail until those who wait are told, in milliseconds. */
  giveUpMs: number
  stopping: boolean
}

/**
 * Delivers webhooks as long as the process runs: a bounded number of attempts at once (config
 * `SVC_WEBHOOK_CONCURRENCY`), refilled as they end. Any number of processes may do so; a row is held by one of them.
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

/** Claims and starts until it is stopped. What ends an attempt, wakes it, or is due wakes it; errors only slow it down. */
async function dispatch(run: Run): Promise<void> {
  const { app, gate } = run
  // A schedule that is scaled down for a test is looked at accordingly more often.
  const pollMs = Math.max(Math.min(POLL_MS, (attemptDelaysMs[1] / app.config.webhookTimeScale) * 0.5), 20)
  let after = firstMerchant
  let backOffMs = 0
  let moreIsDue = false
  while (!run.stopping) {
    if (moreIsDue) await delay(GATHER_MS)
    const free = freeSlots(run)
    if (free <= 0) {
      await run.slots.wait(POLL_MS)
      continue
    }
    try {
      const claimed = await claim(app, { worker: run.worker, after, rowsMax: free })
      after = claimed.after
      backOffMs = 0
      run.failingSince = undefined
      startAll(run, claimed)
      // Fewer than asked for are all there are: the rest is not due, or waits for an attempt that is under way.
      moreIsDue = claimed.deliveries.length === free
      // Each attempt that ends opens the gate, so that there is another look after the last one.
      if (claimed.deliveries.length === 0 && run.underWay.size === 0)
        for (const { resolve } of run.waitingForIdle.splice(0)) resolve()
      if (!moreIsDue) await gate.wait(pollMs)
    } catch (error) {
      backOffMs = Math.min(Math.max(backOffMs * 2, BACK_OFF_MIN_MS), POLL_MS)
      app.log.error({ err: error, retryMs: backOffMs }, 'due webhooks could not be claimed')
      rejectAfter(run, error)
      await gate.wait(backOffMs)
    }
  }
}

/** Tells those who wait for idleness that nobody knows when it comes, once claims have failed for long enough. */
function rejectAfter(run: Run, error: unknown): void {
  run.failingSince ??= performance.now()
  if (performance.now() - run.failingSince < run.giveUpMs) return
  for (const { reject } of run.waitingForIdle.splice(0)) reject(error)
}

function freeSlots({ app, sending, underWay }: Run): number {
  const { webhookConcurrency } = app.config
  return Math.min(webhookConcurrency - sending, UNRECORDED_MAX * webhookConcurrency - underWay.size)
}

function startAll(run: Run, claimed: ClaimedBatch): void {
  const withoutEndpoint = new Map<string, ClaimedDelivery[]>()
  const unstarted: ClaimedDelivery[] = []
  for (const delivery of claimed.deliveries) {
    const { webhook_url, merchant_id } = delivery
    if (run.stopping || !leaseSuffices(claimed.claimedAt)) unstarted.push(delivery)
    else if (webhook_url === null)
      withoutEndpoint.set(merchant_id, [...(withoutEndpoint.get(merchant_id) ?? []), delivery])
    else start(run, deliverAndRecord(run, { ...delivery, webhook_url }))
  }
  for (const deliveries of withoutEndpoint.values()) start(run, moveToWaiting(run.app, run.worker, deliveries))
  if (unstarted.length > 0) start(run, run.app.pool.query(releaseLeases(run.worker, unstarted)))
}

/** Counts the work among what is under way. When it fails, the leases end by themselves and the rows come back. */
function start(run: Run, work: Promise<unknown>): void {
  const done = work
    .catch((error: unknown) =>
      run.app.log.error({ err: error }, 'claimed webhooks could not be handled; they come back when their lease ends'),
    )
    .then(() => {
      run.underWay.delete(done)
      run.app.metrics.webhooksInFlight.set(run.underWay.size)
      run.slots.open()
      run.gate.open()
    })
  run.underWay.add(done)
  run.app.metrics.webhooksInFlight.set(run.underWay.size)
}

async function deliverAndRecord(run: Run, delivery: ClaimedDelivery & { webhook_url: string }): Promise<void> {
  const secrets = openOrUndefined(run, delivery)
  if (secrets === undefined) await run.app.pool.query(postponeLease(run.worker, delivery, UNOPENED_SECONDS))
  else await run.recorder.record(await send(run, { secrets, delivery }))
}

/** Delivers in a slot, which is free again before the attempt is recorded. */
async function send(run: Run, { secrets, delivery }: Omit<DeliverInput, 'post'>): Promise<AttemptResult> {
  run.sending += 1
  try {
    return await deliver(run.app, { post: run.post, secrets, delivery })
  } finally {
    run.sending -= 1
    run.slots.open()
  }
}

/** A secret that this worker's master key does not open is no failure of the merchant's endpoint. */
function openOrUndefined({ app, openSecrets }: Run, delivery: ClaimedDelivery): SigningSecrets | undefined {
  try {
    return openSecrets(delivery)
  } catch (error) {
    app.log.error(
      { err: error, merchant_id: delivery.merchant_id },
      "a signing secret can't be opened; its webhooks wait",
    )
    return undefined
  }
}

async function stop(run: Run, loop: Promise<void>): Promise<void> {
  run.stopping = true
  run.gate.open()
  run.slots.open()
  const deadline = AbortSignal.timeout(STOP_MAX_MS)
  const tooLate = new Promise<void>((resolve) => deadline.addEventListener('abort', () => resolve()))
  // The loop may have been in the middle of a claim, whose rows it gives back unstarted.
  await Promise.race([loop.then(() => Promise.all(run.underWay)), tooLate])
  await run.post.close()
}
