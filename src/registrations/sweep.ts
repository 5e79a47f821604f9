import type { App } from '../app.ts'
import { deleteOldAttempts } from './attempts-sql.ts'
import type { RegistrationRecord } from './record.ts'
import { listAbandonedRegistrations } from './sql.ts'
import { rollBack } from './roll-back.ts'

const SWEPT_MAX = 20

/** Attempts to register that are forgotten in one run. */
const DELETED_ATTEMPTS_MAX = 1_000

/** How long after its lease a registration counts as left: a retry of the merchant's own may heal it before. */
const ABANDONED_SECONDS = 60

/** Takes back what processes that died have left half-made (decision 47), and forgets who asked long ago. A job. */
export async function sweepRegistrations(app: App): Promise<{ more: boolean }> {
  const left = await listAbandonedRegistrations(app.pool, { limit: SWEPT_MAX, afterSeconds: ABANDONED_SECONDS })
  const swept = await Promise.all(left.map((registration) => sweep(app, registration)))
  const forgotten = await deleteOldAttempts(app.pool, DELETED_ATTEMPTS_MAX)
  if (forgotten === DELETED_ATTEMPTS_MAX) return { more: true }
  // What could not be taken back is not tried again at once.
  return { more: left.length === SWEPT_MAX && swept.every(Boolean) }
}

async function sweep(app: App, registration: RegistrationRecord): Promise<boolean> {
  const log = app.log.child({ registration_id: registration.id, slug: registration.slug })
  try {
    const failure = registration.failure ?? 'it was left half-made by a process that died'
    if (await rollBack(app, registration, { failure, onlyAbandoned: true })) {
      log.warn('a registration that was left half-made has been taken back')
    }
    return true
  } catch (error) {
    log.error({ err: error }, 'a registration that was left half-made could not be taken back yet')
    return false
  }
}
