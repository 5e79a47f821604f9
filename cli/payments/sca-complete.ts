import { z } from 'zod'
import { completeSca } from '../../src/wire/payments.ts'
import { ChangeOptions, change } from '../kit/change.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { paymentId } from './find.ts'

const text = z.string().optional()

export const ScaOptions = ChangeOptions.pick({ dryRun: true }).extend({
  state: text,
  code: text,
  error: text,
  description: text,
  returned: text,
})
type ScaOptions = z.infer<typeof ScaOptions>

/** `svc payments sca-complete`: hands over what the bank sent the payer back with, as a return page does. */
export async function completeByHand(
  context: Context,
  { args, options }: CommandInput<ScaOptions>,
): Promise<CommandResult> {
  const body = bodyOf(options)
  const client = context.client()
  const input = { params: { id: await paymentId(client, args) }, body }
  const completed = await change(context, client, completeSca, { input, options })
  if (completed === undefined) return undefined
  const { failure } = completed
  context.print.record({
    item: completed,
    id: completed.payment_id,
    lines: [
      ['Payment', completed.payment_id],
      ['Status', completed.status],
      ['Failure', failure === null ? '' : `${failure.code}: ${failure.reason}`],
      ['End-to-end id', completed.end_to_end_id],
    ],
  })
  return undefined
}

type Body = { state: string; code: string } | { state: string; error: string; error_description?: string }

/** From the flags, or from the whole address that the bank sent the payer back to. */
function bodyOf(options: ScaOptions): Body {
  const { state, code, error, description } = options.returned === undefined ? options : partsOf(options.returned)
  if (state === undefined || (code === undefined) === (error === undefined))
    throw usageError(
      'what did the bank send back? --state with either --code or --error, or all of it as --returned <address>',
      'svc payments sca-complete --help',
    )
  if (code !== undefined) return { state, code }
  return { state, error: error ?? '', ...(description === undefined ? {} : { error_description: description }) }
}

function partsOf(address: string): Pick<ScaOptions, 'state' | 'code' | 'error' | 'description'> {
  if (!URL.canParse(address))
    throw usageError('--returned: is no address', '--returned "https://shop.example/return?state=...&code=..."')
  const query = new URL(address).searchParams
  const of = (name: string): string | undefined => query.get(name) ?? undefined
  return { state: of('state'), code: of('code'), error: of('error'), description: of('error_description') }
}
