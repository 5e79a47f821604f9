import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { getPayment } from '../payments/get-payment.ts'
import type { PayerContact } from '../wire/payer.ts'
import type { PaymentStatus } from '../wire/payments.ts'
import { contactOf } from './contact.ts'
import { leaveContactRow } from './payments-sql.ts'

/** Where somebody has proven to a bank to be the payer; before that, nobody knows who holds the capability. */
const AUTHORISED: readonly PaymentStatus[] = ['Authorised', 'Settled', 'Refunded']

/**
 * Keeps the contact that a payer leaves on the receipt, so that the payment is found in the hub (decision 41). It proves
 * nothing and opens nothing: nothing is sent to it, and who wants to see the payment must read what is sent there later.
 * Nor does it tell anything: where the shop has named a contact of either kind, another is refused whether or not it is
 * the same one, so that nobody who gets hold of a payment's capability puts an own one beside the payer's. It is for
 * payments of a checkout that are made once: of all others the merchant knows the payer, and a mandate can be ended by
 * whoever its payments belong to.
 * @throws {DomainError} VALIDATION_FAILED at `phone`, PAYMENT_NOT_FOUND, PAYMENT_NOT_AUTHORISED, CONTACT_ALREADY_KNOWN,
 *   CONTACT_NOT_TAKEN
 */
export async function leaveContact(
  app: App,
  { merchantId, paymentId, body }: { merchantId: string; paymentId: string; body: PayerContact },
): Promise<void> {
  const contact = contactOf(body)
  const payment = await getPayment(app, { merchantId, id: paymentId })
  if (!AUTHORISED.includes(payment.status)) {
    throw new DomainError('PAYMENT_NOT_AUTHORISED', `the payment is ${payment.status}`, {
      next: 'leave a contact once the bank has authorised the payment',
    })
  }
  const outcome = await leaveContactRow(app.pool, { merchantId, paymentId: payment.id, contact })
  if (outcome === 'KNOWN') {
    throw new DomainError('CONTACT_ALREADY_KNOWN', 'the payment has a contact already', {
      next: 'sign in to the payer hub with the one that the shop knows',
    })
  }
  if (outcome === 'NOT_TAKEN') {
    throw new DomainError('CONTACT_NOT_TAKEN', 'only a payment from a checkout that is made once takes a contact', {
      next: 'ask the shop to name the payer when it creates the payment',
    })
  }
}
