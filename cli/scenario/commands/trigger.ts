import { EventType } from '../../../src/wire/webhook-events.ts'
import { getWebhookEndpoint } from '../../../src/wire/webhooks.ts'
import { editText } from '../../base/editor.ts'
import { CliError, usageError } from '../../base/errors.ts'
import { nearestWord } from '../../base/nearest-word.ts'
import { isLive } from '../../client/auth/service-info.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import type { Flags } from '../../kit/action.ts'
import { command } from '../../kit/command.ts'
import type { Input } from '../../kit/command.ts'
import { durationOf } from '../../kit/context.ts'
import type { Context } from '../../kit/context.ts'
import { VERB_GROUPS } from '../language.ts'
import { playTrigger } from '../play/play-trigger.ts'
import type { Triggered } from '../play/play-trigger.ts'
import { readVars } from '../read/load.ts'
import { readScenarios } from '../read/read-scenarios.ts'
import { stepsOf } from '../read/read-step.ts'
import type { Plan } from '../read/read-step.ts'
import { withVars } from '../read/variables.ts'
import { listTriggers, withValues } from '../triggers.ts'
import type { Trigger } from '../triggers.ts'
import { mistakesError } from './scenarios.ts'

const FLAGS = {
  event: { value: 'event', summary: 'Event type, such as payment.settled; --list shows all', positional: true },
  dryRun: { summary: 'Show which steps would run, and run none' },
  set: { value: 'name=value', summary: 'Set a value, such as amount=10.00; may be repeated', repeats: true },
  edit: { summary: 'Edit the steps in your editor first' },
  show: { summary: 'Print the steps, and run none' },
  list: { summary: 'List events and their steps' },
  timeout: { value: 'duration', summary: 'Maximum time for all steps', initial: '60s' },
} as const satisfies Flags
type TriggerOptions = Input<typeof FLAGS>

/** `svc trigger`: a real chain of calls that ends in an event, as the merchant that is signed in. */
export const trigger = command({
  command: 'trigger',
  summary: 'Trigger a webhook event',
  details: `Everything that the event needs happens for real, as the merchant that you are
signed in as; some of it is done by the payer, the bank or an operator, which
takes the operator's login as well: svc up has it.`,
  examples: [
    'svc trigger payment.settled',
    'svc trigger payment.partially_refunded --set part=5.00',
    'svc trigger dispute.opened --set reason=DUPLICATE_PAYMENT',
    'svc trigger dispute.resolved --show > resolved.yaml',
  ],
  flags: FLAGS,
  async run(context, input) {
    if (input.list) return list(context)
    const meant = triggerOf(input.event)
    const { event } = meant
    if (input.edit && input.show) throw usageError('--edit and --show: an editor shows the steps too', 'one of the two')
    const vars = varsOf(meant, input)
    const text = withValues(meant.text, vars)
    if (input.show) return void context.io.stdout.write(text)
    const timeoutMs = durationOf(input.timeout, '--timeout')
    if (timeoutMs === 0) throw usageError('--timeout: must be greater than 0')
    const plan = input.edit ? await editedPlan(context, event, text) : planOf(context, event, text)
    // In edited steps the variables may be others.
    const shown = input.edit ? {} : vars
    const client = context.client()
    await refuseLive(client)
    if (input.dryRun) return showSteps(context, event, plan)
    const triggered = await playTrigger(client, {
      event,
      plan,
      timeoutMs,
      signal: new AbortController().signal,
      report: ({ title }) => context.note(`${context.paint('green', '✓')} ${String(withVars(title, shown))}`),
    })
    print(context, triggered)
    await noteEndpoint(context, client)
  },
})

/** In live mode no payment is made up, and no bank can be simulated. */
async function refuseLive(client: Client): Promise<void> {
  if (await isLive(client))
    throw new CliError(
      'LIVE_MODE',
      `${client.apiUrl} is live: events there are about real money, and nothing was done`,
      {
        hint: 'svc webhooks test sends the endpoint a made-up event; or svc up for a sandbox',
      },
    )
}

function list(context: Context): undefined {
  const items = listTriggers().map(({ event, summary, vars }) => ({ event, summary, set: Object.keys(vars) }))
  context.print.list(items, {
    fields: ['event', 'summary', 'set'],
    columns: [
      { title: 'event', value: (row) => row.event },
      { title: 'what happens', value: (row) => row.summary },
    ],
    empty: 'There are no events.',
  })
}

function triggerOf(word: string | undefined): Trigger {
  const all = listTriggers()
  const found = all.find(({ event }) => event === word)
  if (found !== undefined) return found
  if (word === undefined) throw usageError('which event?', 'svc trigger --list')
  if (EventType.safeParse(word).success)
    throw usageError(`${word} follows a closed settlement, so it can't be triggered`, `svc webhooks test ${word}`)
  const meant = nearestWord(
    word,
    all.map(({ event }) => event),
  )
  throw usageError(`there is no event "${word}"`, meant === undefined ? 'svc trigger --list' : `svc trigger ${meant}`)
}

function varsOf({ event, vars }: Trigger, { set }: TriggerOptions): Record<string, string> {
  const given = Object.entries(readVars(set)).map(([name, value]) => [name, String(value)] as const)
  const [unknown] = given.find(([name]) => !Object.hasOwn(vars, name)) ?? []
  if (unknown === undefined) return { ...vars, ...Object.fromEntries(given) }
  const names = Object.keys(vars)
  throw usageError(`--set: ${event} has no "${unknown}"; there are ${names.join(', ')}`, `--set ${names[0]}=…`)
}

function print(context: Context, { delivery, paymentId: id, steps }: Triggered): void {
  const { event_id, event_type, id: deliveryId, status, last_http_status: http, last_error: why } = delivery
  context.print.record(
    {
      event_type,
      event_id,
      delivery_id: deliveryId,
      delivery_status: status,
      http_status: http,
      last_error: why,
      payment_id: id ?? null,
      steps: steps.map(({ label, title, durationMs }) => ({ label, title, duration_ms: Math.round(durationMs) })),
    },
    [
      ['Event', event_type],
      ['Event id', event_id],
      ['Delivery', `${deliveryId} (${status}${answerOf(delivery)})`],
      ...(id === undefined ? [] : [['Payment', id] as [string, string]]),
    ],
    { id: event_id },
  )
}

function answerOf({ last_http_status: http, last_error: why, attempt_count: attempts }: Triggered['delivery']): string {
  if (attempts === 0) return ''
  return http === null ? `: ${why ?? 'no answer'}` : `: your endpoint answered ${http}`
}

/** Warns where the event would not be seen to arrive. */
async function noteEndpoint(context: Context, client: Client): Promise<void> {
  if (context.print.isMachine) return
  const { body } = await call(client, getWebhookEndpoint, {})
  if (body.webhook_url === null)
    context.note('No endpoint is set, so nothing is sent: svc listen --forward-to <url>, or svc webhooks endpoint set')
}

/** @throws {CliError} with exit code 2 and all that is wrong with the steps */
function planOf(context: Context, event: EventType, text: string): Plan {
  const { cases, mistakes } = readScenarios({ file: `${event}.yaml`, text, vars: {}, cwd: context.io.cwd })
  if (mistakes.length > 0) throw mistakesError(context, mistakes)
  const [only, ...others] = cases
  if (only === undefined || others.length > 0)
    throw usageError(`an event is triggered by one case, and here are ${cases.length}`, 'one document, no matrix')
  return only.plan
}

/** The verbs that leave a merchant as it is: a trigger acts as a real merchant, and not as one of a case. */
const VERBS_OF_TRIGGERS = new Set(
  Object.keys({ ...VERB_GROUPS.payments, ...VERB_GROUPS.disputes, ...VERB_GROUPS.payers }).concat('replay', 'http'),
)
VERBS_OF_TRIGGERS.delete('checkout')

async function editedPlan(context: Context, event: EventType, initial: string): Promise<Plan> {
  const text = await editText(context.io, { initial, suffix: '.yaml', instead: '--set amount=10.00' })
  const plan = planOf(context, event, text ?? initial)
  const other = stepsOf(plan).find(({ verb }) => !VERBS_OF_TRIGGERS.has(verb))
  if (other === undefined) return plan
  throw usageError(
    `${other.title}: "${other.verb}" is for a case with a merchant of its own; here it would be about yours`,
    'with a file: svc run <file>',
  )
}

function showSteps({ print, note }: Context, event: EventType, plan: Plan): undefined {
  const steps = stepsOf(plan).map(({ label, title }) => ({ label, title }))
  print.record({ dry_run: true, event_type: event, steps }, [
    ['Would let happen', event],
    ...steps.map(({ label, title }) => [`Step ${label}`, title] as const),
  ])
  note('Nothing was changed.')
}
