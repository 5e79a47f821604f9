import { outcomeText } from '../../src/lib/outcome-text.ts'
import { checkWebhookEndpoint, getWebhookEndpoint } from '../../src/wire/webhooks.ts'
import type { EndpointCheck, WebhookEndpoint } from '../../src/wire/webhooks.ts'
import { CliError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { isSandbox } from '../client/auth/service-info.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { command } from '../kit/command.ts'
import type { Context } from '../kit/context.ts'
import { warn } from '../kit/warn.ts'
import { warnOf } from './view.ts'

type Endpoint = WebhookEndpoint & { check?: EndpointCheck | null }

export const show = command({
  command: 'webhooks endpoint show',
  summary: 'Show the endpoint and whether it is paused',
  examples: ['svc webhooks endpoint show', 'svc webhooks endpoint show -q webhook_url'],
  flags: {},
  async run(context) {
    const client = context.client()
    const { body } = await call(client, getWebhookEndpoint, {})
    printEndpoint(context, body)
    if (body.paused) warnOfPause(context)
  },
})

/** Below a list that can't say why nothing moves: that the endpoint is paused. A question without an answer is no failure. */
export async function warnIfPaused(context: Context, client: Client): Promise<void> {
  if (context.json) return
  try {
    const { body } = await call(client, getWebhookEndpoint, {})
    if (body.paused) warnOfPause(context)
  } catch (error) {
    if (!(error instanceof CliError)) throw error
  }
}

function warnOfPause(context: Context): void {
  if (!context.json) warn(context, 'the endpoint is paused; its events wait', 'svc webhooks endpoint resume')
}

export async function printPut(context: Context, endpoint: Endpoint): Promise<void> {
  printEndpoint(context, endpoint)
  const { webhook_url: url, check, paused } = endpoint
  if (check?.reachable === false) await warnUnreachable(context, context.client(), { url, check })
  if (paused) context.note('Events wait meanwhile. To send them: svc webhooks endpoint resume')
}

/** `svc webhooks endpoint check`: exit code 3 when its server does not answer. */
export const check = command({
  command: 'webhooks endpoint check',
  summary: 'Check whether the endpoint answers',
  details: 'Sends no event. Exit code 3 if the endpoint does not answer.',
  examples: ['svc webhooks endpoint check'],
  flags: {},
  async run(context) {
    const client = context.client()
    const { body: check } = await call(client, checkWebhookEndpoint, {})
    context.print.record(
      check,
      [
        ['Reachable', check.reachable ? 'yes' : 'no'],
        ['Outcome', checkText(check)],
        ['Took', `${check.duration_ms} ms`],
      ],
      { id: check.outcome },
    )
    if (check.reachable) return undefined
    context.note(WHERE_FROM)
    const elsewhere = await forwarding(client, '<url>')
    if (elsewhere !== undefined) context.note(`To have events on this machine: ${elsewhere}`)
    return EXIT.assertion
  },
})

const WHERE_FROM = "The service asks from where it runs: an address of your own machine is its machine's."

/** What sends events on from here, to where the service itself does not come; in live mode they go to a server. */
async function forwarding(client: Client, url: string): Promise<string | undefined> {
  return (await isSandbox(client)) ? `svc listen --forward-to ${url}` : undefined
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
  context.print.record(
    endpoint,
    [
      ['Webhooks go to', url ?? 'nowhere: no address is set'],
      ['State', stateText(endpoint)],
      [
        'Reachable',
        check === undefined || check === null
          ? ''
          : `${check.reachable ? 'yes' : 'no'}: ${checkText(check)}, ${check.duration_ms} ms`,
      ],
    ],
    { id: url ?? '' },
  )
  // The alert about an address that is gone says the same.
  if (gone && alert?.code !== 'ENDPOINT_GONE') warn(context, 'the last answer of this address was 410 Gone')
  warnOf(context, alert)
}

function stateText({ webhook_url: url, paused, gone }: WebhookEndpoint): string {
  if (url === null) return ''
  if (paused) return 'paused'
  return gone ? 'gone: its last answer was HTTP 410' : 'active'
}
