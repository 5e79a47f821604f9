import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { outcomeText } from '../../src/lib/outcome-text.ts'
import { listWebhooks } from '../../src/wire/webhooks.ts'
import type { Delivery } from '../../src/wire/webhooks.ts'
import { EventType } from '../../src/wire/webhook-events.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { durationOf } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { isPassing } from '../base/errors.ts'
import { exitOfSignal } from '../base/exit-codes.ts'
import { endOfId, printable } from '../base/text.ts'
import { onStopSignals } from '../base/signals.ts'
import { paymentId } from '../payments/find.ts'
import { deliveryStyle, eventText } from './view.ts'
import { TIMER_MAX_MS } from '../base/times.ts'

export const TailOptions = z.object({
  event: EventType.optional(),
  payment: z.string().optional(),
  lines: z.coerce.number('must be a number from 0 to 50').int().min(0).max(50),
  timeout: z.string().optional(),
})
type TailOptions = z.infer<typeof TailOptions>

const PAUSE_MS = 2_000
// What the service lists at once; more than that between two looks, and some are not seen.
const LISTED = 50

type Seen = Map<string, string>

/** `svc webhooks tail`: each new delivery and each change of one, as they happen, until it is stopped. */
export async function tail(context: Context, { options }: CommandInput<TailOptions>): Promise<CommandResult> {
  const { timeout } = options
  const timeoutMs = timeout === undefined ? undefined : Math.min(durationOf(timeout, '--timeout'), TIMER_MAX_MS)
  const stop = new AbortController()
  const removeHandlers = onStopSignals((why) => stop.abort(why))
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => stop.abort('timeout'), timeoutMs)
  try {
    await follow(context, options, stop.signal)
    return endOf(stop.signal.reason)
  } finally {
    clearTimeout(timer)
    removeHandlers()
  }
}

function endOf(why: unknown): CommandResult {
  return why === 'SIGINT' || why === 'SIGTERM' ? exitOfSignal(why) : undefined
}

async function follow(context: Context, options: TailOptions, signal: AbortSignal): Promise<void> {
  const client = context.client()
  const query = {
    ...(options.event === undefined ? {} : { event_type: options.event }),
    ...(options.payment === undefined ? {} : { payment_id: await paymentId(client, [options.payment]) }),
  }
  const read = async (): Promise<Delivery[]> => (await call(client, listWebhooks, { query })).body.data.toReversed()
  const seen: Seen = new Map()
  const first = await read()
  for (const delivery of first) seen.set(delivery.id, stateOf(delivery))
  // The newest alone, as with tail.
  for (const delivery of first.slice(Math.max(0, first.length - options.lines)))
    printLine(context, delivery, delivery.delivered_at ?? delivery.created_at)
  let isLost = false
  while (!signal.aborted && context.io.stdout.isGone !== true) {
    await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    const rows = await readAgain(context, client, read, isLost)
    isLost = rows === undefined
    if (rows !== undefined) printNews(context, rows, seen)
  }
}

/** One look; a service that is away for a while is waited for. */
async function readAgain(
  context: Context,
  client: Client,
  read: () => Promise<Delivery[]>,
  isLost: boolean,
): Promise<Delivery[] | undefined> {
  try {
    const rows = await read()
    if (isLost) context.note(`${client.apiUrl} answers again`)
    return rows
  } catch (error) {
    if (!isPassing(error)) throw error
    if (!isLost) context.note(`${error.message}; going on once it answers`)
    return undefined
  }
}

/** Prints what is new among the rows, the oldest first, and remembers it. */
function printNews(context: Context, rows: readonly Delivery[], seen: Seen): void {
  const news = rows.filter((row) => seen.get(row.id) !== stateOf(row))
  if (seen.size > 0 && rows.length === LISTED && rows.every(({ id }) => !seen.has(id)))
    context.note(`More than ${LISTED} deliveries since the last look: some are missing here`)
  for (const row of news) {
    seen.set(row.id, stateOf(row))
    printLine(context, row, timeOf(row))
  }
}

/** What a change of is worth a line. */
function stateOf({ status, attempt_count: count }: Delivery): string {
  return `${status} ${count}`
}

function printLine({ io, print }: Context, row: Delivery, at: string): void {
  if (print.isMachine) return print.record({ item: row, id: row.id, lines: [] })
  const { paint } = print
  const style = deliveryStyle(row.status)
  const status = row.status.padEnd('DELIVERED'.length)
  const answer =
    row.last_http_status === null
      ? row.last_error === null
        ? ''
        : outcomeText(row.last_error)
      : `HTTP ${row.last_http_status}`
  const cells = [
    paint('dim', at.slice(11, 19)),
    endOfId(row.id),
    style === undefined ? status : paint(style, status),
    eventText(row),
    attemptText(row),
    row.status === 'PENDING' ? '' : printable(answer),
  ]
  io.stdout.write(`${cells.filter((text) => text !== '').join('  ')}\n`)
}

/** When a change happened: the list tells the moment of a failure no closer than that it was since the last look. */
function timeOf({ status, delivered_at: delivered, created_at: created }: Delivery): string {
  if (status === 'PENDING') return created
  return delivered ?? new Date().toISOString()
}

function attemptText({ attempt_count: count, status }: Delivery): string {
  if (count === 0) return ''
  return status === 'DELIVERED' && count === 1 ? '' : `attempt ${count}`
}
