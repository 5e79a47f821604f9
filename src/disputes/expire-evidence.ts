import type { App } from '../app.ts'
import { moveDispute } from './move.ts'
import type { OverdueDispute } from './record.ts'
import { lockOverdueDispute, listOverdueDisputes } from './sql.ts'

/** Disputes of one run; the next run follows at once while there are more. */
const DISPUTES_MAX = 100

/**
 * Moves disputes to UNDER_REVIEW whose merchant has submitted no evidence in time, and marks the evidence as missing
 * (decision 23). Later evidence is still added. Each dispute has its own short transaction: the export of the audit trail
 * waits for transactions that append to it, and one that fails must not roll back the others. A job.
 */
export async function expireEvidence(app: App): Promise<{ more: boolean }> {
  const overdue = await listOverdueDisputes(app.pool, DISPUTES_MAX)
  let count = 0
  for (const dispute of overdue) if (await expireOne(app, dispute)) count += 1
  if (count > 0) app.log.info({ count }, 'disputes are under review without evidence')
  return { more: overdue.length === DISPUTES_MAX && count > 0 }
}

/** False where another transaction has moved it or is about to, and where the move failed. */
async function expireOne(app: App, overdue: OverdueDispute): Promise<boolean> {
  const { id, merchant_id: merchantId } = overdue
  try {
    return await app.pool.transaction(async (tx) => {
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
  } catch (error) {
    app.log.error({ err: error, dispute_id: id }, 'a dispute stays OPEN after its deadline; it is tried again')
    return false
  }
}
