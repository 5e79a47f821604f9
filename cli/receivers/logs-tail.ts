import { z } from 'zod'
import type { StreamedEvent } from '../../src/wire/console.ts'
import { whoIs } from '../client/auth/who-is.ts'
import type { Client } from '../client/call.ts'
import { durationOf } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { exitOfSignal } from '../base/exit-codes.ts'
import { findMerchant } from '../merchants/find.ts'
import { eventFilter } from './listen/filter.ts'
import type { EventFilter } from './listen/filter.ts'
import { checkPlace } from './listen/place.ts'
import { followStream } from '../client/event-stream.ts'
import type { StreamFrame } from '../client/event-stream.ts'
import { printable } from '../base/text.ts'
import { TIMER_MAX_MS } from '../base/times.ts'
import { onStopSignals } from '../base/signals.ts'

export const TailOptions = z.object({
  event: z.string().optional(),
  merchant: z.string().optional(),
  cursor: z.string(),
  platform: z.boolean().default(false),
  timeout: z.string().optional(),
})
type TailOptions = z.infer<typeof TailOptions>

/** `svc logs tail`: a line for each event, until it is stopped. */
export async function tail(context: Context, { options }: CommandInput<TailOptions>): Promise<CommandResult> {
  const { event, timeout } = options
  const wants = event === undefined ? () => true : eventFilter(event, '--event')
  checkPlace(options.cursor, ['latest'])
  const timeoutMs = timeout === undefined ? undefined : Math.min(durationOf(timeout, '--timeout'), TIMER_MAX_MS)
  const stop = new AbortController()
  const removeHandlers = onStopSignals((why) => stop.abort(why))
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => stop.abort('timeout'), timeoutMs)
  try {
    const cursor = await follow(context, { options, wants, stop })
    if (cursor !== undefined) context.note(`To go on from here: svc logs tail --cursor ${cursor}`)
    return endOf(stop.signal.reason)
  } finally {
    clearTimeout(timer)
    removeHandlers()
  }
}

function endOf(why: unknown): CommandResult {
  return why === 'SIGINT' || why === 'SIGTERM' || why === 'SIGHUP' ? exitOfSignal(why) : undefined
}

type Following = { options: TailOptions; wants: EventFilter; stop: AbortController }

/** Answers the cursor behind the last event. */
async function follow(context: Context, { options, wants, stop }: Following): Promise<string | undefined> {
  const client = context.client()
  const { merchant, cursor: since, platform } = options
  // Only operators have merchants to choose from.
  const isOperator = platform || merchant !== undefined
  const merchantId = merchant === undefined ? undefined : (await findMerchant(client, [merchant])).merchant.id
  await tellWhat(context, client, options)
  let cursor: string | undefined
  let isLost = false
  await followStream(client, {
    lastEventId: since === 'latest' ? undefined : since,
    access: isOperator ? ['platform'] : ['merchant', 'platform'],
    signal: stop.signal,
    onOpen(place) {
      cursor ??= place
      if (isLost) context.note(`${client.apiUrl} answers again`)
      isLost = false
    },
    onLost(error) {
      isLost = true
      context.note(`${error.message}; going on once it answers, and no event is lost`)
    },
    onFrame(frame: StreamFrame) {
      if (frame.event !== 'event') return
      cursor = frame.id
      if (!wants(frame.data.event_type) || (merchantId ?? frame.data.merchant_id) !== frame.data.merchant_id) return
      printEvent(context, frame)
      if (context.io.stdout.isGone === true) stop.abort('unread')
    },
  })
  return cursor
}

/** Nothing may happen for a long time: what is waited for is said at once. Where the service is away, that is told next. */
async function tellWhat({ note }: Context, client: Client, { merchant, platform, event }: TailOptions): Promise<void> {
  const isOperator = platform || merchant !== undefined
  const who = await whoIs(client, isOperator ? ['platform'] : ['merchant', 'platform']).catch(() => undefined)
  const all = who?.kind === 'merchant' ? (who.merchant?.trading_name ?? 'your merchant') : 'all merchants'
  const which = event === undefined ? 'events' : `events ${event}`
  const as = who === undefined ? '' : `, as ${printable(who.name)}`
  note(`Following ${which} of ${printable(merchant ?? all)} at ${client.apiUrl}${as}; Ctrl+C ends`)
}

function printEvent({ io, print }: Context, { id, data }: { id: string; data: StreamedEvent }): void {
  if (print.isMachine) return print.record({ item: { cursor: id, ...data }, id: data.event_id, lines: [] })
  const cells = [
    print.paint('dim', data.created_at.slice(11, 19)),
    printable(data.event_type).padEnd(EVENT_WIDTH),
    data.payment_id ?? data.event_id,
    data.realm_slug === null ? '' : printable(data.realm_slug),
  ]
  io.stdout.write(`${cells.join('  ').trimEnd()}\n`)
}

const EVENT_WIDTH = 'payment.partially_refunded'.length
