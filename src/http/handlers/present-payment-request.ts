import type { PaymentRequestRecord } from '../../instructions/requests/record.ts'
import { isoReasonText } from '../../lib/iso-reasons.ts'
import { fromMinorUnits } from '../../lib/minor-units.ts'
import type { OfferToPayResponse, RequestToPayResponse } from '../../wire/payment-requests.ts'

/** A request to pay as one of its sides sees it. */
export function presentRequest(record: PaymentRequestRecord, customerId: string): RequestToPayResponse {
  return {
    RequestToPayId: record.id,
    ...sharedFields(record, customerId),
    PayeeName: record.name,
    PayerIdentifier: record.identifier,
    AmountRequested: amountOf(record),
    // A constraint of the table requires it of every request to pay.
    DueDate: record.due_date ?? '',
  }
}

/** An offer to pay as one of its sides sees it. */
export function presentOffer(record: PaymentRequestRecord, customerId: string): OfferToPayResponse {
  return {
    OfferToPayId: record.id,
    ...sharedFields(record, customerId),
    PayerName: record.name,
    PayeeIdentifier: record.identifier,
    AmountOffered: amountOf(record),
  }
}

/** The fields that requests and offers have in common. */
function sharedFields(record: PaymentRequestRecord, customerId: string) {
  const { status_reason_code: reason, reference, order_id: paymentId } = record
  return {
    Status: record.status,
    ...(reason === null ? {} : { StatusReasonCode: reason, StatusReason: isoReasonText(reason) }),
    Direction: record.customer_id === customerId ? ('Outgoing' as const) : ('Incoming' as const),
    CreationDateTime: record.created_at,
    StatusUpdateDateTime: record.updated_at,
    ExpirationDateTime: record.expires_at,
    ...(reference === null ? {} : { Reference: reference }),
    // Only the payer may read the payment, so the payee does not get its id.
    ...(paymentId === null || record.payer_id !== customerId ? {} : { PaymentId: paymentId }),
  }
}

function amountOf({ amount_minor: minor, currency }: PaymentRequestRecord) {
  return { Amount: fromMinorUnits(minor, currency), Currency: currency }
}
