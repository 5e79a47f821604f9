import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { keepBalancesOf } from '../ledger/keep-balances.ts'
import { makePagedJob, pageOf } from '../lib/paged-job.ts'
import type { DuePeriod, OpenPeriod, SettlementRecord } from './record.ts'
import { closePeriod, findSettlement, listDuePeriods, listOpenPeriods } from './sql.ts'

/** Periods of one run; the next run follows at once while there are more. */
const PERIODS_MAX = 100

const runPage = makePagedJob<DuePeriod, DuePeriod>()

/**
 * Closes the periods that have ended, each in a transaction of its own. A merchant without payments for days has only
 * the days that have some. A job.
 */
export async function closeDueSettlements(app: App): Promise<{ more: boolean }> {
  let count = 0
  const { more } = await runPage(app, {
    list: async (after) => pageOf(await listDuePeriods(app.pool, PERIODS_MAX, after), PERIODS_MAX),
    work: async (period) => {
      // What was posted in the last seconds before the period's end belongs to it.
      await keepBalancesOf(app, period.merchant_id)
      // Behind it there are others if the job has not run for days. False where another process was first.
      while (await closeOne(app, period)) count += 1
    },
    onFailure: (error, period) =>
      app.log.error({ err: error, ...period }, 'a settlement stays open after its end; it is tried again'),
  }).finally(() => {
    if (count > 0) app.log.info({ count }, 'settlements are closed')
  })
  return { more }
}

function closeOne(app: App, period: OpenPeriod): Promise<boolean> {
  const id = app.ids.uuid()
  return app.pool.transaction((tx) => closePeriod(tx, { id, period, byHand: false }))
}

export type CloseSettlementsInput = { merchantId: string; currency?: string | undefined; actor: Actor }

/**
 * Ends the open periods of a merchant now, in one transaction: those that have ended already, and what was posted since.
 * @returns the new settlements; none where nothing was posted since the last ones
 */
export async function closeSettlements(
  app: Pick<App, 'pool' | 'ids'>,
  { merchantId, currency, actor }: CloseSettlementsInput,
): Promise<SettlementRecord[]> {
  await keepBalancesOf(app, merchantId)
  return app.pool.transaction(async (tx) => {
    const open = await listOpenPeriods(tx, merchantId)
    const closed: SettlementRecord[] = []
    for (const period of open.filter((each) => currency === undefined || each.currency === currency)) {
      for (const byHand of [false, true]) {
        for (;;) {
          const id = app.ids.uuid()
          if (!(await closePeriod(tx, { id, period, byHand }))) break
          const settlement = await findSettlement(tx, { merchantId, id })
          if (settlement === null) throw new Error('the new settlement is missing')
          closed.push(settlement)
          if (byHand) {
            const after = { currency: settlement.currency, payable_amount: settlement.payable_amount }
            await recordAction(app, tx, { actor, action: 'settlement.close', merchantId, subjectId: id, after })
          }
        }
      }
    }
    return closed
  })
}
