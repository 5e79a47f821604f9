import { getWebhookEndpoint, listWebhooks } from '../../src/wire/webhooks.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { Context } from '../kit/context.ts'
import { CliError } from '../base/errors.ts'
import { warn } from '../kit/warn.ts'

/** How many deliveries a list of the service has at most. */
const LIST_MAX = 50

/**
 * Below a list that can't say why nothing moves: that the endpoint is paused. With JSON nobody reads it. The list stands
 * already, so that a question without an answer is no failure.
 */
export async function warnIfPaused(context: Context, client: Client): Promise<void> {
  if (context.json) return
  try {
    const { body } = await call(client, getWebhookEndpoint, {})
    if (body.paused) await warnOfPause(context, client)
  } catch (error) {
    if (!(error instanceof CliError)) throw error
  }
}

/** Says what waits for an endpoint that is paused, and what lets it go. */
export async function warnOfPause(context: Context, client: Client): Promise<void> {
  if (context.json) return
  warn(context, `the endpoint is paused; ${await waitingText(client)}`, 'svc webhooks endpoint resume')
}

async function waitingText(client: Client): Promise<string> {
  const lists = await Promise.all([waiting(client, 'PENDING'), waiting(client, 'FAILED')])
  const count = lists.reduce((sum, list) => sum + list.count, 0)
  if (lists.some(({ isFull }) => isFull)) return `${count} or more events wait`
  return count === 0 ? 'no event waits yet' : `${count} event${count === 1 ? ' waits' : 's wait'}`
}

async function waiting(client: Client, status: 'PENDING' | 'FAILED'): Promise<{ count: number; isFull: boolean }> {
  const { body } = await call(client, listWebhooks, { query: { status } })
  const held = body.data.filter(({ next_retry_at: next }) => next === null)
  return { count: held.length, isFull: held.length >= LIST_MAX }
}
