import type { App } from '../../app.ts'
import { moveExpired } from './move.ts'

/** Requests per run; the next run follows immediately while there are more. */
const EXPIRED_MAX = 500

/** Ends requests and offers without a decision in time (decisions 5 and 6). A job. */
export async function expireRequests(app: Pick<App, 'pool' | 'log'>): Promise<{ more: boolean }> {
  const count = await moveExpired(app.pool, EXPIRED_MAX)
  if (count > 0) app.log.info({ count }, 'requests to pay and offers to pay have expired')
  return { more: count === EXPIRED_MAX }
}
