import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { KybStatus, RECENT_DELIVERIES } from '../../src/wire/admin.ts'
import { getFees } from '../../src/wire/fees.ts'
import { call } from '../client/call.ts'
import { addActions } from '../kit/action-command.ts'
import { action } from '../kit/context.ts'
import { paged } from '../kit/paging.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'
import { ACTIVE_ACTIONS } from './actions.ts'
import { ExportOptions, exportMerchants } from './export.ts'
import { printFees } from './fees-view.ts'
import { findMerchant } from './find.ts'
import { ListOptions, show, list, registrations } from './read.ts'
import { FEE_ACTIONS, REPAIR_ACTIONS } from './setup-actions.ts'
import { merchant as subject } from './subject.ts'

export const MERCHANT = subject.summary

/** The argument of every command that is about one merchant. */
export function aboutMerchant(command: Command): Command {
  return command.argument('<merchant>', MERCHANT)
}

export function addMerchants(merchants: Command, runtime: Runtime): void {
  merchants.addHelpText('after', '\nExamples:\n  svc merchants list --search acme\n  svc merchants show acme-ltd\n')
  addList(merchants, runtime)
  addExport(merchants, runtime)
  aboutMerchant(merchants.command('show'))
    .description('show a merchant, with the last things that operators did to it')
    .addHelpText('after', '\nExamples:\n  svc merchants show acme-ltd\n  svc merchants show a2b4358c -q kyb_status\n')
    .action(action(runtime, z.object({}), show))
  merchants
    .command('registrations')
    .description('list registrations that need a hand: half-made, without an administrator, or not invited')
    .addHelpText('after', '\nExamples:\n  svc merchants registrations\n')
    .action(action(runtime, z.object({}), registrations))
  addFees(merchants, runtime)
  addActions(merchants, runtime, [...ACTIVE_ACTIONS, ...FEE_ACTIONS, ...REPAIR_ACTIONS])
}

function merchantFilters(command: Command): Command {
  return command
    .optionsGroup('Filters:')
    .addOption(new Option('--status <status>', 'only with this KYB status').choices(KybStatus.options))
    .option('--held', 'only those that are held: their payouts and new payments')
    .option('--disabled', 'only those that are disabled')
    .option('--search <text>', 'only those with this in their name or realm')
    .addOption(new Option('--order <order>', 'which come first (newest)').choices(['newest', 'oldest']))
}

function addList(merchants: Command, runtime: Runtime): void {
  paged(merchantFilters(merchants.command('list').description('list merchants, the newest first')))
    .optionsGroup('Output:')
    .option('--deliveries', `tell how many of the newest ${RECENT_DELIVERIES} deliveries of each arrived`)
    .addHelpText(
      'after',
      '\nExamples:\n  svc merchants list\n  svc merchants list --deliveries\n  svc merchants list --status PENDING --order oldest\n  svc merchants list --all -o csv > merchants.csv\n',
    )
    .action(action(runtime, ListOptions, list))
}

function addExport(merchants: Command, runtime: Runtime): void {
  merchantFilters(
    merchants
      .command('export')
      .description('write all merchants page by page, as CSV (RFC 4180) or with -o json or jsonl'),
  )
    .optionsGroup('Output:')
    .option('--file <path>', 'write here; the file is there only once it is whole (standard output, which - is too)')
    .option('--force', 'replace the file where there is one')
    .addHelpText(
      'after',
      '\nExamples:\n  svc merchants export > merchants.csv\n  svc merchants export --status APPROVED -o jsonl --file merchants.jsonl\n',
    )
    .action(action(runtime, ExportOptions, exportMerchants))
}

function addFees(merchants: Command, runtime: Runtime): void {
  aboutMerchant(
    merchants
      .command('fees')
      .helpCommand(false)
      .description('show and set what a merchant pays for its payments')
      .command('show'),
  )
    .description("show a merchant's fees, with their changes")
    .addHelpText(
      'after',
      '\nExamples:\n  svc merchants fees show acme-ltd\n  svc merchants fees show acme-ltd -q history[0].changed_by\n',
    )
    .action(action(runtime, z.object({}), showFees))
}

async function showFees(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const client = context.client()
  const { merchant } = await findMerchant(client, args)
  const { body } = await call(client, getFees, { params: { id: merchant.id } })
  printFees(context, merchant, body)
  return undefined
}
