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
import { readVrpConsent, readVrpFunds, readVrpOrder } from './shapes.ts'
import type { VrpConsent, VrpOrder } from './shapes.ts'
import { checkLimits } from './vrp-limits.ts'

const KIND = 'domestic-vrp'

/** POST /domestic-vrp-consents */
export function createVrpConsent(request: ResourceRequest): ResourceAnswer {
  const { Data, Risk } = readVrpConsent(request.version, request.body)
  refuseByQuirk(request, Data, Risk)
  const at = new Date().toISOString()
  const consent: Consent = {
    id: newId('vrp'),
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

/** GET /domestic-vrp-consents/{ConsentId}. Version 3.1 has no word for a revoked consent: it is gone. */
export function showVrpConsent(request: ResourceRequest): ResourceAnswer {
  const consent = findConsent(request, request.id, KIND)
  if (consent.status === 'revoked' && request.version.name === '3.1') {
    throw new BankError('UK.OBIE.Resource.NotFound', 'the consent was revoked')
  }
  return { status: 200, body: showConsent(request, consent) }
}

/** DELETE /domestic-vrp-consents/{ConsentId} */
export function revokeVrpConsent(request: ResourceRequest): ResourceAnswer {
  const consent = findConsent(request, request.id, KIND)
  if (consent.status === 'revoked') throw new BankError('UK.OBIE.Resource.NotFound', 'the consent was revoked before')
  moveConsent(consent, 'revoked')
  return { status: 204 }
}

/** POST /domestic-vrp-consents/{ConsentId}/funds-confirmation */
export function confirmVrpFunds(request: ResourceRequest): ResourceAnswer {
  const { Data } = readVrpFunds(request.body)
  const consent = findConsentOfToken(request, request.id, KIND)
  if (Data.ConsentId !== consent.id) throw mismatch('Data.ConsentId', 'another consent than the address')
  if (consent.status !== 'authorised') throw notAuthorised(consent)
  const at = new Date().toISOString()
  const FundsAvailable = hasFunds(consent, Data.InstructedAmount.Amount) ? 'Available' : 'NotAvailable'
  const body = {
    FundsConfirmationId: newId('fc'),
    CreationDateTime: at,
    ...Data,
    FundsAvailableResult: { FundsAvailableDateTime: at, FundsAvailable },
  }
  return { status: 201, body: { Data: body } }
}

/** POST /domestic-vrps */
export function createVrp(request: ResourceRequest): ResourceAnswer {
  const { Data, Risk } = readVrpOrder(request.version, request.body)
  const consent = findConsentOfToken(request, Data.ConsentId, KIND)
  if (consent.status !== 'authorised') throw notAuthorised(consent)
  refuseChange('Data.Initiation', Data.Initiation, consent.data['Initiation'])
  refuseChange('Risk', Risk, consent.risk)
  const approved = readVrpConsent(request.version, { Data: consent.data, Risk: consent.risk }).Data
  checkInstruction(Data, approved)
  const { InstructedAmount: amount, EndToEndIdentification: endToEndId } = Data.Instruction
  checkLimits(consent, approved.ControlParameters, { amount, payments: [...request.books.payments.values()] })
  const payment = acceptPayment(request, consent, { id: newId('dvrp'), amount, endToEndId, data: Data, risk: Risk })
  return { status: 201, body: showPayment(request, payment, consent) }
}

/** GET /domestic-vrps/{DomesticVRPId} */
export function showVrp(request: ResourceRequest): ResourceAnswer {
  const payment = findPayment(request, KIND)
  return { status: 200, body: showPayment(request, payment, findConsent(request, payment.consentId, KIND)) }
}

/** What an instruction may not change: the account that is paid, the reference, and how the payer is authenticated. */
function checkInstruction(order: VrpOrder['Data'], { ControlParameters, Initiation }: VrpConsent['Data']): void {
  const { Instruction, PSUAuthenticationMethod: method, VRPType: type } = order
  if (!ControlParameters.PSUAuthenticationMethods.some((each) => each === method)) {
    throw mismatch('Data.PSUAuthenticationMethod', 'not among the methods of the consent')
  }
  if (!ControlParameters.VRPType.some((each) => each === type))
    throw mismatch('Data.VRPType', 'not a type of the consent')
  for (const member of ['CreditorAccount', 'RemittanceInformation'] as const) {
    if (Initiation[member] !== undefined) {
      refuseChange(`Data.Instruction.${member}`, Instruction[member], Initiation[member])
    }
  }
}

function mismatch(path: string, message: string): BankError {
  return new BankError('UK.OBIE.Resource.ConsentMismatch', message, { path })
}

function showConsent({ version, baseUrl }: ResourceRequest, consent: Consent): Record<string, unknown> {
  const { account } = consent
  const Data = {
    ConsentId: consent.id,
    CreationDateTime: consent.createdAt,
    Status: version.consentStatus[KIND][consent.status],
    StatusUpdateDateTime: consent.statusAt,
    ...consent.data,
    ...(account === undefined ? {} : { DebtorAccount: accountShown(account) }),
  }
  return { Data, Risk: consent.risk, ...linksOf(`${baseUrl}/domestic-vrp-consents/${consent.id}`) }
}

function showPayment(request: ResourceRequest, payment: Payment, consent: Consent): Record<string, unknown> {
  const { version, baseUrl } = request
  settleIfDue(payment)
  const account = accountShown(payment.account)
  const Data = {
    DomesticVRPId: payment.id,
    ConsentId: payment.consentId,
    CreationDateTime: payment.createdAt,
    Status: version.paymentStatus[payment.status],
    ...reasonOf(request, payment),
    StatusUpdateDateTime: payment.statusAt,
    ...(consent.data['ReadRefundAccount'] === 'Yes' ? { Refund: account } : {}),
    Initiation: consent.data['Initiation'],
    Instruction: payment.data['Instruction'],
    DebtorAccount: account,
  }
  return { Data, Risk: payment.risk, ...linksOf(`${baseUrl}/domestic-vrps/${payment.id}`) }
}

/** Version 3.1 has one reason as text where 4.0 has a list of codes. */
function reasonOf({ version }: ResourceRequest, { reasonCode }: Payment): Record<string, unknown> {
  if (reasonCode === undefined) return {}
  const description = `ISO reason ${reasonCode}`
  return version.name === '3.1'
    ? { StatusReason: reasonCode, StatusReasonDescription: description }
    : { StatusReason: [{ StatusReasonCode: reasonCode, StatusReasonDescription: description }] }
}
