import { z } from 'zod'
import { DisputeReason, escalateDispute, raiseAdminDispute, resolveDispute } from '../../src/wire/disputes.ts'
import type { AdminDispute } from '../../src/wire/disputes.ts'
import { ChangeOptions, Reason, change } from '../kit/change.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { WordsOptions, readWords, sendWords } from '../kit/text-input.ts'
import { refuseEscalating, refuseResolving } from './effects.ts'
import { anyPaymentId, findAdminDispute } from './find.ts'
import { effectOfRaisingForPlatform } from './raise-effects.ts'
import { isResolved, printDispute, seenOf } from './view.ts'

export const RaiseOptions = WordsOptions.extend({
  reason: DisputeReason,
  statement: z.string().optional(),
  dryRun: z.boolean().default(false),
})

/** `svc disputes raise`: the platform disputes a payment of any merchant. */
export async function raise(
  context: Context,
  { args, options }: CommandInput<z.infer<typeof RaiseOptions>>,
): Promise<CommandResult> {
  const [given] = args
  if (given === undefined) throw usageError('which payment? An id is missing', 'svc webhooks list --all-merchants')
  const client = context.client()
  const id = await anyPaymentId(client, given)
  const { reason, statement: said } = options
  const about = async (): Promise<string[]> => [`Dispute payment ${id} for the platform: ${reason}`]
  const statement = await readWords(context.io, { ...options, given: said, flag: '--statement', about })
  const body = { reason, ...(statement === undefined ? {} : { statement }) }
  const effect = options.dryRun ? await effectOfRaisingForPlatform(client, id) : undefined
  const raised = await sendWords(context, { words: statement, isWritten: options.edit }, () =>
    change(context, client, raiseAdminDispute, { input: { params: { id }, body }, options, effect }),
  )
  if (raised === undefined) return undefined
  printDispute(context, raised)
  if (!context.print.isMachine) context.note(`Next: svc disputes show ${raised.id}`)
  return undefined
}

export const EscalateOptions = ChangeOptions.pick({ dryRun: true }).extend({
  reason: Reason,
  assignee: z.string().optional(),
})

export async function escalate(
  context: Context,
  { args, options }: CommandInput<z.infer<typeof EscalateOptions>>,
): Promise<CommandResult> {
  const client = context.client()
  const { dispute } = await findAdminDispute(client, args)
  if (options.dryRun) refuseEscalating(client, dispute)
  const { reason, assignee } = options
  const expected = { status: dispute.status }
  const body = { reason, ...(assignee === undefined ? {} : { assignee }), expected }
  const input = { params: { id: dispute.id }, body }
  const effect = `this would escalate the dispute, from ${dispute.status} to ESCALATED: an OWNER alone resolves it then`
  const changed = await change(context, client, escalateDispute, { input, options, effect })
  if (changed !== undefined) printDispute(context, changed)
  return undefined
}

export const ResolveOptions = ChangeOptions.extend({
  favour: z.enum(['merchant', 'payer']),
  note: z.string().trim().min(1, 'must say why; both sides read it'),
  refund: z.boolean().default(false),
})
type ResolveOptions = z.infer<typeof ResolveOptions>

const STATUS_OF = { merchant: 'RESOLVED_MERCHANT_FAVOUR', payer: 'RESOLVED_PAYER_FAVOUR' } as const

/** `svc disputes resolve`: the last word, or its refund once more; in live mode it is asked for. */
export async function resolve(
  context: Context,
  { args, options }: CommandInput<ResolveOptions>,
): Promise<CommandResult> {
  if (options.favour === 'merchant' && options.refund)
    throw usageError("--refund is for the payer's favour: one in the merchant's refunds nothing", 'leave --refund out')
  const client = context.client()
  const { dispute, isExact } = await findAdminDispute(client, args)
  const isAgain = ordersAgain(dispute, options)
  if (options.dryRun && !isAgain) refuseResolving(client, dispute, options.refund)
  const what = isAgain ? effectAgain(dispute) : effectOf(dispute, options)
  const words = [dispute.realm_slug, dispute.merchant_id]
  const { favour, note, refund } = options
  const resolved = await change(context, client, resolveDispute, {
    input: {
      params: { id: dispute.id },
      body: { status: STATUS_OF[favour], resolution_note: note, refund, expected: seenOf(dispute, refund) },
    },
    options,
    effect: `this would ${what}`,
    // What is resolved is refused, whatever is typed, but for a refund that the bank has refused.
    ...(isResolved(dispute) && !isAgain ? {} : { danger: { what, words, isExact, yes: options.yes } }),
  })
  if (resolved !== undefined) printDispute(context, resolved)
  return undefined
}

/** Whether this would order a refund again that the bank has refused, and resolve nothing. */
function ordersAgain({ status, refund: before }: AdminDispute, { favour, refund }: ResolveOptions): boolean {
  return refund && status === STATUS_OF[favour] && before?.refund_status === 'FAILED'
}

function effectAgain({ refundable_amount: left, currency, trading_name: merchant }: AdminDispute): string {
  return `order once more the refund that the bank refused: ${left} ${currency}, all that is left of the payment at ${merchant}`
}

function effectOf(dispute: AdminDispute, { favour, refund }: Pick<ResolveOptions, 'favour' | 'refund'>): string {
  const about = `the dispute of ${dispute.gross_amount} ${dispute.currency} at ${dispute.trading_name}`
  const money = refund
    ? `, and refund ${dispute.refundable_amount} ${dispute.currency}, all that is left of it`
    : ', and refund nothing'
  return `resolve ${about} in the ${favour}'s favour${money}`
}
