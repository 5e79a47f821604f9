import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { durationText } from '../../src/lib/duration.ts'
import { Refund, refundPayment } from '../../src/wire/refunds.ts'
import { ChangeOptions, checkBody, membersOf, showRequest } from '../kit/change.ts'
import { call } from '../client/call.ts'
import { confirmInLiveMode } from '../kit/confirm.ts'
import { durationOf } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { CliError, withFacts } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { stoppable } from '../client/interruptible.ts'
import { askUntil } from '../kit/wait.ts'
import { effectOfRefund } from './effects.ts'
import { paymentId } from './read.ts'

const text = z.string().optional()

export const RefundOptions = ChangeOptions.extend({
  amount: text,
  reason: text,
  refundAmountAvailable: text,
  idempotencyKey: text,
  wait: z.boolean().default(false),
  timeout: z.string(),
})
export type RefundOptions = z.infer<typeof RefundOptions>

export async function refund(context: Context, { args, options }: CommandInput<RefundOptions>): Promise<CommandResult> {
  const timeoutMs = durationOf(options.timeout, '--timeout')
  const client = context.client()
  const key = options.idempotencyKey ?? randomUUID()
  const id = await paymentId(client, args)
  const input = { params: { id }, headers: { 'x-idempotency-key': key }, body: bodyOf(options) }
  if (options.dryRun) {
    checkBody(refundPayment, input.body)
    const effect = await effectOfRefund(client, input, options.idempotencyKey === undefined)
    showRequest(context, client, refundPayment, { input, effect })
    return undefined
  }
  checkBody(refundPayment, input.body)
  context.print.expect(membersOf(Refund))
  await confirmInLiveMode(context, client, {
    what: `refund ${options.amount ?? 'all that is left'} of the payment ${id}`,
    words: [id.slice(-8), id],
    isExact: args[0]?.toLowerCase() === id,
    yes: options.yes,
  })
  if (options.idempotencyKey === undefined) context.note(`Idempotency key: ${key}`)
  await stoppable(client, async (stopped) => {
    const ask = async (): Promise<Refund> => (await call(stopped, refundPayment, input)).body
    try {
      // The same request under the same key is the same refund, and answers what has become of it (decision 21).
      const waited = (): Promise<Refund> => askUntil(ask, isEnded, timeoutMs, stopped.signal).catch(refusedAfterAll)
      const result = options.wait ? await waited() : await ask()
      printRefund(context, result, { isWaiting: options.wait })
      if (options.wait && !isEnded(result)) throw notInTime(timeoutMs, key)
    } catch (error) {
      throw withFacts(error, { payment_id: id, idempotency_key: key })
    }
  })
  return undefined
}

function isEnded(refund: Refund): boolean {
  return refund.refund_status !== 'PENDING'
}

/** A refusal by the bank is the end of what was waited for: exit code 3, as wherever an awaited state can't come. */
function refusedAfterAll(error: unknown): never {
  if (!(error instanceof CliError) || error.code !== 'REFUND_REFUSED') throw error
  throw new CliError(error.code, error.message, { ...error.options, exit: EXIT.assertion, cause: error })
}

function notInTime(timeoutMs: number, key: string): CliError {
  return new CliError('WAIT_TIMED_OUT', `the bank has not answered the refund after ${durationText(timeoutMs)}`, {
    exit: EXIT.waitTimedOut,
    hint: `the same command with --idempotency-key ${key}, to wait for the same refund`,
    retryable: true,
  })
}

function bodyOf(options: RefundOptions): { amount?: string; reason?: string; refund_amount_available?: string } {
  return {
    ...(options.amount === undefined ? {} : { amount: options.amount }),
    ...(options.reason === undefined ? {} : { reason: options.reason }),
    ...(options.refundAmountAvailable === undefined ? {} : { refund_amount_available: options.refundAmountAvailable }),
  }
}

function printRefund({ print, note }: Context, refund: Refund, { isWaiting }: { isWaiting: boolean }): void {
  print.record({
    item: refund,
    id: refund.refund_id,
    lines: [
      ['Refund', refund.refund_id],
      ['Status', refund.refund_status],
      ['Payment', `${refund.payment_id} (${refund.status})`],
      ['Refunded', refund.refunded_amount],
      ['Remaining', refund.remaining_amount],
    ],
  })
  if (!isEnded(refund) && !isWaiting)
    note('The bank has not answered yet; the refund goes on by itself. To wait for it: --wait')
}
