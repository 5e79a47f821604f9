import {
  BankFaultSettings,
  BankScenario,
  getBankFaults,
  listBankScenarios,
  setBankFaults,
} from '../../src/wire/sandbox-faults.ts'
import type { BankFaults } from '../../src/wire/sandbox-faults.ts'
import { usageError } from '../base/errors.ts'
import { call } from '../client/call.ts'
import type { Flags } from '../kit/action.ts'
import { CHANGING, change } from '../kit/change.ts'
import { command } from '../kit/command.ts'
import type { Input } from '../kit/command.ts'
import type { Context } from '../kit/context.ts'
import { bodyFrom, matching } from '../kit/read-values.ts'
import { advance, approve, cancel } from './payments.ts'
import { merchantOrDemo } from './whose.ts'

const WHOSE = 'Merchant: its id, realm or client id (the demo merchant)'
const HINT = '--merchant <merchant>'

const FAULTS = {
  latency: { value: 'duration', summary: 'Added latency of each bank response, such as 250ms or 3s' },
  dropCallback: { value: 'share', summary: 'Share of callbacks that are lost' },
  duplicate: { value: 'share', summary: 'Share of callbacks that arrive twice' },
  unavailable: { value: 'share', summary: 'Share of calls without a response; half of them take effect' },
  failPayout: { value: 'share', summary: 'Share of payouts that the bank rejects' },
  returnPayout: { value: 'share', summary: 'Share of payouts that come back after they were paid' },
} as const satisfies Flags

const FLAGS = {
  ...CHANGING,
  ...FAULTS,
  seed: {
    value: 'number',
    summary: 'Seed of the failures (1)',
    read: matching(/^\d{1,10}$/, 'must be a number, such as 7'),
  },
  clear: { summary: 'Remove all simulated failures' },
  merchant: { value: 'merchant', summary: WHOSE },
} as const satisfies Flags

const fault = command({
  command: 'sandbox bank fault',
  summary: 'Simulate bank failures for a merchant',
  examples: [
    'svc sandbox bank fault --latency 3s --drop-callback 20% --seed 7',
    'svc sandbox bank fault --unavailable 30% --merchant acme-ltd',
    'svc sandbox bank fault --clear',
  ],
  flags: FLAGS,
  async run(context, input) {
    const settings = settingsOf(input)
    const client = context.client()
    const merchantId = await merchantOrDemo(context, client, { merchant: input.merchant, hint: HINT })
    const set = await change(context, client, setBankFaults, {
      input: { body: { merchant_id: merchantId, ...settings } },
      options: input,
    })
    if (set === undefined) return undefined
    printFaults(context, set)
    const whose = input.merchant === undefined ? '' : ` --merchant ${input.merchant}`
    if (!input.clear && !context.print.isMachine)
      context.note(`It stays so until: svc sandbox bank fault --clear${whose}`)
  },
})

const faults = command({
  command: 'sandbox bank faults',
  summary: 'Show the simulated bank failures of a merchant',
  examples: ['svc sandbox bank faults'],
  flags: { merchant: { value: 'merchant', summary: WHOSE } },
  async run(context, input) {
    const client = context.client()
    const merchantId = await merchantOrDemo(context, client, { merchant: input.merchant, hint: HINT })
    printFaults(context, (await call(client, getBankFaults, { query: { merchant_id: merchantId } })).body)
  },
})

const scenarios = command({
  command: 'sandbox bank list',
  summary: "List the bank's scenarios for payments",
  examples: ['svc sandbox bank list'],
  flags: {},
  async run(context) {
    const { body } = await call(context.client(), listBankScenarios, {})
    context.print.list(body.data, {
      fields: BankScenario,
      columns: [
        { title: 'scenario', value: (row) => row.name },
        { title: 'what happens', value: (row) => row.summary, least: 30 },
      ],
      empty: 'There are no scenarios.',
    })
    if (!context.print.isMachine)
      context.note('Try one: svc payments create --amount 5.00 --currency GBP --scenario insufficient-funds --approve')
  },
})

function settingsOf({ clear, seed, ...given }: Input<typeof FLAGS>): BankFaultSettings {
  const settings = bodyFrom(FAULTS, given)
  const isNone = Object.keys(settings).length === 0
  if (clear && (!isNone || seed !== undefined)) throw usageError('--clear ends every fault, and is given alone')
  if (clear) return {}
  if (isNone) throw usageError('there is no fault to set', '--latency 3s, --drop-callback 20%, or --clear')
  return { ...settings, ...(seed === undefined ? {} : { seed: Number.parseInt(seed, 10) }) }
}

function printFaults(context: Context, faults: BankFaults): void {
  const { latency, drop_callback, duplicate, unavailable, fail_payout, return_payout, seed } = faults
  context.print.record(faults, [
    ['Merchant', faults.merchant_id],
    ['Latency', latency ?? 'none'],
    ['Callbacks lost', drop_callback ?? 'none'],
    ['Callbacks twice', duplicate ?? 'none'],
    ['Without answer', unavailable ?? 'none'],
    ['Payouts failed', fail_payout ?? 'none'],
    ['Payouts returned', return_payout ?? 'none'],
    ['Seed', seed === null ? '-' : String(seed)],
    ['Since then', `${faults.calls} calls, ${faults.callbacks} callbacks, ${faults.payouts} payouts`],
  ])
}

export const BANK = [
  { command: 'sandbox bank', summary: 'Simulate the bank and its payers' },
  fault,
  faults,
  scenarios,
  approve,
  cancel,
  advance,
]
