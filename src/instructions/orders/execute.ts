import type { DatabaseTransactionConnection } from 'slonik'
import { bookTransfer } from '../../accounts/transfer-sql.ts'
import type { TransferOutcome } from '../../accounts/transfer-sql.ts'
import type { App } from '../../app.ts'
import { identificationText } from '../../lib/account-identification.ts'
import type { IsoReason } from '../../lib/iso-reasons.ts'
import { findCreditor } from '../find-creditor.ts'
import type { Creditor } from '../find-creditor.ts'
import { endWithOrder } from '../requests/end-with-order.ts'
import { moveOrder, claimOrders } from './move.ts'
import { countFailure } from './open-sql.ts'
import type { LockedOrder, ClaimedOrder } from './record.ts'
import { lockOrder } from './sql.ts'

/** Accounts of one run, and orders of each; the next run follows at once while there are more. */
const ACCOUNTS_MAX = 20
const ORDERS_OF_ACCOUNT_MAX = 10

/** How often an order is tried that can't be carried out by the fault of this service. */
const ATTEMPTS_MAX = 20

/** The status of what a worker has taken. */
const CLAIMED = 'AcceptedSettlementInProcess'

/** How long a taken order is nobody else's. One whose worker died is taken up again when it ends. */
const LEASE_SECONDS = 30

/** How many orders of a run are carried out at a time, each over a connection of its own. */
const LANES = 4

/**
 * Carries out what was ordered (decision 1). Orders are taken in one statement and carried out in a transaction each, so
 * a worker that dies between the two leaves them to be taken up again, and the order's status and the transfer's id see
 * to it that none is booked twice. Those of one account that pays follow each other as they were ordered; accounts take
 * turns, so that nobody waits for somebody else's crowd. A job.
 */
export async function executeOrders(app: App): Promise<{ more: boolean }> {
  const lease = { accounts: ACCOUNTS_MAX, perAccount: ORDERS_OF_ACCOUNT_MAX, leaseSeconds: LEASE_SECONDS }
  const claimed = await claimOrders(app.pool, lease)
  const queues = [...Map.groupBy(claimed, (order) => order.debtor_account_id).values()]
  await Promise.all(Array.from({ length: LANES }, () => executeQueues(app, queues)))
  return { more: claimed.length > 0 }
}

async function executeQueues(app: App, queues: ClaimedOrder[][]): Promise<void> {
  for (let queue = queues.shift(); queue !== undefined; queue = queues.shift()) {
    for (const { id } of queue) await executeOrder(app, id)
  }
}

/** One order that can't be carried out keeps no other back. */
async function executeOrder(app: App, id: string): Promise<void> {
  try {
    const end = await app.pool.transaction((tx) => executeUnderLock(tx, id))
    if (end !== null) app.log.info({ order_id: id, end }, 'an order was carried out')
  } catch (error) {
    app.log.error({ err: error, order_id: id }, 'an order failed; it is tried again when its lease ends')
    await countFailedAttempt(app, id).catch((err: unknown) =>
      app.log.error({ err, order_id: id }, 'a failure was not counted'),
    )
  }
}

/** An order that fails each time is rejected in the end: for an unknown reason, since it is none of those of accounts. */
async function countFailedAttempt(app: App, id: string): Promise<void> {
  const failures = await countFailure(app.pool, { id, status: CLAIMED })
  if (failures < ATTEMPTS_MAX) return
  await app.pool.transaction(async (tx) => {
    const order = await lockOrder(tx, { id, status: CLAIMED })
    if (order !== null) await endOrder(tx, order, 'MS03')
  })
  app.log.error({ order_id: id, failures }, 'an order that failed each time was rejected (MS03)')
}

/** How an order ended; null where somebody else has ended it. */
type End = 'booked' | IsoReason

async function executeUnderLock(tx: DatabaseTransactionConnection, id: string): Promise<End | null> {
  const order = await lockOrder(tx, { id, status: CLAIMED })
  if (order === null) return null
  const end = await book(tx, order)
  await endOrder(tx, order, end)
  return end
}

/** Ends an order that the caller holds, and the request that it was made for. */
async function endOrder(tx: DatabaseTransactionConnection, order: LockedOrder, end: End): Promise<void> {
  const { id, status: from, payment_request_id: paymentRequestId } = order
  const moved =
    end === 'booked'
      ? await moveOrder(tx, { id, from, on: 'booking' })
      : await moveOrder(tx, { id, from, on: 'refusal', reason: end })
  if (!moved) throw new Error(`the order ${id} was moved by somebody else while it was held`)
  if (paymentRequestId === null) return
  await endWithOrder(
    tx,
    end === 'booked'
      ? { paymentRequestId, outcome: 'booked' }
      : { paymentRequestId, outcome: 'refused', reasonCode: end },
  )
}

/**
 * Books an order under its own id. Our books keep its reference whole; of one that goes to another bank, Faster Payments
 * carries the first 18 characters (decision 8), which is that bank's side and stands in no book of ours.
 */
async function book(tx: DatabaseTransactionConnection, order: LockedOrder): Promise<End> {
  const creditor = await findCreditor(tx, {
    scheme: order.creditor_scheme_name,
    identification: order.creditor_identification,
  })
  const creditorAccountId = accountIdOf(creditor)
  if (creditorAccountId === order.debtor_account_id) return 'AC03'
  const outcome = await bookTransfer(tx, {
    id: order.id,
    debtorAccountId: order.debtor_account_id,
    creditorAccountId,
    amountMinor: order.amount_minor,
    currency: order.currency,
    debtorName: order.debtor_name,
    // As the payer wrote it, or else the number: the holder's own name would tell anybody whose number it is.
    creditorName: order.creditor_name ?? identificationText(order.creditor_scheme_name, order.creditor_identification),
    reference: order.reference,
  })
  if (outcome === 'BOOKED' || outcome === 'REPEAT') return 'booked'
  const reason = REFUSALS[outcome]
  if (reason === undefined) throw new Error(`book_transfer answered ${outcome}`)
  return reason
}

/** Whose account is nobody's: what `book_transfer` does not find. It is asked all the same, to look at the money first. */
const NO_ACCOUNT = '00000000-0000-0000-0000-000000000000'

function accountIdOf(creditor: Creditor): string | null {
  if (creditor.at === 'us') return creditor.account.id
  return creditor.at === 'nowhere' ? NO_ACCOUNT : null
}

const REFUSALS: Readonly<Partial<Record<TransferOutcome, IsoReason>>> = {
  INSUFFICIENT_FUNDS: 'AM04',
  DEBTOR_BLOCKED: 'AC06',
  DEBTOR_CLOSED: 'AC05',
  CREDITOR_NOT_FOUND: 'AC03',
  CREDITOR_CLOSED: 'AC07',
  CREDITOR_CURRENCY: 'AC11',
}
