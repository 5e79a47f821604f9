import { EventType } from '../../../src/wire/webhook-events.ts'
import { FROM_THE_BEGINNING, beginWith, playTrigger } from '../../scenario/play/play-trigger.ts'
import { stepsOf } from '../../scenario/read/plan.ts'
import type { Plan } from '../../scenario/read/plan.ts'
import { readScenarios } from '../../scenario/read/read-scenarios.ts'
import { withVars } from '../../scenario/read/variables.ts'
import { TRIGGERS, triggerText } from '../../scenario/triggers.ts'
import type { StepResult } from '../../scenario/play/play-plan.ts'
import { endOfId } from '../../base/text.ts'
import type { ScreenKey, Tools } from '../screen.ts'
import type { PaymentRow } from './payment-lines.ts'
import { caseLines } from './sandbox-play.ts'

const NEW = 'a new payment'
const THIS = 'the selected payment'

/** Lets an event happen by the calls that lead to it, with their steps as they come. */
export const triggerKey: ScreenKey<PaymentRow> = {
  key: 't',
  label: 'trigger',
  writes: true,
  permission: 'create payments',
  for: 'merchant',
  needs: 'nothing',
  command: (row, { event = '...', to = NEW }) =>
    `svc trigger ${event}${to === THIS && rowOf(row) !== undefined ? ` --payment ${row.payment_id}` : ''}`,
  ask: ([row]) => ({
    what: 'let an event happen',
    about: ['All that it needs happens for real: it is no made-up webhook.'],
    fields: [
      { name: 'event', label: 'Which', kind: 'choice', words: EventType.options, notes: STORIES },
      ...(rowOf(row) === undefined
        ? []
        : [{ name: 'to', label: 'To what', kind: 'choice' as const, words: [NEW, THIS] }]),
    ],
  }),
  run: (row, { event, to = NEW }, tools) =>
    trigger(EventType.parse(event), to === THIS ? rowOf(row)?.payment_id : undefined, tools),
}

const STORIES = Object.fromEntries(EventType.options.map((event) => [event, TRIGGERS[event].story]))

/** The key needs no row: where there is none, what it is given is none. */
function rowOf(row: PaymentRow | undefined): PaymentRow | undefined {
  return row
}

const TIMEOUT_MS = 60_000

/** @throws {CliError} of the refused request, TRIGGER_FAILED, or EVENT_NOT_POSSIBLE */
async function trigger(event: EventType, payment: string | undefined, { client, watch }: Tools): Promise<string> {
  const { vars } = TRIGGERS[event]
  const all = planOf(event)
  const begin = payment === undefined ? FROM_THE_BEGINNING : await beginWith(client, event, payment)
  const plan = all.slice(begin.skip)
  const shown = watch(`Trigger ${event}`)
  const ended: StepResult[] = []
  const steps = stepsOf(plan).map((step) => ({ ...step, title: String(withVars(step.title, vars)) }))
  const lines = (isOver: boolean): string[] => caseLines(TRIGGERS[event].story, { steps }, ended, isOver)
  shown.write([...lines(false), '', 'Esc stops it.'])
  try {
    const { delivery, paymentId } = await playTrigger(client, {
      event,
      plan: all,
      begin,
      timeoutMs: TIMEOUT_MS,
      signal: shown.signal,
      tell(step) {
        ended.push(step)
        shown.write([...lines(false), '', 'Esc stops it.'])
      },
    })
    if (shown.signal.aborted) return `stopped ${event}`
    const answer = delivery.last_http_status === null ? '' : `, your endpoint answered ${delivery.last_http_status}`
    shown.end([
      ...lines(true),
      '',
      `Event ${delivery.event_id} (${delivery.status}${answer})`,
      ...(paymentId === undefined ? [] : [`Payment ${paymentId}`]),
    ])
    return `${event} has happened${paymentId === undefined ? '' : ` to ${endOfId(paymentId)}`}`
  } catch (error) {
    if (shown.signal.aborted) return `stopped ${event}`
    shown.end([...lines(true), '', error instanceof Error ? error.message : String(error)])
    throw error
  }
}

/** The steps that come with svc have no mistakes. */
function planOf(event: EventType): Plan {
  const text = triggerText(event, TRIGGERS[event].vars)
  const { cases } = readScenarios({ file: `${event}.yaml`, text, vars: {}, cwd: process.cwd() })
  const [only] = cases
  if (only === undefined) throw new Error(`the steps of ${event} can't be read`)
  return only.plan
}
