import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { EventType } from '../../../src/wire/webhook-events.ts'
import { getWebhook, getWebhookEndpoint, listWebhooks } from '../../../src/wire/webhooks.ts'
import type { Delivery } from '../../../src/wire/webhooks.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { CliError, withFacts } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { pollFor } from './case-run.ts'
import type { CaseRun } from './case-run.ts'
import { stepsOf } from '../read/read-step.ts'
import type { Plan } from '../read/read-step.ts'
import { playPlan } from './play-plan.ts'
import type { StepResult } from './play-plan.ts'
import { prepareStage } from './stage.ts'
import { wordsOf } from './describe-failure.ts'
import type { Failed } from './describe-failure.ts'

export type Triggered = { delivery: Delivery; paymentId: string | undefined; steps: StepResult[] }

type PlayOptions = {
  event: EventType
  plan: Plan
  timeoutMs: number
  signal: AbortSignal
  /** Called with each step that has gone well. */
  report: (step: StepResult) => void
}

/**
 * Plays the steps as the merchant that the client acts as, and finds the event that they ended in.
 * @throws {CliError} of the refused request, or TRIGGER_FAILED, exit code 3
 */
export async function playTrigger(client: Client, options: PlayOptions): Promise<Triggered> {
  const { event, plan, timeoutMs, signal, report } = options
  const run = prepareStage(client, {
    deadline: performance.now() + timeoutMs,
    signal,
    newKey: () => randomUUID(),
    isSeeded: false,
  })
  const before = new Set((await deliveriesOf(client, event)).map(({ id }) => id))
  const ended = new Map<number, StepResult>()
  const failed: Failed[] = []
  for (const part of plan) {
    const isPassed = await playPlan([part], { run, limits: { timeoutMs, signal }, ended, failed })
    for (const step of stepsOf([part]).flatMap(({ number }) => ended.get(number) ?? []))
      if (step.status === 'passed') report(step)
    if (!isPassed) throw failureOf(run, failed)
  }
  const paymentId = paymentOf(run)
  const isOurs = (each: Delivery): boolean =>
    !before.has(each.id) && (each.payment_id === null || each.payment_id === paymentId)
  const delivery = await pollFor(run, EVENT_WITHIN_MS, async () => (await deliveriesOf(client, event)).find(isOurs))
  if (delivery === undefined)
    throw withFacts(
      new CliError('TRIGGER_FAILED', `all steps went well, but there is no ${event}`, {
        hint: 'svc webhooks list shows the deliveries',
      }),
      factsOf(run),
    )
  return { delivery: await answered(client, delivery), paymentId, steps: [...ended.values()] }
}

const EVENT_WITHIN_MS = 10_000

/** How long the endpoint is waited for: one that does not answer is tried again, for hours. */
const ANSWER_WITHIN_MS = 2_000

/** The delivery once it was tried, as its endpoint is waited for; where there is none, as it is. */
async function answered(client: Client, delivery: Delivery): Promise<Delivery> {
  const { body: endpoint } = await call(client, getWebhookEndpoint, {})
  if (endpoint.webhook_url === null || endpoint.paused) return delivery
  let now = delivery
  for (const end = performance.now() + ANSWER_WITHIN_MS; !isTried(now) && performance.now() < end;) {
    await delay(LOOK_MS)
    now = (await call(client, getWebhook, { params: { id: delivery.id } })).body
  }
  return now
}

const LOOK_MS = 50

function isTried({ status, attempt_count }: Delivery): boolean {
  return status !== 'PENDING' || attempt_count > 0
}

async function deliveriesOf(client: Client, event_type: EventType): Promise<Delivery[]> {
  return (await call(client, listWebhooks, { query: { event_type } })).body.data
}

function paymentOf({ made }: CaseRun): string | undefined {
  return made.find((each) => each.kind === 'payment')?.created.payment_id
}

function factsOf(run: CaseRun): Record<string, string> {
  const paymentId = paymentOf(run)
  return paymentId === undefined ? {} : { payment_id: paymentId }
}

/** A refusal of the API keeps its exit code; anything else is an expectation that does not hold. */
function failureOf(run: CaseRun, [first]: readonly Failed[]): unknown {
  const { error, step } = first ?? { error: undefined, step: undefined }
  if (error instanceof CliError) return withFacts(error, factsOf(run))
  const { message, hint } = wordsOf(error, step)
  const where = step === undefined ? '' : `step ${step.label} (${step.title}): `
  const options = { exit: EXIT.assertion, hint, cause: error }
  return withFacts(new CliError('TRIGGER_FAILED', `${where}${message}`, options), factsOf(run))
}
