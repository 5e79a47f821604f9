import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { getPayment } from '../payments/get-payment.ts'
import type { PayerContact } from '../wire/payer.ts'
import type { PaymentStatus } from '../wire/payments.ts'
import { contactOf } from './contact.ts'
import { leaveContactRow } from './payments-sql.ts'

/** From here on a bank has authenticated the payer; before that, anyone with the payment's `state` could be calling. */
const AUTHORISED: readonly PaymentStatus[] = ['Authorised', 'Settled', 'Refunded']

/**
 * Stores the contact that a payer leaves on the receipt, so that the payer hub finds the payment (decision 41). It grants
 * no access by itself: no message is sent now, and to see the payment the payer must sign in with a link sent to it later.
 * Where the shop has named a contact of either kind, every further one is rejected, whether or not it is the same, so that
 * a stranger with the payment's `state` can neither add a contact nor test one. Only single payments of a checkout accept
 * a contact: for all others the merchant knows the payer, and the contact of a mandate could be used to end it.
 * @throws {DomainError} VALIDATION_FAILED at `phone`, PAYMENT_NOT_FOUND, PAYMENT_NOT_AUTHORISED, CONTACT_ALREADY_KNOWN,
 *   CONTACT_NOT_TAKEN
 */
export async function leaveContact(
  app: App,
  { merchantId, paymentId, body }: { merchantId: string; paymentId: string; body: PayerContact },
): Promise<void> {
  const contact = await contactOf(app, body)
  const payment = await getPayment(app, { merchantId, id: paymentId })
  if (!AUTHORISED.includes(payment.status)) {
    throw new DomainError('PAYMENT_NOT_AUTHORISED', `the payment is ${payment.status}`, {
      next: 'leave a contact once the bank has authorised the payment',
    })
  }
  const outcome = await leaveContactRow(app.pool, { merchantId, paymentId: payment.id, contact })
  if (outcome === 'KNOWN') {
    throw new DomainError('CONTACT_ALREADY_KNOWN', 'the payment already has a contact', {
      next: 'sign in to the payer hub with the one that the shop knows',
    })
  }
  if (outcome === 'NOT_TAKEN') {
    throw new DomainError('CONTACT_NOT_TAKEN', 'only a single payment from a checkout accepts a contact', {
      next: "ask the shop to send the payer's contact when it creates the payment",
    })
  }
}
