import { z } from 'zod'
import { outcomeText } from '../../src/lib/outcome-text.ts'
import { checkWebhookEndpoint, getWebhookEndpoint, putWebhookEndpoint } from '../../src/wire/webhooks.ts'
import type { EndpointCheck, WebhookEndpoint } from '../../src/wire/webhooks.ts'
import { ChangeOptions, change } from '../kit/change.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { Dangerous } from '../kit/confirm.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { isSandbox } from '../client/is-live.ts'
import { warn } from '../kit/warn.ts'
import { effectOfPause, effectOfSet } from './endpoint-effects.ts'
import { warnOfPause } from './paused.ts'
import { warnOf } from './view.ts'

export const PauseOptions = ChangeOptions.pick({ dryRun: true })
export const SetOptions = ChangeOptions.extend({ none: z.boolean().default(false) })
type Endpoint = WebhookEndpoint & { check?: EndpointCheck | null }

export async function getEndpoint(context: Context): Promise<CommandResult> {
  const client = context.client()
  const { body } = await call(client, getWebhookEndpoint, {})
  printEndpoint(context, body)
  if (body.paused) await warnOfPause(context, client)
  return undefined
}

export async function setEndpoint(
  context: Context,
  { args, options }: CommandInput<z.infer<typeof SetOptions>>,
): Promise<CommandResult> {
  const [url] = args
  if ((url === undefined) === !options.none)
    throw usageError('give either an address or --none', 'svc webhooks endpoint set http://127.0.0.1:4242/hook')
  const effect = options.dryRun ? await effectOfSet(context.client(), url) : undefined
  const danger = options.none && !options.dryRun ? await removal(context.client(), options.yes) : undefined
  return put(context, { ...options, danger, effect }, { webhook_url: url ?? null })
}

/** Without an address nobody hears of a payment any more; where there is none, nothing is taken away. */
async function removal(client: Client, yes: boolean): Promise<Dangerous | undefined> {
  const { body } = await call(client, getWebhookEndpoint, {})
  if (body.webhook_url === null) return undefined
  return { what: `remove the endpoint ${body.webhook_url}`, words: [body.webhook_url], isExact: true, yes }
}

/** `svc webhooks endpoint pause` and `resume`: the address is kept, and events wait for it meanwhile. */
export async function setPaused(
  context: Context,
  { options }: CommandInput<z.infer<typeof PauseOptions>>,
  paused: boolean,
): Promise<CommandResult> {
  const effect = options.dryRun ? await effectOfPause(context.client(), paused) : undefined
  return put(context, { ...options, effect }, { paused })
}

async function put(
  context: Context,
  {
    danger,
    effect,
    ...options
  }: z.infer<typeof PauseOptions> & { danger?: Dangerous | undefined; effect: string | undefined },
  body: { webhook_url?: string | null; paused?: boolean },
): Promise<CommandResult> {
  const client = context.client()
  const endpoint = await change(context, client, putWebhookEndpoint, {
    input: { body },
    options,
    ...(danger === undefined ? {} : { danger }),
    ...(effect === undefined ? {} : { effect }),
  })
  if (endpoint === undefined) return undefined
  printEndpoint(context, endpoint)
  const { webhook_url: url, check, paused } = endpoint
  if (check?.reachable === false) await warnUnreachable(context, client, { url, check })
  if (paused) context.note('Events wait meanwhile. To send them: svc webhooks endpoint resume')
  return undefined
}

/** `svc webhooks endpoint check`: exit code 3 when its server does not answer. */
export async function checkEndpoint(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  const client = context.client()
  const { body: check } = await call(client, checkWebhookEndpoint, {})
  context.print.record({
    item: check,
    id: check.outcome,
    lines: [
      ['Reachable', check.reachable ? 'yes' : 'no'],
      ['Outcome', checkText(check)],
      ['Took', `${check.duration_ms} ms`],
    ],
  })
  if (check.reachable) return undefined
  context.note(WHERE_FROM)
  const elsewhere = await forwarding(client, '<url>')
  if (elsewhere !== undefined) context.note(`To have events on this machine: ${elsewhere}`)
  return EXIT.assertion
}

const WHERE_FROM = "The service asks from where it runs: an address of your own machine is its machine's."

/** What sends events on from here, to where the service itself does not come; in live mode they go to a server. */
async function forwarding(client: Client, url: string): Promise<string | undefined> {
  return (await isSandbox(client)) ? `svc webhooks listen --forward-to ${url}` : undefined
}

type Unreachable = { url: string | null; check: EndpointCheck }

async function warnUnreachable(context: Context, client: Client, { url, check }: Unreachable): Promise<void> {
  if (context.json) return
  const next = (await forwarding(client, url ?? '<url>')) ?? 'svc webhooks endpoint check'
  warn(context, `the address is set, but its server does not answer: ${checkText(check)}`, next)
}

function checkText({ outcome, http_status: http }: EndpointCheck): string {
  return http === null ? outcomeText(outcome) : `${outcomeText(outcome)} with HTTP ${http}`
}

function printEndpoint(context: Context, endpoint: Endpoint): void {
  const { webhook_url: url, gone, alert, check } = endpoint
  context.print.record({
    item: endpoint,
    id: url ?? '',
    lines: [
      ['Webhooks go to', url ?? 'nowhere: no address is set'],
      ['State', stateText(endpoint)],
      [
        'Reachable',
        check === undefined || check === null
          ? ''
          : `${check.reachable ? 'yes' : 'no'}: ${checkText(check)}, ${check.duration_ms} ms`,
      ],
    ],
  })
  // The alert about an address that is gone says the same.
  if (gone && alert?.code !== 'ENDPOINT_GONE') warn(context, 'the last answer of this address was 410 Gone')
  warnOf(context, alert)
}

function stateText({ webhook_url: url, paused, gone }: WebhookEndpoint): string {
  if (url === null) return ''
  if (paused) return 'paused'
  return gone ? 'gone: its last answer was HTTP 410' : 'active'
}
