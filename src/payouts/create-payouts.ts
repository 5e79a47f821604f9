import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { insertPayout, listPayees, lockPayee } from './create-sql.ts'
import type { Creation, Payee } from './create-sql.ts'
import { CREATION, announcePayout, recordMoves } from './move.ts'
import type { PayoutRecord } from './record.ts'

/** Payouts of one run; the next run follows at once while there are more. */
const PAYOUTS_MAX = 100

/**
 * Creates a payout for each merchant and currency with closed settlements that none pays yet, each in a transaction of its
 * own. Merchants that are held, suspended or inactive, or have no account, are skipped, and follow after their release. A
 * job.
 */
export async function createPayouts(app: App): Promise<{ more: boolean }> {
  const payees = await listPayees(app.pool, PAYOUTS_MAX)
  let count = 0
  for (const payee of payees) if ((await createOne(app, payee)) !== null) count += 1
  if (count > 0) app.wake.notify('send-payouts')
  return { more: count > 0 && payees.length === PAYOUTS_MAX }
}

/** Null where another process was first, there is nothing to pay, or creating it failed. */
async function createOne(app: App, payee: Payee): Promise<PayoutRecord | null> {
  try {
    const {
      payout,
      payable,
      is_payable: isPayable,
    } = await app.pool.transaction((tx) => createPayout(tx, app, { ...payee, evenAfterFailure: false }))
    if (payout !== null) announcePayout(app, payout)
    else if (!isPayable && !/^-|^0\.0000$/.test(payable))
      app.log.error({ ...payee, payable }, 'a balance has more than two digits after the point and is not paid out')
    return payout
  } catch (error) {
    app.log.error({ err: error, ...payee }, 'a payout could not be created; it is tried again')
    return null
  }
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
