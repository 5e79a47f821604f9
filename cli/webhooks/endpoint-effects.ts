import { webhookUrlProblem } from '../../src/lib/webhook-url.ts'
import type { UrlProblem } from '../../src/lib/webhook-url.ts'
import { getWebhookEndpoint, putWebhookEndpoint } from '../../src/wire/webhooks.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { isLive } from '../client/is-live.ts'
import { wouldRefuse } from '../client/would-refuse.ts'

/**
 * What another address would come to; undefined is none. A sandbox may be set up to be as strict as live mode, which it
 * does not tell.
 * @throws {CliError} exit code 2 for an address that the service would refuse
 */
export async function effectOfSet(client: Client, url: string | undefined): Promise<string> {
  const problem = url === undefined ? undefined : await problemOf(client, url)
  if (problem !== undefined) {
    const fields = [{ path: 'webhook_url', ...problem }]
    throw wouldRefuse(client, putWebhookEndpoint, {
      input: { body: { webhook_url: url ?? null } },
      refusal: { code: 'VALIDATION_FAILED', status: 400, message: `webhook_url: ${problem.message}`, fields },
    })
  }
  const { webhook_url: before, paused } = (await call(client, getWebhookEndpoint, {})).body
  if (url === undefined) return before === null ? NOTHING : `this would remove ${before}: events are sent nowhere then`
  const still = paused ? '; it stays paused' : ''
  if (before === null) return `this would send events to ${url}${still}`
  return before === url ? NOTHING : `this would send events to ${url}, and no more to ${before}${still}`
}

/** The service says which rules are its own; what breaks both kinds needs no answer of it. */
async function problemOf(client: Client, url: string): Promise<UrlProblem | undefined> {
  return (
    webhookUrlProblem(url, { allowPrivate: true }) ??
    ((await isLive(client)) ? webhookUrlProblem(url, { allowPrivate: false }) : undefined)
  )
}

const NOTHING = 'this would change nothing'

/** What a pause, or its end, would come to. @throws {CliError} exit code 7 where there is none */
export async function effectOfPause(client: Client, paused: boolean): Promise<string> {
  const { webhook_url: url, paused: isPaused } = (await call(client, getWebhookEndpoint, {})).body
  if (url === null) {
    throw wouldRefuse(client, putWebhookEndpoint, {
      input: { body: { paused } },
      refusal: { code: 'WEBHOOK_ENDPOINT_NOT_SET', status: 409, message: 'no webhook endpoint is set' },
    })
  }
  if (isPaused === paused) return NOTHING
  return paused
    ? `this would pause ${url}: events wait until it is resumed`
    : `this would resume ${url}: what has waited is sent`
}
