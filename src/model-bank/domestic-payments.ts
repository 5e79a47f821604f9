import { BankError } from './bank-error.ts'
import { moveConsent, newId } from './books.ts'
import type { Consent, Payment } from './books.ts'
import { refuseByQuirk } from './refuse-by-quirk.ts'
import { acceptPayment, hasFunds, settleIfDue } from './clearing.ts'
import {
  accountShown,
  findConsent,
  findConsentOfToken,
  findPayment,
  linksOf,
  notAuthorised,
  refuseChange,
} from './resource.ts'
import type { ResourceAnswer, ResourceRequest } from './resource.ts'
import { readPaymentConsent, readPaymentOrder } from './shapes.ts'

const KIND = 'domestic-payment'

/** POST /domestic-payment-consents */
export function createConsent(request: ResourceRequest): ResourceAnswer {
  const { Data, Risk } = readPaymentConsent(request.version, request.body)
  if (Data.Initiation.InstructedAmount.Currency !== 'GBP') {
    throw new BankError('UK.OBIE.Unsupported.Currency', 'only GBP', {
      path: 'Data.Initiation.InstructedAmount.Currency',
    })
  }
  refuseByQuirk(request, Data, Risk)
  const at = new Date().toISOString()
  const consent: Consent = {
    id: newId('pdc'),
    kind: KIND,
    clientId: request.token.clientId,
    status: 'awaiting',
    createdAt: at,
    statusAt: at,
    data: Data,
    risk: Risk,
  }
  request.books.consents.set(consent.id, consent)
  return { status: 201, body: showConsent(request, consent) }
}

/** GET /domestic-payment-consents/{ConsentId} */
export function showConsentById(request: ResourceRequest): ResourceAnswer {
  return { status: 200, body: showConsent(request, findConsent(request, request.id, KIND)) }
}

/** GET /domestic-payment-consents/{ConsentId}/funds-confirmation */
export function confirmFunds(request: ResourceRequest): ResourceAnswer {
  const consent = findConsentOfToken(request, request.id, KIND)
  if (consent.status !== 'authorised') throw notAuthorised(consent)
  const { Initiation } = readPaymentConsent(request.version, { Data: consent.data, Risk: consent.risk }).Data
  const result = {
    FundsAvailableDateTime: new Date().toISOString(),
    FundsAvailable: hasFunds(consent, Initiation.InstructedAmount.Amount),
  }
  const self = `${request.baseUrl}/domestic-payment-consents/${consent.id}/funds-confirmation`
  return { status: 200, body: { Data: { FundsAvailableResult: result }, ...linksOf(self) } }
}

/** POST /domestic-payments */
export function createPayment(request: ResourceRequest): ResourceAnswer {
  const { Data, Risk } = readPaymentOrder(request.body)
  const consent = findConsentOfToken(request, Data.ConsentId, KIND)
  if (consent.status !== 'authorised') throw notAuthorised(consent)
  refuseChange('Data.Initiation', Data.Initiation, consent.data['Initiation'])
  refuseChange('Risk', Risk, consent.risk)
  const { Initiation } = readPaymentConsent(request.version, { Data: consent.data, Risk: consent.risk }).Data
  const payment = acceptPayment(request, consent, {
    id: newId('pdp'),
    amount: Initiation.InstructedAmount,
    endToEndId: Initiation.EndToEndIdentification,
    data: Data,
    risk: Risk,
  })
  moveConsent(consent, 'consumed')
  return { status: 201, body: showPayment(request, payment, consent) }
}

/** GET /domestic-payments/{DomesticPaymentId} */
export function showPaymentById(request: ResourceRequest): ResourceAnswer {
  const payment = findPayment(request, KIND)
  const consent = findConsent(request, payment.consentId, KIND)
  return { status: 200, body: showPayment(request, payment, consent) }
}

function showConsent(request: ResourceRequest, consent: Consent): Record<string, unknown> {
  const { version, baseUrl } = request
  const { account } = consent
  const Data = {
    ConsentId: consent.id,
    CreationDateTime: consent.createdAt,
    Status: version.consentStatus[KIND][consent.status],
    StatusUpdateDateTime: consent.statusAt,
    ...consent.data,
    ...(account === undefined ? {} : { Debtor: accountShown(account) }),
  }
  return { Data, Risk: consent.risk, ...linksOf(`${baseUrl}/domestic-payment-consents/${consent.id}`) }
}

function showPayment(request: ResourceRequest, payment: Payment, consent: Consent): Record<string, unknown> {
  const { version, baseUrl } = request
  settleIfDue(payment)
  const Data = {
    DomesticPaymentId: payment.id,
    ConsentId: payment.consentId,
    CreationDateTime: payment.createdAt,
    Status: version.paymentStatus[payment.status],
    StatusUpdateDateTime: payment.statusAt,
    ...reasonOf(request, payment),
    ...(consent.data['ReadRefundAccount'] === 'Yes' ? { Refund: { Account: accountShown(payment.account) } } : {}),
    Initiation: consent.data['Initiation'],
  }
  return { Data, ...linksOf(`${baseUrl}/domestic-payments/${payment.id}`) }
}

/** Why a payment was rejected; only version 4.0 says so with the payment itself. */
function reasonOf({ version }: ResourceRequest, { reasonCode }: Payment): Record<string, unknown> {
  if (reasonCode === undefined || version.name === '3.1') return {}
  return { StatusReason: [{ StatusReasonCode: reasonCode, StatusReasonDescription: `ISO reason ${reasonCode}` }] }
}
