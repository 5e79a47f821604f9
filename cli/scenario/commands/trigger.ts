import { z } from 'zod'
import { editText } from '../../base/editor.ts'
import { VERB_GROUPS } from '../language.ts'
import { stepsOf } from '../read/read-step.ts'
import type { Plan } from '../read/read-step.ts'
import { readScenarios } from '../read/read-scenarios.ts'
import { mistakesError } from './scenarios.ts'
import { EventType } from '../../../src/wire/webhook-events.ts'
import { getWebhookEndpoint } from '../../../src/wire/webhooks.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { durationOf } from '../../kit/context.ts'
import type { CommandInput, CommandResult, Context } from '../../kit/context.ts'
import { CliError, usageError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { isLive } from '../../client/auth/service-info.ts'
import { readVars } from '../read/load.ts'
import { nearestWord } from '../../base/nearest-word.ts'
import { playTrigger } from '../play/play-trigger.ts'
import type { Triggered } from '../play/play-trigger.ts'
import { TRIGGERS, TRIGGER_EVENTS, triggerText } from '../triggers.ts'
import type { TriggerEvent } from '../triggers.ts'
import { withVars } from '../read/variables.ts'

export const TriggerOptions = z.object({
  set: z.array(z.string()).default([]),
  edit: z.boolean().default(false),
  show: z.boolean().default(false),
  dryRun: z.boolean().default(false),
  list: z.boolean().default(false),
  timeout: z.string(),
})
type TriggerOptions = z.infer<typeof TriggerOptions>

/** `svc trigger`: a real chain of calls that ends in an event, as the merchant that is signed in. */
export async function trigger(
  context: Context,
  { args, options }: CommandInput<TriggerOptions>,
): Promise<CommandResult> {
  if (options.list) return list(context)
  const event = eventOf(args[0])
  if (options.edit && options.show)
    throw usageError('--edit and --show: an editor shows the steps too', 'one of the two')
  const vars = varsOf(event, options)
  const text = triggerText(event, vars)
  if (options.show) return void context.io.stdout.write(text)
  const timeoutMs = durationOf(options.timeout, '--timeout')
  if (timeoutMs === 0) throw usageError('--timeout: must be more than nothing')
  const plan = options.edit ? await editedPlan(context, event, text) : planOf(context, event, text)
  // Whoever has edited the steps may have changed what the variables are.
  const shown = options.edit ? {} : vars
  const client = context.client()
  await refuseLive(client)
  if (options.dryRun) return showSteps(context, event, plan)
  const triggered = await playTrigger(client, {
    event,
    plan,
    timeoutMs,
    signal: new AbortController().signal,
    tell: ({ title }) => context.note(`${context.paint('green', '✓')} ${String(withVars(title, shown))}`),
  })
  print(context, triggered)
  await noteEndpoint(context, client)
}

/** Where real money moves, nobody makes up a payment, and no bank lets itself be told what happens. */
async function refuseLive(client: Client): Promise<void> {
  if (await isLive(client))
    throw new CliError(
      'LIVE_MODE',
      `${client.apiUrl} is live: events there are about real money, and nothing was done`,
      {
        exit: EXIT.usage,
        hint: 'svc webhooks test sends the endpoint a made-up event; or svc up for a sandbox',
      },
    )
}

function list(context: Context): undefined {
  const items = TRIGGER_EVENTS.map((event) => ({
    event,
    story: TRIGGERS[event].story,
    set: Object.keys(TRIGGERS[event].vars),
  }))
  context.print.list({
    items,
    fields: ['event', 'story', 'set'],
    columns: [
      { title: 'event', value: (row) => row.event },
      { title: 'what happens', value: (row) => row.story },
    ],
    id: (row) => row.event,
    empty: 'There are no events.',
  })
}

function eventOf(word: string | undefined): TriggerEvent {
  const event = TRIGGER_EVENTS.find((each) => each === word)
  if (event !== undefined) return event
  if (word === undefined) throw usageError('which event?', 'svc trigger --list')
  if (EventType.safeParse(word).success)
    throw usageError(`${word} follows a closed settlement, so it can't be triggered`, `svc webhooks test ${word}`)
  const meant = nearestWord(word, TRIGGER_EVENTS)
  throw usageError(`there is no event "${word}"`, meant === undefined ? 'svc trigger --list' : `svc trigger ${meant}`)
}

/** What is set, over what is there where nothing is. */
function varsOf(event: TriggerEvent, { set }: TriggerOptions): Record<string, string> {
  const { vars } = TRIGGERS[event]
  const given = Object.entries(readVars(set)).map(([name, value]) => [name, String(value)] as const)
  const [unknown] = given.find(([name]) => !Object.hasOwn(vars, name)) ?? []
  if (unknown === undefined) return { ...vars, ...Object.fromEntries(given) }
  const names = Object.keys(vars)
  throw usageError(`--set: ${event} has no "${unknown}"; there are ${names.join(', ')}`, `--set ${names[0]}=…`)
}

function print(context: Context, { delivery, paymentId: id, steps }: Triggered): void {
  const { event_id, event_type, id: deliveryId, status, last_http_status: http, last_error: why } = delivery
  context.print.record({
    item: {
      event_type,
      event_id,
      delivery_id: deliveryId,
      delivery_status: status,
      http_status: http,
      last_error: why,
      payment_id: id ?? null,
      steps: steps.map(({ label, title, durationMs }) => ({ label, title, duration_ms: Math.round(durationMs) })),
    },
    id: event_id,
    lines: [
      ['Event', event_type],
      ['Event id', event_id],
      ['Delivery', `${deliveryId} (${status}${answerOf(delivery)})`],
      ...(id === undefined ? [] : [['Payment', id] as [string, string]]),
    ],
  })
}

/** What the endpoint said, as far as it was asked yet. */
function answerOf({ last_http_status: http, last_error: why, attempt_count: attempts }: Triggered['delivery']): string {
  if (attempts === 0) return ''
  return http === null ? `: ${why ?? 'no answer'}` : `: your endpoint answered ${http}`
}

/** Whoever triggers an event wants to see it arrive. */
async function noteEndpoint(context: Context, client: Client): Promise<void> {
  if (context.print.isMachine) return
  const { body } = await call(client, getWebhookEndpoint, {})
  if (body.webhook_url === null)
    context.note('No endpoint is set, so nothing is sent: svc listen --forward-to <url>, or svc webhooks endpoint set')
}

/** @throws {CliError} with exit code 2 and all that is wrong with the steps */
function planOf(context: Context, event: TriggerEvent, text: string): Plan {
  const { cases, mistakes } = readScenarios({ file: `${event}.yaml`, text, vars: {}, cwd: context.io.cwd })
  if (mistakes.length > 0) throw mistakesError(context, mistakes)
  const [only, ...others] = cases
  if (only === undefined || others.length > 0)
    throw usageError(`an event is triggered by one case, and here are ${cases.length}`, 'one document, no matrix')
  return only.plan
}

/** What may be done to a merchant that is somebody's own, and not of a case: what leaves it as it is. */
const VERBS_OF_TRIGGERS = new Set(
  Object.keys({ ...VERB_GROUPS.payments, ...VERB_GROUPS.disputes, ...VERB_GROUPS.payers }).concat('replay', 'http'),
)
VERBS_OF_TRIGGERS.delete('checkout')

/** The steps as the user leaves them in the editor. */
async function editedPlan(context: Context, event: TriggerEvent, initial: string): Promise<Plan> {
  const text = await editText(context.io, { initial, suffix: '.yaml', instead: '--set amount=10.00' })
  const plan = planOf(context, event, text ?? initial)
  const other = stepsOf(plan).find(({ verb }) => !VERBS_OF_TRIGGERS.has(verb))
  if (other === undefined) return plan
  throw usageError(
    `${other.title}: "${other.verb}" is for a case with a merchant of its own; here it would be about yours`,
    'with a file: svc run <file>',
  )
}

/** What would be played, for `--dry-run`. */
function showSteps({ print, note }: Context, event: TriggerEvent, plan: Plan): undefined {
  const steps = stepsOf(plan).map(({ label, title }) => ({ label, title }))
  print.record({
    item: { dry_run: true, event_type: event, steps },
    id: event,
    lines: [['Would let happen', event], ...steps.map(({ label, title }) => [`Step ${label}`, title] as const)],
  })
  note('Nothing was changed.')
}
