import { parseDuration } from '../../../src/lib/duration.ts'
import { rotateWebhookSecret } from '../../../src/wire/secrets.ts'
import { putWebhookEndpoint, replayWebhook, replayWebhooks } from '../../../src/wire/webhooks.ts'
import { call } from '../../client/call.ts'
import { madeOf, readInput } from '../play/case-run.ts'
import type { CaseRun } from '../play/case-run.ts'
import { StepFailure } from '../failure.ts'
import { refuseDifferences } from '../assert-matches.ts'
import { Endpoint, ReplayMany, ReplayOne, RotateSecret } from '../language/webhooks.ts'
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

/** Pauses the merchant's endpoint, or resumes it. */
export async function endpoint(run: CaseRun, given: unknown): Promise<void> {
  const { paused } = readInput(run, Endpoint, given)
  await call(run.client, putWebhookEndpoint, { body: { paused } })
}

/** Makes a new signing secret. The receiver goes on with the one it has until it is told to take the newest. */
export async function rotateSecret(run: CaseRun, given: unknown): Promise<void> {
  const { overlap, discard_current } = readInput(run, RotateSecret, given)
  const { body } = await call(run.client, rotateWebhookSecret, {
    body: {
      ...(overlap === undefined ? {} : { overlap_seconds: Math.ceil(parseDuration(overlap) / 1_000) }),
      ...(discard_current === undefined ? {} : { discard_current }),
    },
  })
  const { secret, previousSecret } = run.merchant
  run.merchant = {
    ...run.merchant,
    secret: body.webhook_signing_secret,
    previousSecret: discard_current === true ? previousSecret : secret,
  }
  // Its answer holds the secret, which no report may show.
  run.lastExchange = undefined
}
