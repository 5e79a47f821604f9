import { replayWebhook, replayWebhooks } from '../../../src/wire/webhooks.ts'
import { call } from '../../client/call.ts'
import { madeOf, readInput } from '../play/case-run.ts'
import type { CaseRun } from '../play/case-run.ts'
import { StepFailure } from '../failure.ts'
import { refuseDifferences } from '../assert-matches.ts'
import { ReplayMany, ReplayOne } from '../language/webhooks.ts'
import { differencesOf } from '../matchers.ts'
import { deliveryNow } from './await.ts'

/** Sends a DEAD delivery again, or all of them. */
export async function replay(run: CaseRun, given: unknown): Promise<void> {
  if (!ReplayOne.safeParse(given).success) return replayMany(run, given)
  const { webhook, for: reference } = readInput(run, ReplayOne, given)
  const delivery = await deliveryNow(run, madeOf(run, 'payment', reference), webhook)
  if (delivery === undefined) throw new StepFailure(`there is no ${webhook} for ${reference}`, { at: ['webhook'] })
  await call(run.client, replayWebhook, { params: { id: delivery.id } })
}

async function replayMany(run: CaseRun, given: unknown): Promise<void> {
  const { expect: expected, ...body } = readInput(run, ReplayMany, given)
  const { body: replayed } = await call(run.client, replayWebhooks, { body })
  refuseDifferences('the replay', differencesOf(expected ?? {}, replayed), ['expect'])
}
