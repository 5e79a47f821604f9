import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { DomainError, invalidField } from '../lib/errors.ts'
import { maskAllButLastFour } from '../lib/mask.ts'
import type { SecretState, SecretTimes } from './record.ts'
import {
  foundSecrets,
  generateWebhookSecret,
  openNewest,
  previousSecretContext,
  webhookSecretContext,
} from './secret.ts'
import { lockSecrets, putSecret, replaceNewest } from './sql.ts'

export type RotateWebhookSecretInput = {
  merchantId: string
  /** How long the previous secret signs as well; 0 ends it immediately. */
  overlapSeconds: number
  /**
   * During an overlap: replace the newest secret, which no receiver uses yet, and keep the previous one and its end.
   */
  discardCurrent: boolean
  actor: Actor
}

/** The new secret in plain text, shown only this once. */
export type RotatedSecret = SecretTimes & { secret: string; maskedSecret: string }

/**
 * Creates a new signing secret; the previous one signs as well for a while, so that receivers can switch without
 * rejecting a webhook (decision 37). There are never more than two: during an overlap, another rotation would cut off
 * receivers that still use the older one, and is rejected.
 * @throws {DomainError} SECRET_OVERLAP_RUNNING, VALIDATION_FAILED for a `discard_current` without an overlap,
 *   MERCHANT_NOT_FOUND
 */
export async function rotateWebhookSecret(
  app: Pick<App, 'pool' | 'sealer' | 'ids'>,
  { merchantId, overlapSeconds, discardCurrent, actor }: RotateWebhookSecretInput,
): Promise<RotatedSecret> {
  const secret = generateWebhookSecret()
  const sealed = app.sealer.seal(secret, webhookSecretContext(merchantId))
  const times = await app.pool.transaction(async (tx) => {
    const state = foundSecrets(await lockSecrets(tx, merchantId))
    checkAllowed(state, discardCurrent)
    const stored = discardCurrent
      ? await replaceNewest(tx, merchantId, sealed)
      : await putSecret(tx, { merchantId, secret: sealed, previous: previousOf(app, state, overlapSeconds) })
    const after = {
      ...(discardCurrent ? { discard_current: true } : { overlap_seconds: overlapSeconds }),
      previous_expires_at: stored.previous_expires_at,
    }
    await recordAction(app, tx, { actor, action: 'webhook_secret.rotate', merchantId, subjectId: merchantId, after })
    return stored
  })
  return { ...times, secret, maskedSecret: maskAllButLastFour(secret) }
}

function checkAllowed({ previous_expires_at: until }: SecretState, discardCurrent: boolean): void {
  if (until === null && discardCurrent) {
    throw invalidField(
      'discard_current',
      'INVALID',
      'is only possible during the overlap of a rotation, and none is running',
    )
  }
  if (until === null || discardCurrent) return
  throw new DomainError('SECRET_OVERLAP_RUNNING', `the secret was rotated, and the previous one signs until ${until}`, {
    next:
      'wait until then, or end the overlap with DELETE /api/v1/portal/webhook-secret/previous (svc secret end-overlap); ' +
      'if the new secret was lost, rotate with discard_current',
    nextStep: { operation: 'endSecretOverlap', params: {} },
    current: { previous_expires_at: until },
  })
}

/** The replaced secret, sealed to the column of the previous one. */
function previousOf(
  { sealer }: Pick<App, 'sealer'>,
  state: SecretState,
  seconds: number,
): { secret: string; seconds: number } | null {
  if (seconds === 0) return null
  return { secret: sealer.seal(openNewest(sealer, state), previousSecretContext(state.merchant_id)), seconds }
}
