import { parseDuration } from '../../../src/lib/duration.ts'
import type { DisputeWithEvents } from '../../../src/wire/disputes.ts'
import { madeOf, pollFor, readInput } from '../play/case-run.ts'
import type { CaseRun } from '../play/case-run.ts'
import { StepFailure } from '../failure.ts'
import { refuseDifferences } from '../assert-matches.ts'
import { ExpectDispute } from '../language/disputes.ts'
import { WITHIN } from '../language/parts.ts'
import { ExpectPayment } from '../language/payments.ts'
import { ExpectWebhook } from '../language/webhooks.ts'
import { differencesOf } from '../matchers.ts'
import { byMember } from './by-member.ts'
import { deliveryNow, paymentNow } from './await.ts'
import { expectAccount, expectBooks, expectOrder } from './customers.ts'
import { disputeNow } from './disputes.ts'
import { expectConsent, expectReceipt } from './mandates.ts'
import { expectAudit, expectMerchant } from './merchant.ts'
import { expectRecurring } from './recurring.ts'
import { expectOffer, expectRequest } from './requests.ts'
import { receiverOf } from './webhooks.ts'

/** What looks, by the member that names what is looked at. The first that is there counts: others may be matchers. */
const EXPECTED = {
  of: expectPayment,
  receipt: expectReceipt,
  audit: expectAudit,
  webhook: expectWebhook,
  dispute: expectDispute,
  order: expectOrder,
  account: expectAccount,
  books: expectBooks,
  consent: expectConsent,
  recurring: expectRecurring,
  request: expectRequest,
  offer: expectOffer,
  merchant: expectMerchant,
}

/** Holds something against what it should be now. */
export const expectStep = byMember(EXPECTED)

async function expectPayment(run: CaseRun, given: unknown): Promise<void> {
  const { of: reference, history, ...expected } = readInput(run, ExpectPayment, given)
  const payment = await paymentNow(run, madeOf(run, 'payment', reference).created.payment_id)
  const seen = { ...payment, history: payment.status_history.map((change) => change.new_status) }
  refuseDifferences(reference, differencesOf(history === undefined ? expected : { ...expected, history }, seen))
}

async function expectDispute(run: CaseRun, given: unknown): Promise<void> {
  const { dispute: reference, history, ...expected } = readInput(run, ExpectDispute, given)
  const dispute = await disputeNow(run, reference)
  const seen = { ...dispute, history: statusesOf(dispute) }
  refuseDifferences(reference, differencesOf(history === undefined ? expected : { ...expected, history }, seen))
}

/** Evidence that is added moves nothing: a status that stays is told once. */
function statusesOf({ events }: DisputeWithEvents): string[] {
  return events.flatMap(({ previous_status, new_status }) => (previous_status === new_status ? [] : [new_status]))
}

/** The delivery's record is looked at once; what the receiver was sent may be on its way, and is waited for. */
async function expectWebhook(run: CaseRun, given: unknown): Promise<void> {
  const { webhook, for: reference, payload, ...expected } = readInput(run, ExpectWebhook, given)
  const payment = madeOf(run, 'payment', reference)
  const what = `${webhook} for ${reference}`
  if (payload !== undefined) {
    receiverOf(run)
    const receipt = await pollFor(run, parseDuration(WITHIN), async () =>
      run.receiver?.receipts.find(
        (each) => each.eventType === webhook && each.paymentId === payment.created.payment_id,
      ),
    )
    if (receipt === undefined) throw new StepFailure(`${what} did not arrive within ${WITHIN}`, { at: ['webhook'] })
    refuseDifferences(`the payload of ${what}`, differencesOf(payload, receipt.payload), ['payload'], {
      what: `the payload of ${webhook} (${receipt.eventId})`,
      value: receipt.payload,
    })
  }
  const delivery = await deliveryNow(run, payment, webhook)
  if (delivery === undefined) throw new StepFailure(`there is no ${what}`, { at: ['webhook'] })
  refuseDifferences(what, differencesOf(expected, delivery))
}
