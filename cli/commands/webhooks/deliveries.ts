import { z } from 'zod'
import { Delivery, DeliveryStatus, listWebhooks, replayWebhook } from '../../../src/wire/portal.ts'
import { call } from '../../client.ts'
import type { Client } from '../../client.ts'
import type { CommandInput, CommandResult, Context } from '../../context.ts'
import { CliError, reportError } from '../../errors.ts'
import type { ExitCode } from '../../exit-codes.ts'
import type { Style } from '../../io.ts'
import { resolveId } from '../../resolve-id.ts'
import { endOfId, minuteOf, shortTime } from '../../text.ts'
import { paymentId } from '../payments/read.ts'

export const ListOptions = z.object({ status: DeliveryStatus.optional(), payment: z.string().optional() })

export async function list(
  context: Context,
  { options }: CommandInput<z.infer<typeof ListOptions>>,
): Promise<CommandResult> {
  const client = context.client()
  const query = {
    ...(options.status === undefined ? {} : { status: options.status }),
    ...(options.payment === undefined ? {} : { payment_id: await paymentId(client, [options.payment]) }),
  }
  const { body } = await call(client, listWebhooks, { query })
  printDeliveries(context, body.data)
  return undefined
}

/** Replays one after the other. One that is refused does not keep the others from it; its exit code is the command's. */
export async function replay(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const client = context.client()
  const replayed: Delivery[] = []
  let result: ExitCode | undefined
  for (const given of args) {
    try {
      const id = await resolveId(given, 'delivery', () => newestIds(client))
      replayed.push((await call(client, replayWebhook, { params: { id } })).body)
    } catch (error) {
      if (!(error instanceof CliError)) throw error
      const exit = reportError(context.io, error, { json: context.json, color: 'auto' })
      result ??= exit
    }
  }
  if (replayed.length > 0) printDeliveries(context, replayed)
  return result
}

async function* newestIds(client: Client): AsyncGenerator<string> {
  const { body } = await call(client, listWebhooks, {})
  for (const delivery of body.data) yield delivery.id
}

function printDeliveries(context: Context, items: readonly Delivery[]): void {
  context.print.list({
    items,
    fields: Object.keys(Delivery.shape),
    columns: [
      { title: 'id', value: (row) => row.id, short: endOfId },
      { title: 'event', value: (row) => row.event_type },
      { title: 'status', value: (row) => row.status, style: deliveryStyle },
      { title: 'http', value: (row) => row.last_http_status?.toString() ?? '', align: 'right' },
      { title: 'attempts', value: (row) => String(row.attempt_count), align: 'right' },
      { title: 'next attempt', value: (row) => shortTime(row.next_retry_at), short: minuteOf, dropped: 2 },
      { title: 'created', value: (row) => shortTime(row.created_at), short: minuteOf, dropped: 1 },
      { title: 'last error', value: (row) => row.last_error ?? '', least: 16 },
    ],
    id: (row) => row.id,
    empty: 'There are no such deliveries.',
  })
}

function deliveryStyle(status: string): Style | undefined {
  if (status === 'DELIVERED') return 'green'
  return status === 'DEAD' ? 'red' : 'yellow'
}
