import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { queueMail } from '../mail/queue.ts'
import { recipientHash } from '../mail/seal-context.ts'
import { lockMailCount, secondsToNextMail, secondsToNextMailAbout } from '../mail/sql.ts'
import { getPayerPayment } from './get-payer-payment.ts'
import type { PayerPaymentKey } from './get-payer-payment.ts'
import { receiptMail } from './receipt-mail.ts'
import type { ReceiptLanguage } from './receipt-mail.ts'
import { PAYER_MAIL_REALM } from './record.ts'
import type { Contact, PayerPaymentRecord } from './record.ts'

const KIND = 'payer-receipt'

/** Receipts that one address is sent within an hour: of each payment one, and of many payments these (decision 382). */
const PER_HOUR = 20

/** Whether the receipt of a payment can be mailed to the contact of a session. */
export function canMailReceipt({ type }: Contact, { status }: Pick<PayerPaymentRecord, 'status'>): boolean {
  return type === 'EMAIL' && isPaid(status)
}

/**
 * Mails the receipt of a payer's own payment to the address that the payer has signed in with, which a link has confirmed.
 * @throws {DomainError} PAYMENT_NOT_FOUND for an unknown id and for another payer's alike, PAYMENT_NOT_SETTLED,
 *   EMAIL_NOT_CONFIRMED for a session of a phone number, RATE_LIMITED
 */
export async function sendPayerReceipt(
  app: App,
  { language, ...key }: PayerPaymentKey & { language: ReceiptLanguage },
): Promise<void> {
  const { payment } = await getPayerPayment(app, key)
  checkMailable(key.contact, payment)
  const recipient = key.contact.value
  const series = { kind: KIND, recipientHash: await recipientHash(app, recipient) }
  await app.pool.transaction(async (tx) => {
    await lockMailCount(tx, series)
    rejectSent(
      await secondsToNextMailAbout(tx, { ...series, paymentId: payment.id }),
      'was mailed within the last hour',
    )
    rejectSent(
      await secondsToNextMail(tx, { ...series, realm: PAYER_MAIL_REALM }, PER_HOUR),
      `can't be mailed: ${PER_HOUR} were sent to this address within an hour`,
    )
    await queueMail(app, tx, {
      ...receiptMail(app, { payment, language }),
      merchantId: null,
      realm: PAYER_MAIL_REALM,
      kind: KIND,
      recipient,
      paymentId: payment.id,
    })
  })
  app.wake.notify('send-mails')
}

function isPaid(status: PayerPaymentRecord['status']): boolean {
  return status === 'Settled' || status === 'Refunded'
}

function checkMailable({ type }: Contact, { status }: PayerPaymentRecord): void {
  if (!isPaid(status)) {
    throw new DomainError('PAYMENT_NOT_SETTLED', `the payment is ${status}; only a Settled one has a receipt`, {
      current: { status },
    })
  }
  if (type === 'EMAIL') return
  throw new DomainError('EMAIL_NOT_CONFIRMED', 'this session is of a phone number; receipts are sent by e-mail', {
    next: 'sign in with the e-mail address that the shop knows, or print the receipt',
  })
}

function rejectSent(retryAfterSeconds: number, why: string): void {
  if (retryAfterSeconds === 0) return
  throw new DomainError('RATE_LIMITED', `the receipt ${why}`, {
    retryAfterSeconds,
    next: `look in the spam folder, or try again in ${Math.ceil(retryAfterSeconds / 60)} minutes`,
  })
}
