import type { Command } from 'commander'
import { z } from 'zod'
import { getAuditEntry } from '../../src/wire/audit.ts'
import type { OperatorAction } from '../../src/wire/audit.ts'
import { call } from '../client/call.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'
import type { Paint } from '../base/io.ts'
import { actorText } from '../base/role-text.ts'
import { printable, shortTime } from '../base/text.ts'
import { subjectText } from './view.ts'

/** `svc audit show`: one action with all that it changed. */
export function addShow(audit: Command, runtime: Runtime): void {
  audit
    .command('show')
    .argument('<ordinal>', 'Its number, from svc audit list')
    .description('Show an operator action and what it changed')
    .addHelpText('after', '\nExamples:\n  svc audit show 412\n  svc audit show 412 -q after\n')
    .action(action(runtime, z.object({}), show))
}

async function show(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const [ordinal = ''] = args
  const { body: entry } = await call(context.client(), getAuditEntry, { params: { ordinal } })
  printOperatorAction(context, entry)
  return undefined
}

/** One action: who, when, why, and what it was before and after. */
export function printOperatorAction({ print }: Pick<Context, 'print'>, entry: OperatorAction): void {
  const diff = diffLines(entry, print.paint)
  print.record({
    item: entry,
    lines: [
      ['Ordinal', entry.ordinal],
      ['Action', entry.action],
      ['To', subjectText(entry)],
      ['Subject', entry.subject_id],
      ['Merchant', entry.merchant_id ?? ''],
      ['Who', actorText(entry)],
      ['Their id', entry.actor_id],
      ['When', shortTime(entry.created_at)],
      ['Why', entry.reason ?? ''],
      ['Hash', entry.action_hash],
    ],
    id: entry.ordinal,
    ...(diff.length === 0 ? {} : { after: diff.join('\n') }),
  })
}

/** What is other than it was, a line for what went and one for what came; what stayed has one of its own. */
function diffLines({ before, after }: Pick<OperatorAction, 'before' | 'after'>, paint: Paint): string[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return names.flatMap((name) => {
    const [was, is] = [lineOf(name, before), lineOf(name, after)]
    if (was === is) return [`  ${was}`]
    return [...(was === '' ? [] : [paint('red', `- ${was}`)]), ...(is === '' ? [] : [paint('green', `+ ${is}`)])]
  })
}

function lineOf(name: string, members: Readonly<Record<string, unknown>> | null): string {
  if (members === null || !Object.hasOwn(members, name)) return ''
  const value = members[name]
  return printable(`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
}
