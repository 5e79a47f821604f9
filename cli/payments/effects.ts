import { fitsCurrency, formatAmount, parseAmount, tooPreciseText } from '../../src/lib/money.ts'
import { cancelPayment, getPayment } from '../../src/wire/payments.ts'
import type { Payment as WholePayment } from '../../src/wire/payments.ts'
import { listRefunds, refundPayment } from '../../src/wire/refunds.ts'
import type { RefundPayment } from '../../src/wire/refunds.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { CliError } from '../base/errors.ts'
import { rowsOf } from '../client/pages.ts'
import { wouldRefuse } from '../client/would-refuse.ts'

// Two thousand refunds of one payment; what may be behind them is left to the service.
const PAGES_MAX = 20

/** What a cancellation would come to. @throws {CliError} exit code 7 where the service would refuse it */
export async function effectOfCancel(client: Client, input: { params: { id: string } }): Promise<string> {
  const { body: payment } = await call(client, getPayment, { params: input.params })
  const { status, failure } = payment
  if (status === 'AwaitingAuthorisation')
    return `this would cancel the payment of ${payment.gross_amount} ${payment.currency}: its payer can't pay it any more`
  if (failure !== null && CANCELLED.get(failure.code) === failure.source)
    return 'this would change nothing: the payment is cancelled'
  const next = status === 'Settled' ? 'refund it instead' : undefined
  throw wouldRefuse(client, cancelPayment, {
    input,
    refusal: {
      code: 'PAYMENT_NOT_CANCELLABLE',
      status: 409,
      message: `the payment is ${status} and can't be cancelled`,
      ...(next === undefined ? {} : { next }),
    },
  })
}

/** By its merchant or its payer: repeating it is no conflict (decision 52). */
const CANCELLED = new Map([
  ['CANCELLED_BY_MERCHANT', 'MERCHANT'],
  ['ACCESS_DENIED', 'PAYER'],
])

type RefundInput = { params: { id: string }; headers: { 'x-idempotency-key'?: string }; body: RefundPayment }
/** What a refund goes by. */
type Payment = Pick<WholePayment, 'payment_id' | 'status' | 'gross_amount' | 'refunded_amount' | 'currency'>

/**
 * What a refund would come to (decision 21).
 * @param isNew whether the key was made just now: under one of before, the service would tell that refund again
 * @throws {CliError} exit code 2 or 7 where the service would refuse it
 */
export async function effectOfRefund(client: Client, input: RefundInput, isNew: boolean): Promise<string> {
  const { body: payment } = await call(client, getPayment, { params: input.params })
  const { left, count } = await leftOf(client, payment)
  const refusal = refusalOf(client, input, { payment, left })
  const isRepeat = !isNew && count > 0
  if (refusal !== undefined && !isRepeat) throw refusal
  const { currency } = payment
  const amount = input.body.amount === undefined ? left : parseAmount(input.body.amount)
  const what =
    refusal === undefined
      ? `this would refund ${formatAmount(amount, currency)} ${currency}, and leave ${formatAmount(left - amount, currency)}`
      : `this would be refused: ${refusal.message}`
  return isRepeat ? `${what}; or, where this key made one of its refunds, tell that one again` : what
}

/** What the bank has not answered yet is held, and may not be refunded twice. */
async function leftOf(client: Client, payment: Payment): Promise<{ left: bigint; count: number }> {
  const params = { id: payment.payment_id }
  const reader = async (query: { limit: number; cursor?: string | undefined }) =>
    (await call(client, listRefunds, { params, query })).body
  let left = parseAmount(payment.gross_amount) - parseAmount(payment.refunded_amount)
  let count = 0
  for await (const { refund_status: status, amount } of rowsOf(reader, PAGES_MAX)) {
    count += 1
    if (status === 'PENDING') left -= parseAmount(amount)
  }
  return { left, count }
}

type State = { payment: Payment; left: bigint }

/** The service's own rules, in its order. */
function refusalOf(client: Client, input: RefundInput, { payment, left }: State): CliError | undefined {
  const { status, currency } = payment
  const { amount: text, refund_amount_available: available } = input.body
  const refuse = (code: string, message: string, ofState = 409): CliError =>
    wouldRefuse(client, refundPayment, { input, refusal: { code, status: ofState, message } })
  const invalid = (code: string, message: string): CliError =>
    wouldRefuse(client, refundPayment, {
      input,
      refusal: {
        code: 'VALIDATION_FAILED',
        status: 400,
        message: `amount: ${message}`,
        fields: [{ path: 'amount', code, message }],
      },
    })
  const isAll = status === 'Refunded' || left === 0n
  const leftText = formatAmount(left, currency)
  if (status !== 'Settled' && status !== 'Refunded')
    return refuse('PAYMENT_NOT_SETTLED', `the payment is ${status}; only a Settled one can be refunded`)
  if (available !== undefined && status === 'Settled' && parseAmount(available) !== left)
    return refuse('REFUND_AVAILABLE_MISMATCH', `${leftText} is left to refund, not ${available}`)
  if (isAll) return refuse('PAYMENT_ALREADY_REFUNDED', 'nothing is left of the payment to refund')
  if (text === undefined) return undefined
  const amount = parseAmount(text)
  if (amount === 0n) return invalid('TOO_SMALL', 'must be at least 0.01')
  if (!fitsCurrency(amount, currency)) return invalid('TOO_PRECISE', tooPreciseText(currency))
  return amount > left ? refuse('REFUND_EXCEEDS_AVAILABLE', `only ${leftText} is left to refund`, 422) : undefined
}
