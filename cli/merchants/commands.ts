import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { KybStatus, RECENT_DELIVERIES } from '../../src/wire/admin.ts'
import { getFees } from '../../src/wire/fees.ts'
import { getLimits } from '../../src/wire/limits.ts'
import { call } from '../client/call.ts'
import { addActions } from '../kit/action-command.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime, InputOf } from '../kit/context.ts'
import { subcommand } from '../kit/option-values.ts'
import { paged, Paging } from '../kit/paging.ts'
import { ACTIVE_ACTIONS, KYB_ACTIONS } from './actions.ts'
import { printFees } from './fees-view.ts'
import { findMerchant } from './find.ts'
import { ExportOptions, ListOptions, exportMerchants, list, registrations, show, merchantsOf } from './read.ts'
import { REPAIR_ACTIONS, TERMS_ACTIONS } from './setup-actions.ts'
import { merchant as subject } from './subject.ts'
import { printLimits, printMerchants } from './view.ts'

export const MERCHANT = subject.summary

/** The argument of every command that is about one merchant. */
export function aboutMerchant(command: Command): Command {
  return command.argument('<merchant>', MERCHANT)
}

export function addMerchants(merchants: Command, runtime: Runtime): void {
  merchants.addHelpText('after', '\nExamples:\n  svc merchants list --search acme\n  svc merchants show acme-ltd\n')
  addList(merchants, runtime)
  addExport(merchants, runtime)
  aboutMerchant(subcommand(merchants, 'show', 'Show a merchant and its latest audit entries'))
    .addHelpText('after', '\nExamples:\n  svc merchants show acme-ltd\n  svc merchants show a2b4358c -q kyb_status\n')
    .action(action(runtime, z.object({}), show))
  subcommand(merchants, 'registrations', 'List incomplete registrations')
    .addHelpText(
      'after',
      '\nIncomplete means half-created, without an administrator, or not invited.\n\nExamples:\n  svc merchants registrations\n',
    )
    .action(action(runtime, z.object({}), registrations))
  addFees(merchants, runtime)
  addLimits(merchants, runtime)
  addActions(merchants, runtime, [...ACTIVE_ACTIONS, ...TERMS_ACTIONS, ...REPAIR_ACTIONS])
}

function merchantFilters(command: Command): Command {
  return command
    .optionsGroup('Filters:')
    .addOption(new Option('--status <status>', 'Filter by KYB status').choices(KybStatus.options))
    .option('--held', 'Show only held merchants')
    .option('--disabled', 'Show only disabled merchants')
    .option('--search <text>', 'Search in names and realms')
    .addOption(new Option('--order <order>', 'Sort order (newest)').choices(['newest', 'oldest']))
}

function addList(merchants: Command, runtime: Runtime): void {
  paged(merchantFilters(subcommand(merchants, 'list', 'List merchants, newest first')))
    .optionsGroup('Output:')
    .option('--deliveries', `Show how many of the newest ${RECENT_DELIVERIES} deliveries of each arrived`)
    .addHelpText(
      'after',
      '\nExamples:\n  svc merchants list\n  svc merchants list --deliveries\n  svc merchants list --status PENDING --order oldest\n  svc merchants list --all -o csv > merchants.csv\n',
    )
    .action(action(runtime, ListOptions, list))
}

function addExport(merchants: Command, runtime: Runtime): void {
  merchantFilters(subcommand(merchants, 'export', 'Export merchants as CSV or JSON'))
    .optionsGroup('Output:')
    .option('--file <path>', 'Output file, written once it is complete (- or none: standard output)')
    .option('--force', 'Overwrite an existing file')
    .addHelpText(
      'after',
      '\nExamples:\n  svc merchants export > merchants.csv\n  svc merchants export --status APPROVED -o jsonl --file merchants.jsonl\n',
    )
    .action(action(runtime, ExportOptions, exportMerchants))
}

function addFees(merchants: Command, runtime: Runtime): void {
  aboutMerchant(
    merchants.command('fees').helpCommand(false).description("Show and set a merchant's fees").command('show'),
  )
    .description("Show a merchant's fees and their changes")
    .addHelpText(
      'after',
      '\nExamples:\n  svc merchants fees show acme-ltd\n  svc merchants fees show acme-ltd -q history[0].changed_by\n',
    )
    .action(action(runtime, z.object({}), showFees))
}

function addLimits(merchants: Command, runtime: Runtime): void {
  aboutMerchant(
    merchants.command('limits').helpCommand(false).description("Show and set a merchant's limits").command('show'),
  )
    .description("Show a merchant's currencies and largest payment")
    .addHelpText('after', '\nExamples:\n  svc merchants limits show acme-ltd\n')
    .action(action(runtime, z.object({}), showLimits))
}

async function showLimits(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const client = context.client()
  const { merchant } = await findMerchant(client, args)
  const { body } = await call(client, getLimits, { params: { id: merchant.id } })
  printLimits(context, merchant, body)
}

async function showFees(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const client = context.client()
  const { merchant } = await findMerchant(client, args)
  const { body } = await call(client, getFees, { params: { id: merchant.id } })
  printFees(context, merchant, body)
}

const QueueOptions = Paging.extend({ status: KybStatus })

/** `svc kyb`: the same merchants as a queue of decisions (decision 19). */
export function addKyb(kyb: Command, runtime: Runtime): void {
  kyb.addHelpText('after', '\nExamples:\n  svc kyb list\n  svc kyb approve acme-ltd --reason "documents checked"\n')
  paged(
    subcommand(kyb, 'list', 'List merchants awaiting KYB review, oldest first').addOption(
      new Option('--status <status>', 'List merchants with this status instead')
        .choices(KybStatus.options)
        .default('PENDING'),
    ),
  )
    .addHelpText('after', '\nExamples:\n  svc kyb list\n  svc kyb list --status SUSPENDED\n  svc kyb list -o id\n')
    .action(action(runtime, QueueOptions, queue))
  aboutMerchant(subcommand(kyb, 'show', 'Show a merchant and its past KYB decisions'))
    .addHelpText('after', '\nExamples:\n  svc kyb show acme-ltd\n')
    .action(action(runtime, z.object({}), show))
  addActions(kyb, runtime, KYB_ACTIONS)
}

async function queue(context: Context, { options }: InputOf<typeof QueueOptions>): Promise<CommandResult> {
  const found = await merchantsOf(context.client(), { kyb_status: options.status, order: 'oldest' }, options)
  const empty = options.status === 'PENDING' ? 'No merchant waits for a decision.' : 'There are no such merchants.'
  printMerchants(context, { ...found, empty })
}
