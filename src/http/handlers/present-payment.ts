import { failureOf, failureOfPayment, isFailureCode } from '../../lib/failure-codes.ts'
import { formatNumeric } from '../../lib/money.ts'
import type { PaymentRecord, PaymentWithHistory } from '../../payments/record.ts'
import type { ListedRefund } from '../../payments/refunds/record.ts'
import type { Payment, PayerView, PaymentSummary } from '../../wire/payments.ts'
import type { RefundRow } from '../../wire/refunds.ts'

/** A payment as lists show it (decision 51). */
export function presentSummary(payment: PaymentRecord): PaymentSummary {
  return {
    payment_id: payment.id,
    status: payment.status,
    end_to_end_id: payment.end_to_end_id,
    consent_id: payment.consent_id,
    consent_type: payment.consent_type,
    consent_status: payment.consent_status,
    gross_amount: formatNumeric(payment.gross_amount, payment.currency),
    fee_amount: formatNumeric(payment.fee_amount, payment.currency),
    net_amount: formatNumeric(payment.net_amount, payment.currency),
    refunded_amount: formatNumeric(payment.refunded_amount, payment.currency),
    currency: payment.currency,
    redirect_uri: payment.redirect_uri,
    redirect_url: payment.redirect_url,
    debtor_bank_id: payment.debtor_bank_id,
    payer_name: payment.payer_name,
    remittance_reference: payment.remittance_reference,
    metadata: payment.metadata,
    failure: failureOfPayment(payment),
    expires_at: payment.expires_at,
    created_at: payment.created_at,
    updated_at: payment.updated_at,
  }
}

/** A payment with its history, for its merchant. */
export function presentPayment(payment: PaymentWithHistory): Payment {
  // Added to the summary itself, because a copy of its members costs as much as they do.
  return Object.assign(presentSummary(payment), { status_history: payment.status_history })
}

/** A payment for its payer's browser: without data of the payer or the merchant (decision 66). */
export function presentToPayer(payment: PaymentWithHistory): PayerView {
  return {
    payment_id: payment.id,
    status: payment.status,
    end_to_end_id: payment.end_to_end_id,
    gross_amount: formatNumeric(payment.gross_amount, payment.currency),
    fee_amount: formatNumeric(payment.fee_amount, payment.currency),
    net_amount: formatNumeric(payment.net_amount, payment.currency),
    refunded_amount: formatNumeric(payment.refunded_amount, payment.currency),
    currency: payment.currency,
    failure: failureOfPayment(payment),
    expires_at: payment.expires_at,
    created_at: payment.created_at,
    updated_at: payment.updated_at,
    status_history: payment.status_history,
  }
}

/** A refund. If it failed, the bank rejected it. */
export function presentRefund(refund: ListedRefund): RefundRow {
  const { id, payment_intent_id, amount, currency, status, failure_code: code, end_to_end_id: fileId, ...rest } = refund
  if (code !== null && !isFailureCode(code)) throw new Error(`the refund has an unknown failure ${code}`)
  return {
    refund_id: id,
    payment_id: payment_intent_id,
    amount: formatNumeric(amount, currency),
    currency,
    refund_status: status,
    ...rest,
    carried_by: fileId === null ? 'api' : 'file',
    failure: code === null ? null : failureOf(code),
  }
}
