import type { App } from '../../app.ts'
import { insertStrayReturn } from './calls-sql.ts'

/** Keeps on record that a browser came back from a bank with a state that is no payment's. */
export function recordStrayReturn({ pool, ids }: Pick<App, 'pool' | 'ids'>, browser: string): Promise<void> {
  return insertStrayReturn(pool, { browser, interactionId: ids.uuid() })
}
