import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { KybStatus, RECENT_DELIVERIES } from '../../src/wire/admin.ts'
import { changing, dangerous } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { ActiveOptions, RepairOptions, disable, enable, repair } from './change.ts'
import { ExportOptions, exportMerchants } from './export.ts'
import { ListOptions, show, list, registrations } from './read.ts'

export const MERCHANT = 'its id, the last 8 characters of that or more, its realm, or its client id'

/** The argument of every command that is about one merchant. */
export function aboutMerchant(command: Command): Command {
  return command.argument('<merchant>', MERCHANT)
}

/** The options of every list that comes in pages. */
export function paged(command: Command): Command {
  return command
    .optionsGroup('Paging:')
    .option('--limit <count>', 'how many, 1 to 100', '50')
    .option('--after, --cursor <cursor>', 'from here on, as the page before said')
    .option('--all', 'all pages')
}

/** `svc merchants`: what operators see of merchants, and whether they may work at all. */
export function addMerchants(merchants: Command, runtime: Runtime): void {
  merchants.addHelpText('after', '\nExamples:\n  svc merchants list --search acme\n  svc merchants show acme-ltd\n')
  addList(merchants, runtime)
  addExport(merchants, runtime)
  aboutMerchant(merchants.command('show'))
    .description('show a merchant, with the last things that operators did to it')
    .addHelpText('after', '\nExamples:\n  svc merchants show acme-ltd\n  svc merchants show a2b4358c -q kyb_status\n')
    .action(action(runtime, z.object({}), show))
  changing(aboutMerchant(merchants.command('enable')))
    .description('let a disabled merchant work again')
    .requiredOption('--reason <text>', 'why; it stands in the audit trail')
    .addHelpText('after', '\nExamples:\n  svc merchants enable acme-ltd --reason "contract renewed"\n')
    .action(action(runtime, ActiveOptions, enable))
  dangerous(aboutMerchant(merchants.command('disable')))
    .description('disable a merchant: its realm signs nobody in, and its tokens are refused')
    .requiredOption('--reason <text>', 'why; it stands in the audit trail')
    .addHelpText('after', '\nExamples:\n  svc merchants disable acme-ltd --reason "left us"\n')
    .action(action(runtime, ActiveOptions, disable))
  merchants
    .command('registrations')
    .description('list registrations that need a hand: half-made, without an administrator, or not invited')
    .addHelpText('after', '\nExamples:\n  svc merchants registrations\n')
    .action(action(runtime, z.object({}), registrations))
  addRepair(merchants, runtime)
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
      '\nExamples:\n  svc merchants list\n  svc merchants list --deliveries\n  svc m list --status PENDING --order oldest\n  svc m list --all -o csv > merchants.csv\n',
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

function addRepair(merchants: Command, runtime: Runtime): void {
  dangerous(merchants.command('repair'))
    .description('heal a registration or a merchant: its realm, its administrator, the invitation')
    .argument('<realm>', 'as svc merchants registrations and svc merchants list name it')
    .option('--rollback', 'take a half-made realm away instead, and free its name')
    .option('--admin-email <address>', 'make this the administrator, while no ADMIN has signed up')
    .option('--reason <text>', 'why; it stands in the audit trail')
    .addHelpText(
      'after',
      '\nExamples:\n  svc merchants repair acme-ltd\n  svc merchants repair acme-ltd --rollback\n  svc merchants repair acme-ltd --admin-email ada@acme.example\n',
    )
    .action(action(runtime, RepairOptions, repair))
}
