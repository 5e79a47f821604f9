import type { z } from 'zod'
import { PaymentEvent, listPaymentEvents } from '../../src/wire/payments.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { follow, followTime } from '../kit/follow.ts'
import type { FollowOptions } from '../kit/follow.ts'
import { STILL_POSSIBLE } from '../kit/wait.ts'
import { paymentId } from './find.ts'
import { statusStyle } from './view.ts'

type Event = z.infer<typeof PaymentEvent>

const PAUSE_MS = 1_000

type EventsInput = CommandInput<z.infer<typeof FollowOptions>>

/** `svc payments events`: each change of a payment; with `--follow` the next ones too, until none can come. */
export async function events(context: Context, { args, options }: EventsInput): Promise<CommandResult> {
  followTime(options)
  const client = context.client()
  const id = await paymentId(client, args)
  if (!options.follow) {
    printAll(context, await read(client, id))
    return undefined
  }
  let shown = 0
  return follow(context, {
    options,
    pauseMs: PAUSE_MS,
    read: () => read(client, id),
    show(all) {
      for (const event of all.slice(shown)) printLine(context, event)
      shown = all.length
      const last = all.at(-1)
      // Nothing more can come of a payment that has failed or was refunded.
      return last !== undefined && STILL_POSSIBLE[last.new_status].length === 0
    },
  })
}

async function read(client: Client, id: string): Promise<Event[]> {
  return (await call(client, listPaymentEvents, { params: { id } })).body.data
}

function printAll({ print }: Context, items: readonly Event[]): void {
  print.list({
    items,
    fields: Object.keys(PaymentEvent.shape),
    columns: [
      { title: 'ordinal', value: (row) => row.ordinal, align: 'right' },
      { title: 'time', value: (row) => row.created_at, short: (time) => time.slice(11, 19) },
      { title: 'from', value: (row) => row.previous_status ?? '-' },
      { title: 'to', value: (row) => row.new_status, style: statusStyle },
      { title: 'by', value: (row) => row.changed_by },
      { title: 'event hash', value: (row) => row.event_hash.slice(0, 16), dropped: 1 },
    ],
    id: (row) => row.id,
    empty: 'There are no events.',
  })
}

function printLine({ io, print }: Context, event: Event): void {
  if (print.isMachine) return print.record({ item: event, id: event.id, lines: [] })
  const { paint } = print
  const status = paint(statusStyle(event.new_status) ?? 'bold', event.new_status)
  const from = event.previous_status === null ? '' : `${event.previous_status} to `
  io.stdout.write(`${paint('dim', event.created_at.slice(11, 23))}  ${from}${status}  by ${event.changed_by}\n`)
}
