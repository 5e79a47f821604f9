import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { maskAllButLastFour } from '../lib/mask.ts'
import type { SecretTimes } from './record.ts'
import { foundSecrets, openNewest } from './secret.ts'
import { dropPrevious, deleteExpiredPrevious, lockSecrets } from './sql.ts'

/** How many expired secrets one run of the job deletes. */
const DELETED_MAX = 500

export type EndedOverlap = SecretTimes & { maskedSecret: string }

/**
 * Ends the overlap of a merchant's rotation now: from the next delivery on only the newest secret signs. Without an
 * overlap nothing changes.
 * @throws {DomainError} MERCHANT_NOT_FOUND
 */
export async function endSecretOverlap(
  app: Pick<App, 'pool' | 'sealer' | 'ids'>,
  { merchantId, actor }: { merchantId: string; actor: Actor },
): Promise<EndedOverlap> {
  return app.pool.transaction(async (tx) => {
    const state = foundSecrets(await lockSecrets(tx, merchantId))
    const { rotated_at, previous_expires_at } = state
    const maskedSecret = maskAllButLastFour(openNewest(app.sealer, state))
    if (previous_expires_at === null) return { maskedSecret, rotated_at, previous_expires_at }
    const times = await dropPrevious(tx, merchantId)
    await recordAction(app, tx, {
      actor,
      action: 'webhook_secret.end_overlap',
      merchantId,
      subjectId: merchantId,
      before: { previous_expires_at },
      after: { previous_expires_at: null },
    })
    return { maskedSecret, ...times }
  })
}

/** Deletes secrets whose overlap has ended: they sign nothing any more, and should not be stored for ever. */
export async function deleteExpiredSecrets(app: Pick<App, 'pool'>): Promise<{ more: boolean }> {
  const deleted = await deleteExpiredPrevious(app.pool, DELETED_MAX)
  return { more: deleted.length === DELETED_MAX }
}
