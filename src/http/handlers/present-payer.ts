import type { BankCatalogue } from '../../banks/catalogue.ts'
import type { MandateWithAllowances } from '../../consents/record.ts'
import type { DisputeRecord } from '../../disputes/record.ts'
import { failureOfPayment } from '../../lib/failure-codes.ts'
import { formatAmount, formatNumeric } from '../../lib/money.ts'
import { isDisputable } from '../../payers/get-payer-payment.ts'
import type { PayerReceiptRecord } from '../../payers/get-payer-payment.ts'
import type { Contact, PayerPaymentRecord } from '../../payers/record.ts'
import { canMailReceipt } from '../../payers/send-payer-receipt.ts'
import type { PayerConsent, PayerDispute, PayerPayment, PayerReceipt } from '../../wire/payer.ts'
import { presentAllowances } from './present-mandate.ts'

/** A payment as its payer sees it: nothing of other payers, and only the name of the merchant. */
export function presentPayerPayment(payment: PayerPaymentRecord, banks: BankCatalogue): PayerPayment {
  const { currency } = payment
  return {
    payment_id: payment.id,
    status: payment.status,
    end_to_end_id: payment.end_to_end_id,
    merchant_name: payment.merchant_name,
    gross_amount: formatNumeric(payment.gross_amount, currency),
    fee_amount: formatNumeric(payment.fee_amount, currency),
    net_amount: formatNumeric(payment.net_amount, currency),
    refunded_amount: formatNumeric(payment.refunded_amount, currency),
    currency,
    remittance_reference: payment.remittance_reference,
    debtor_bank_id: payment.debtor_bank_id,
    bank_name: banks.byId(payment.debtor_bank_id)?.name ?? null,
    consent_id: payment.consent_id,
    is_recurring: payment.consent_type === 'VARIABLE_RECURRING',
    failure: failureOfPayment(payment),
    dispute: presentLastDispute(payment),
    is_disputable: isDisputable(payment),
    created_at: payment.created_at,
    updated_at: payment.updated_at,
  }
}

function presentLastDispute(payment: PayerPaymentRecord): PayerPayment['dispute'] {
  const { dispute_id: id, dispute_status: status, dispute_reason: reason, dispute_opened_at: opened_at } = payment
  if (id === null || status === null || reason === null || opened_at === null) return null
  return { id, status, reason, opened_at, resolution_note: payment.dispute_resolution_note }
}

export function presentReceipt(
  { payment, changes, refunds }: PayerReceiptRecord,
  { contact, banks }: { contact: Contact; banks: BankCatalogue },
): PayerReceipt {
  return {
    ...presentPayerPayment(payment, banks),
    status_history: [...changes],
    refunds: refunds.map(({ amount, refunded_at }) => ({
      amount: formatNumeric(amount, payment.currency),
      refunded_at,
    })),
    can_mail_receipt: canMailReceipt(contact, payment),
  }
}

export function presentPayerDispute(dispute: DisputeRecord): PayerDispute {
  const { id, payment_id, status, reason, payer_statement, opened_at } = dispute
  return { id, payment_id, status, reason, payer_statement, opened_at }
}

/** A mandate as its payer sees it. */
export function presentPayerMandate(
  mandate: MandateWithAllowances,
  { areCapsEnforced, banks }: { areCapsEnforced: boolean; banks: BankCatalogue },
): PayerConsent {
  const { currency } = mandate
  return {
    consent_id: mandate.id,
    status: mandate.status,
    merchant_name: mandate.merchant_name,
    currency,
    max_amount_per_payment: formatAmount(mandate.caps.maxAmountPerPayment, currency),
    allowances: presentAllowances(mandate),
    caps_enforced: areCapsEnforced,
    remittance_reference: mandate.remittance_reference,
    bank_name: banks.byId(mandate.debtor_bank_id)?.name ?? null,
    payment_count: mandate.payment_count,
    last_payment_at: mandate.last_payment_at,
    valid_to: mandate.valid_to,
    created_at: mandate.created_at,
  }
}
