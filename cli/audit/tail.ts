import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import { z } from 'zod'
import { listAudit } from '../../src/wire/audit.ts'
import type { OperatorAction } from '../../src/wire/audit.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'
import { isPassing } from '../base/errors.ts'
import { exitOfSignal } from '../base/exit-codes.ts'
import { LIMIT, PAGE_SIZE_MAX, rowsOf } from '../client/pages.ts'
import { actorText } from '../base/role-text.ts'
import { printable, shortTime } from '../base/text.ts'
import { onStopSignals } from '../base/signals.ts'
import { changedText, subjectText } from './view.ts'

const TailOptions = z.object({
  last: z.string().regex(LIMIT, 'must be a number from 1 to 100').transform(Number),
  follow: z.boolean(),
})
type TailOptions = z.infer<typeof TailOptions>

const POLL_MS = 2_000

/** More actions than this between two looks are not what a person follows; `svc audit list` has them. */
const PAGES_MAX = 10

/** `svc audit tail`: what operators do, as they do it. */
export function addTail(audit: Command, runtime: Runtime): void {
  audit
    .command('tail')
    .description('show what operators do as they do it, the newest last, until Ctrl+C')
    .option('--last <count>', 'begin with so many, 1 to 100', '10')
    .option('--no-follow', 'end after those')
    .addHelpText(
      'after',
      `\nExamples:\n  svc audit tail\n  svc audit tail -o jsonl | jq -r '.actor + " " + .action'\n  svc audit tail --last 20 --no-follow\n`,
    )
    .action(action(runtime, TailOptions, tail))
}

async function tail(context: Context, { options }: CommandInput<TailOptions>): Promise<CommandResult> {
  const client = context.client()
  const stop = new AbortController()
  const removeHandlers = onStopSignals((signal) => stop.abort(signal))
  try {
    const { body } = await call(client, listAudit, { query: { limit: options.last } })
    show(context, body.data)
    if (!options.follow) return undefined
    await follow(context, { client, since: body.data[0]?.ordinal ?? '0', signal: stop.signal })
  } finally {
    removeHandlers()
  }
  if (!stop.signal.aborted) return undefined
  return exitOfSignal(stop.signal.reason)
}

type Following = { client: Client; since: string; signal: AbortSignal }

/** Looks every two seconds, until the signal or until nobody reads any more; a service that is away is waited for. */
async function follow(context: Context, { client, since, signal }: Following): Promise<void> {
  let last = since
  let isLost = false
  while (!signal.aborted && context.io.stdout.isGone !== true) {
    await delay(POLL_MS, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    try {
      const rows = await newerThan(client, last)
      if (isLost) context.note('The service is back.')
      isLost = false
      show(context, rows)
      last = rows[0]?.ordinal ?? last
    } catch (error) {
      if (!isPassing(error)) throw error
      if (!isLost) context.note(`${error.message}; waiting for it`)
      isLost = true
    }
  }
}

/** The newest first, as the service lists them. */
async function newerThan(client: Client, ordinal: string): Promise<OperatorAction[]> {
  const found: OperatorAction[] = []
  const read = rowsOf<OperatorAction>(
    async (page) => (await call(client, listAudit, { query: { ...page, limit: PAGE_SIZE_MAX } })).body,
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
