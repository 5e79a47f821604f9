import type { FeedEvent } from '../../src/wire/feed.ts'
import { CliError, usageError } from '../base/errors.ts'
import { exitOfSignal } from '../base/exit-codes.ts'
import { onStopSignals } from '../base/signals.ts'
import { TIMER_MAX_MS } from '../base/times.ts'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import type { Client } from '../client/call.ts'
import type { Flags } from '../kit/action.ts'
import { command, grouped } from '../kit/command.ts'
import type { Input } from '../kit/command.ts'
import { durationOf } from '../kit/context.ts'
import type { CommandResult, Context } from '../kit/context.ts'
import { OF_MERCHANTS } from '../merchants/whose.ts'
import { findSecret } from '../webhooks/listen-secret.ts'
import { followMerchants } from './listen/of-merchants.ts'
import { relay } from './listen/relay.ts'
import type { Tally } from './listen/relay.ts'
import { LISTEN_STYLES, makeReport } from './listen/report.ts'
import { makeSender } from './send.ts'
import { eventFilter, headerPair, targetUrl } from './target.ts'
import type { EventFilter } from './target.ts'

type Plan = ReturnType<typeof planOf>

function planOf(context: Context, options: ListenOptions) {
  const events = options.events === undefined ? everything : eventFilter(options.events, '--events')
  const until = options.stopAfter === undefined ? nothing : eventFilter(options.stopAfter, '--stop-after')
  if (options.cursor === '') throw usageError('--cursor: latest, beginning, or a cursor of the feed', '--cursor latest')
  const url = options.forwardTo === undefined ? undefined : targetUrl(options.forwardTo)
  return {
    url,
    headers: options.addHeader.map(headerPair),
    skipVerify: options.skipVerify,
    since: options.cursor,
    // The event that ends it is always wanted.
    wants: (eventType: string) => events(eventType) || until(eventType),
    isLast: options.once ? everything : until,
    awaited: options.stopAfter ?? (options.once ? (options.events ?? 'event') : undefined),
    timeoutMs:
      options.timeout === undefined ? undefined : Math.min(durationOf(options.timeout, '--timeout'), TIMER_MAX_MS),
    timeout: options.timeout,
    printJson: options.printJson,
    report: makeReport(context, {
      style: options.outputStyle,
      printsData: options.printJson || context.print.isMachine,
      url,
    }),
  }
}

const everything: EventFilter = () => true
const nothing: EventFilter = () => false

type Stopped = NodeJS.Signals | 'timeout' | 'unread'

const FLAGS = {
  ...grouped('Which events:', {
    events: { value: 'names', summary: 'Filter by event: payment.settled,refund.*' },
    cursor: {
      value: 'place',
      summary: 'Start at latest, beginning, or a cursor of the feed',
      member: 'after',
      initial: 'latest',
    },
  }),
  ...grouped('Where to:', {
    forwardTo: { value: 'url', summary: 'Forward events to this URL; localhost:4242/hook is http' },
    addHeader: { short: '-H', value: 'name:value', summary: 'Additional header; may be repeated', repeats: true },
    skipVerify: { summary: 'Accept any TLS certificate' },
  }),
  ...grouped('How long:', {
    once: { summary: 'Stop after the first event', excludes: ['stopAfter'] },
    stopAfter: { value: 'event', summary: 'Stop after this event' },
    timeout: {
      value: 'duration',
      summary: 'Stop after this time, such as 30s; exit code 9 with --once or --stop-after',
    },
  }),
  ...OF_MERCHANTS,
  ...grouped('For scripts and people:', {
    printJson: { summary: 'Print payloads to standard output, one per line; all else to stderr' },
    outputStyle: {
      value: 'style',
      summary: 'Output style; quiet shows failures only',
      choices: LISTEN_STYLES,
      initial: 'interactive',
    },
  }),
} as const satisfies Flags
type ListenOptions = Input<typeof FLAGS>

export const listen = command({
  command: 'listen',
  summary: 'Print events as they happen, and forward them',
  details: `Events are read from the merchant's feed: its endpoint and its deliveries do not change. The bytes
and the signature arrive as the service made them, so the merchant's real secret verifies them. The events of a payment
arrive in order; an event that is not answered with 2xx is shown, and not sent again. With --once and --stop-after, exit
code 3 means that an answer was not 2xx, or that a signature was made with another secret than SVC_WEBHOOK_SECRET.

An operator sees the events of all merchants, or of one, without their bodies: they are printed, and not forwarded.`,
  examples: [
    'svc listen --forward-to localhost:4242/hook',
    'svc listen --forward-to localhost:4242/hook --stop-after payment.settled --timeout 30s',
    "svc listen --print-json --events 'payment.*' | jq .data.status",
    'svc listen --all-merchants --events payment.settled,refund.* -o jsonl',
  ],
  flags: FLAGS,
  async run(context, input) {
    const plan = planOf(context, input)
    const client = context.client()
    const isOfMerchants = await meansMerchants(client, input)
    const stop = new AbortController()
    const end = (why: Stopped): void => stop.abort(why)
    const removeHandlers = onStopSignals(end)
    const timer =
      plan.timeoutMs === undefined ? undefined : setTimeout(end, plan.timeoutMs, 'timeout' satisfies Stopped)
    const tally: Tally = { events: 0, answered: 0, failed: 0, cursor: null }
    const running = { plan, tally, signal: stop.signal, onUnread: () => end('unread') }
    try {
      if (isOfMerchants) {
        await followMerchants(context, client, {
          ...plan,
          ...running,
          events: input.events,
          merchant: input.merchant,
        })
        return stopped(plan, tally, stop.signal.reason)
      }
      const isFound = await run(context, client, running)
      return isFound ? verdict(plan, tally) : stopped(plan, tally, stop.signal.reason)
    } finally {
      clearTimeout(timer)
      removeHandlers()
    }
  },
})

/** Whether the operators' stream is meant, whose events have no body to send on or to check. @throws {CliError} exit code 2 */
async function meansMerchants(client: Client, options: ListenOptions): Promise<boolean> {
  const { forwardTo, addHeader, skipVerify, once, stopAfter, printJson } = options
  const needsBodies = [forwardTo, stopAfter].some((each) => each !== undefined) || addHeader.length > 0
  const isOwn = needsBodies || skipVerify || once || printJson
  const isNamed = options.allMerchants || options.merchant !== undefined
  if (isNamed && isOwn)
    throw usageError(
      "--all-merchants and --merchant print events, and go only with --events, --cursor and --timeout: a merchant's own are sent on",
      'svc listen --all-merchants',
    )
  return isNamed || (!isOwn && (await meansAllMerchants(client, false)))
}

type Run = { plan: Plan; tally: Tally; signal: AbortSignal; onUnread(): void }

async function run(context: Context, client: Client, { plan, tally, signal, onUnread }: Run): Promise<boolean> {
  const { report, url, headers, skipVerify } = plan
  const sender = url === undefined ? undefined : makeSender({ url, headers, skipVerify, signal })
  const secret = findSecret(context, client)
  report.hint(
    `Listening for events of ${client.credentials.merchant?.clientId ?? 'the merchant'} at ${client.apiUrl}${url === undefined ? '' : `, sending them on to ${url.href}`}`,
  )
  if (secret !== undefined) report.hint(`Signatures are checked with the secret of ${secret.source}`)
  try {
    return await relay(client, tally, {
      ...plan,
      sender,
      secret,
      signal,
      onReady: () => report.note('Ready'),
      printData(event) {
        printData(context, plan, event)
        if (context.io.stdout.isGone === true) onUnread()
      },
    })
  } finally {
    await sender?.close()
  }
}

function printData({ io, print }: Context, { printJson }: Plan, { payload, event_id: id }: FeedEvent): void {
  // Between the values of a JSON text a line end means as much as a space, and within them there is none.
  if (printJson) io.stdout.write(`${payload.replace(/[\r\n]+/g, ' ')}\n`)
  else if (print.isMachine) print.record(JSON.parse(payload), [], { id })
}

function verdict({ report, awaited, url }: Plan, tally: Tally): CommandResult {
  report.hint(summary(tally, url))
  if (tally.failed === 0) return undefined
  throw new CliError(
    'FORWARD_FAILED',
    `${awaited ?? 'the event'} came, but ${tally.failed} of ${tally.events} events had no 2xx answer or a wrong signature`,
    {
      hint: 'the lines of the failures above',
    },
  )
}

function stopped({ report, awaited, timeout, url }: Plan, tally: Tally, why: unknown): CommandResult {
  if (why === 'unread') return undefined
  report.note(summary(tally, url))
  if (why !== 'timeout') return exitOfSignal(why)
  if (awaited === undefined) return undefined
  throw new CliError('WAIT_TIMED_OUT', `no ${awaited} within ${timeout}`, {
    hint: 'svc webhooks list\nto wait longer: the same command with a longer --timeout',
    retryable: true,
  })
}

function summary({ events, answered, failed, cursor }: Tally, url: URL | undefined): string {
  const forwarded = url === undefined ? '' : `, ${answered} answered with 2xx, ${failed} failed`
  const onward = cursor === null ? '' : `; to continue from here: --cursor ${cursor}`
  return `Stopped after ${events} ${events === 1 ? 'event' : 'events'}${forwarded}${onward}`
}
