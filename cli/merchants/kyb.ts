import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { KybStatus } from '../../src/wire/admin.ts'
import { addActions } from '../kit/action-command.ts'
import { action } from '../kit/context.ts'
import type { CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { KYB_ACTIONS } from './actions.ts'
import { aboutMerchant } from './commands.ts'
import { show, merchantsOf } from './read.ts'
import { printMerchants } from './view.ts'
import { Paging, paged } from '../kit/paging.ts'
import { subcommand } from '../kit/option-values.ts'

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
