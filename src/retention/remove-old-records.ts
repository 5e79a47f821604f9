import type { CommonQueryMethods } from 'slonik'
import type { App } from '../app.ts'
import { rejectFailures, runEach } from '../lib/paged-job.ts'
import { deleteOldMails } from '../mail/sql.ts'
import { removeAlerts, removeBankCalls, removeRuns, removeWebhooks } from './sql.ts'
import type { Limit } from './sql.ts'

/** Rows of one kind in one run: a statement of well under a second. */
const ROWS_MAX = 500

type Kind = {
  record: string
  setting: keyof App['config']['retentionDays']
  remove(tx: CommonQueryMethods, limit: Limit): Promise<number>
}

const KINDS: readonly Kind[] = [
  { record: 'webhooks', setting: 'webhooks', remove: removeWebhooks },
  { record: 'bank_calls', setting: 'bankCalls', remove: removeBankCalls },
  { record: 'mails', setting: 'mails', remove: deleteOldMails },
  { record: 'runs', setting: 'runs', remove: removeRuns },
  { record: 'alerts', setting: 'runs', remove: removeAlerts },
]

/**
 * Deletes what is older than the retention settings, in the real time and not that of a sandbox merchant (decision 370).
 * Payments, their events and the ledger are kept. A job.
 */
export async function removeOldRecords(
  app: Pick<App, 'pool' | 'config' | 'metrics' | 'log'>,
): Promise<{ more: boolean }> {
  let more = false
  const failureCount = await runEach(KINDS, {
    work: async ({ record, setting, remove }) => {
      const removed = await remove(app.pool, { days: app.config.retentionDays[setting], rowsMax: ROWS_MAX })
      app.metrics.rowsRemoved.inc({ record }, removed)
      if (removed >= ROWS_MAX) more = true
    },
    onFailure: (error, { record }) => app.log.error({ err: error, record }, 'old records could not be removed'),
  })
  if (!more) rejectFailures(failureCount)
  return { more }
}
