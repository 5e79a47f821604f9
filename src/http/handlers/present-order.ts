import type { OrderRecord } from '../../instructions/orders/record.ts'
import { ORDER_STATUS_ISO } from '../../instructions/orders/states.ts'
import { isoReasonText } from '../../lib/iso-reasons.ts'
import { fromMinorUnits } from '../../lib/minor-units.ts'
import type { PaymentResponse } from '../../wire/orders.ts'

/** A payment order as its customer sees it. Members without a value are absent. */
export function presentOrder(order: OrderRecord): PaymentResponse {
  const { status_reason_code: reason } = order
  return {
    PaymentId: order.id,
    Status: order.status,
    StatusISO: ORDER_STATUS_ISO[order.status],
    CreationDateTime: order.created_at,
    StatusUpdateDateTime: order.updated_at,
    ...(reason === null ? {} : { StatusReasonCode: reason, StatusReason: isoReasonText(reason) }),
    InstructionIdentification: order.instruction_identification,
    EndToEndIdentification: order.end_to_end_identification,
    InstructedAmount: { Amount: fromMinorUnits(order.amount_minor, order.currency), Currency: order.currency },
    DebtorAccountId: order.debtor_account_id,
    CreditorAccount: {
      SchemeName: order.creditor_scheme_name,
      Identification: order.creditor_identification,
      ...(order.creditor_name === null ? {} : { Name: order.creditor_name }),
    },
    ...(order.reference === null ? {} : { RemittanceInformation: { Reference: order.reference } }),
    ...(order.recurring_payment_id === null ? {} : { RecurringPaymentId: order.recurring_payment_id }),
    ...(order.payment_request_id === null ? {} : { RequestId: order.payment_request_id }),
  }
}
