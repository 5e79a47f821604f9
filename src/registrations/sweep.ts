import type { App } from '../app.ts'
import { deleteOldAttempts } from './attempts-sql.ts'
import type { RegistrationRecord } from './record.ts'
import { listAbandonedRegistrations } from './sql.ts'
import { rollBack } from './roll-back.ts'

const SWEPT_MAX = 20

/** Maximum number of old attempts deleted in one run. */
const DELETED_ATTEMPTS_MAX = 1_000

/** How long after its lease a registration counts as abandoned: a retry by the merchant may complete it before. */
const ABANDONED_SECONDS = 60

/** The job: rolls back registrations that crashed processes left incomplete (decision 47), and deletes old attempts. */
export async function sweepRegistrations(app: App): Promise<{ more: boolean }> {
  const left = await listAbandonedRegistrations(app.pool, { limit: SWEPT_MAX, afterSeconds: ABANDONED_SECONDS })
  const swept = await Promise.all(left.map((registration) => sweep(app, registration)))
  const forgotten = await deleteOldAttempts(app.pool, DELETED_ATTEMPTS_MAX)
  if (forgotten === DELETED_ATTEMPTS_MAX) return { more: true }
  // A failed rollback is not retried immediately.
  return { more: left.length === SWEPT_MAX && swept.every(Boolean) }
}

async function sweep(app: App, registration: RegistrationRecord): Promise<boolean> {
  const log = app.log.child({ registration_id: registration.id, slug: registration.slug })
  try {
    const failure = registration.failure ?? 'a crashed process left it incomplete'
    if (await rollBack(app, registration, { failure, onlyAbandoned: true })) {
      log.warn('rolled back an abandoned registration')
    }
    return true
  } catch (error) {
    log.error({ err: error }, 'could not roll back an abandoned registration yet')
    return false
  }
}
