import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { KybStatus } from '../../src/wire/admin.ts'
import { changing, dangerous } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'
import { DecideOptions, decide } from './kyb-decide.ts'
import { aboutMerchant, paged } from './commands.ts'
import { Paging, show, merchantsOf } from './read.ts'
import { printMerchants } from './view.ts'

const QueueOptions = Paging.extend({ status: KybStatus })

/** `svc kyb`: the same merchants as a queue of decisions (decision 19). */
export function addKyb(kyb: Command, runtime: Runtime): void {
  kyb.addHelpText('after', '\nExamples:\n  svc kyb list\n  svc kyb approve acme-ltd --reason "documents checked"\n')
  paged(
    kyb
      .command('list')
      .description('list merchants that wait for a decision, the oldest first')
      .addOption(
        new Option('--status <status>', 'those of another status').choices(KybStatus.options).default('PENDING'),
      ),
  )
    .addHelpText('after', '\nExamples:\n  svc kyb list\n  svc kyb list --status SUSPENDED\n  svc kyb list -o id\n')
    .action(action(runtime, QueueOptions, queue))
  aboutMerchant(kyb.command('show'))
    .description('show a merchant, with what was decided before')
    .addHelpText('after', '\nExamples:\n  svc kyb show acme-ltd\n')
    .action(action(runtime, z.object({}), show))
  addDecisions(kyb, runtime)
}

function addDecisions(kyb: Command, runtime: Runtime): void {
  const withReason = (command: Command): Command =>
    aboutMerchant(command).requiredOption('--reason <text>', 'why; it stands in the audit trail')
  changing(withReason(kyb.command('approve')))
    .description('approve a merchant that waits: from now on it can create payments')
    .addHelpText('after', '\nExamples:\n  svc kyb approve acme-ltd --reason "documents checked"\n')
    .action(action(runtime, DecideOptions, decide('approve')))
  dangerous(withReason(kyb.command('refuse')))
    .description('refuse a merchant that waits')
    .addHelpText('after', '\nExamples:\n  svc kyb refuse acme-ltd --reason "company not found in the register"\n')
    .action(action(runtime, DecideOptions, decide('refuse')))
  dangerous(withReason(kyb.command('suspend')))
    .description('suspend an approved merchant: no new payments, while refunds and reads go on')
    .addHelpText('after', '\nExamples:\n  svc kyb suspend acme-ltd --reason "chargebacks"\n')
    .action(action(runtime, DecideOptions, decide('suspend')))
  changing(withReason(kyb.command('reinstate')))
    .description('approve a refused or suspended merchant after all')
    .addHelpText('after', '\nExamples:\n  svc kyb reinstate acme-ltd --reason "documents arrived"\n')
    .action(action(runtime, DecideOptions, decide('reinstate')))
}

async function queue(
  context: Context,
  { options }: CommandInput<z.infer<typeof QueueOptions>>,
): Promise<CommandResult> {
  const found = await merchantsOf(context.client(), { kyb_status: options.status, order: 'oldest' }, options)
  const empty = options.status === 'PENDING' ? 'No merchant waits for a decision.' : 'There are no such merchants.'
  printMerchants(context, { ...found, empty })
  return undefined
}
