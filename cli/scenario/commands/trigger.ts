import { z } from 'zod'
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
import { FROM_THE_BEGINNING, beginWith, playTrigger } from '../play/play-trigger.ts'
import type { Triggered } from '../play/play-trigger.ts'
import { TRIGGERS, triggerText } from '../triggers.ts'
import { withVars } from '../read/variables.ts'
import { paymentId } from '../../payments/find.ts'
import { editedPlan, planOf, showSteps } from './trigger-steps.ts'

export const TriggerOptions = z.object({
  payment: z.string().min(1).optional(),
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
  refuseContradictions(options)
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
  const begin =
    options.payment === undefined
      ? FROM_THE_BEGINNING
      : await beginWith(client, event, await paymentId(client, [options.payment]))
  if (options.dryRun) {
    showSteps(context, { event, plan: plan.slice(begin.skip), payment: begin.payment?.payment_id })
    return undefined
  }
  const triggered = await playTrigger(client, {
    event,
    plan,
    begin,
    timeoutMs,
    signal: new AbortController().signal,
    tell: ({ title }) => context.note(`${context.paint('green', '✓')} ${String(withVars(title, shown))}`),
  })
  print(context, triggered)
  await noteEndpoint(context, client)
  return undefined
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
  const items = EventType.options.map((event) => ({
    event,
    story: TRIGGERS[event].story,
    from: Object.keys(TRIGGERS[event].from),
    set: Object.keys(TRIGGERS[event].vars),
  }))
  context.print.list({
    items,
    fields: ['event', 'story', 'from', 'set'],
    columns: [
      { title: 'event', value: (row) => row.event },
      { title: 'what happens', value: (row) => row.story },
      { title: 'to a payment that is', value: (row) => (row.from.length === 0 ? 'new' : row.from.join(', ')) },
    ],
    id: (row) => row.event,
    empty: 'There are no events.',
  })
}

function eventOf(word: string | undefined): EventType {
  const parsed = EventType.safeParse(word)
  if (parsed.success) return parsed.data
  if (word === undefined) throw usageError('which event?', 'svc trigger --list')
  const meant = nearestWord(word, EventType.options)
  throw usageError(`there is no event "${word}"`, meant === undefined ? 'svc trigger --list' : `svc trigger ${meant}`)
}

function refuseContradictions({ payment, edit, show }: TriggerOptions): void {
  if (payment !== undefined && (edit || show))
    throw usageError(
      `--payment and ${edit ? '--edit' : '--show'}: the steps are those of a new payment; yours goes on where it is`,
      'one of the two',
    )
  if (edit && show) throw usageError('--edit and --show: an editor shows the steps too', 'one of the two')
}

/** What is set, over what is there where nothing is. Of a payment that is there, what made it can't be set any more. */
function varsOf(event: EventType, { set, payment }: TriggerOptions): Record<string, string> {
  const { vars, steps } = TRIGGERS[event]
  const given = Object.entries(readVars(set)).map(([name, value]) => [name, String(value)] as const)
  for (const [name] of given) {
    if (!Object.hasOwn(vars, name))
      throw usageError(
        `--set: ${event} has no "${name}"; there are ${Object.keys(vars).join(', ')}`,
        `--set ${Object.keys(vars)[0] ?? 'amount'}=…`,
      )
    const isOfNew = !steps.slice(1).some((step) => step.includes(`$${name}`))
    if (payment !== undefined && isOfNew)
      throw usageError(`--set ${name}: your payment has been made; that can't be set any more`, '--payment alone')
  }
  return { ...vars, ...Object.fromEntries(given) }
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
