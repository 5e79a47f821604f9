import { BankError } from './bank-error.ts'
import { settleIfDue } from './clearing.ts'
import { linksOf } from './resource.ts'
import type { ResourceAnswer, ResourceRequest } from './resource.ts'

/** GET …/payment-details, the same for both kinds of payments. */
export function showPaymentDetails({ books, id, token, version, baseUrl }: ResourceRequest): ResourceAnswer {
  const payment = books.payments.get(id)
  if (payment === undefined || payment.clientId !== token.clientId) {
    throw new BankError('UK.OBIE.Resource.NotFound', 'no payment has this id')
  }
  settleIfDue(payment)
  const status = version.paymentStatus[payment.status]
  const { reasonCode } = payment
  const reason = version.name === '4.0' ? { StatusReason: reasonCode } : { StatusReason: 'ProprietaryRejection' }
  const detail = {
    PaymentTransactionId: payment.endToEndId,
    Status: status,
    StatusUpdateDateTime: payment.statusAt,
    StatusDetail: {
      LocalInstrument: 'UK.OBIE.FPS',
      Status: status,
      ...(reasonCode === undefined ? {} : { ...reason, StatusReasonDescription: `ISO reason ${reasonCode}` }),
    },
  }
  const path = payment.kind === 'domestic-vrp' ? 'domestic-vrps' : 'domestic-payments'
  const links = linksOf(`${baseUrl}/${path}/${payment.id}/payment-details`)
  return { status: 200, body: { Data: { PaymentStatus: [detail] }, ...links } }
}
