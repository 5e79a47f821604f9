import { Option } from 'commander'
import type { Command } from 'commander'
import { DisputeStatus } from '../../src/wire/dispute-fields.ts'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import { addAction, addActions } from '../kit/action-command.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { DataOption, forAllMerchants, subcommand } from '../kit/option-values.ts'
import { paged, withTimeRange } from '../kit/paging.ts'
import { DISPUTE_ACTIONS } from './actions.ts'
import { RAISE_ACTIONS } from './raise-actions.ts'
import { ListOptions, ShowOptions, list, show } from './read.ts'
import { dispute } from './subject.ts'
import { SHORT_STATUSES } from './view.ts'

/** `svc disputes`: what payers and merchants disagree about, and the operators who settle it (decisions 22 to 24). */
export function addDisputes(disputes: Command, runtime: Runtime): void {
  disputes.addHelpText(
    'after',
    '\nExamples:\n  svc disputes list --status OPEN\n  svc disputes show a2b4358c\n  svc disputes evidence a2b4358c --file proof.txt\n',
  )
  addList(disputes, runtime)
  forAllMerchants(disputes.command('show').argument(`<${dispute.noun}>`, dispute.summary))
    .description('Show a dispute, its statements and its timeline')
    .addHelpText('after', '\nExamples:\n  svc disputes show a2b4358c\n  svc disputes show a2b4358c -q status\n')
    .action(action(runtime, ShowOptions, show))
  addRaise(disputes, runtime)
  addActions(disputes, runtime, DISPUTE_ACTIONS)
}

function addList(disputes: Command, runtime: Runtime): void {
  const command = subcommand(disputes, 'list', 'List disputes, newest first')
  command
    .optionsGroup('Filters:')
    .addOption(statusOption())
    .option('--payment <id>', 'Filter by payment')
    .option('--merchant <merchant>', 'Filter by merchant, as an operator: its id, realm or client id')
  withTimeRange(forAllMerchants(command), 'Opened').addOption(
    new Option('--order <order>', 'Sort order (newest)').choices(['newest', 'oldest']),
  )
  paged(command)
    .addHelpText(
      'after',
      '\nExamples:\n  svc disputes list --status UNDER_REVIEW --order oldest\n  svc disputes list --payment a2b4358c\n  svc disputes list --merchant acme-ltd --since 30d -o csv\n',
    )
    .action(action(runtime, ListOptions, list))
}

function statusOption(): Option {
  const short = Object.keys(SHORT_STATUSES).join(' and ')
  return new DataOption('--status <status>', `Filter by status; also ${short}`)
    .choices(DisputeStatus.options)
    .alsoTaking(SHORT_STATUSES)
}

function addRaise(disputes: Command, runtime: Runtime): void {
  const { merchant, platform, payer } = RAISE_ACTIONS
  addAction(disputes, runtime, merchant, {
    async choose(context, { asPayer, asOperator }) {
      if (asPayer === true) return payer
      return (await meansAllMerchants(context.client(), asOperator === true)) ? platform : merchant
    },
  })
    .addOption(new DataOption('--as-payer', 'Act as the payer, in the sandbox').conflicts('asOperator'))
    .option('--as-operator', 'Act for the platform when signed in as both')
}
