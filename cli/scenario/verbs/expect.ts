import { parseDuration } from '../../../src/lib/duration.ts'
import type { DisputeWithEvents } from '../../../src/wire/disputes.ts'
import { paymentOf, pollFor, readInput } from '../case-run.ts'
import type { CaseRun } from '../case-run.ts'
import { StepFailure, refuseDifferences } from '../failure.ts'
import { ExpectAccount, ExpectBooks, ExpectOrder } from '../language/customers.ts'
import { ExpectDispute } from '../language/disputes.ts'
import { ExpectPayment } from '../language/payments.ts'
import { ExpectWebhook } from '../language/webhooks.ts'
import { differencesOf } from '../matchers.ts'
import { WITHIN, deliveryNow, paymentNow } from './await.ts'
import { expectAccount, expectBooks, expectOrder } from './customers.ts'
import { disputeNow } from './disputes.ts'
import { receiverOf } from './webhooks.ts'

/** Holds something against what it should be now. */
export async function expectStep(run: CaseRun, given: unknown): Promise<void> {
  if (ExpectPayment.safeParse(given).success) await expectPayment(run, given)
  else if (ExpectDispute.safeParse(given).success) await expectDispute(run, given)
  else if (ExpectOrder.safeParse(given).success) await expectOrder(run, given)
  else if (ExpectAccount.safeParse(given).success) await expectAccount(run, given)
  else if (ExpectBooks.safeParse(given).success) await expectBooks(run)
  else await expectWebhook(run, given)
}

async function expectPayment(run: CaseRun, given: unknown): Promise<void> {
  const { of: reference, history, ...expected } = readInput(run, ExpectPayment, given, ['of'])
  const payment = await paymentNow(run, paymentOf(run, reference).created.payment_id)
  const seen = { ...payment, history: payment.status_history.map((change) => change.new_status) }
  refuseDifferences(reference, differencesOf(history === undefined ? expected : { ...expected, history }, seen))
}

async function expectDispute(run: CaseRun, given: unknown): Promise<void> {
  const { dispute: reference, history, ...expected } = readInput(run, ExpectDispute, given, ['dispute'])
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
  const { webhook, for: reference, payload, ...expected } = readInput(run, ExpectWebhook, given, ['for'])
  const payment = paymentOf(run, reference)
  const what = `${webhook} for ${reference}`
  if (payload !== undefined) {
    receiverOf(run)
    const receipt = await pollFor(run, parseDuration(WITHIN), async () =>
      run.receiver?.receipts.find(
        (each) => each.eventType === webhook && each.paymentId === payment.created.payment_id,
      ),
    )
    if (receipt === undefined) throw new StepFailure(`${what} did not arrive within ${WITHIN}`, { at: ['webhook'] })
    refuseDifferences(`the payload of ${what}`, differencesOf(payload, receipt.payload), ['payload'])
  }
  const delivery = await deliveryNow(run, payment, webhook)
  if (delivery === undefined) throw new StepFailure(`there is no ${what}`, { at: ['webhook'] })
  refuseDifferences(what, differencesOf(expected, delivery))
}
