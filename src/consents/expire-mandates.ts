import type { App } from '../app.ts'
import { expireMandateRows } from './sql.ts'

/** Mandates of one run; the next run follows at once while there are more. */
const MANDATES_MAX = 500

/** Ends the mandates whose time is over (decision 18). A job; whoever reads one meanwhile sees it ended already. */
export async function expireMandates(app: Pick<App, 'pool' | 'log'>): Promise<{ more: boolean }> {
  const count = await expireMandateRows(app.pool, MANDATES_MAX)
  if (count > 0) app.log.info({ count }, 'mandates have expired')
  return { more: count === MANDATES_MAX }
}
