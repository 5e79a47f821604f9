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

/** Accounts per run, and orders per account; the next run follows immediately while there are more. */
const ACCOUNTS_MAX = 20
const ORDERS_OF_ACCOUNT_MAX = 10

/** The number of attempts at an order that fails through a fault of this service. */
const ATTEMPTS_MAX = 20

/** The status of claimed orders. */
const CLAIMED = 'AcceptedSettlementInProcess'

/** The lease of a claimed order. An order of a crashed worker is claimed again when it expires. */
const LEASE_SECONDS = 30

/** The number of orders executed concurrently, each over a connection of its own. */
const LANES = 4

/**
 * Executes payment orders (decision 1). Orders are claimed in one statement and executed in a transaction each, so the
 * orders of a crashed worker are claimed again later; the order's status and the transfer's id prevent double booking.
 * Orders of one debtor account are executed in sequence; accounts are served round-robin, so that one account with many
 * orders does not delay the others. A job.
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

/** An order that fails does not delay the others. */
async function executeOrder(app: App, id: string): Promise<void> {
  try {
    const end = await app.pool.transaction((tx) => executeUnderLock(tx, id))
    if (end !== null) app.log.info({ order_id: id, end }, 'an order was executed')
  } catch (error) {
    app.log.error({ err: error, order_id: id }, 'an order failed; it is retried when its lease ends')
    await countFailedAttempt(app, id).catch((err: unknown) =>
      app.log.error({ err, order_id: id }, 'a failure was not counted'),
    )
  }
}

/** Rejects an order that keeps failing, with the code for an unknown reason (MS03), since no account is the cause. */
async function countFailedAttempt(app: App, id: string): Promise<void> {
  const failures = await countFailure(app.pool, { id, status: CLAIMED })
  if (failures < ATTEMPTS_MAX) return
  await app.pool.transaction(async (tx) => {
    const order = await lockOrder(tx, { id, status: CLAIMED })
    if (order !== null) await endOrder(tx, order, 'MS03')
  })
  app.log.error({ order_id: id, failures }, 'an order that failed repeatedly was rejected (MS03)')
}

/** How an order ended. */
type End = 'booked' | IsoReason

async function executeUnderLock(tx: DatabaseTransactionConnection, id: string): Promise<End | null> {
  const order = await lockOrder(tx, { id, status: CLAIMED })
  if (order === null) return null
  const end = await book(tx, order)
  await endOrder(tx, order, end)
  return end
}

/** Ends an order locked by the caller, and the payment request that it belongs to. */
async function endOrder(tx: DatabaseTransactionConnection, order: LockedOrder, end: End): Promise<void> {
  const { id, status: from, payment_request_id: paymentRequestId } = order
  const moved =
    end === 'booked'
      ? await moveOrder(tx, { id, from, on: 'booking' })
      : await moveOrder(tx, { id, from, on: 'rejection', reason: end })
  if (!moved) throw new Error(`the order ${id} was moved by another transaction while it was locked`)
  if (paymentRequestId === null) return
  await endWithOrder(
    tx,
    end === 'booked'
      ? { paymentRequestId, outcome: 'booked' }
      : { paymentRequestId, outcome: 'refused', reasonCode: end },
  )
}

/**
 * Books an order under its own id. Our books keep the whole reference; for a payment to another bank, Faster Payments
 * carries only the first 18 characters (decision 8), which concerns that bank's side and not our books.
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
    // As the payer wrote it, or else the number: the holder's own name would reveal the owner of any number.
    creditorName: order.creditor_name ?? identificationText(order.creditor_scheme_name, order.creditor_identification),
    reference: order.reference,
  })
  if (outcome === 'BOOKED' || outcome === 'REPEAT') return 'booked'
  const reason = REFUSALS[outcome]
  if (reason === undefined) throw new Error(`book_transfer returned ${outcome}`)
  return reason
}

/**
 * A nonexistent account id. `book_transfer` is called with it nevertheless, because it checks the debtor's funds first.
 */
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
