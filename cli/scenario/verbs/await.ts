import { getPayment } from '../../../src/wire/payments.ts'
import type { Payment, PayerView, PaymentStatus } from '../../../src/wire/payments.ts'
import { listWebhooks } from '../../../src/wire/webhooks.ts'
import type { Delivery, DeliveryStatus } from '../../../src/wire/webhooks.ts'
import { parseDuration } from '../../../src/lib/duration.ts'
import { call } from '../../client/call.ts'
import { STILL_POSSIBLE } from '../../kit/wait.ts'
import { madeOf, pollFor, readInput } from '../play/case-run.ts'
import type { CaseRun, MadePayment } from '../play/case-run.ts'
import { StepFailure } from '../failure.ts'
import { AwaitDispute, AwaitDisputeOf } from '../language/disputes.ts'
import { WITHIN } from '../language/parts.ts'
import { AwaitPayment } from '../language/payments.ts'
import { AwaitWebhook } from '../language/webhooks.ts'
import { byMember } from './by-member.ts'
import { awaitAccount, awaitOrder } from './customers.ts'
import { disputeNow, newestDisputeOf } from './disputes.ts'
import { awaitConsent } from './mandates.ts'
import { awaitRecurring } from './recurring.ts'
import { awaitRequest } from './requests.ts'

/** What waits, by the member that names what is waited for. */
const AWAITED = {
  payment: awaitPayment,
  webhook: awaitWebhook,
  dispute: awaitDispute,
  dispute_of: awaitDisputeOf,
  order: awaitOrder,
  account: awaitAccount,
  consent: awaitConsent,
  recurring: awaitRecurring,
  request: awaitRequest,
  offer: awaitRequest,
}

export const awaitStep = byMember(AWAITED)

/** Waits until the payment is, or has been, in the status; fails at once when it can no longer come to it. */
async function awaitPayment(run: CaseRun, given: unknown): Promise<void> {
  const { payment: reference, status, within = WITHIN } = readInput(run, AwaitPayment, given)
  const { created } = madeOf(run, 'payment', reference)
  let last: PaymentStatus = created.status
  const reached = await pollFor(run, parseDuration(within), async () => {
    const payment = await paymentNow(run, created.payment_id)
    last = payment.status
    if (payment.status === status || payment.status_history.some((change) => change.new_status === status)) return true
    if (STILL_POSSIBLE[payment.status].includes(status)) return undefined
    throw impossible(reference, payment, status)
  })
  if (reached === undefined)
    throw new StepFailure(`${reference} is still ${last} after ${within}; awaited was ${status}`, {
      at: ['status'],
      hint: waitHint(last),
    })
}

function impossible(reference: string, payment: Payment | PayerView, status: PaymentStatus): StepFailure {
  const { failure } = payment
  const why = failure === null ? '' : ` (${failure.code}: ${failure.reason})`
  return new StepFailure(`${reference} is ${payment.status}${why} and can no longer become ${status}`, {
    at: ['status'],
  })
}

function waitHint(status: PaymentStatus): string | undefined {
  if (status === 'AwaitingAuthorisation')
    return 'the payer has not decided yet: bank: { approve: $p1 } before this step'
  return 'a longer within; svc status tells whether a worker runs'
}

/** Waits until the dispute is, or has been, in the status. */
async function awaitDispute(run: CaseRun, given: unknown): Promise<void> {
  const { dispute: reference, status, within = WITHIN } = readInput(run, AwaitDispute, given)
  let last: string | undefined
  const reached = await pollFor(run, parseDuration(within), async () => {
    const dispute = await disputeNow(run, reference)
    last = dispute.status
    return dispute.events.some((event) => event.new_status === status) ? true : undefined
  })
  if (reached === undefined)
    throw new StepFailure(`${reference} is still ${last ?? 'unknown'} after ${within}; awaited was ${status}`, {
      at: ['status'],
    })
}

/** Waits until somebody has raised a dispute about the payment, and until that is in the status, where one is said. */
async function awaitDisputeOf(run: CaseRun, given: unknown): Promise<void> {
  const { dispute_of: reference, as, status, within = WITHIN } = readInput(run, AwaitDisputeOf, given)
  const { created } = madeOf(run, 'payment', reference)
  let last: string | undefined
  const found = await pollFor(run, parseDuration(within), async () => {
    const dispute = await newestDisputeOf(run, created.payment_id)
    last = dispute?.status
    return status === undefined || last === status ? dispute : undefined
  })
  if (found === undefined) {
    const now = last === undefined ? 'there is none' : `it is ${last}`
    throw new StepFailure(`the dispute of ${reference} was not ${status ?? 'raised'} within ${within}: ${now}`, {
      at: [last === undefined ? 'dispute_of' : 'status'],
      hint:
        last === undefined
          ? 'dispute: { payment: $p1, … } raises one; so does a payment with the scenario dispute-won'
          : undefined,
    })
  }
  if (as === undefined) return
  run.captures.set(as, found)
  run.made.push({ kind: 'dispute', name: as, dispute: found })
}

/** What a delivery may still become, unless somebody replays it. */
const STILL_DELIVERABLE: Readonly<Record<DeliveryStatus, readonly DeliveryStatus[]>> = {
  PENDING: ['PENDING', 'FAILED', 'DELIVERED', 'DEAD'],
  FAILED: ['FAILED', 'DELIVERED', 'DEAD'],
  DELIVERED: ['DELIVERED'],
  DEAD: ['DEAD'],
}

async function awaitWebhook(run: CaseRun, given: unknown): Promise<void> {
  const { webhook, for: reference, status = 'DELIVERED', within = WITHIN } = readInput(run, AwaitWebhook, given)
  const payment = madeOf(run, 'payment', reference)
  let last: Delivery | undefined
  const reached = await pollFor(run, parseDuration(within), async () => {
    last = await deliveryNow(run, payment, webhook)
    if (last?.status === status) return true
    if (last === undefined || STILL_DELIVERABLE[last.status].includes(status)) return undefined
    const hint =
      last.status === 'DEAD' ? `replay: { webhook: ${webhook}, for: ${reference} } before this step` : undefined
    throw new StepFailure(`${webhook} for ${reference} is ${last.status} and will not become ${status}`, {
      at: ['status'],
      hint,
    })
  })
  if (reached !== undefined) return
  const now = last === undefined ? 'there is none' : `it is ${describe(last)}`
  throw new StepFailure(`${webhook} for ${reference} was not ${status} within ${within}: ${now}`, {
    at: ['webhook'],
    hint: last?.status === 'FAILED' ? 'clock: { advance: 11h } lets the retries happen at once' : undefined,
  })
}

function describe({ status, attempt_count, last_http_status, last_error }: Delivery): string {
  const answer = last_http_status === null ? (last_error ?? '') : `last answer ${last_http_status}`
  return `${status} after ${attempt_count} ${attempt_count === 1 ? 'attempt' : 'attempts'}${answer === '' ? '' : `, ${answer}`}`
}

export async function paymentNow(run: Pick<CaseRun, 'client'>, id: string): Promise<Payment | PayerView> {
  return (await call(run.client, getPayment, { params: { id } })).body
}

/** The newest delivery of this type for the payment. */
export async function deliveryNow(
  run: CaseRun,
  payment: MadePayment,
  eventType: string,
): Promise<Delivery | undefined> {
  const { payment_id } = payment.created
  if (eventType === 'consent.revoked') return mandateDeliveryNow(run, payment_id)
  const { body } = await call(run.client, listWebhooks, { query: { payment_id } })
  return body.data.find((delivery) => delivery.event_type === eventType)
}

/** The end of a mandate is told of no payment: which mandate it is of stands in what the receiver was sent. */
async function mandateDeliveryNow(run: CaseRun, paymentId: string): Promise<Delivery | undefined> {
  const eventType = 'consent.revoked'
  const { data } = (await call(run.client, listWebhooks, { query: { event_type: eventType } })).body
  const arrived = run.receiver?.receipts.find((each) => each.eventType === eventType && each.paymentId === paymentId)
  return data.length === 1 ? data[0] : data.find((delivery) => delivery.event_id === arrived?.eventId)
}
