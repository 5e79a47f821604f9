import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { DisputeReason, DisputeStatus } from '../../src/wire/disputes.ts'
import { changing, dangerous } from '../kit/change.ts'
import { DataOption } from '../kit/option-values.ts'
import { action } from '../kit/context.ts'
import { withTimeRange } from '../kit/time-range.ts'
import type { Runtime } from '../kit/context.ts'
import { EscalateOptions, RaiseOptions, ResolveOptions, escalate, raise, resolve } from './change.ts'
import { AdminListOptions, list, show } from './read.ts'
import { SHORT_STATUSES } from './view.ts'
import { paged } from '../kit/paging.ts'

const DISPUTE = "the dispute's id, or its last 8 characters or more"

/** The argument of every command that is about one dispute. */
export function aboutDispute(command: Command): Command {
  return command.argument('<dispute>', DISPUTE)
}

/** The filters that lists of disputes share. */
export function disputeFilters(command: Command): Command {
  command.optionsGroup('Filters:').addOption(statusOption()).option('--payment <id>', 'only about this payment')
  return withTimeRange(command, 'opened').addOption(
    new Option('--order <order>', 'which come first (newest)').choices(['newest', 'oldest']),
  )
}

function statusOption(): Option {
  const short = Object.keys(SHORT_STATUSES).join(' and ')
  return new DataOption('--status <status>', `only in this status; ${short} also as short`)
    .choices(DisputeStatus.options)
    .alsoTaking(SHORT_STATUSES)
}

/** Why, and in whose words: of everything that opens a dispute. */
export function raising(command: Command): Command {
  return command
    .argument('<payment>', "the payment's id, or its last 8 characters or more")
    .addOption(new Option('--reason <reason>', 'what is wrong').choices(DisputeReason.options).makeOptionMandatory())
    .optionsGroup('In your words:')
    .option('--statement <words>', 'what happened')
    .option('--file <path>', 'the same from a file; - is standard input')
    .option('--edit', 'the same, written in your editor (VISUAL, EDITOR)')
}

/** `svc disputes`: what payers and merchants disagree about, for the operators who settle it (decisions 22 to 24). */
export function addDisputes(disputes: Command, runtime: Runtime): void {
  disputes.addHelpText(
    'after',
    '\nExamples:\n  svc disputes list --status UNDER_REVIEW\n  svc disputes show a2b4358c\n',
  )
  paged(
    disputeFilters(disputes.command('list').description('list disputes, the newest first')).option(
      '--merchant <merchant>',
      'only of this one: its id, realm or client id',
    ),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  svc disputes list --status UNDER_REVIEW --order oldest\n  svc disputes list --merchant acme-ltd --since 30d -o csv\n',
    )
    .action(action(runtime, AdminListOptions, list))
  aboutDispute(disputes.command('show'))
    .description('show a dispute: what each side says, and what has happened to it')
    .addHelpText('after', '\nExamples:\n  svc disputes show a2b4358c\n  svc disputes show a2b4358c -q status\n')
    .action(action(runtime, z.object({}), show))
  changing(raising(disputes.command('raise')))
    .description('dispute a settled or refunded payment for the platform')
    .addHelpText(
      'after',
      '\nExamples:\n  svc disputes raise a2b4358c --reason UNAUTHORISED --statement "reported as fraud by the bank"\n  svc disputes raise a2b4358c --reason OTHER --file report.txt\n',
    )
    .action(action(runtime, RaiseOptions, raise))
  addDecisions(disputes, runtime)
}

function addDecisions(disputes: Command, runtime: Runtime): void {
  changing(aboutDispute(disputes.command('escalate')))
    .description('escalate a dispute: an OWNER alone resolves it then')
    .requiredOption('--reason <text>', 'why; it stands in the audit trail')
    .option('--assignee <name>', 'who is to look at it: a note for people, held against no list of staff')
    .addHelpText(
      'after',
      '\nExamples:\n  svc disputes escalate a2b4358c --reason "a pattern of fraud" --assignee grace@pay.example\n',
    )
    .action(action(runtime, EscalateOptions, escalate))
  dangerous(aboutDispute(disputes.command('resolve')))
    .description(
      "resolve a dispute in the merchant's or the payer's favour; or order a refund again that the bank refused",
    )
    .addOption(new Option('--favour <side>', 'who is right').choices(['merchant', 'payer']).makeOptionMandatory())
    .requiredOption('--note <text>', 'why; both sides read it, and it stands in the audit trail')
    .option('--refund', 'give the payer back what is left of the payment')
    .addHelpText(
      'after',
      '\nExamples:\n  svc disputes resolve a2b4358c --favour merchant --note "delivered and signed for"\n  svc disputes resolve a2b4358c --favour payer --note "never sent" --refund --dry-run\n',
    )
    .action(action(runtime, ResolveOptions, resolve))
}
