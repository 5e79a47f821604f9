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

export type Rotation = {
  merchantId: string
  /** How long the secret before signs as well; 0 ends it at once. */
  overlapSeconds: number
  /** During an overlap: replace the newest secret, which nobody uses yet, and keep the one before with its end. */
  discardCurrent: boolean
  actor: Actor
}

/** The new secret in plain, which is shown this once. */
export type Rotated = SecretTimes & { secret: string; maskedSecret: string }

/**
 * Makes a new signing secret; the one before signs as well for a while, so that receivers change over without a webhook
 * that they reject (decision 37). There are never more than two: while an overlap runs, another rotation would cut off
 * receivers that still hold the older one, and is refused.
 * @throws {DomainError} SECRET_OVERLAP_RUNNING, VALIDATION_FAILED for a `discard_current` without an overlap,
 *   MERCHANT_NOT_FOUND
 */
export async function rotateWebhookSecret(
  app: Pick<App, 'pool' | 'sealer' | 'ids'>,
  { merchantId, overlapSeconds, discardCurrent, actor }: Rotation,
): Promise<Rotated> {
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
    throw invalidField('discard_current', 'INVALID', 'is only for while the overlap of a rotation runs, and none does')
  }
  if (until === null || discardCurrent) return
  throw new DomainError('SECRET_OVERLAP_RUNNING', `the secret was rotated, and the one before signs until ${until}`, {
    next:
      'wait until then, or end the overlap with DELETE /api/v1/portal/webhook-secret/previous (svc secret end-overlap); ' +
      'where the new secret was lost, rotate with discard_current',
  })
}

/** What stays of the secret that is replaced, sealed to the column that it goes to. */
function previousOf(
  { sealer }: Pick<App, 'sealer'>,
  state: SecretState,
  seconds: number,
): { secret: string; seconds: number } | null {
  if (seconds === 0) return null
  return { secret: sealer.seal(openNewest(sealer, state), previousSecretContext(state.merchant_id)), seconds }
}
