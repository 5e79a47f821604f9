import { z } from 'zod'
import { DisputeReason, disputeAsPayer, raiseDispute } from '../../src/wire/disputes.ts'
import type { Dispute } from '../../src/wire/disputes.ts'
import { change } from '../kit/change.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { WordsOptions, readWords, sendWords } from '../kit/text-input.ts'
import { effectOfRaising, effectOfRaisingInSandbox } from './raise-effects.ts'
import { printDispute } from './view.ts'
import { paymentId } from '../payments/find.ts'

export const DisputeOptions = WordsOptions.extend({
  reason: DisputeReason,
  statement: z.string().optional(),
  dryRun: z.boolean().default(false),
})
type DisputeInput = CommandInput<z.infer<typeof DisputeOptions>>

/** `svc payments dispute`: the merchant itself says that something is wrong with a payment. */
export async function dispute(context: Context, input: DisputeInput): Promise<CommandResult> {
  const client = context.client()
  const id = await paymentId(client, input.args)
  const words = await statementOf(context, input, `Dispute payment ${id}`)
  const body = { reason: input.options.reason, ...(words === undefined ? {} : { statement: words }) }
  const effect = input.options.dryRun ? await effectOfRaising(client, id) : undefined
  const raised = await sendWords(context, { words, isWritten: input.options.edit }, () =>
    change(context, client, raiseDispute, { input: { params: { id }, body }, options: input.options, effect }),
  )
  if (raised !== undefined) printRaised(context, raised)
  return undefined
}

/** `svc sandbox dispute`: what the payer would do. */
export async function disputeLikePayer(context: Context, input: DisputeInput): Promise<CommandResult> {
  const client = context.client()
  const id = await paymentId(client, input.args)
  const words = await statementOf(context, input, `Dispute payment ${id} as its payer`)
  const body = { reason: input.options.reason, ...(words === undefined ? {} : { payer_statement: words }) }
  const effect = input.options.dryRun ? await effectOfRaisingInSandbox(client, id) : undefined
  const raised = await sendWords(context, { words, isWritten: input.options.edit }, () =>
    change(context, client, disputeAsPayer, { input: { params: { id }, body }, options: input.options, effect }),
  )
  if (raised !== undefined) printRaised(context, raised)
  return undefined
}

async function statementOf({ io }: Context, { options }: DisputeInput, title: string): Promise<string | undefined> {
  const { statement, file, edit, reason } = options
  const about = async (): Promise<string[]> => [`${title}: ${reason}`]
  return readWords(io, { given: statement, flag: '--statement', file, edit, about })
}

function printRaised(context: Context, raised: Dispute): void {
  printDispute(context, raised)
  if (!context.print.isMachine) context.note(`Next: svc portal disputes evidence ${raised.id}`)
}
