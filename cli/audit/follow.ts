import type { z } from 'zod'
import { listAudit } from '../../src/wire/audit.ts'
import type { OperatorAction } from '../../src/wire/audit.ts'
import type { OperationInput } from '../../src/wire/operation.ts'
import { actorText } from '../base/role-text.ts'
import { printable, shortTime } from '../base/text.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { PAGE_SIZE_MAX, rowsOf } from '../client/pages.ts'
import type { CommandResult, Context } from '../kit/context.ts'
import { follow } from '../kit/follow.ts'
import type { FollowOptions } from '../kit/follow.ts'
import { changedText, subjectText } from './view.ts'

const POLL_MS = 2_000

/** More actions than this between two looks are not what a person follows; `svc audit list` has them. */
const PAGES_MAX = 10

type Query = NonNullable<OperationInput<typeof listAudit>['query']>

export async function followAudit(
  context: Context,
  { query, limit, options }: { query: Query; limit: string; options: z.infer<typeof FollowOptions> },
): Promise<CommandResult> {
  const client = context.client()
  let last: string | undefined
  return follow(context, {
    options,
    pauseMs: POLL_MS,
    async read() {
      if (last !== undefined) return newerThan(client, last, query)
      return (await call(client, listAudit, { query: { ...query, limit: Number.parseInt(limit, 10) } })).body.data
    },
    show(rows) {
      show(context, rows)
      last = rows[0]?.ordinal ?? last ?? '0'
      return false
    },
  })
}

async function newerThan(client: Client, ordinal: string, query: Query): Promise<OperatorAction[]> {
  const found: OperatorAction[] = []
  const read = rowsOf<OperatorAction>(
    async (page) => (await call(client, listAudit, { query: { ...query, ...page, limit: PAGE_SIZE_MAX } })).body,
    PAGES_MAX,
  )
  for await (const row of read) {
    if (BigInt(row.ordinal) <= BigInt(ordinal)) break
    found.push(row)
  }
  return found
}

function show({ io, print }: Context, newestFirst: readonly OperatorAction[]): void {
  for (const row of newestFirst.toReversed()) {
    if (print.isMachine) print.record({ item: row, lines: [], id: row.ordinal })
    else io.stdout.write(`${lineOf(row, print.paint)}\n`)
  }
}

function lineOf(row: OperatorAction, paint: Context['paint']): string {
  const { ordinal, action: name, reason, created_at: at } = row
  const told = [name, subjectText(row), changedText(row), actorText(row), reason ?? ''].filter((text) => text !== '')
  return `${paint('dim', `${ordinal.padStart(5)}  ${shortTime(at)}`)}  ${printable(told.join('  '))}`
}
