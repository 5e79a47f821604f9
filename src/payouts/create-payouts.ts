import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { makePagedJob, pageOf } from '../lib/paged-job.ts'
import { insertPayout, listPayees, lockPayee } from './create-sql.ts'
import type { Creation, Payee } from './create-sql.ts'
import { CREATION, announcePayout, recordMoves } from './move.ts'

/** Payouts of one run; the next run follows at once while there are more. */
const PAYOUTS_MAX = 100

const runPage = makePagedJob<Payee, Payee>()

/**
 * Creates a payout for each merchant and currency with closed settlements that none pays yet, each in a transaction of its
 * own. Merchants that are held, suspended or inactive, or have no account, are skipped, and follow after their release. A
 * job.
 */
export async function createPayouts(app: App): Promise<{ more: boolean }> {
  let count = 0
  const { more } = await runPage(app, {
    list: async (after) => pageOf(await listPayees(app.pool, PAYOUTS_MAX, after), PAYOUTS_MAX),
    work: async (payee) => {
      if (await createOne(app, payee)) count += 1
    },
    onFailure: (error, payee) =>
      app.log.error({ err: error, ...payee }, 'a payout could not be created; it is tried again'),
  }).finally(() => {
    if (count > 0) app.wake.notify('send-payouts')
  })
  return { more }
}

/** False where another process was first, or there is nothing to pay. */
async function createOne(app: App, payee: Payee): Promise<boolean> {
  const {
    payout,
    payable,
    is_payable: isPayable,
  } = await app.pool.transaction((tx) => createPayout(tx, app, { ...payee, evenAfterFailure: false }))
  if (payout !== null) announcePayout(app, payout)
  else if (!isPayable && !/^-|^0\.0000$/.test(payable))
    app.log.error({ ...payee, payable }, 'a balance has more than two digits after the point and is not paid out')
  return payout !== null
}

/** Creates the payout of all that a merchant is owed in a currency, in the caller's transaction. */
export async function createPayout(
  tx: DatabaseTransactionConnection,
  app: Pick<App, 'ids' | 'config'>,
  payee: Payee & { evenAfterFailure: boolean },
): Promise<Creation> {
  await lockPayee(tx, payee)
  const created = await insertPayout(tx, {
    ...payee,
    id: app.ids.uuid(),
    connector: app.config.payoutConnector,
    endToEndId: app.ids.endToEndId(),
  })
  if (created.payout !== null) await recordMoves(tx, app, [{ payout: created.payout, transition: CREATION }])
  return created
}
