import { z } from 'zod'
import { longDurationText } from '../../src/lib/duration.ts'
import { advanceSandboxClock, readSandboxClock } from '../../src/wire/sandbox.ts'
import { ChangeOptions, change } from '../kit/change.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { durationOf } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, InputOf } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { merchantOrDemo } from './whose.ts'

/** Many due times may lie on the way, each with an attempt of up to five seconds. */
export const ADVANCE_TIMEOUT_MS = 120_000

export const AdvanceOptions = ChangeOptions.pick({ dryRun: true }).extend({
  merchant: z.string().optional(),
  customer: z.array(z.string()).optional(),
})
type AdvanceOptions = z.infer<typeof AdvanceOptions>

export const ShowOptions = z.object({ merchant: z.string().optional(), customer: z.string().optional() })

/** `svc sandbox clock advance`: time passes for a merchant, customers or both; for the demo merchant where none is named. */
export async function advance(
  context: Context,
  { args, options }: CommandInput<AdvanceOptions>,
): Promise<CommandResult> {
  const [by = ''] = args
  durationOf(by, '<duration>')
  return letPass(context, options, { by })
}

/** `svc sandbox clock set`: the same up to a moment of their own time. Time does not go back. */
export async function set(context: Context, { args, options }: CommandInput<AdvanceOptions>): Promise<CommandResult> {
  const [moment = ''] = args
  const parsed = z.iso.datetime({ offset: true }).safeParse(moment)
  if (!parsed.success)
    throw usageError(
      `"${moment}" is no moment: write it with its time zone`,
      `svc sandbox clock set ${new Date(Date.now() + DAY_MS).toISOString()}`,
    )
  return letPass(context, options, { to: parsed.data })
}

const DAY_MS = 86_400_000

async function letPass(
  context: Context,
  { merchant, customer: customers, dryRun }: AdvanceOptions,
  distance: { by: string } | { to: string },
): Promise<CommandResult> {
  const client = context.client()
  const merchantId = await merchantOf(context, client, { merchant, isNeeded: customers === undefined })
  const wish = {
    ...(merchantId === undefined ? {} : { merchant_id: merchantId }),
    ...(customers === undefined ? {} : { customer_ids: customers }),
    ...distance,
  }
  const body = await change(context, { ...client, timeoutMs: ADVANCE_TIMEOUT_MS }, advanceSandboxClock, {
    input: { body: wish },
    options: { dryRun },
  })
  if (body === undefined) return undefined
  const passed: [string, string] = 'by' in distance ? ['Advanced by', distance.by] : ['Advanced to', distance.to]
  context.print.record({
    item: body,
    id: body.merchant_id ?? body.customer_ids[0] ?? '',
    lines: [...whose(body.merchant_id, body.customer_ids), passed, ['Due times on the way', String(body.stops)]],
  })
}

export async function show(context: Context, { options }: InputOf<typeof ShowOptions>): Promise<CommandResult> {
  const client = context.client()
  const { merchant, customer } = options
  const merchantId = await merchantOf(context, client, { merchant, isNeeded: customer === undefined })
  const { body } = await call(client, readSandboxClock, {
    query: {
      ...(merchantId === undefined ? {} : { merchant_id: merchantId }),
      ...(customer === undefined ? {} : { customer_id: customer }),
    },
  })
  context.print.record({
    item: body,
    id: body.merchant_id ?? body.customer_id ?? '',
    lines: [
      ...whose(body.merchant_id, body.customer_id === null ? [] : [body.customer_id]),
      ['Time', body.now],
      ['Ahead by', longDurationText(body.ahead_ms) || 'nothing'],
    ],
  })
}

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
