import type { App } from '../app.ts'
import {
  deleteOldEndedSessions,
  deleteOldFailedVerifications,
  deleteOldLinkRequests,
  deleteOldTokens,
} from './sign-in-sql.ts'

/** Rows of one table that are deleted in one run. */
const ROWS_MAX = 1_000

/** Deletes link requests, used tokens, failed verifications and ended sessions that have no use any more. A job. */
export async function forgetSignIns({ pool }: Pick<App, 'pool'>): Promise<{ more: boolean }> {
  const counts = [
    await deleteOldLinkRequests(pool, ROWS_MAX),
    await deleteOldFailedVerifications(pool, ROWS_MAX),
    await deleteOldTokens(pool, ROWS_MAX),
    await deleteOldEndedSessions(pool, ROWS_MAX),
  ]
  return { more: counts.includes(ROWS_MAX) }
}
