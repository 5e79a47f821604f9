import { z } from 'zod'
import {
  BankFaultSettings,
  BankScenario,
  getBankFaults,
  listBankScenarios,
  setBankFaults,
  AdvanceTarget,
} from '../../src/wire/sandbox-faults.ts'
import type { BankFaults } from '../../src/wire/sandbox-faults.ts'
import { ChangeOptions, change, changing } from '../kit/change.ts'
import { call } from '../client/call.ts'
import type { CommandInput, CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { merchantOrDemo } from './whose.ts'
import { Option } from 'commander'
import type { Command } from 'commander'
import { action } from '../kit/context.ts'
import { AdvanceOptions, DecideOptions, advance, approve, cancel } from './payments.ts'
import { subcommand } from '../kit/option-values.ts'

const HINT = '--merchant <merchant>'

const FaultsOptions = z.object({ merchant: z.string().optional() })

const FaultOptions = ChangeOptions.extend({
  merchant: z.string().optional(),
  latency: z.string().optional(),
  dropCallback: z.string().optional(),
  duplicate: z.string().optional(),
  unavailable: z.string().optional(),
  failPayout: z.string().optional(),
  returnPayout: z.string().optional(),
  seed: z
    .string()
    .regex(/^\d{1,10}$/, 'must be a number, such as 7')
    .transform(Number)
    .optional(),
  clear: z.boolean().default(false),
})
type FaultOptions = z.infer<typeof FaultOptions>

export async function fault(context: Context, { options }: CommandInput<FaultOptions>): Promise<CommandResult> {
  const wishes = wishesOf(options)
  const client = context.client()
  const merchantId = await merchantOrDemo(context, client, { merchant: options.merchant, hint: HINT })
  const set = await change(context, client, setBankFaults, {
    input: { body: { merchant_id: merchantId, ...wishes } },
    options,
  })
  if (set === undefined) return undefined
  printFaults(context, set)
  const whose = options.merchant === undefined ? '' : ` --merchant ${options.merchant}`
  if (!options.clear && !context.print.isMachine)
    context.note(`It stays so until: svc sandbox bank fault --clear${whose}`)
}

export async function faults(context: Context, { options }: InputOf<typeof FaultsOptions>): Promise<CommandResult> {
  const client = context.client()
  const merchantId = await merchantOrDemo(context, client, { merchant: options.merchant, hint: HINT })
  printFaults(context, (await call(client, getBankFaults, { query: { merchant_id: merchantId } })).body)
}

export async function scenarios(context: Context): Promise<CommandResult> {
  const { body } = await call(context.client(), listBankScenarios, {})
  context.print.list({
    items: body.data,
    fields: Object.keys(BankScenario.shape),
    columns: [
      { title: 'scenario', value: (row) => row.name },
      { title: 'what happens', value: (row) => row.summary, least: 30 },
    ],
    id: (row) => row.name,
    empty: 'There are no scenarios.',
  })
  if (!context.print.isMachine)
    context.note('Try one: svc payments create --amount 5.00 --currency GBP --scenario insufficient-funds --approve')
}

/** The faults that are named; none of them with --clear. */
export function wishesOf({
  clear,
  latency,
  dropCallback,
  duplicate,
  unavailable,
  failPayout,
  returnPayout,
  seed,
}: FaultOptions): BankFaultSettings {
  const shares = {
    drop_callback: dropCallback,
    duplicate,
    unavailable,
    fail_payout: failPayout,
    return_payout: returnPayout,
  }
  const isNone = latency === undefined && Object.values(shares).every((share) => share === undefined)
  if (clear && (!isNone || seed !== undefined)) throw usageError('--clear ends every fault, and is given alone')
  if (clear) return {}
  if (isNone) throw usageError('there is no fault to set', '--latency 3s, --drop-callback 20%, or --clear')
  return Object.fromEntries(Object.entries({ latency, ...shares, seed }).filter(([, value]) => value !== undefined))
}

function printFaults(context: Context, faults: BankFaults): void {
  const { latency, drop_callback, duplicate, unavailable, fail_payout, return_payout, seed } = faults
  context.print.record({
    item: faults,
    id: faults.merchant_id,
    lines: [
      ['Merchant', faults.merchant_id],
      ['Latency', latency ?? 'none'],
      ['Callbacks lost', drop_callback ?? 'none'],
      ['Callbacks twice', duplicate ?? 'none'],
      ['Without answer', unavailable ?? 'none'],
      ['Payouts failed', fail_payout ?? 'none'],
      ['Payouts returned', return_payout ?? 'none'],
      ['Seed', seed === null ? '-' : String(seed)],
      ['Since then', `${faults.calls} calls, ${faults.callbacks} callbacks, ${faults.payouts} payouts`],
    ],
  })
}

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
