import { hintOf } from '../../lib/payer-contact.ts'
import { leaveContact as keepContact } from '../../payers/leave-contact.ts'
import { getPayerPayment } from '../../payers/get-payer-payment.ts'
import { listPayerConsents } from '../../payers/list-payer-consents.ts'
import { listPayerPayments } from '../../payers/list-payer-payments.ts'
import { raisePayerDispute } from '../../payers/raise-payer-dispute.ts'
import { requestLink as takeRequest } from '../../payers/request-link.ts'
import { revokePayerConsent } from '../../payers/revoke-payer-consent.ts'
import { signOutPayer } from '../../payers/sign-out-payer.ts'
import { verifyLink as exchangeLink } from '../../payers/verify-link.ts'
import type * as wire from '../../wire/payer.ts'
import type { Handler } from '../endpoint.ts'
import { merchantIdOf, payerOf } from '../principal.ts'
import { presentPayerDispute, presentPayerMandate, presentPayerPayment, presentReceipt } from './present-payer.ts'

/** POST /api/v1/payer/auth/request-link */
export const requestLink: Handler<typeof wire.requestLink> = async (app, { body, clientAddress }) => {
  await takeRequest(app, { body, clientAddress })
  return { status: 202, body: { status: 'sent' } }
}

/** POST /api/v1/payer/auth/verify */
export const verifyLink: Handler<typeof wire.verifyLink> = async (app, { body, clientAddress }) => {
  const session = await exchangeLink(app, { token: body.token, clientAddress })
  return {
    status: 200,
    body: {
      session_token: session.token,
      token_type: 'Bearer',
      expires_in: session.expiresInSeconds,
      contact: hintOf(session.contact.value),
    },
  }
}

/** POST /api/v1/payer/auth/sign-out */
export const signOut: Handler<typeof wire.signOutPayer> = async (app, { principal }) => {
  await signOutPayer(app, payerOf(principal))
  return { status: 200, body: { status: 'signed_out' } }
}

/** GET /api/v1/payer/payments */
export const listPayments: Handler<typeof wire.listPayerPayments> = async (app, { principal }) => {
  const payments = await listPayerPayments(app, payerOf(principal).contact)
  return { status: 200, body: { data: payments.map(presentPayerPayment) } }
}

/** GET /api/v1/payer/payments/{id} */
export const getPayment: Handler<typeof wire.getPayerPayment> = async (app, { principal, params }) => {
  const receipt = await getPayerPayment(app, { contact: payerOf(principal).contact, id: params.id })
  return { status: 200, body: presentReceipt(receipt) }
}

/** GET /api/v1/payer/consents */
export const listConsents: Handler<typeof wire.listPayerConsents> = async (app, { principal }) => {
  const mandates = await listPayerConsents(app, payerOf(principal).contact)
  const areCapsEnforced = app.config.vrpCaps === 'enforce'
  return { status: 200, body: { data: mandates.map((mandate) => presentPayerMandate(mandate, { areCapsEnforced })) } }
}

/** DELETE /api/v1/payer/consents/{id} */
export const revokeConsent: Handler<typeof wire.revokePayerConsent> = async (app, { principal, params }) => {
  await revokePayerConsent(app, { contact: payerOf(principal).contact, id: params.id })
  return { status: 200, body: { consent_id: params.id, status: 'REVOKED' } }
}

/** POST /api/v1/payer/payments/{id}/dispute */
export const raiseDispute: Handler<typeof wire.raisePayerDispute> = async (app, { principal, params, body }) => {
  const { contact } = payerOf(principal)
  const { id } = params
  const dispute = await raisePayerDispute(app, { contact, id, reason: body.reason, statement: body.payer_statement })
  return { status: 201, body: presentPayerDispute(dispute) }
}

/** POST /api/v1/payments/{id}/contact */
export const leaveContact: Handler<typeof wire.leaveContact> = async (app, { principal, params, body }) => {
  await keepContact(app, { merchantId: merchantIdOf(principal), paymentId: params.id, body })
  return { status: 200, body: { status: 'kept' } }
}
