import { randomUUID } from 'node:crypto'
import { request } from 'undici'
import { sendPayerLinks } from '../../src/payers/send-links.ts'
import { createPayouts } from '../../src/payouts/create-payouts.ts'
import { createPayment, paymentBody } from './app.ts'
import type { Answer, CallOptions, TestMerchant, TestService } from './app.ts'
import { britishFile } from './bank-files.ts'
import { approve, plainToken, startPayment } from './checkout.ts'
import { authorisedMandate } from './mandates.ts'
import { orderBody } from './orders.ts'
import { dayFromNow, offerBody, requestBody } from './payment-requests.ts'
import { settledPayment, unansweredPayment } from './payments.ts'
import { sentFileRefund } from './file-refunds.ts'
import { answerTo, byFile, exportByFile } from './payout-bank.ts'
import { payableMerchant, payoutsOf } from './payouts.ts'
import { recurringBody } from './recurring.ts'
import { register } from './registrations.ts'
import { makeSoftwareStatement } from './software-statement.ts'
import { plantDead } from './webhooks.ts'

/** A service with an identity provider, a merchant of it and an operator. */
export type Scene = { service: TestService; merchant: TestMerchant; operator: Record<string, string> }

/** A request of an operation that succeeds: the parameters of its path, and what else is sent. */
export type SampleRequest = Omit<CallOptions, 'raw'> & { params?: Record<string, string> }

export type Sample = (scene: Scene) => Promise<SampleRequest> | SampleRequest

const PAYER = 'ada@payer.example'
const WEBHOOK_URL = 'http://127.0.0.1:9/hook'

async function need({ service }: Scene, ...args: Parameters<TestService['call']>): Promise<Answer['body']> {
  const answer = await service.call(...args)
  if (answer.status >= 300) throw new Error(`${args[0]} ${args[1]}: ${answer.text}`)
  return answer.body
}

/** A customer of the sandbox's bank, with a token of its own program. */
export async function bankCustomer(
  scene: Scene,
): Promise<{ headers: Record<string, string>; email: string; accountId: string }> {
  const made = await need(scene, 'POST', '/api/v1/sandbox/customers', { headers: scene.operator, body: {} })
  const form = {
    grant_type: 'client_credentials',
    client_id: made.client_id,
    client_secret: made.client_secret,
    scope: 'accounts payments',
  }
  const { body } = await request(`${made.issuer}/protocol/openid-connect/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  })
  const { access_token: token } = JSON.parse(await body.text())
  const accountId = made.accounts[0].account_id
  return { headers: { authorization: `Bearer ${token}` }, email: made.email, accountId }
}

/** The token of a link that a payer of one of the merchant's payments has asked for. */
export async function linkToken(scene: Scene): Promise<string> {
  const { service, operator } = scene
  await need(scene, 'POST', '/api/v1/payer/auth/request-link', { body: { email: PAYER } })
  await sendPayerLinks(service.app, new AbortController().signal)
  const mails = await need(scene, 'GET', `/api/v1/sandbox/mails?recipient=${PAYER}`, { headers: operator })
  const mail = await need(scene, 'GET', `/api/v1/sandbox/mails/${mails.data[0].id}`, { headers: operator })
  return new URL(mail.links[0]).hash.replace('#token=', '')
}

/** The headers of a payer who has signed in to the hub by a link. */
export async function payerSession(scene: Scene): Promise<Record<string, string>> {
  const token = await linkToken(scene)
  const session = await need(scene, 'POST', '/api/v1/payer/auth/verify', { body: { token } })
  return { authorization: `Bearer ${session.session_token}` }
}

async function dispute(scene: Scene, { isAnswered = false } = {}): Promise<string> {
  const { service, merchant } = scene
  const paymentId = await settledPayment(service, merchant)
  const { id } = await need(scene, 'POST', `/api/v1/payments/${paymentId}/dispute`, {
    merchant,
    body: { reason: 'OTHER' },
  })
  const merchant_evidence = 'signed for'
  if (isAnswered) await need(scene, 'PUT', `/api/v1/portal/disputes/${id}`, { merchant, body: { merchant_evidence } })
  return id
}

async function paymentRequest(scene: Scene, path: 'request-to-pay' | 'offer-to-pay') {
  const [by, to] = [await bankCustomer(scene), await bankCustomer(scene)]
  const body =
    path === 'offer-to-pay'
      ? offerBody(to.email)
      : requestBody(to.email, { DueDate: await dayFromNow(scene.service, 10) })
  const made = await need(scene, 'POST', `/open-banking/v1/${path}`, { headers: by.headers, body })
  return { to, made }
}

/** A DEAD delivery of the merchant, which has an endpoint. */
async function deadDelivery(scene: Scene): Promise<string> {
  const { service, merchant } = scene
  await endpoint(scene)
  const [id = ''] = await plantDead(service.owner, merchant.id)
  return id
}

async function endpoint(scene: Scene): Promise<void> {
  const { merchant } = scene
  await need(scene, 'PUT', '/api/v1/portal/webhook-endpoint', { merchant, body: { webhook_url: WEBHOOK_URL } })
}

function email(): string {
  return `${randomUUID().slice(0, 8)}@acme.example`
}

async function teamMember(scene: Scene): Promise<string> {
  const body = { email: email(), role: 'FINANCE' }
  return (await need(scene, 'POST', '/api/v1/portal/team', { merchant: scene.merchant, body })).id
}

/** Without a factor there is nothing to reset. */
async function memberWithFactor(scene: Scene): Promise<{ id: string; email: string }> {
  const body = { email: email(), role: 'ADMIN' }
  const { id } = await need(scene, 'POST', '/api/v1/portal/team', { merchant: scene.merchant, body })
  await scene.service.owner.query(
    "insert into idp.second_factors (user_id, secret, last_step) values ($1, 'v1.sealed', 0)",
    [id],
  )
  return { id, email: body.email }
}

async function staffMember(scene: Scene): Promise<string> {
  const body = { email: email(), role: 'OPS', reason: 'new' }
  return (await need(scene, 'POST', '/api/v1/admin/staff', { headers: scene.operator, body })).id
}

async function credential(scene: Scene): Promise<string> {
  const body = { name: 'till' }
  return (await need(scene, 'POST', '/api/v1/portal/api-credentials', { merchant: scene.merchant, body })).client_id
}

/** A request for each operation that takes `dry_run`, by the operation's name. */
export const SAMPLES: Record<string, Sample> = {
  createPayment: ({ merchant }) => ({
    merchant,
    headers: { 'x-idempotency-key': randomUUID() },
    body: paymentBody(),
  }),
  cancelPayment: async ({ service, merchant }) => {
    const { body } = await createPayment(service, merchant)
    return { merchant, params: { id: body.payment_id } }
  },
  refundPayment: async ({ service, merchant }) => ({
    merchant,
    params: { id: await settledPayment(service, merchant) },
    headers: { 'x-idempotency-key': randomUUID() },
    body: { amount: '20.00' },
  }),
  raiseDispute: async ({ service, merchant }) => ({
    merchant,
    params: { id: await settledPayment(service, merchant) },
    body: { reason: 'OTHER' },
  }),
  submitEvidence: async (scene) => ({
    merchant: scene.merchant,
    params: { id: await dispute(scene) },
    body: { merchant_evidence: 'signed for' },
  }),
  acceptDispute: async (scene) => ({
    merchant: scene.merchant,
    params: { id: await dispute(scene) },
    body: { note: 'our mistake', refund: true },
  }),
  raiseAdminDispute: async ({ service, merchant, operator }) => ({
    headers: operator,
    params: { id: await settledPayment(service, merchant) },
    body: { reason: 'UNAUTHORISED', statement: 'The bank asks.' },
  }),
  escalateDispute: async (scene) => ({
    headers: scene.operator,
    params: { id: await dispute(scene, { isAnswered: true }) },
    body: { reason: 'beyond my limit', assignee: 'olivia' },
  }),
  resolveDispute: async (scene) => ({
    headers: scene.operator,
    params: { id: await dispute(scene, { isAnswered: true }) },
    body: { status: 'RESOLVED_PAYER_FAVOUR', resolution_note: 'No proof of delivery.', refund: true },
  }),
  // What changes without a file, whose content names the time: a payout whose account was disabled meanwhile fails.
  createPayoutFile: async (scene) => {
    const payee = await payableMerchant(scene.service)
    await createPayouts(byFile(scene.service.app))
    await need(scene, 'DELETE', `/api/v1/portal/bank-accounts/${payee.accountId}`, { merchant: payee })
    return { headers: scene.operator }
  },
  importPayoutReport: async ({ service, operator }) => {
    await payableMerchant(service)
    const { messageId, payments } = await exportByFile(service.app)
    const statuses = Object.fromEntries(payments.map(({ endToEndId }) => [endToEndId, 'RJCT AC04']))
    return { headers: operator, body: { content: answerTo(messageId, statuses) } }
  },
  retryPayout: async ({ service, operator }) => {
    const payee = await payableMerchant(service)
    await createPayouts(service.app)
    const [payout] = await payoutsOf(service, payee)
    return { headers: operator, params: { id: payout?.id ?? '' }, body: { reason: 'the bank asks for it' } }
  },
  failPayout: async ({ service, operator }) => {
    const payee = await payableMerchant(service)
    await exportByFile(service.app)
    const [payout] = await payoutsOf(service, payee)
    return { headers: operator, params: { id: payout?.id ?? '' }, body: { reason: 'told by the bank' } }
  },
  resolvePayment: async ({ service, merchant, operator }) => ({
    headers: operator,
    params: { id: await unansweredPayment(service, merchant) },
    body: { outcome: 'NOT_TAKEN', reason: 'the bank has no such order' },
  }),
  failRefund: async ({ service, merchant, operator }) => ({
    headers: operator,
    params: { id: await sentFileRefund(service, merchant) },
    body: { reason: 'told by the bank' },
  }),
  importStatements: ({ operator }) => ({
    headers: operator,
    body: { content: britishFile([{ amount: '0.35', ref: 'FEE' }]) },
  }),
  setSoftwareStatement: async ({ operator }) => ({
    headers: operator,
    body: { ...(await makeSoftwareStatement()), reason: 'a new certificate' },
  }),
  resolveStatementLine: async (scene) => {
    const { operator: headers } = scene
    const content = britishFile([{ amount: '0.36', ref: 'FEE-2' }], { id: 'FEES' })
    await need(scene, 'POST', '/api/v1/admin/statements', { headers, body: { content } })
    const lines = await need(scene, 'GET', '/api/v1/admin/statement-lines?state=unmatched&limit=1', { headers })
    return { headers, params: { id: lines.data[0].id }, body: { reason: "the bank's fee" } }
  },
  creditReturnedRefund: async (scene) => {
    const { service, merchant, operator: headers } = scene
    const paymentId = await settledPayment(service, merchant)
    const { refund_id } = await need(scene, 'POST', `/api/v1/payments/${paymentId}/refund`, { merchant })
    const content = britishFile([{ amount: '50.00', ref: 'RETURNED' }], { id: 'RETURNS' })
    await need(scene, 'POST', '/api/v1/admin/statements', { headers, body: { content } })
    const lines = await need(scene, 'GET', '/api/v1/admin/statement-lines?state=unmatched&limit=1', { headers })
    const params = { id: lines.data[0].id }
    const body = { payment_id: paymentId, refund_id, reason: 'it came back' }
    await need(scene, 'PUT', `/api/v1/admin/statement-lines/${params.id}/resolution`, { headers, body })
    return { headers, params, body: { reason: 'the account is closed' } }
  },
  disputeAsPayer: async ({ service, merchant, operator }) => ({
    headers: operator,
    params: { id: await settledPayment(service, merchant) },
    body: { reason: 'ITEM_NOT_RECEIVED', payer_statement: 'It never came.' },
  }),
  endConsent: async ({ service, merchant }) => {
    const { consentId } = await authorisedMandate(service, merchant)
    return { merchant, params: { id: consentId } }
  },

  setKybStatus: ({ merchant, operator }) => ({
    headers: operator,
    params: { id: merchant.id },
    body: { kyb_status: 'SUSPENDED', reason: 'chargebacks' },
  }),
  setPayoutHold: ({ merchant, operator }) => ({
    headers: operator,
    params: { id: merchant.id },
    body: { payout_held: true, reason: 'under investigation' },
  }),
  setMerchantActive: ({ merchant, operator }) => ({
    headers: operator,
    params: { id: merchant.id },
    body: { is_active: false, reason: 'closed' },
  }),
  setFees: ({ merchant, operator }) => ({
    headers: operator,
    params: { id: merchant.id },
    body: { fee_percentage: '0.02', reason: 'agreed' },
  }),
  closeSettlements: async ({ service, merchant }) => {
    await settledPayment(service, merchant)
    return { merchant, body: {} }
  },
  putSettlementSchedule: ({ merchant }) => ({ merchant, body: { settlement_schedule: 'MANUAL' } }),
  setSettlementSchedule: ({ merchant, operator }) => ({
    headers: operator,
    params: { id: merchant.id },
    body: { settlement_schedule: 'WEEKLY', reason: 'agreed' },
  }),
  setLimits: ({ merchant, operator }) => ({
    headers: operator,
    params: { id: merchant.id },
    body: { currencies: ['GBP'], payment_amount_max: '500.00', reason: 'agreed' },
  }),
  correctBalance: ({ merchant, operator }) => ({
    headers: operator,
    params: { id: merchant.id },
    body: { amount: '-5.00', currency: 'GBP', booked_against: 'FEES', reason: 'a fee that was forgotten' },
  }),
  repairRegistration: async ({ service, operator }) => {
    const { body } = await register(service, { company_name: `Shop ${randomUUID().slice(0, 8)} Ltd` })
    return { headers: operator, params: { slug: body.realm_slug }, body: { admin_email: email() } }
  },

  addBankAccount: ({ merchant }) => ({
    merchant,
    body: { account_holder_name: 'Acme Ltd', sort_code: '20-00-00', account_number: '55779911' },
  }),
  disableBankAccount: async (scene) => {
    const { merchant } = scene
    const body = { account_holder_name: 'Acme Ltd', sort_code: '20-00-00', account_number: '55779912' }
    const { id } = await need(scene, 'POST', '/api/v1/portal/bank-accounts', { merchant, body })
    return { merchant, params: { id } }
  },
  putBranding: ({ merchant }) => ({ merchant, body: { colors: { primary: '#123456' } } }),
  putCheckoutOrigins: ({ merchant }) => ({ merchant, body: { origins: ['https://shop.example'] } }),
  rotateWebhookSecret: ({ merchant }) => ({ merchant }),
  endSecretOverlap: async (scene) => {
    const { merchant } = scene
    await need(scene, 'POST', '/api/v1/portal/webhook-secret/rotate', { merchant })
    return { merchant }
  },
  putWebhookEndpoint: ({ merchant }) => ({ merchant, body: { webhook_url: WEBHOOK_URL, paused: true } }),
  testWebhook: async (scene) => {
    await endpoint(scene)
    return { merchant: scene.merchant }
  },
  replayWebhook: async (scene) => ({ merchant: scene.merchant, params: { id: await deadDelivery(scene) } }),
  replayWebhooks: async (scene) => {
    await deadDelivery(scene)
    return { merchant: scene.merchant, body: {} }
  },
  replayForMerchant: async (scene) => ({
    headers: scene.operator,
    params: { id: scene.merchant.id, deliveryId: await deadDelivery(scene) },
    body: { reason: 'asked by phone' },
  }),

  inviteTeamMember: ({ merchant }) => ({ merchant, body: { email: email(), role: 'FINANCE' } }),
  changeTeamRole: async (scene) => ({
    merchant: scene.merchant,
    params: { id: await teamMember(scene) },
    body: { role: 'DEVELOPER' },
  }),
  removeTeamMember: async (scene) => ({ merchant: scene.merchant, params: { id: await teamMember(scene) } }),
  resetTeamFactor: async (scene) => ({ merchant: scene.merchant, params: { id: (await memberWithFactor(scene)).id } }),
  resetMemberFactor: async (scene) => ({
    headers: scene.operator,
    params: { id: scene.merchant.id },
    body: { email: (await memberWithFactor(scene)).email, reason: 'lost the phone' },
  }),
  createApiCredential: ({ merchant }) => ({ merchant, body: { name: 'till', role: 'FINANCE' } }),
  rotateApiCredential: async (scene) => ({ merchant: scene.merchant, params: { id: await credential(scene) } }),
  revokeApiCredential: async (scene) => ({ merchant: scene.merchant, params: { id: await credential(scene) } }),
  addStaff: ({ operator }) => ({ headers: operator, body: { email: email(), role: 'OPS', reason: 'new' } }),
  changeStaffRole: async (scene) => ({
    headers: scene.operator,
    params: { id: await staffMember(scene) },
    body: { role: 'SUPPORT', reason: 'moved' },
  }),
  removeStaff: async (scene) => ({
    headers: scene.operator,
    params: { id: await staffMember(scene) },
    body: { reason: 'left' },
  }),
  resetStaffFactor: async (scene) => ({
    headers: scene.operator,
    params: { id: await staffMember(scene) },
    body: { reason: 'lost the phone' },
  }),
  erasePayer: ({ operator }) => ({ headers: operator, body: { email: email(), reason: 'asked to' } }),
  createStaffClient: ({ operator }) => ({ headers: operator, body: { name: 'cron', role: 'OPS', reason: 'nightly' } }),
  revokeStaffClient: async (scene) => {
    const body = { name: 'cron', role: 'OPS', reason: 'nightly' }
    const made = await need(scene, 'POST', '/api/v1/admin/staff-clients', { headers: scene.operator, body })
    return { headers: scene.operator, params: { id: made.client_id }, body: { reason: 'leaked' } }
  },
  rotateRealmKeys: ({ merchant, operator }) => ({ headers: operator, params: { slug: merchant.realm } }),

  leaveContact: async ({ service, merchant }) => {
    const started = await startPayment(service, plainToken(service, merchant))
    await approve(service, started)
    const { payment_id: id, payment_state: state } = started.body
    return { headers: { 'x-payment-state': state }, params: { id }, body: { email: PAYER } }
  },
  raisePayerDispute: async (scene) => {
    const id = await settledPayment(scene.service, scene.merchant, { payer_email: PAYER })
    return { headers: await payerSession(scene), params: { id }, body: { reason: 'OTHER' } }
  },
  sendPayerReceipt: async (scene) => {
    const id = await settledPayment(scene.service, scene.merchant, { payer_email: PAYER })
    return { headers: await payerSession(scene), params: { id } }
  },
  revokePayerConsent: async (scene) => {
    const { consentId } = await authorisedMandate(scene.service, scene.merchant, { payer_email: PAYER })
    return { headers: await payerSession(scene), params: { id: consentId } }
  },
  signOutPayer: async (scene) => {
    await createPayment(scene.service, scene.merchant, { payer_email: PAYER })
    return { headers: await payerSession(scene) }
  },

  createOrder: async (scene) => {
    const { headers } = await bankCustomer(scene)
    return { headers: { ...headers, 'x-idempotency-key': randomUUID() }, body: orderBody() }
  },
  createRecurring: async (scene) => {
    const { headers } = await bankCustomer(scene)
    return { headers: { ...headers, 'x-idempotency-key': randomUUID() }, body: recurringBody() }
  },
  cancelRecurring: async (scene) => {
    const { headers } = await bankCustomer(scene)
    const made = await need(scene, 'POST', '/open-banking/v1/recurring-payments', { headers, body: recurringBody() })
    return { headers, params: { RecurringPaymentId: made.RecurringPaymentId } }
  },
  acceptRequestToPay: async (scene) => {
    const { to, made } = await paymentRequest(scene, 'request-to-pay')
    return { headers: to.headers, params: { RequestToPayId: made.RequestToPayId } }
  },
  rejectRequestToPay: async (scene) => {
    const { to, made } = await paymentRequest(scene, 'request-to-pay')
    return { headers: to.headers, params: { RequestToPayId: made.RequestToPayId } }
  },
  acceptOfferToPay: async (scene) => {
    const { to, made } = await paymentRequest(scene, 'offer-to-pay')
    return { headers: to.headers, params: { OfferToPayId: made.OfferToPayId }, body: { AccountId: to.accountId } }
  },
  rejectOfferToPay: async (scene) => {
    const { to, made } = await paymentRequest(scene, 'offer-to-pay')
    return { headers: to.headers, params: { OfferToPayId: made.OfferToPayId } }
  },

  createSandboxMerchant: ({ operator }) => ({ headers: operator, body: { payout_held: true } }),
  createSandboxCustomer: ({ operator }) => ({ headers: operator, body: { name: 'Grace' } }),
  setSandboxAccount: async (scene) => ({
    headers: scene.operator,
    params: { id: (await bankCustomer(scene)).accountId },
    body: { overdraft_limit: '50.00' },
  }),
  seedSandbox: ({ operator }) => ({ headers: operator, body: { customers: 2, days: 5 } }),
  setBankFaults: ({ merchant, operator }) => ({
    headers: operator,
    body: { merchant_id: merchant.id, latency: '1ms' },
  }),
}
