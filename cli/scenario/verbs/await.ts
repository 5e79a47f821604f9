import { getPayment } from '../../../src/wire/payments.ts'
import type { Payment, PayerView } from '../../../src/wire/payments.ts'
import { listWebhooks } from '../../../src/wire/webhooks.ts'
import type { Delivery } from '../../../src/wire/webhooks.ts'
import { call } from '../../client/call.ts'
import { STILL_POSSIBLE } from '../../kit/wait.ts'
import { awaitThat } from '../play/await-that.ts'
import { keep, madeOf, readInput } from '../play/case-run.ts'
import type { CaseRun, MadePayment } from '../play/case-run.ts'
import { AwaitDispute, AwaitDisputeOf } from '../language/disputes.ts'
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

/** Waits until the payment is, or has been, in the status. */
async function awaitPayment(run: CaseRun, given: unknown): Promise<void> {
  const { payment: reference, status: wanted, within } = readInput(run, AwaitPayment, given)
  const { created } = madeOf(run, 'payment', reference)
  await awaitThat(run, {
    what: reference,
    wanted,
    within,
    look: () => paymentNow(run, created.payment_id),
    isThere: ({ status, status_history: history }) =>
      status === wanted || history.some((change) => change.new_status === wanted),
    isOver: ({ status }) => !STILL_POSSIBLE[status].includes(wanted),
    now: ({ status, failure }) => (failure === null ? status : `${status} (${failure.code}: ${failure.reason})`),
    hint: (last, isOver) =>
      isOver
        ? undefined
        : last?.status === 'AwaitingAuthorisation'
          ? 'the payer has not decided yet: bank: { approve: $p1 } before this step'
          : 'a longer within; svc status tells whether a worker runs',
  })
}

/** Waits until the dispute is, or has been, in the status. */
async function awaitDispute(run: CaseRun, given: unknown): Promise<void> {
  const { dispute: reference, status: wanted, within } = readInput(run, AwaitDispute, given)
  await awaitThat(run, {
    what: reference,
    wanted,
    within,
    look: () => disputeNow(run, reference),
    isThere: ({ events }) => events.some((event) => event.new_status === wanted),
    now: ({ status }) => status,
  })
}

/** Waits until somebody has raised a dispute about the payment, and until that is in the status, where one is said. */
async function awaitDisputeOf(run: CaseRun, given: unknown): Promise<void> {
  const { dispute_of: reference, as, status: wanted, within } = readInput(run, AwaitDisputeOf, given)
  const { created } = madeOf(run, 'payment', reference)
  const dispute = await awaitThat(run, {
    what: `the dispute of ${reference}`,
    wanted: wanted ?? 'raised',
    within,
    look: () => newestDisputeOf(run, created.payment_id),
    isThere: ({ status }) => wanted === undefined || status === wanted,
    now: ({ status }) => status,
    at: wanted === undefined ? 'dispute_of' : 'status',
    hint: (last) =>
      last === undefined
        ? 'dispute: { payment: $p1, … } raises one; so does a payment with the scenario dispute-won'
        : undefined,
  })
  keep(run, as, { kind: 'dispute', dispute }, dispute)
}

/** Waits for a delivery. One that is DELIVERED or DEAD stays so unless somebody replays it. */
async function awaitWebhook(run: CaseRun, given: unknown): Promise<void> {
  const { webhook, for: reference, status: wanted = 'DELIVERED', within } = readInput(run, AwaitWebhook, given)
  const payment = madeOf(run, 'payment', reference)
  await awaitThat(run, {
    what: `${webhook} for ${reference}`,
    wanted,
    within,
    look: () => deliveryNow(run, payment, webhook),
    isThere: ({ status }) => status === wanted,
    isOver: ({ status }) =>
      status === 'DELIVERED' || status === 'DEAD' || (status === 'FAILED' && wanted === 'PENDING'),
    now: describe,
    hint: (last, isOver) => {
      if (last?.status === 'FAILED') return 'clock: { advance: 11h } lets the retries happen at once'
      return isOver && last?.status === 'DEAD'
        ? `replay: { webhook: ${webhook}, for: ${reference} } before this step`
        : undefined
    },
  })
}

function describe({ status, attempt_count, last_http_status, last_error }: Delivery): string {
  const answer = last_http_status === null ? (last_error ?? '') : `last answer ${last_http_status}`
  const attempts = `${attempt_count} ${attempt_count === 1 ? 'attempt' : 'attempts'}`
  return `${status} after ${attempts}${answer === '' ? '' : `, ${answer}`}`
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
