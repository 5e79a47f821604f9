import { z } from 'zod'
import { acceptDispute, listDisputes, submitEvidence } from '../../src/wire/disputes.ts'
import type { Dispute } from '../../src/wire/disputes.ts'
import { ChangeOptions, change } from '../kit/change.ts'
import { call } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { CliError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { collectPages } from '../client/pages.ts'
import { endOfId, shortTime } from '../base/text.ts'
import { distanceOf } from '../base/times.ts'
import { WordsOptions, needWords, sendWords } from '../kit/text-input.ts'
import { refuseAccepting, refuseEvidence } from './effects.ts'
import { findOwnDispute } from './find.ts'
import { filterOf } from './read.ts'
import type { ListOptions } from './read.ts'
import { printDisputes } from './rows.ts'
import { isResolved, printDispute, seenOf } from './view.ts'
import { paymentId } from '../payments/find.ts'

export async function list(
  context: Context,
  { options }: CommandInput<z.infer<typeof ListOptions>>,
): Promise<CommandResult> {
  const client = context.client()
  const { payment } = options
  const filter = {
    ...filterOf(options),
    ...(payment === undefined ? {} : { payment_id: await paymentId(client, [payment]) }),
  }
  const found = await collectPages(options, async (page) => {
    return (await call(client, listDisputes, { query: { ...filter, ...page } })).body
  })
  printDisputes(context, { ...found, isForOperators: false })
  return undefined
}

export async function show(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const { dispute } = await findOwnDispute(context.client(), args)
  printDispute(context, dispute)
  if (dispute.status === 'OPEN' && !context.print.isMachine)
    context.note(`Next: svc portal disputes evidence ${endOfId(dispute.id)}, or accept`)
  return undefined
}

export const EvidenceOptions = WordsOptions.omit({ edit: true }).extend({
  text: z.string().optional(),
  dryRun: z.boolean().default(false),
})

/** `svc portal disputes evidence`: the merchant's side, added to what it has said before. */
export async function evidence(
  context: Context,
  { args, options }: CommandInput<z.infer<typeof EvidenceOptions>>,
): Promise<CommandResult> {
  const client = context.client()
  const { dispute } = await findOwnDispute(client, args)
  const isWritten = options.text === undefined && options.file === undefined
  // Nobody shall write what can't be sent any more.
  if (isWritten && isResolved(dispute)) throw closed(dispute)
  const words = await needWords(context.io, {
    given: options.text,
    flag: '--text',
    file: options.file,
    edit: false,
    about: async () => factsOf(dispute),
  })
  if (options.dryRun) refuseEvidence(client, dispute)
  const input = { params: { id: dispute.id }, body: { merchant_evidence: words } }
  const changed = await sendWords(context, { words, isWritten }, () =>
    change(context, client, submitEvidence, { input, options }),
  )
  if (changed !== undefined) printDispute(context, changed)
  return undefined
}

function closed({ id }: Dispute): CliError {
  return new CliError('DISPUTE_CLOSED', 'the dispute is resolved: nothing can be added', {
    exit: EXIT.conflict,
    hint: `how it ended: svc portal disputes show ${id}`,
  })
}

function factsOf(dispute: Dispute): string[] {
  const due = `${shortTime(dispute.evidence_due_at)} (${distanceOf(dispute.evidence_due_at)})`
  return [
    `Dispute ${dispute.id}: ${dispute.reason}, opened by ${dispute.opened_by}`,
    `Payment ${dispute.payment_id}, ${dispute.gross_amount} ${dispute.currency}, ${dispute.end_to_end_id}`,
    `Evidence is due ${due}`,
    ...saidBefore('The payer says:', dispute.payer_statement),
    ...saidBefore('Whoever opened it says:', dispute.statement),
    ...saidBefore('You have said, and this is added to it:', dispute.merchant_evidence),
  ]
}

function saidBefore(title: string, words: string | null): string[] {
  return words === null ? [] : ['', title, ...words.split('\n').map((line) => `  ${line}`)]
}

export const AcceptOptions = ChangeOptions.extend({
  note: z.string().trim().min(1, 'must have words, or be left out').optional(),
  refund: z.boolean().default(false),
})

/** `svc portal disputes accept`: the payer is right, and the dispute is over; in live mode it is asked for. */
export async function accept(
  context: Context,
  { args, options }: CommandInput<z.infer<typeof AcceptOptions>>,
): Promise<CommandResult> {
  const client = context.client()
  const { dispute, isExact } = await findOwnDispute(client, args)
  const { note, refund } = options
  if (options.dryRun) refuseAccepting(client, dispute, refund)
  const what = effectOf(dispute, refund)
  const accepted = await change(context, client, acceptDispute, {
    input: {
      params: { id: dispute.id },
      body: { ...(note === undefined ? {} : { note }), refund, expected: seenOf(dispute, refund) },
    },
    options,
    effect: `this would ${what}`,
    ...(isResolved(dispute)
      ? {}
      : { danger: { what, words: [endOfId(dispute.id), dispute.id], isExact, yes: options.yes } }),
  })
  if (accepted !== undefined) printDispute(context, accepted)
  return undefined
}

function effectOf({ gross_amount: amount, refundable_amount: left, currency }: Dispute, refund: boolean): string {
  const money = refund ? `refund ${left} ${currency}, all that is left of it` : 'refund nothing'
  return `close the dispute of ${amount} ${currency} in the payer's favour, and ${money}`
}
