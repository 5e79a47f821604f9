import { hintOf } from '../../lib/payer-contact.ts'
import { leaveContact } from '../../payers/leave-contact.ts'
import { getPayerPayment } from '../../payers/get-payer-payment.ts'
import { listPayerConsents } from '../../payers/list-payer-consents.ts'
import { listPayerPayments } from '../../payers/list-payer-payments.ts'
import { raisePayerDispute } from '../../payers/raise-payer-dispute.ts'
import { requestLink } from '../../payers/request-link.ts'
import { revokePayerConsent } from '../../payers/revoke-payer-consent.ts'
import { sendPayerReceipt } from '../../payers/send-payer-receipt.ts'
import { signOutPayer } from '../../payers/sign-out-payer.ts'
import { verifyLink } from '../../payers/verify-link.ts'
import { payerLanguage } from '../pages/payer-language.ts'
import { timeText } from '../pages/time-text.ts'
import type * as wire from '../../wire/payer.ts'
import type { Handlers } from '../endpoint.ts'
import { merchantIdOf, payerOf } from '../principal.ts'
import { presentPayerDispute, presentPayerMandate, presentPayerPayment, presentReceipt } from './present-payer.ts'

export const payer: Handlers<typeof wire> = {
  /** POST /api/v1/payer/auth/request-link */
  async requestLink(app, { body, headers, clientAddress }) {
    const { tag } = payerLanguage(undefined, headers['accept-language'])
    await requestLink(app, { body, clientAddress, language: tag.slice(0, 2) })
    return { status: 202, body: { status: 'sent' } }
  },

  /** POST /api/v1/payer/auth/verify */
  async verifyLink(app, { body, clientAddress }) {
    const session = await verifyLink(app, { token: body.token, clientAddress })
    return {
      status: 200,
      body: {
        session_token: session.token,
        token_type: 'Bearer',
        expires_in: session.expiresInSeconds,
        contact: hintOf(session.contact.value),
      },
    }
  },

  /** POST /api/v1/payer/auth/sign-out */
  async signOutPayer(app, { principal }) {
    await signOutPayer(app, payerOf(principal))
    return { status: 200, body: { status: 'signed_out' } }
  },

  /** GET /api/v1/payer/payments */
  async listPayerPayments(app, { principal }) {
    const payments = await listPayerPayments(app, payerOf(principal).contact)
    return { status: 200, body: { data: payments.map((payment) => presentPayerPayment(payment, app.catalogue)) } }
  },

  /** GET /api/v1/payer/payments/{id} */
  async getPayerPayment(app, { principal, params }) {
    const { contact } = payerOf(principal)
    const receipt = await getPayerPayment(app, { contact, id: params.id })
    return { status: 200, body: presentReceipt(receipt, { contact, banks: app.catalogue }) }
  },

  /** POST /api/v1/payer/payments/{id}/receipt */
  async sendPayerReceipt(app, { principal, params, headers }) {
    const { contact } = payerOf(principal)
    const { tag, ...words } = payerLanguage(undefined, headers['accept-language'])
    const language = { ...words, code: tag.slice(0, 2), moment: (instant: string) => timeText(instant, tag) }
    await sendPayerReceipt(app, { contact, id: params.id, language })
    return { status: 202, body: { payment_id: params.id, status: 'sent', contact: hintOf(contact.value) } }
  },

  /** GET /api/v1/payer/consents */
  async listPayerConsents(app, { principal }) {
    const mandates = await listPayerConsents(app, payerOf(principal).contact)
    const options = { areCapsEnforced: app.config.vrpCaps === 'enforce', banks: app.catalogue }
    return { status: 200, body: { data: mandates.map((mandate) => presentPayerMandate(mandate, options)) } }
  },

  /** DELETE /api/v1/payer/consents/{id} */
  async revokePayerConsent(app, { principal, params }) {
    await revokePayerConsent(app, { contact: payerOf(principal).contact, id: params.id })
    return { status: 200, body: { consent_id: params.id, status: 'REVOKED' } }
  },

  /** POST /api/v1/payer/payments/{id}/dispute */
  async raisePayerDispute(app, { principal, params, body }) {
    const { contact } = payerOf(principal)
    const { id } = params
    const dispute = await raisePayerDispute(app, { contact, id, reason: body.reason, statement: body.payer_statement })
    return { status: 201, body: presentPayerDispute(dispute) }
  },

  /** POST /api/v1/payments/{id}/contact */
  async leaveContact(app, { principal, params, body }) {
    await leaveContact(app, { merchantId: merchantIdOf(principal), paymentId: params.id, body })
    return { status: 200, body: { status: 'kept' } }
  },
}
