import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { AdvanceTarget } from '../../src/wire/sandbox-faults.ts'
import { changing } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { FaultOptions, FaultsOptions, fault, faults, scenarios } from './bank-fault.ts'
import { AdvanceOptions, DecideOptions, advance, approve, cancel } from './payments.ts'
import { subcommand } from '../kit/option-values.ts'

const WHOSE = 'Merchant: its id, realm or client id (the demo merchant)'

/** The mock bank: what it does with payments, what goes wrong there, and its payers. */
export function addDial(sandbox: Command, runtime: Runtime): void {
  const bank = sandbox.command('bank').helpCommand(false).description('Simulate the bank and its payers')
  addFaults(bank, runtime)
  subcommand(bank, 'list', "List the bank's scenarios for payments")
    .addHelpText('after', '\nExamples:\n  svc sandbox bank list\n')
    .action(action(runtime, z.object({}), scenarios))
  deciding(subcommand(bank, 'approve', 'Approve a payment as its payer'))
    .addHelpText(
      'after',
      '\nExit code 3 if the payer had already cancelled at the bank.\n\nExamples:\n  svc sandbox bank approve a2b4358c\n  svc sandbox bank approve a2b4358c --no-return\n',
    )
    .action(action(runtime, DecideOptions, approve))
  deciding(subcommand(bank, 'cancel', 'Cancel a payment as its payer'))
    .addHelpText(
      'after',
      '\nExit code 3 if the payer had already approved at the bank.\n\nExamples:\n  svc sandbox bank cancel a2b4358c\n',
    )
    .action(action(runtime, DecideOptions, cancel))
  changing(subcommand(sandbox, 'advance', 'Move a test payment to a status'))
    .argument('[payment]', 'Payment id, or at least 8 characters of its start or end')
    .addOption(new Option('--to <status>', 'Target status').choices(AdvanceTarget.options).default('Settled'))
    .addHelpText(
      'after',
      '\nExit code 3 if the payment ends in another status.\n\nExamples:\n  svc sandbox advance a2b4358c\n  svc sandbox advance a2b4358c --to Refunded\n',
    )
    .action(action(runtime, AdvanceOptions, advance))
}

function addFaults(bank: Command, runtime: Runtime): void {
  changing(subcommand(bank, 'fault', 'Simulate bank failures for a merchant'))
    .option('--latency <duration>', 'Added latency of each bank response, such as 250ms or 3s')
    .option('--drop-callback <share>', 'Share of callbacks that are lost')
    .option('--duplicate <share>', 'Share of callbacks that arrive twice')
    .option('--unavailable <share>', 'Share of calls without a response; half of them take effect')
    .option('--fail-payout <share>', 'Share of payouts that the bank rejects')
    .option('--return-payout <share>', 'Share of payouts that come back after they were paid')
    .option('--seed <number>', 'Seed of the failures (1)')
    .option('--clear', 'Remove all simulated failures')
    .option('--merchant <merchant>', WHOSE)
    .addHelpText(
      'after',
      '\nExamples:\n  svc sandbox bank fault --latency 3s --drop-callback 20% --seed 7\n  svc sandbox bank fault --unavailable 30% --merchant acme-ltd\n  svc sandbox bank fault --clear\n',
    )
    .action(action(runtime, FaultOptions, fault))
  subcommand(bank, 'faults', 'Show the simulated bank failures of a merchant')
    .option('--merchant <merchant>', WHOSE)
    .addHelpText('after', '\nExamples:\n  svc sandbox bank faults\n')
    .action(action(runtime, FaultsOptions, faults))
}

function deciding(command: Command): Command {
  return changing(command)
    .argument('[payment]', 'Payment id, or at least 8 characters of its start or end')
    .option('--no-return', 'Stay at the bank, without the redirect back')
}
