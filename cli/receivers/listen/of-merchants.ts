import type { StreamedEvent } from '../../../src/wire/console.ts'
import { printable } from '../../base/text.ts'
import type { Client } from '../../client/call.ts'
import { followStream } from '../../client/event-stream.ts'
import type { StreamFrame } from '../../client/event-stream.ts'
import type { Context } from '../../kit/context.ts'
import { findMerchant } from '../../merchants/find.ts'
import type { EventFilter } from '../target.ts'
import type { Tally } from './relay.ts'

type OfMerchants = {
  events: string | undefined
  wants: EventFilter
  merchant: string | undefined
  since: string
  tally: Tally
  signal: AbortSignal
  onUnread(): void
}

/** `svc listen --all-merchants`: the operators' stream, a line for each event, over restarts of the service. */
export async function followMerchants(context: Context, client: Client, of: OfMerchants): Promise<void> {
  const { events, merchant, since, wants, tally, signal, onUnread } = of
  const id = merchant === undefined ? undefined : (await findMerchant(client, merchant)).merchant.id
  // For a long time there may be no event, or the service may be away.
  const which = events === undefined ? 'events' : `events ${events}`
  context.note(`Listening for ${which} of ${printable(merchant ?? 'all merchants')} at ${client.apiUrl}; Ctrl+C ends`)
  let isLost = false
  await followStream(client, {
    lastEventId: since === 'latest' ? undefined : since,
    access: ['platform'],
    signal,
    onOpen(place) {
      tally.cursor ??= place ?? null
      if (isLost) context.note(`${client.apiUrl} answers again`)
      isLost = false
    },
    onLost(error) {
      isLost = true
      context.note(`${error.message}; continuing once it answers, and no event is lost`)
    },
    onFrame(frame: StreamFrame) {
      if (frame.event !== 'event') return
      tally.cursor = frame.id
      if (!wants(frame.data.event_type) || (id ?? frame.data.merchant_id) !== frame.data.merchant_id) return
      tally.events += 1
      printEvent(context, frame)
      if (context.io.stdout.isGone === true) onUnread()
    },
  })
}

function printEvent({ io, print }: Context, { id, data }: { id: string; data: StreamedEvent }): void {
  if (print.isMachine) return print.record({ cursor: id, ...data }, [], { id: data.event_id })
  const cells = [
    print.paint('dim', data.created_at.slice(11, 19)),
    printable(data.event_type).padEnd(EVENT_WIDTH),
    data.payment_id ?? data.event_id,
    data.realm_slug === null ? '' : printable(data.realm_slug),
  ]
  io.stdout.write(`${cells.join('  ').trimEnd()}\n`)
}

const EVENT_WIDTH = 'payment.partially_refunded'.length
