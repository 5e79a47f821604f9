import { runRecurring } from '../../src/instructions/recurring/run.ts'
import { makeRunner } from './recurring.ts'

/*
 * A worker process for tests to kill. It begins the runs that are due and ends none of them: every other one stands still
 * with everything written and nothing committed, the rest with everything committed and no worker notified.
 */
const runner = await makeRunner(process.env['SVC_DATABASE_URL'] ?? '')
const transaction = runner.pool.transaction.bind(runner.pool)
let begun = 0

function hold(): Promise<never> {
  process.send?.('holding')
  return new Promise(() => undefined)
}

await runRecurring({
  ...runner,
  pool: {
    ...runner.pool,
    transaction: async (handler) => {
      begun += 1
      if (begun % 2 === 0) await transaction(handler)
      else await transaction((tx) => handler(tx).then(hold))
      return hold()
    },
  },
})
