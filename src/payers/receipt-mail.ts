import type { App } from '../app.ts'
import type { AllTexts } from '../lib/locales/checkout/en.ts'
import type { HubTexts } from '../lib/locales/hub/en.ts'
import * as en from '../lib/locales/mails/en.ts'
import { isPositive, payerStatusText } from '../lib/payment-status.ts'
import { withoutLinks } from '../mail/quote-name.ts'
import { MAIL_LANGUAGES, hubAddress } from './link-message.ts'
import type { PayerPaymentRecord } from './record.ts'

/** How a receipt is written: the words of the payer's pages, and their forms of amounts and times. */
export type ReceiptLanguage = {
  /** Such as `cy`. */
  code: string
  checkout: Pick<AllTexts, 'gross' | 'payTo' | 'payee' | 'accountEnd' | 'reference' | 'date' | 'provider'>
  hub: Pick<HubTexts, 'questions' | 'payment' | 'payments' | 'status'>
  money(amount: string, currency: string): string
  moment(instant: string): string
  fill(text: string, params: Readonly<Record<string, string>>): string
}

type ReceiptApp = Pick<App, 'publicUrl' | 'config' | 'catalogue'>

/**
 * The mail with the receipt of a payment. Its subject says nothing of the payment, because only bodies are sealed. What the
 * merchant has chosen, its name and the reference, can't become a link in it.
 */
export function receiptMail(
  app: ReceiptApp,
  { payment, language }: { payment: PayerPaymentRecord; language: ReceiptLanguage },
): { subject: string; body: string } {
  const { receiptSubject, receipt, paymentId } = MAIL_LANGUAGES[language.code] ?? en.mails
  const { provider } = app.config
  const facts = [...factsOf(app, payment, language), [paymentId, payment.id] as const].flatMap(([name, value]) =>
    value === null ? [] : [`${name}: ${value}`],
  )
  const providedBy =
    provider.name === undefined ? [] : ['', language.fill(language.checkout.provider, { provider: provider.name })]
  const body = language.fill(receipt, {
    facts: [...facts, ...providedBy].join('\n'),
    questions: language.hub.questions,
    link: hubAddress(app, language.code),
  })
  return { subject: receiptSubject, body }
}

/** What the hub's receipt says to a payer, without the merchant's fee and net amount, and who the payee at the bank is. */
function factsOf(
  { config: { collectionAccount }, catalogue }: ReceiptApp,
  payment: PayerPaymentRecord,
  { checkout, hub, money, moment, fill }: ReceiptLanguage,
): (readonly [string, string | null])[] {
  const { currency, refunded_amount: refunded, remittance_reference: reference } = payment
  return [
    [checkout.gross, money(payment.gross_amount, currency)],
    [checkout.payTo, withoutLinks(payment.merchant_name)],
    [
      checkout.payee,
      collectionAccount === undefined
        ? null
        : `${collectionAccount.name}, ${fill(checkout.accountEnd, { end: collectionAccount.identification.slice(-4) })}`,
    ],
    [hub.payment.status, payerStatusText(hub, payment)],
    [hub.payment.refunded, isPositive(refunded) ? money(refunded, currency) : null],
    [checkout.date, moment(payment.created_at)],
    [checkout.reference, reference === null ? null : withoutLinks(reference)],
    [hub.payment.bank, catalogue.byId(payment.debtor_bank_id)?.name ?? null],
    [hub.payment.endToEndId, payment.end_to_end_id],
  ]
}
