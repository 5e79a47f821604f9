import { z } from 'zod'
import { longDurationText } from '../../src/lib/duration.ts'
import { advanceSandboxClock, readSandboxClock } from '../../src/wire/sandbox.ts'
import { usageError } from '../base/errors.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { CHANGING, change } from '../kit/change.ts'
import type { Flags } from '../kit/action.ts'
import { command } from '../kit/command.ts'
import type { Input } from '../kit/command.ts'
import { durationOf } from '../kit/context.ts'
import type { CommandResult, Context } from '../kit/context.ts'
import { merchantOrDemo } from './whose.ts'

/** Many due times may lie on the way, each with an attempt of up to five seconds. */
export const ADVANCE_TIMEOUT_MS = 120_000

const MERCHANT = 'Merchant: its id, realm or client id (the demo merchant)'

/** Whose time passes: of a merchant, customers or both; of the demo merchant where none is named. */
const PASSING = {
  ...CHANGING,
  merchant: { value: 'merchant', summary: MERCHANT },
  customer: {
    value: 'id',
    summary: 'Customer of the bank, with --merchant or alone; may be repeated',
    member: 'customer_ids',
    repeats: true,
  },
} as const satisfies Flags

const advance = command({
  command: 'sandbox clock advance',
  summary: 'Advance the sandbox clock',
  details: 'What becomes due in that time happens, in its order.',
  examples: [
    'svc sandbox clock advance 11h',
    'svc sandbox clock advance 2h --merchant acme-ltd',
    'svc sandbox clock advance 31d --customer customer-demo',
  ],
  flags: {
    duration: {
      value: 'duration',
      summary: 'Duration, such as 90s, 5m, 11h or 7d',
      member: 'by',
      positional: true,
      required: true,
    },
    ...PASSING,
  },
  async run(context, input) {
    const { duration: by } = input
    durationOf(by, '<duration>')
    return letPass(context, input, { by })
  },
})

const set = command({
  command: 'sandbox clock set',
  summary: 'Advance the sandbox clock to a given time',
  details: 'The clock cannot go back.',
  examples: ['svc sandbox clock set 2027-01-31T09:00:00Z --merchant acme-ltd'],
  flags: {
    moment: {
      value: 'moment',
      summary: 'Time with its zone, such as 2027-01-31T09:00:00Z',
      member: 'to',
      positional: true,
      required: true,
    },
    ...PASSING,
  },
  async run(context, input) {
    const { moment } = input
    const parsed = z.iso.datetime({ offset: true }).safeParse(moment)
    if (!parsed.success)
      throw usageError(
        `invalid time "${moment}": use an RFC 3339 time with its zone`,
        `svc sandbox clock set ${new Date(Date.now() + DAY_MS).toISOString()}`,
      )
    return letPass(context, input, { to: parsed.data })
  },
})

const DAY_MS = 86_400_000

async function letPass(
  context: Context,
  { merchant, customer: customers, dryRun }: Input<typeof PASSING>,
  distance: { by: string } | { to: string },
): Promise<CommandResult> {
  const client = context.client()
  const merchantId = await merchantOf(context, client, { merchant, isNeeded: customers.length === 0 })
  const request = {
    ...(merchantId === undefined ? {} : { merchant_id: merchantId }),
    ...(customers.length === 0 ? {} : { customer_ids: customers }),
    ...distance,
  }
  const body = await change(context, { ...client, timeoutMs: ADVANCE_TIMEOUT_MS }, advanceSandboxClock, {
    input: { body: request },
    options: { dryRun },
  })
  if (body === undefined) return undefined
  const passed: [string, string] = 'by' in distance ? ['Advanced by', distance.by] : ['Advanced to', distance.to]
  context.print.record(
    body,
    [...whose(body.merchant_id, body.customer_ids), passed, ['Due times passed', String(body.stops)]],
    { id: body.merchant_id ?? body.customer_ids[0] ?? '' },
  )
}

const show = command({
  command: 'sandbox clock show',
  summary: 'Show the sandbox clock of a merchant or a customer',
  examples: ['svc sandbox clock show', 'svc sandbox clock show --customer customer-demo'],
  flags: {
    merchant: { value: 'merchant', summary: MERCHANT },
    customer: { value: 'id', summary: 'Customer of the bank, instead of a merchant' },
  },
  async run(context, input) {
    const client = context.client()
    const { merchant, customer } = input
    const merchantId = await merchantOf(context, client, { merchant, isNeeded: customer === undefined })
    const query = { merchant_id: merchantId, customer_id: customer }
    const { body } = await call(client, readSandboxClock, { query })
    context.print.record(
      body,
      [
        ...whose(body.merchant_id, body.customer_id === null ? [] : [body.customer_id]),
        ['Time', body.now],
        ['Ahead by', longDurationText(body.ahead_ms) || 'nothing'],
      ],
      { id: body.merchant_id ?? body.customer_id ?? '' },
    )
  },
})

function whose(merchantId: string | null, customerIds: readonly string[]): [string, string][] {
  const merchant: [string, string][] = merchantId === null ? [] : [['Merchant', merchantId]]
  return customerIds.length === 0 ? merchant : [...merchant, ['Customers', customerIds.join(', ')]]
}

/** The merchant that is named, or the demo merchant where neither it nor a customer is. */
async function merchantOf(
  context: Context,
  client: Client,
  { merchant, isNeeded }: { merchant: string | undefined; isNeeded: boolean },
): Promise<string | undefined> {
  if (merchant === undefined && !isNeeded) return undefined
  return merchantOrDemo(context, client, { merchant, hint: '--merchant <merchant>, or --customer <id>' })
}

export const CLOCK = [{ command: 'sandbox clock', summary: 'Show and advance the sandbox clock' }, advance, set, show]
