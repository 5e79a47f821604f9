import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { hasMovedMoney } from '../lib/payment-status.ts'
import { queueMail } from '../mail/queue.ts'
import { recipientHash } from '../mail/seal-context.ts'
import { lockMailCount, secondsToNextMail, secondsToNextMailOfPayment } from '../mail/sql.ts'
import { getPayerPayment, holdOwnPayment } from './get-payer-payment.ts'
import type { PayerPaymentKey } from './get-payer-payment.ts'
import { receiptMail } from './receipt-mail.ts'
import type { ReceiptLanguage } from './receipt-mail.ts'
import { PAYER_MAIL_REALM } from './record.ts'
import type { Contact, PayerPaymentRecord } from './record.ts'

const KIND = 'payer-receipt'

/** Receipts that one address is sent within an hour: of each payment one, and of many payments these (decision 382). */
const PER_HOUR = 20

/** Whether the receipt of a payment can be mailed to the contact of a session. */
export function canMailReceipt({ type }: Contact, payment: Pick<PayerPaymentRecord, 'status'>): boolean {
  return type === 'EMAIL' && hasMovedMoney(payment)
}

/**
 * Mails the receipt of a payer's own payment to the address that the payer has signed in with, which a link has confirmed.
 * @throws {DomainError} PAYMENT_NOT_FOUND for an unknown id and for another payer's alike, PAYMENT_NOT_SETTLED,
 *   EMAIL_NOT_CONFIRMED for one who has signed in with a phone number, RATE_LIMITED
 */
export async function sendPayerReceipt(
  app: App,
  { language, ...key }: PayerPaymentKey & { language: ReceiptLanguage },
): Promise<void> {
  checkMailable(key.contact, (await getPayerPayment(app, key)).payment)
  const recipient = key.contact.value
  const series = { kind: KIND, recipientHash: await recipientHash(app, recipient) }
  const mail = await app.pool.transaction(async (tx) => {
    await lockMailCount(tx, series)
    // The payer may have been erased while others were before this request.
    const payment = await holdOwnPayment(app, tx, key)
    rejectIfLimited(await secondsToNextMailOfPayment(tx, { ...series, paymentId: payment.id }), {
      why: 'was asked for within the last hour, or still waits to be sent',
      before: 'wait for it and look in the spam folder',
    })
    rejectIfLimited(await secondsToNextMail(tx, { ...series, realm: PAYER_MAIL_REALM }, PER_HOUR), {
      why: `can't be mailed: ${PER_HOUR} were asked for at this address within an hour`,
      before: 'print it',
    })
    return queueMail(app, tx, {
      ...receiptMail(app, { payment, language }),
      merchantId: null,
      realm: PAYER_MAIL_REALM,
      kind: KIND,
      recipient,
      paymentId: payment.id,
    })
  })
  app.log.info({ mail, payment_id: key.id }, 'the receipt of a payment was queued')
  app.wake.notify('send-mails')
}

function checkMailable({ type }: Contact, payment: PayerPaymentRecord): void {
  const { status } = payment
  if (!hasMovedMoney(payment)) {
    throw new DomainError(
      'PAYMENT_NOT_SETTLED',
      `the payment is ${status}; only a Settled or Refunded one has a receipt`,
      { current: { status } },
    )
  }
  if (type === 'EMAIL') return
  throw new DomainError('EMAIL_NOT_CONFIRMED', 'you signed in with a phone number; receipts are sent by e-mail', {
    next: 'sign in with the e-mail address that the shop knows, or print the receipt',
  })
}

/** @param limit `before`: what the payer can do without another mail */
function rejectIfLimited(retryAfterSeconds: number, { why, before }: { why: string; before: string }): void {
  if (retryAfterSeconds === 0) return
  const minutes = Math.ceil(retryAfterSeconds / 60)
  throw new DomainError('RATE_LIMITED', `the receipt ${why}`, {
    retryAfterSeconds,
    next: `${before}, or ask again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}`,
  })
}
