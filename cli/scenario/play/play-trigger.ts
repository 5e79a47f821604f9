import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { listDisputes } from '../../../src/wire/disputes.ts'
import type { DisputeSummary } from '../../../src/wire/disputes.ts'
import { getPayment } from '../../../src/wire/payments.ts'
import type { Payment } from '../../../src/wire/payments.ts'
import type { EventType } from '../../../src/wire/webhook-events.ts'
import { getWebhook, getWebhookEndpoint, listWebhooks } from '../../../src/wire/webhooks.ts'
import type { Delivery } from '../../../src/wire/webhooks.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { CliError, withFacts } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { pollFor } from './case-run.ts'
import type { CaseRun } from './case-run.ts'
import { stepsOf } from '../read/plan.ts'
import type { Plan } from '../read/plan.ts'
import { playPlan } from './play-plan.ts'
import type { StepResult } from './play-plan.ts'
import { prepareStage } from './stage.ts'
import { wordsOf } from './tell-failure.ts'
import type { Failed } from './tell-failure.ts'
import { TRIGGERS } from '../triggers.ts'

/** What there is already, and how many of the trigger's steps that makes superfluous. */
export type Begin = { skip: number; payment: Payment | undefined; disputeId: string | undefined }

export const FROM_THE_BEGINNING: Begin = { skip: 0, payment: undefined, disputeId: undefined }

/**
 * Where the steps go on with a payment that is there already.
 * @throws {CliError} EVENT_NOT_POSSIBLE, exit code 7, where the event can't happen to it any more
 */
export async function beginWith(client: Client, event: EventType, id: string): Promise<Begin> {
  const trigger = TRIGGERS[event]
  const payment = await paymentOfMerchant(client, id)
  const refuse = (why: string, hint: string): CliError =>
    new CliError('EVENT_NOT_POSSIBLE', `${event} can't happen to this payment: ${why}`, {
      exit: EXIT.conflict,
      hint,
      facts: { payment_id: id, status: payment.status },
    })
  const fresh = `svc trigger ${event}`
  if (trigger.never !== undefined) throw refuse(trigger.never, fresh)
  if (trigger.ofMandate === true && payment.consent_type !== 'VARIABLE_RECURRING')
    throw refuse('it was made without a mandate', fresh)
  const dispute = trigger.fromDisputed === undefined ? undefined : await openDisputeOf(client, id)
  const skip = dispute === undefined ? trigger.from[payment.status] : trigger.fromDisputed?.[dispute.status]
  if (skip !== undefined) return { skip, payment, disputeId: dispute?.id }
  if (dispute !== undefined)
    throw refuse(`it has a dispute already, which is ${dispute.status}`, `svc disputes show ${dispute.id}`)
  const from = Object.keys(trigger.from).join(' or ')
  const isTold = payment.status_history.some(({ new_status }) => STATUS_OF[event] === new_status)
  if (isTold)
    throw refuse(
      `it has happened; the payment is ${payment.status}`,
      'svc webhooks list\nthen: svc webhooks replay <id>',
    )
  throw refuse(`it is ${payment.status}, and has to be ${from}`, fresh)
}

async function paymentOfMerchant(client: Client, id: string): Promise<Payment> {
  const { body } = await call(client, getPayment, { params: { id } })
  if ('consent_type' in body) return body
  throw new Error('a payer has no events')
}

/** The status that tells that an event has happened. */
const STATUS_OF: Readonly<Partial<Record<EventType, string>>> = {
  'payment.authorized': 'Authorised',
  'payment.settled': 'Settled',
  'payment.failed': 'Failed',
  'payment.refunded': 'Refunded',
}

async function openDisputeOf(client: Client, paymentId: string): Promise<DisputeSummary | undefined> {
  const { body } = await call(client, listDisputes, { query: { payment_id: paymentId } })
  return body.data.find(({ status }) => !status.startsWith('RESOLVED'))
}

export type Triggered = { delivery: Delivery; paymentId: string | undefined; steps: StepResult[] }

type PlayOptions = {
  event: EventType
  plan: Plan
  begin: Begin
  timeoutMs: number
  signal: AbortSignal
  /** Told of each step that has gone well. */
  tell: (step: StepResult) => void
}

/**
 * Plays the steps as the merchant that the client acts as, and finds the event that they ended in.
 * @throws {CliError} of the refused request, or TRIGGER_FAILED, exit code 3
 */
export async function playTrigger(client: Client, options: PlayOptions): Promise<Triggered> {
  const { event, plan, begin, timeoutMs, signal, tell } = options
  const run = prepareStage(client, {
    deadline: performance.now() + timeoutMs,
    signal,
    newKey: () => randomUUID(),
    isSeeded: false,
  })
  addMade(run, begin)
  const before = new Set((await deliveriesOf(client, event)).map(({ id }) => id))
  const ended = new Map<number, StepResult>()
  const failed: Failed[] = []
  for (const part of plan.slice(begin.skip)) {
    const isPassed = await playPlan([part], { run, limits: { timeoutMs, signal }, ended, failed })
    for (const step of stepsOf([part]).flatMap(({ number }) => ended.get(number) ?? []))
      if (step.status === 'passed') tell(step)
    if (!isPassed) throw failureOf(run, failed)
  }
  const paymentId = paymentOf(run)
  const isOurs = (each: Delivery): boolean =>
    !before.has(each.id) && (each.payment_id === null || each.payment_id === paymentId)
  const delivery = await pollFor(run, EVENT_WITHIN_MS, async () => (await deliveriesOf(client, event)).find(isOurs))
  if (delivery === undefined)
    throw withFacts(
      new CliError('TRIGGER_FAILED', `all steps went well, but there is no ${event}`, {
        exit: EXIT.assertion,
        hint: 'svc webhooks list tells what there is',
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

/** What is there already has the names that the steps know it by. */
function addMade(run: CaseRun, { payment, disputeId }: Begin): void {
  if (payment === undefined) return
  const { payment_id, status, redirect_url, end_to_end_id, gross_amount, fee_amount, net_amount } = payment
  const { currency, consent_id, expires_at, created_at } = payment
  const amounts = { gross_amount, fee_amount, net_amount, currency }
  const ids = { payment_id, status, redirect_url, end_to_end_id, consent_id, expires_at, created_at }
  const created = { ...ids, ...amounts }
  run.captures.set('p1', created)
  run.made.push({ kind: 'payment', name: 'p1', created, key: '', body: { amount: gross_amount, currency } })
  if (disputeId === undefined) return
  run.captures.set('d1', { id: disputeId })
  run.made.push({ kind: 'dispute', name: 'd1', dispute: { id: disputeId } })
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
