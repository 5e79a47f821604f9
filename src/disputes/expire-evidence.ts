import type { App } from '../app.ts'
import { makePagedJob, pageOf } from '../lib/paged-job.ts'
import { moveDispute } from './move.ts'
import type { OverdueDispute } from './record.ts'
import { lockOverdueDispute, listOverdueDisputes } from './sql.ts'

/** Disputes of one run; the next run follows at once while there are more. */
const DISPUTES_MAX = 100

const runPage = makePagedJob<OverdueDispute, OverdueDispute>()

/**
 * Moves disputes to UNDER_REVIEW whose merchant has submitted no evidence in time, and marks the evidence as missing
 * (decision 23). Later evidence is still added. Each dispute has its own short transaction: the export of the audit trail
 * waits for transactions that append to it, and one that fails must not roll back the others. A job.
 */
export async function expireEvidence(app: App): Promise<{ more: boolean }> {
  let count = 0
  const { more } = await runPage(app, {
    list: async (after) => pageOf(await listOverdueDisputes(app.pool, DISPUTES_MAX, after), DISPUTES_MAX),
    work: async (dispute) => {
      if (await expireOne(app, dispute)) count += 1
    },
    onFailure: (error, { id }) =>
      app.log.error({ err: error, dispute_id: id }, 'a dispute stays OPEN after its deadline; it is tried again'),
  }).finally(() => {
    if (count > 0) app.log.info({ count }, 'disputes are under review without evidence')
  })
  return { more }
}

/** False where another transaction has moved it or is about to. */
function expireOne(app: App, overdue: OverdueDispute): Promise<boolean> {
  const { id, merchant_id: merchantId } = overdue
  return app.pool.transaction(async (tx) => {
    if (!(await lockOverdueDispute(tx, overdue))) return false
    await moveDispute(tx, app, {
      merchantId,
      id,
      from: 'OPEN',
      on: 'evidence deadline',
      changes: { evidenceMissing: true },
      by: { changedBy: 'BATCH_JOB', actor: null },
      note: null,
    })
    return true
  })
}
