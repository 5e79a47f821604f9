import { setTimeout as delay } from 'node:timers/promises'
import { createSandboxMerchant } from '../../src/wire/sandbox.ts'
import { putWebhookEndpoint } from '../../src/wire/webhooks.ts'
import { call } from '../client.ts'
import type { Client } from '../client.ts'
import { awaitStep } from './verbs/await.ts'
import { clock } from './verbs/clock.ts'
import { customer, order } from './verbs/customers.ts'
import { expectStep } from './verbs/expect.ts'
import { http } from './verbs/http.ts'
import { bank, pay, refund } from './verbs/pay.ts'
import { accept, escalate, evidence, raise, resolve } from './verbs/disputes.ts'
import { hold, kyb } from './verbs/merchant.ts'
import { endpoint, replay, rotateSecret } from './verbs/outbox.ts'
import { behaviourOf, receiver, webhooks } from './verbs/webhooks.ts'
import type { CaseRun } from './case-run.ts'
import { refuseOtherError } from './expected-refusal.ts'
import { StepFailure } from './failure.ts'
import type { Failure } from './failure.ts'
import type { Verb } from './language.ts'
import type { Case } from './read-scenarios.ts'
import type { Step } from './read-step.ts'
import { startReceiver } from './receiver.ts'
import { isUnreachable, tellFailure } from './tell-failure.ts'
import type { Failed } from './tell-failure.ts'
import { TIMER_MAX_MS } from '../times.ts'

export type StepResult = { number: number; title: string; durationMs: number; status: 'passed' | 'failed' | 'skipped' }
export type CaseResult = {
  scenario: Case
  durationMs: number
  steps: readonly StepResult[]
  failure: Failure | undefined
}

export type PlayOptions = {
  /** How long one case may take. */
  timeoutMs: number
  /** Ends a case early; its result is then worth nothing. */
  signal: AbortSignal
  /** The command that plays a case alone. */
  rerun: (scenario: Case) => string
}

const PLAYERS: Readonly<Record<Verb, (run: CaseRun, input: unknown) => Promise<void>>> = {
  pay,
  bank,
  await: awaitStep,
  expect: expectStep,
  refund,
  webhooks,
  receiver,
  endpoint,
  rotate_secret: rotateSecret,
  replay,
  dispute: raise,
  evidence,
  accept,
  escalate,
  resolve,
  kyb,
  hold,
  customer,
  order,
  clock,
  http,
}

/**
 * Plays one case with a merchant and a receiver of its own.
 * @throws {CliError} SERVICE_UNREACHABLE, or why nobody may make its merchant: then no other case can be played either
 */
export async function playCase(client: Client, scenario: Case, options: PlayOptions): Promise<CaseResult> {
  const begunAt = performance.now()
  const over = overAfter(options)
  const run = prepare(client, { deadline: begunAt + options.timeoutMs, signal: over.signal })
  try {
    const { steps, failed } = await playSteps(run, scenario, options)
    // The case may be over; what helps to understand that is still asked for, but not for long.
    run.client = { ...run.client, signal: options.signal, timeoutMs: Math.min(run.client.timeoutMs, GOODBYE_MS) }
    const failure =
      failed === undefined ? undefined : await tellFailure(run, scenario, { ...failed, rerun: options.rerun(scenario) })
    return { scenario, durationMs: performance.now() - begunAt, steps, failure }
  } finally {
    over.release()
    await close(run)
  }
}

/** Ends what a case has under way when its time is over, and when nobody wants its result any more. */
function overAfter({ timeoutMs, signal }: PlayOptions): { signal: AbortSignal; release: () => void } {
  const over = new AbortController()
  const end = (): void => over.abort()
  const timer = setTimeout(end, Math.min(timeoutMs, TIMER_MAX_MS))
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  return {
    signal: over.signal,
    release: () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
    },
  }
}

async function playSteps(
  run: CaseRun,
  scenario: Case,
  options: PlayOptions,
): Promise<{ steps: StepResult[]; failed: Failed | undefined }> {
  const notMade = await errorOf(() => inTime(run, options, () => makeMerchant(run, scenario)))
  let failed: Failed | undefined = notMade === undefined ? undefined : { error: notMade, step: undefined }
  const steps: StepResult[] = []
  for (const step of scenario.steps) {
    const { number, title } = step
    if (failed !== undefined) {
      steps.push({ number, title, durationMs: 0, status: 'skipped' })
      continue
    }
    const begunAt = performance.now()
    const error = await errorOf(() => playStep(run, step, options))
    steps.push({
      number,
      title,
      durationMs: performance.now() - begunAt,
      status: error === undefined ? 'passed' : 'failed',
    })
    if (error !== undefined) failed = { error, step }
  }
  return { steps, failed }
}

async function errorOf(play: () => Promise<void>): Promise<unknown> {
  try {
    await play()
    return undefined
  } catch (error) {
    return error ?? new Error('something without a name was thrown')
  }
}

function prepare(client: Client, limits: Pick<CaseRun, 'deadline' | 'signal'>): CaseRun {
  const run: CaseRun = {
    client: { ...client, signal: limits.signal, onExchange: (exchange) => void (run.lastExchange = exchange) },
    merchant: { merchant_id: '', client_id: '', name: '', secret: '', previousSecret: undefined },
    receiver: undefined,
    captures: new Map(),
    payments: [],
    disputes: [],
    customers: [],
    orders: [],
    lastExchange: undefined,
    ...limits,
  }
  return run
}

async function makeMerchant(run: CaseRun, { given }: Case): Promise<void> {
  if (given.receiver !== false) run.receiver = await startReceiver(behaviourOf(given.receiver ?? {}))
  const { kyb: kyb_status, ...wishes } = given.merchant ?? {}
  const wished = Object.fromEntries(
    Object.entries({ ...wishes, kyb_status }).filter(([, value]) => value !== undefined),
  )
  const { body } = await call(run.client, createSandboxMerchant, {
    body: { ...wished, webhook_url: run.receiver?.url ?? null },
  })
  run.merchant = {
    merchant_id: body.merchant_id,
    client_id: body.client_id,
    name: body.name,
    secret: body.webhook_signing_secret,
    previousSecret: undefined,
  }
  const merchant = { realm: body.realm_slug, clientId: body.client_id, clientSecret: body.client_secret ?? '' }
  run.client = { ...run.client, credentials: run.client.credentials.asMerchant(merchant) }
  run.receiver?.trust(body.webhook_signing_secret)
  // Its answer holds the secret, which no report may show.
  run.lastExchange = undefined
}

async function playStep(run: CaseRun, step: Step, options: PlayOptions): Promise<void> {
  const error = await errorOf(() =>
    inTime(run, options, async () => {
      const failed = await errorOf(() => PLAYERS[step.verb](run, step.input))
      refuseForged(run)
      if (failed !== undefined) throw failed
    }),
  )
  if (step.expectError === undefined && error !== undefined) throw error
  if (step.expectError !== undefined) refuseOtherError(run, step.expectError, error)
}

/** A failure after the end of the case's time is told as that, for requests under way are ended by it. */
async function inTime(run: CaseRun, { timeoutMs, signal }: PlayOptions, play: () => Promise<void>): Promise<void> {
  const error = await errorOf(play)
  const isOver = performance.now() > run.deadline || (run.signal.aborted && !signal.aborted)
  if (isOver && !isUnreachable(error))
    throw new StepFailure(`the case may take ${timeoutMs} ms, and they were over in this step`, {
      hint: 'a longer --timeout',
      cause: error,
    })
  if (error !== undefined) throw error
}

/** Every signature is checked, whether or not a step asks for it. */
function refuseForged(run: CaseRun): void {
  const forged = run.receiver?.receipts.find((receipt) => receipt.signature !== 'valid')
  if (forged === undefined) return
  const what =
    forged.signature === 'missing' ? 'without a signature' : "with a signature that is not of this merchant's secret"
  throw new StepFailure(`the receiver was sent ${forged.eventType} ${what}`, {
    hint: 'it is no webhook of this case; whoever sent it, a real receiver must answer 401',
  })
}

/** How long what follows a case's end may take: it is a courtesy, and the case's result is known. */
const GOODBYE_MS = 2_000

/** The receiver's port will belong to somebody else: what is still to be sent must not go there. */
async function close(run: CaseRun): Promise<void> {
  if (run.receiver === undefined) return
  if (run.merchant.client_id !== '') {
    const goodbye = call({ ...run.client, signal: undefined, timeoutMs: GOODBYE_MS }, putWebhookEndpoint, {
      body: { webhook_url: null },
    }).then(
      () => undefined,
      () => undefined,
    )
    await Promise.race([goodbye, delay(GOODBYE_MS, undefined, { ref: false })])
  }
  await run.receiver.close()
}
