import { getPayment } from '../../src/wire/payments.ts'
import { call } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { CliError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { shortTime } from '../base/text.ts'
import { paymentId } from './find.ts'
import { isRefunded } from './view.ts'

/**
 * `svc payments receipt`: what a payer is given to keep: no fee, and nothing else that is the merchant's own affair.
 * @throws {CliError} PAYMENT_NOT_SETTLED, exit code 7: before the money has come there is no receipt
 */
export async function receipt(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const client = context.client()
  const { body: payment } = await call(client, getPayment, { params: { id: await paymentId(client, args) } })
  const settled = payment.status_history.find(({ new_status: status }) => status === 'Settled')
  if (settled === undefined)
    throw new CliError('PAYMENT_NOT_SETTLED', `the payment is ${payment.status}: a receipt comes with Settled`, {
      exit: EXIT.conflict,
      hint: `svc payments show ${payment.payment_id}`,
    })
  const isOwn = 'consent_id' in payment
  const item = {
    payment_id: payment.payment_id,
    status: payment.status,
    end_to_end_id: payment.end_to_end_id,
    gross_amount: payment.gross_amount,
    currency: payment.currency,
    refunded_amount: payment.refunded_amount,
    payer_name: isOwn ? payment.payer_name : null,
    remittance_reference: isOwn ? payment.remittance_reference : null,
    settled_at: settled.created_at,
  }
  context.print.record({
    item,
    id: item.payment_id,
    lines: [
      ['Receipt', item.payment_id],
      ['Paid', `${item.gross_amount} ${item.currency}`],
      ['Settled', shortTime(item.settled_at)],
      ['Refunded', isRefunded(item) ? `${item.refunded_amount} ${item.currency}` : ''],
      ['Payer', item.payer_name ?? ''],
      ['Reference', item.remittance_reference ?? ''],
      ['End-to-end id', item.end_to_end_id],
    ],
  })
  return undefined
}
