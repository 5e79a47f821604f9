import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { PaymentEvent, listPaymentEvents } from '../../src/wire/payments.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { durationOf } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { isPassing, usageError } from '../base/errors.ts'
import { exitOfSignal } from '../base/exit-codes.ts'
import type { ExitCode } from '../base/exit-codes.ts'
import { TIMER_MAX_MS } from '../base/times.ts'
import { onStopSignals } from '../base/signals.ts'
import { STILL_POSSIBLE } from '../kit/wait.ts'
import { paymentId } from './find.ts'
import { statusStyle } from './view.ts'

type Event = z.infer<typeof PaymentEvent>

const PAUSE_MS = 1_000

export const EventsOptions = z.object({ follow: z.boolean().default(false), timeout: z.string().optional() })
type EventsInput = CommandInput<z.infer<typeof EventsOptions>>

/** `svc payments events`: each change of a payment; with `--follow` the next ones too, until none can come. */
export async function events(context: Context, { args, options }: EventsInput): Promise<CommandResult> {
  const { follow, timeout } = options
  if (timeout !== undefined && !follow) throw usageError('--timeout ends --follow, which is not there')
  const client = context.client()
  const id = await paymentId(client, args)
  if (!follow) {
    printAll(context, await read(client, id))
    return undefined
  }
  const timeoutMs = timeout === undefined ? undefined : Math.min(durationOf(timeout, '--timeout'), TIMER_MAX_MS)
  return followUntil(context, { client, id, timeoutMs })
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

type Following = { client: Client; id: string; timeoutMs: number | undefined }

async function followUntil(context: Context, { client, id, timeoutMs }: Following): Promise<ExitCode | undefined> {
  const stop = new AbortController()
  const removeHandlers = onStopSignals((signal) => stop.abort(signal))
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => stop.abort('timeout'), timeoutMs)
  try {
    await followEvents(context, { client, id, signal: stop.signal })
  } finally {
    clearTimeout(timer)
    removeHandlers()
  }
  const { reason } = stop.signal
  return reason === undefined || reason === 'timeout' ? undefined : exitOfSignal(reason)
}

/** Prints each event once. Nothing more can come of a payment that has failed or was refunded. */
async function followEvents(
  context: Context,
  { client, id, signal }: { client: Client; id: string; signal: AbortSignal },
): Promise<void> {
  let shown = 0
  let isLost = false
  while (!signal.aborted && context.io.stdout.isGone !== true) {
    try {
      const all = await read(client, id)
      if (isLost) context.note(`${client.apiUrl} answers again`)
      isLost = false
      for (const event of all.slice(shown)) printLine(context, event)
      shown = all.length
      const last = all.at(-1)
      if (last !== undefined && STILL_POSSIBLE[last.new_status].length === 0) return
    } catch (error) {
      if (!isPassing(error)) throw error
      if (!isLost) context.note(`${error.message}; going on once it answers`)
      isLost = true
    }
    await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined)
  }
}

function printLine({ io, print }: Context, event: Event): void {
  if (print.isMachine) return print.record({ item: event, id: event.id, lines: [] })
  const { paint } = print
  const status = paint(statusStyle(event.new_status) ?? 'bold', event.new_status)
  const from = event.previous_status === null ? '' : `${event.previous_status} to `
  io.stdout.write(`${paint('dim', event.created_at.slice(11, 23))}  ${from}${status}  by ${event.changed_by}\n`)
}
