import type { BankAccount } from '../../../src/wire/bank-accounts.ts'
import type { Dispute } from '../../../src/wire/dispute-fields.ts'
import type { PaymentResponse } from '../../../src/wire/orders.ts'
import type { PayerDispute } from '../../../src/wire/payer.ts'
import type { OfferToPayResponse, RequestToPayResponse } from '../../../src/wire/payment-requests.ts'
import type { CreatedPayment } from '../../../src/wire/payments.ts'
import type { RecurringPaymentResponse } from '../../../src/wire/recurring.ts'
import type { Refund } from '../../../src/wire/refunds.ts'
import type { SandboxCustomer } from '../../../src/wire/sandbox-bank.ts'
import type { ReferenceKind } from '../language/parts.ts'

declare const kind: unique symbol

/** What a verb has made of this kind, as other verbs take it: the very object that was answered. */
export type Handle<Kind extends ReferenceKind> = { readonly [kind]: Kind }
type Made<Kind extends ReferenceKind, Answer> = Answer & Handle<Kind>

export type MadePayment = Made<'payment', CreatedPayment>
export type MadeDispute = Made<'dispute', Dispute>
export type MadeCustomer = Made<'customer', Omit<SandboxCustomer, 'client_secret'> & { account_id: string }>
export type MadeMerchant = Made<'merchant', { merchant_id: string; client_id: string; name: string }>
type Contact = { contact: string }

/** What the verbs answer that make something or look something up; the others answer nothing. */
export type Answers = {
  pay: MadePayment
  checkout: MadePayment
  'payments.refund': Refund
  dispute: MadeDispute
  customer: MadeCustomer
  order: Made<'order', PaymentResponse>
  'payer.link': Made<'link', Contact>
  'payer.verify': Made<'payer', Contact>
  'payer.dispute': Made<'dispute', PayerDispute>
  recurring: Made<'recurring', RecurringPaymentResponse>
  request: Made<'request', RequestToPayResponse>
  offer: Made<'offer', OfferToPayResponse>
  merchant: MadeMerchant
  register: MadeMerchant
  bank_account: Made<'bank account', BankAccount>
  exec: { exit: number; stdout: string; stderr: string; json: unknown }
  http: { http: number; headers: Record<string, unknown>; body: unknown }
}
