import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { refundPayment } from '../../../src/wire/payments.ts'
import type { Refund } from '../../../src/wire/payments.ts'
import { call } from '../../client.ts'
import { durationOf } from '../../context.ts'
import type { CommandInput, CommandResult, Context } from '../../context.ts'
import { waitForPayment } from '../../wait.ts'
import { paymentId } from './read.ts'

const text = z.string().optional()

export const RefundOptions = z.object({
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
  const id = await paymentId(client, args)
  const key = options.idempotencyKey ?? randomUUID()
  if (options.idempotencyKey === undefined) context.note(`Idempotency key: ${key}`)
  const reply = await call(client, refundPayment, {
    params: { id },
    headers: { 'x-idempotency-key': key },
    body: bodyOf(options),
  })
  const result = reply.body
  if (result.refund_status !== 'PENDING' || !options.wait) {
    printRefund(context, result)
    return undefined
  }
  // The bank has not answered yet: the refund is done when the refunded amount has changed (decision 21).
  const before = result.refunded_amount
  const { payment, problem } = await waitForPayment(
    client,
    { paymentId: id, timeoutMs, wanted: 'the refund' },
    (each) => (each.refunded_amount === before ? 'open' : 'done'),
  )
  printRefund(context, {
    ...result,
    status: payment.status,
    refund_status: problem === undefined ? 'EXECUTED' : 'PENDING',
    refunded_amount: payment.refunded_amount,
  })
  if (problem !== undefined) throw problem
  return undefined
}

function bodyOf(options: RefundOptions): { amount?: string; reason?: string; refund_amount_available?: string } {
  return {
    ...(options.amount === undefined ? {} : { amount: options.amount }),
    ...(options.reason === undefined ? {} : { reason: options.reason }),
    ...(options.refundAmountAvailable === undefined ? {} : { refund_amount_available: options.refundAmountAvailable }),
  }
}

function printRefund({ print, note }: Context, refund: Refund): void {
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
  if (refund.refund_status === 'PENDING')
    note('The bank has not answered yet; the refund goes on by itself. To wait for it: --wait')
}
