import { z } from 'zod'
import { parseAmount, percentText, toNumeric } from '../../src/lib/money.ts'
import type { AdminMerchant } from '../../src/wire/admin.ts'
import { getFees, setFees } from '../../src/wire/fees.ts'
import { ChangeOptions, Reason, change } from '../kit/change.ts'
import { call } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { findMerchant } from './find.ts'
import { namesOf } from './change.ts'
import { printFees } from './fees-view.ts'

export async function show(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const client = context.client()
  const { merchant } = await findMerchant(client, args)
  const { body } = await call(client, getFees, { params: { id: merchant.id } })
  printFees(context, merchant, body)
  return undefined
}

export const SetOptions = ChangeOptions.extend({
  percentage: z.string().optional(),
  flat: z.string().optional(),
  reason: Reason,
})

export async function set(
  context: Context,
  { args, options }: CommandInput<z.infer<typeof SetOptions>>,
): Promise<CommandResult> {
  const { percentage, flat, reason } = options
  if (percentage === undefined && flat === undefined)
    throw usageError('which fee? Give --percentage, --flat or both', 'svc fees set <merchant> --percentage 1.25%')
  const share = percentage === undefined ? {} : { fee_percentage: fractionOf(percentage) }
  const body = { ...share, ...(flat === undefined ? {} : { fee_flat: flat }), reason }
  const client = context.client()
  const { merchant, isExact } = await findMerchant(client, args)
  const after = { ...merchant, ...body }
  const what = `charge ${merchant.trading_name} ${percentText(after.fee_percentage)} and ${after.fee_flat} for each payment from now on`
  const changed = await change(context, client, setFees, {
    input: { params: { id: merchant.id }, body: { ...body, expected: feesOf(merchant) } },
    options,
    danger: { what, words: namesOf(merchant), isExact, yes: options.yes },
  })
  if (changed !== undefined) printFees(context, merchant, changed)
  return undefined
}

/** What it pays as it was read: a change is refused where somebody has changed that since. */
export function feesOf({
  fee_percentage,
  fee_flat,
}: AdminMerchant): Pick<AdminMerchant, 'fee_percentage' | 'fee_flat'> {
  return { fee_percentage, fee_flat }
}

const PERCENT = /^(\d{1,2}(?:\.\d{1,2})?)\s?%$/

/** `1.25%` as the fraction `0.0125`. What has no percent sign is a fraction already, and the service checks it. */
export function fractionOf(text: string): string {
  const percent = PERCENT.exec(text)?.[1]
  if (percent !== undefined) return toNumeric(parseAmount(percent) / 100n)
  if (/^0(\.\d{1,4})?$/.test(text)) return text
  throw usageError(
    `--percentage: "${text}" is neither a share below 100% with at most two decimals nor a fraction such as 0.0125`,
    '--percentage 1.25%',
  )
}
