import { z } from 'zod'
import { longDurationText } from '../../src/lib/duration.ts'
import { advanceSandboxClock, readSandboxClock } from '../../src/wire/sandbox.ts'
import { ChangeOptions, change, changing } from '../kit/change.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { durationOf, action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { merchantOrDemo } from './whose.ts'
import type { Command } from 'commander'
import { collect, subcommand } from '../kit/option-values.ts'

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

const MERCHANT = 'Merchant: its id, realm or client id (the demo merchant)'

export function addClock(sandbox: Command, runtime: Runtime): void {
  const clock = sandbox.command('clock').helpCommand(false).description('Show and advance the sandbox clock')
  subjects(clock.command('advance').argument('<duration>', 'Duration, such as 90s, 5m, 11h or 7d'))
    .description('Advance the sandbox clock')
    .addHelpText(
      'after',
      '\nWhat becomes due in that time happens, in its order.\n\nExamples:\n  svc sandbox clock advance 11h\n  svc sandbox clock advance 2h --merchant acme-ltd\n  svc sandbox clock advance 31d --customer customer-demo\n',
    )
    .action(action(runtime, AdvanceOptions, advance))
  subjects(clock.command('set').argument('<moment>', 'Time with its zone, such as 2027-01-31T09:00:00Z'))
    .description('Advance the sandbox clock to a given time')
    .addHelpText(
      'after',
      '\nThe clock cannot go back.\n\nExamples:\n  svc sandbox clock set 2027-01-31T09:00:00Z --merchant acme-ltd\n',
    )
    .action(action(runtime, AdvanceOptions, set))
  subcommand(clock, 'show', 'Show the sandbox clock of a merchant or a customer')
    .option('--merchant <merchant>', MERCHANT)
    .option('--customer <id>', 'Customer of the bank, instead of a merchant')
    .addHelpText('after', '\nExamples:\n  svc sandbox clock show\n  svc sandbox clock show --customer customer-demo\n')
    .action(action(runtime, ShowOptions, show))
}

function subjects(command: Command): Command {
  return changing(command)
    .option('--merchant <merchant>', MERCHANT)
    .option('--customer <id>', 'Customer of the bank, with --merchant or alone; may be repeated', collect)
}
