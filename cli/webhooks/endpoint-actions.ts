import { EventType } from '../../src/wire/webhook-events.ts'
import { getWebhookEndpoint, putWebhookEndpoint, testWebhook } from '../../src/wire/webhooks.ts'
import type { WebhookEndpoint } from '../../src/wire/webhooks.ts'
import { usageError, withFacts } from '../base/errors.ts'
import { endOfId } from '../base/text.ts'
import { ownSubject, action } from '../kit/action.ts'
import type { Subject } from '../kit/action.ts'
import { printPut } from './endpoint.ts'
import { printDelivery } from './view.ts'
import { waitForAttempt } from './wait.ts'

/** The address that the merchant's webhooks go to; null where there is none. */
const endpoint: Subject<WebhookEndpoint> = {
  ...ownSubject('endpoint', 'the endpoint', getWebhookEndpoint),
  name: ({ webhook_url: url }) => url ?? 'the endpoint',
  confirmBy: ({ webhook_url: url }) => [url],
}

const set = action({
  command: 'webhooks endpoint set',
  summary: 'Set or remove the endpoint',
  details: 'Checks whether the server of the new endpoint answers.',
  examples: ['svc webhooks endpoint set http://127.0.0.1:4242/hook', 'svc webhooks endpoint set --none'],
  subject: endpoint,
  flags: {
    url: { value: 'url', summary: 'URL that receives webhooks', member: 'webhook_url', positional: true },
    none: { summary: 'Remove the endpoint; events are kept and can be replayed' },
  },
  operation: putWebhookEndpoint,
  request: (_id, { url, none = false }) => {
    if ((url === undefined) === !none)
      throw usageError('give either an address or --none', 'svc webhooks endpoint set http://127.0.0.1:4242/hook')
    return { body: { webhook_url: url ?? null } }
  },
  effect: ({ webhook_url: before, paused }, { url }) => {
    if (url === undefined) return before === null ? 'change nothing' : `remove ${before}: events are sent nowhere then`
    if (before === url) return 'change nothing'
    return `send events to ${url}${before === null ? '' : `, and no more to ${before}`}${paused ? '; it stays paused' : ''}`
  },
  done: (_thing, { webhook_url: url }) => (url === null ? 'removed the endpoint' : `webhooks go to ${url}`),
  confirm: ({ none }, { webhook_url: url }) => none === true && url !== null,
  view: printPut,
})

const paused = (isPaused: boolean) => ({
  subject: endpoint,
  flags: {},
  operation: putWebhookEndpoint,
  request: () => ({ body: { paused: isPaused } }),
  view: printPut,
})

const pause = action({
  ...paused(true),
  command: 'webhooks endpoint pause',
  summary: 'Pause deliveries and queue events',
  examples: ['svc webhooks endpoint pause'],
  effect: ({ webhook_url: url }) => `pause ${url ?? 'the endpoint'}: events wait until it is resumed`,
  done: () => 'paused the endpoint',
})

const resume = action({
  ...paused(false),
  command: 'webhooks endpoint resume',
  summary: 'Resume deliveries, including queued events',
  examples: ['svc webhooks endpoint resume'],
  effect: ({ webhook_url: url }) => `resume ${url ?? 'the endpoint'}: what has waited is sent`,
  done: () => 'resumed the endpoint',
})

const test = action({
  command: 'webhooks test',
  summary: 'Send a signed test event to the endpoint',
  examples: ['svc webhooks test --wait', 'svc webhooks test --wait dispute.opened'],
  subject: undefined,
  flags: {
    event: {
      value: 'event',
      summary: 'Event type (payment.settled)',
      label: 'Event',
      member: 'event_type',
      positional: true,
      choices: EventType.options,
    },
  },
  operation: testWebhook,
  request: (_id, { event = 'payment.settled' }) => ({ body: { event_type: event } }),
  effect: (_thing, { event = 'payment.settled' }) => `send a made-up ${event}`,
  done: (_thing, { id }) => `sent the test ${endOfId(id)}`,
  key: { letter: 't', label: 'test event' },
  initial: () => ({ event: 'payment.settled' }),
  view(context, delivery) {
    printDelivery(context, { delivery, withPayload: false })
    if (!context.print.isMachine && delivery.status === 'PENDING')
      context.note(`Next: svc webhooks show ${delivery.id}; to wait for the answer: --wait`)
  },
  wait: {
    summary: 'Wait for the response; exit code 3 unless it is 2xx',
    async until({ client, reply: begun, timeoutMs }) {
      try {
        const { delivery, problem } = await waitForAttempt(client, begun, timeoutMs)
        return {
          reply: delivery,
          ...(problem === undefined ? {} : { problem: withFacts(problem, { delivery_id: begun.id }) }),
        }
      } catch (error) {
        throw withFacts(error, { delivery_id: begun.id })
      }
    },
  },
})

export const ENDPOINT_ACTIONS = [set, pause, resume] as const
export const TEST_ACTIONS = [test] as const
