import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { AdvanceTarget } from '../../src/wire/sandbox-faults.ts'
import { changing } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { FaultOptions, FaultsOptions, fault, faults, scenarios } from './bank-fault.ts'
import { AdvanceOptions, DecideOptions, advance, approve, cancel } from './payments.ts'

const WHOSE = 'for whom: its id, realm or client id (the demo merchant)'

/** The mock bank: what it does with payments, what goes wrong there, and its payers. */
export function addDial(sandbox: Command, runtime: Runtime): void {
  const bank = sandbox.command('bank').helpCommand(false).description('be the mock bank, and the payer at it')
  addFaults(bank, runtime)
  bank
    .command('list')
    .description('list what the bank can do with a payment, by the names of its scenarios')
    .addHelpText('after', '\nExamples:\n  svc sandbox bank list\n')
    .action(action(runtime, z.object({}), scenarios))
  deciding(bank.command('approve'))
    .description('approve a payment as its payer, and come back; exit code 3 when it was cancelled there before')
    .addHelpText(
      'after',
      '\nExamples:\n  svc sandbox bank approve a2b4358c\n  svc sandbox bank approve a2b4358c --no-return\n',
    )
    .action(action(runtime, DecideOptions, approve))
  deciding(bank.command('cancel'))
    .description('cancel a payment as its payer, and come back; exit code 3 when it was approved there before')
    .addHelpText('after', '\nExamples:\n  svc sandbox bank cancel a2b4358c\n')
    .action(action(runtime, DecideOptions, cancel))
  changing(sandbox.command('advance'))
    .description('lead a payment to a status as its payer and its bank would; exit code 3 when it ends elsewhere')
    .argument('[payment]', 'its id, or 8 characters or more from its beginning or end')
    .addOption(new Option('--to <status>', 'where to').choices(AdvanceTarget.options).default('Settled'))
    .addHelpText('after', '\nExamples:\n  svc sandbox advance a2b4358c\n  svc sandbox advance a2b4358c --to Refunded\n')
    .action(action(runtime, AdvanceOptions, advance))
}

function addFaults(bank: Command, runtime: Runtime): void {
  changing(bank.command('fault'))
    .description('let things go wrong at the bank for one merchant; what is not named does not')
    .option('--latency <duration>', 'before each answer of the bank, such as 250ms or 3s')
    .option('--drop-callback <share>', 'callbacks that get lost; the bank then reports every decision by itself')
    .option('--duplicate <share>', 'callbacks that come twice; likewise')
    .option('--unavailable <share>', 'calls that get no answer; half of them are carried out all the same')
    .option('--seed <number>', 'what is hit follows from it (1)')
    .option('--clear', 'nothing goes wrong any more')
    .option('--merchant <merchant>', WHOSE)
    .addHelpText(
      'after',
      '\nExamples:\n  svc sandbox bank fault --latency 3s --drop-callback 20% --seed 7\n  svc sandbox bank fault --unavailable 30% --merchant acme-ltd\n  svc sandbox bank fault --clear\n',
    )
    .action(action(runtime, FaultOptions, fault))
  bank
    .command('faults')
    .description('show what goes wrong at the bank for one merchant')
    .option('--merchant <merchant>', WHOSE)
    .addHelpText('after', '\nExamples:\n  svc sandbox bank faults\n')
    .action(action(runtime, FaultsOptions, faults))
}

function deciding(command: Command): Command {
  return changing(command)
    .argument('[payment]', 'its id, or 8 characters or more from its beginning or end')
    .option('--no-return', 'close the browser at the bank, and bring nothing back')
}
