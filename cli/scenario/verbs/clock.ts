import { advanceSandboxClock } from '../../../src/wire/sandbox.ts'
import { ADVANCE_TIMEOUT_MS } from '../../sandbox/clock.ts'
import { call } from '../../client/call.ts'
import { readInput } from '../play/case-run.ts'
import type { CaseRun } from '../play/case-run.ts'
import { Clock } from '../language/requests.ts'

/** Lets time pass for the case's merchant and the customers it has made, together; what becomes due on the way happens. */
export async function clock(run: CaseRun, given: unknown): Promise<void> {
  const { advance } = readInput(run, Clock, given)
  const customers = run.made.flatMap((made) => (made.kind === 'customer' ? [made.customer.customer_id] : []))
  // The end of the case ends the request too.
  const client = { ...run.client, timeoutMs: ADVANCE_TIMEOUT_MS }
  await call(client, advanceSandboxClock, {
    body: { merchant_id: run.merchant.merchant_id, customer_ids: customers, by: advance },
  })
}
