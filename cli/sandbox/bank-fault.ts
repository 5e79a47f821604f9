import { z } from 'zod'
import {
  BankFaultSettings,
  BankScenario,
  getBankFaults,
  listBankScenarios,
  setBankFaults,
} from '../../src/wire/sandbox-faults.ts'
import type { BankFaults } from '../../src/wire/sandbox-faults.ts'
import { ChangeOptions, change } from '../kit/change.ts'
import { call } from '../client/call.ts'
import type { CommandInput, CommandResult, Context, InputOf } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { merchantOrDemo } from './whose.ts'

const HINT = '--merchant <merchant>'

export const FaultsOptions = z.object({ merchant: z.string().optional() })

export const FaultOptions = ChangeOptions.extend({
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
