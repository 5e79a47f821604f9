import { z } from 'zod'
import { DisputeReason } from '../../src/wire/disputes.ts'
import { raisePayerDispute } from '../../src/wire/payer.ts'
import { asPayer } from '../client/auth/payer-session.ts'
import { change } from '../kit/change.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { shortTime } from '../base/text.ts'
import { WordsOptions, readWords, sendWords } from '../kit/text-input.ts'
import { effectOfRaisingAsPayer } from '../disputes/raise-effects.ts'
import { payersPaymentId } from './payments.ts'

export const DisputeOptions = WordsOptions.extend({
  reason: DisputeReason,
  statement: z.string().optional(),
  dryRun: z.boolean().default(false),
})

/** `svc payer dispute`: the payer says that something is wrong with a payment. */
export async function dispute(
  context: Context,
  { args, options }: CommandInput<z.infer<typeof DisputeOptions>>,
): Promise<CommandResult> {
  const payer = asPayer(context.client(), context.io.env)
  const id = await payersPaymentId(payer, args[0])
  const { reason, statement, file, edit } = options
  const about = async (): Promise<string[]> => [`Dispute payment ${id}: ${reason}`]
  const words = await readWords(context.io, { given: statement, flag: '--statement', file, edit, about })
  if (reason === 'OTHER' && words === undefined)
    throw usageError(
      '--reason OTHER says nothing yet: --statement is missing, with what happened',
      `svc payer dispute ${id} --reason OTHER --statement "what happened"`,
    )
  const body = { reason, ...(words === undefined ? {} : { payer_statement: words }) }
  const effect = options.dryRun ? await effectOfRaisingAsPayer(payer, id) : undefined
  const raised = await sendWords(context, { words, isWritten: edit }, () =>
    change(context, payer, raisePayerDispute, { input: { params: { id }, body }, options, effect }),
  )
  if (raised === undefined) return undefined
  context.print.record({
    item: raised,
    id: raised.id,
    lines: [
      ['Dispute', raised.id],
      ['Payment', raised.payment_id],
      ['Status', raised.status],
      ['Reason', raised.reason],
      ['You say', raised.payer_statement ?? ''],
      ['Opened', shortTime(raised.opened_at)],
    ],
  })
  if (!context.print.isMachine) context.note(`Next: svc payer show ${raised.payment_id}`)
  return undefined
}
