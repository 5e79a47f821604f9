import type { FailureCode } from '../../lib/failure-codes.ts'
import { BankUnavailableError } from '../connector.ts'
import type { ExecutionOrder, ExecutionOutcome, MandateOrder, StagingOutcome } from '../connector.ts'
import { mandatePaymentBody, paymentBody } from './bodies.ts'
import { bodyOf, debtorAccountOf, isUsedUp } from './consents.ts'
import type { Obie } from './obie.ts'
import { rejectToken, usableToken } from './payer-tokens.ts'
import { FundsAnswer, PaymentAnswer, RefusedByBankError } from './resources.ts'
import type { Call } from './resources.ts'
import { obieContext } from './seal-contexts.ts'
import {
  findConsent,
  findConsentByBankId,
  findPayment,
  insertPayment,
  noteAsking,
  noteRefusal,
  savePaymentId,
} from './store-sql.ts'
import type { ConsentRow, PaymentRow } from './store-sql.ts'
import { problemOfTerms } from './terms.ts'
import { GrantRefusedError } from './tokens.ts'
import { VERSIONS, failureOfReason } from './versions.ts'

/** Banks recognise a repeat for 24 hours. Later an order without an answer is not sent again, as it could be a second one. */
const REPEAT_SECONDS_MAX = 23 * 3_600

const ASK_AGAIN_SECONDS_MAX = 300

/** So long a bank may work on an order that it has not answered: until then its refusal of a repeat may be of the repeat alone. */
const WORK_SECONDS_MAX = 60

/**
 * Sends the order of an authorised payment, or asks what became of it. A repeat has the same key and bytes, and the bank's
 * id is asked for as soon as it is known: money moves once, and only the bank says that it did.
 */
export async function executePayment(
  obie: Obie,
  order: ExecutionOrder,
  signal: AbortSignal,
): Promise<ExecutionOutcome> {
  try {
    return await askOrPay(obie, { ...(await orderOf(obie, order, signal)), signal })
  } catch (error) {
    const failureCode = failureOf(error)
    if (failureCode === undefined) throw error
    const wait = await waitInDoubt(obie, order, { error, signal })
    if (wait === undefined) return { outcome: 'rejected', failureCode }
    if (isRefusedOrder(error)) await noteRefusal(obie.pool, order.paymentId)
    const reason = `the bank may have taken the order before, and now refuses it (${failureCode})`
    return { outcome: 'unanswered', reason, askAgainInSeconds: wait }
  }
}

function isRefusedOrder(error: unknown): boolean {
  return error instanceof RefusedByBankError && error.step === 'payment'
}

function failureOf(error: unknown): FailureCode | undefined {
  if (error instanceof GrantRefusedError) return 'AUTHORISATION_FAILED'
  return error instanceof RefusedByBankError ? failureOfReason(error.reason) : undefined
}

/**
 * Seconds until the bank is asked again, where it may have taken the order without saying so: what it refuses now then fails
 * nothing. A consent for one payment shows it by being used up, once the bank is done; one for a mandate shows nothing.
 */
async function waitInDoubt(
  obie: Obie,
  { paymentId }: ExecutionOrder,
  { error, signal }: { error: unknown; signal: AbortSignal },
): Promise<number | undefined> {
  const payment = await findPayment(obie.pool, paymentId)
  if (payment === null) return undefined
  const { bank_payment_id: known, times_asked: times } = payment
  const isAnswered = isRefusedOrder(error)
  if (known === null && times <= (isAnswered ? 1 : 0)) return undefined
  const waited = (isAnswered ? payment.asked_before_seconds : payment.asked_seconds) ?? 0
  const consent = await findConsent(obie.pool, payment.consent_state)
  const wait = backOff(Math.max(times, 1))
  if (waited < WORK_SECONDS_MAX) return Math.min(wait, Math.ceil(WORK_SECONDS_MAX - waited))
  const isDoubtful = known !== null || consent?.kind !== 'payment'
  return isDoubtful || (await isUsedUp(obie, consent, signal)) ? wait : undefined
}

/** Seconds until the bank is asked again. */
function backOff(timesAsked: number): number {
  return Math.min(2 ** (timesAsked + 1), ASK_AGAIN_SECONDS_MAX)
}

type Order = { payment: PaymentRow; consent: ConsentRow }

/** The order as it was stored before it was first sent. */
async function orderOf(obie: Obie, order: ExecutionOrder, signal: AbortSignal): Promise<Order> {
  const { paymentId } = order
  const stored = await findPayment(obie.pool, paymentId)
  const consent = await findConsent(obie.pool, stored?.consent_state ?? order.state)
  if (consent?.consent_id == null) throw new Error(`the payment ${paymentId} has no consent at ${obie.profile.id}`)
  if (stored !== null) return { payment: stored, consent }
  const body = bodyOf(obie, consent)
  const request =
    consent.kind === 'payment'
      ? paymentBody(consent.consent_id, body)
      : mandatePaymentBody(consent.consent_id, body, {
          ...obie,
          instruction: { ...order, remittanceReference: consent.first_reference ?? undefined },
        })
  await confirmFunds(obie, { consent, signal })
  return { payment: await storeOrder(obie, { paymentId, consent, request }), consent }
}

async function storeOrder(
  obie: Obie,
  { paymentId, consent, request }: { paymentId: string; consent: ConsentRow; request: object },
): Promise<PaymentRow> {
  const sealed = obie.sealer.seal(JSON.stringify(request), obieContext('payments.request', paymentId))
  await insertPayment(obie.pool, { paymentId, consentState: consent.state, request: sealed })
  const stored = await findPayment(obie.pool, paymentId)
  if (stored === null) throw new Error(`the order of the payment ${paymentId} was not stored`)
  return stored
}

/** Stores the order of a payment under a mandate; the bank hears of it when it is executed. */
export async function stageUnderMandate(obie: Obie, order: MandateOrder): Promise<StagingOutcome> {
  const consent = await mandateOf(obie, order.bankConsentReference)
  const instruction = { ...obie, instruction: order }
  const request = mandatePaymentBody(order.bankConsentReference, bodyOf(obie, consent), instruction)
  await storeOrder(obie, { paymentId: order.paymentId, consent, request })
  return { outcome: 'staged' }
}

export async function mandateOf(obie: Obie, consentId: string): Promise<ConsentRow> {
  const consent = await findConsentByBankId(obie.pool, { bank: obie.profile.id, consentId })
  if (consent === null) throw new Error(`there is no consent ${consentId} at ${obie.profile.id}`)
  return consent
}

/** Asks whether the payer has the money, before a payment that was approved by itself. */
async function confirmFunds(
  obie: Obie,
  { consent, signal }: { consent: ConsentRow; signal: AbortSignal },
): Promise<void> {
  const { profile, resources } = obie
  if (consent.kind !== 'payment' || profile.quirks.includes('no_funds_confirmation')) return
  const { Data } = await resources.call(
    {
      step: 'funds confirmation',
      method: 'GET',
      url: `${profile.payments.base_url}/domestic-payment-consents/${encodeURIComponent(consent.consent_id ?? '')}/funds-confirmation`,
      ...(await ofPayer(obie, consent, signal)),
      state: consent.state,
      answer: FundsAnswer,
    },
    signal,
  )
  if (Data.FundsAvailableResult.FundsAvailable === false)
    throw new RefusedByBankError('funds confirmation', { status: 200, reason: 'AM04' })
}

type OrderToSend = Order & { signal: AbortSignal }

async function askOrPay(obie: Obie, order: OrderToSend): Promise<ExecutionOutcome> {
  const { payment, consent, signal } = order
  const known = payment.bank_payment_id
  if (known === null && (payment.age_seconds ?? 0) > REPEAT_SECONDS_MAX)
    return {
      outcome: 'unanswered',
      reason: 'the bank has not answered the order for a day',
      askAgainInSeconds: undefined,
    }
  const call = known === null ? await payCall(obie, order) : await statusCall(obie, order, known)
  const beforeSending = (): Promise<void> => noteAsking(obie.pool, payment.payment_id)
  const { Data } = await obie.resources.call({ ...call, beforeSending }, signal)
  const bankPaymentId = idWithin(Data, consent) ?? ''
  if (!(await savePaymentId(obie.pool, { paymentId: payment.payment_id, bankPaymentId })))
    throw new BankUnavailableError(`${obie.profile.id}: its answer is about another payment`)
  const { version } = apiOf(obie, consent)
  return outcomeOf(Data, { version, bankPaymentId, timesAsked: payment.times_asked })
}

function apiOf({ profile }: Obie, { kind }: ConsentRow) {
  const isMandate = kind === 'mandate'
  const api = (isMandate ? profile.vrp : undefined) ?? profile.payments
  return { url: `${api.base_url}/${isMandate ? 'domestic-vrps' : 'domestic-payments'}`, version: api.version }
}

/** The bank's id of the payment. */
function idWithin(data: PaymentAnswer['Data'], { kind }: ConsentRow): string | undefined {
  return kind === 'mandate' ? data.DomesticVRPId : data.DomesticPaymentId
}

function sentOrder({ sealer }: Obie, { payment_id: id, request }: PaymentRow): string {
  return sealer.open(request, obieContext('payments.request', id))
}

/** Why the bank's answer is about another order, or about none. */
function problemOfOrder(obie: Obie, { payment, consent }: Order) {
  return ({ Data }: PaymentAnswer): string | undefined => {
    if (Data.ConsentId !== consent.consent_id) return 'its answer is about another consent'
    if (idWithin(Data, consent) === undefined) return 'its answer names no payment'
    return problemOfTerms(sentOrder(obie, payment), Data)
  }
}

async function payCall(obie: Obie, order: OrderToSend): Promise<Call<PaymentAnswer>> {
  const { payment, consent, signal } = order
  return {
    step: 'payment',
    method: 'POST',
    url: apiOf(obie, consent).url,
    ...(await ofPayer(obie, consent, signal)),
    body: sentOrder(obie, payment),
    idempotencyKey: payment.payment_id,
    state: consent.state,
    answer: PaymentAnswer,
    problemOf: problemOfOrder(obie, order),
  }
}

async function ofPayer(obie: Obie, consent: ConsentRow, signal: AbortSignal) {
  const token = await usableToken(obie, consent, signal)
  return { token, tokenRejected: () => rejectToken(obie, { state: consent.state, token }) }
}

async function statusCall(obie: Obie, order: OrderToSend, id: string): Promise<Call<PaymentAnswer>> {
  const { consent, signal } = order
  return {
    step: 'payment status',
    method: 'GET',
    url: `${apiOf(obie, consent).url}/${encodeURIComponent(id)}`,
    token: await obie.tokens.ofClient(signal),
    state: consent.state,
    answer: PaymentAnswer,
    problemOf: problemOfOrder(obie, order),
  }
}

/** Whether the bank has this order under an id that it gave to an operator. */
export async function isOrderAt(
  obie: Obie,
  { paymentId, bankPaymentId: id }: { paymentId: string; bankPaymentId: string },
  signal: AbortSignal,
): Promise<boolean> {
  const payment = await findPayment(obie.pool, paymentId)
  const consent = payment === null ? null : await findConsent(obie.pool, payment.consent_state)
  if (payment === null || consent === null) return false
  const order = { payment, consent, signal }
  const { problemOf: _, ...call } = await statusCall(obie, order, id)
  const answer = await obie.resources.call(call, signal)
  return problemOfOrder(obie, order)(answer) === undefined && idWithin(answer.Data, consent) === id
}

function outcomeOf(
  { Status: status, StatusReason: reasons, Refund: refund }: PaymentAnswer['Data'],
  asked: { version: keyof typeof VERSIONS; bankPaymentId: string; timesAsked: number },
): ExecutionOutcome {
  const meaning = VERSIONS[asked.version].payments[status]
  if (meaning === 'settled')
    return { outcome: 'executed', bankReference: asked.bankPaymentId, debtorAccount: debtorAccountOf(refund) }
  if (meaning === 'rejected') {
    const failureCode: FailureCode = failureOfReason(reasons?.[0]?.StatusReasonCode)
    return { outcome: 'rejected', failureCode }
  }
  return { outcome: 'pending', askAgainInSeconds: backOff(asked.timesAsked) }
}
