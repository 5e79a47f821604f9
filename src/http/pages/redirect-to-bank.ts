import type { App } from '../../app.ts'
import { findPaymentByValidState } from '../../payments/payer-access.ts'
import type { PageReply } from './page.ts'
import { seeOther } from './page.ts'
import type { PayerLanguage } from './payer-language.ts'
import { returnAddress, unknownPayment } from './handle-return.ts'

/**
 * Redirects the short address of a payment to its bank. For QR codes, because a bank's own address may be too long for a
 * camera. It contains the payer's `state`, as the bank's address does (decision 53). A payment that is no longer waiting
 * for its payer is redirected to its receipt.
 */
export async function redirectToBank(app: App, query: URLSearchParams, language: PayerLanguage): Promise<PageReply> {
  const state = query.get('state') ?? ''
  const payment = await findPaymentByValidState(app, state)
  if (payment === null) return unknownPayment(language)
  const isWaiting = payment.status === 'AwaitingAuthorisation' && !payment.consent_ended
  return seeOther(
    isWaiting && payment.redirect_url !== null ? payment.redirect_url : returnAddress({ ...payment, state }),
  )
}
