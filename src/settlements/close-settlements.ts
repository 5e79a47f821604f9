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
 * Ends the open periods of a merchant now: those that have ended already, and what was posted since. Each has a
 * transaction of its own, because the action is recorded under the one lock of all actions: with a second currency in the
 * transaction, every operator would wait while its lines are assigned.
 * @returns the new settlements; none where nothing was posted since the last ones
 */
export async function closeSettlements(
  app: Pick<App, 'pool' | 'ids' | 'separately'>,
  { merchantId, currency, actor }: CloseSettlementsInput,
): Promise<SettlementRecord[]> {
  await keepBalancesOf(app, merchantId)
  const open = await listOpenPeriods(app.pool, merchantId)
  const closed: SettlementRecord[] = []
  for (const period of open.filter((each) => currency === undefined || each.currency === currency))
    closed.push(...(await app.separately((pool) => closeNow({ ids: app.ids, pool }, period, actor))))
  return closed
}

/** Closes the periods of a currency that have ended, and then the one that is open. */
async function closeNow(app: Pick<App, 'pool' | 'ids'>, period: OpenPeriod, actor: Actor): Promise<SettlementRecord[]> {
  const close = (byHand: boolean) =>
    app.pool.transaction(async (tx) => {
      const id = app.ids.uuid()
      const { merchant_id: merchantId } = period
      if (!(await closePeriod(tx, { id, period, byHand }))) return null
      const settlement = await findSettlement(tx, { merchantId, id })
      if (settlement === null) throw new Error('the new settlement is missing')
      if (byHand) {
        const after = { currency: settlement.currency, payable_amount: settlement.payable_amount }
        await recordAction(app, tx, { actor, action: 'settlement.close', merchantId, subjectId: id, after })
      }
      return settlement
    })
  const closed: SettlementRecord[] = []
  for (let ended = await close(false); ended !== null; ended = await close(false)) closed.push(ended)
  const last = await close(true)
  return last === null ? closed : [...closed, last]
}
