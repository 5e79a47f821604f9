import { outcomeText } from '../../src/lib/outcome-text.ts'
import type { OperationInput } from '../../src/wire/operation.ts'
import { listWebhooks } from '../../src/wire/webhooks.ts'
import type { Delivery } from '../../src/wire/webhooks.ts'
import { endOfId, printable } from '../base/text.ts'
import { call } from '../client/call.ts'
import type { CommandResult, Context } from '../kit/context.ts'
import { follow } from '../kit/follow.ts'
import type { FollowOptions } from '../kit/follow.ts'
import { deliveryStyle, eventText } from './view.ts'

const PAUSE_MS = 2_000
// What the service lists at once; more than that between two looks, and some are not seen.
const LISTED = 50

type LastStatuses = Map<string, string>
type Query = NonNullable<OperationInput<typeof listWebhooks>['query']>

/** `svc webhooks list --follow`: each new delivery and each change of one, as they happen, the newest last. */
export async function followDeliveries(
  context: Context,
  { query, limit, options }: { query: Query; limit: string; options: FollowOptions },
): Promise<CommandResult> {
  const client = context.client()
  const seen: LastStatuses = new Map()
  let isFirst = true
  return follow(context, {
    options,
    pauseMs: PAUSE_MS,
    read: async () => (await call(client, listWebhooks, { query })).body.data.toReversed(),
    show(rows) {
      if (isFirst) printFirst(context, { rows, seen, count: Number.parseInt(limit, 10) })
      else printNews(context, rows, seen)
      isFirst = false
      return false
    },
  })
}

type First = { rows: readonly Delivery[]; seen: LastStatuses; count: number }

function printFirst(context: Context, { rows, seen, count }: First): void {
  for (const row of rows) seen.set(row.id, stateOf(row))
  for (const row of rows.slice(-count)) printLine(context, row, row.delivered_at ?? row.created_at)
}

/** Prints what is new among the rows, the oldest first, and remembers it. */
function printNews(context: Context, rows: readonly Delivery[], seen: LastStatuses): void {
  const news = rows.filter((row) => seen.get(row.id) !== stateOf(row))
  if (seen.size > 0 && rows.length === LISTED && rows.every(({ id }) => !seen.has(id)))
    context.note(`More than ${LISTED} deliveries since the last look: some are missing here`)
  for (const row of news) {
    seen.set(row.id, stateOf(row))
    printLine(context, row, timeOf(row))
  }
}

function stateOf({ status, attempt_count: count }: Delivery): string {
  return `${status} ${count}`
}

function printLine({ io, print }: Context, row: Delivery, at: string): void {
  if (print.isMachine) return print.record(row, [], { id: row.id })
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

/** When a change happened: of a failure the list says only that it was since the last look. */
function timeOf({ status, delivered_at: delivered, created_at: created }: Delivery): string {
  if (status === 'PENDING') return created
  return delivered ?? new Date().toISOString()
}

function attemptText({ attempt_count: count, status }: Delivery): string {
  if (count === 0) return ''
  return status === 'DELIVERED' && count === 1 ? '' : `attempt ${count}`
}
