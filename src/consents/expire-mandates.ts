import type { App } from '../app.ts'
import { expireMandateRows } from './sql.ts'

/** Mandates of one run; the next run follows at once while there are more. */
const MANDATES_MAX = 500

/** Expires mandates whose validity has ended (decision 18). A job; reads show such a mandate as EXPIRED even before it runs. */
export async function expireMandates(app: Pick<App, 'pool' | 'log'>): Promise<{ more: boolean }> {
  const count = await expireMandateRows(app.pool, MANDATES_MAX)
  if (count > 0) app.log.info({ count }, 'mandates have expired')
  return { more: count === MANDATES_MAX }
}
