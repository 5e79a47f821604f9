import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../../app.ts'
import { runAfter } from '../../lib/recurrence.ts'
import { runEach } from '../../lib/paged-job.ts'
import { insertOrder } from '../orders/sql.ts'
import type { NewOrder } from '../orders/sql.ts'
import type { DueRecurring } from './record.ts'
import { scheduleOf } from './schedule.ts'
import { lockDue, listDue, postponeRun, recordRun } from './sql.ts'
import type { StoredRun } from './sql.ts'

/** The parts of the app that runs need. */
export type Runner = Pick<App, 'pool' | 'wake' | 'ids' | 'log'> & { config: Pick<App['config'], 'holidays'> }

/** Recurring payments per job run; the next one follows immediately while there are more. */
const DUE_MAX = 100

/** The delay before a failed run is retried. */
const RETRY_SECONDS = 60

/** The number of concurrent runs, each over a connection of its own. */
const CONCURRENCY = 4

/**
 * Creates the payments that are due (decision 2): the earliest outstanding run of each recurring payment, so that runs
 * missed without a worker are made up one after another. The payment of a run and the schedule of the next one are one
 * transaction, so a crash leaves both or neither. Any number of workers may do this concurrently. A job.
 */
export async function runRecurring(app: Runner): Promise<{ more: boolean }> {
  const due = await listDue(app.pool, DUE_MAX)
  const made: CompletedRun[] = []
  await runEach(due, {
    work: async (id) => {
      const run = await runOne(app, id)
      if (run !== null) made.push(run)
    },
    onFailure: (error, id) => postpone(app, { error, id }),
    concurrency: CONCURRENCY,
  })
  if (made.length > 0) app.wake.notify('execute-orders')
  const isBehind = made.some(({ next }) => next !== null && Date.parse(next.at) <= Date.now())
  return { more: made.length > 0 && (isBehind || due.length === DUE_MAX) }
}

/** A run whose payment was created, and the next run. */
type CompletedRun = { day: string; next: StoredRun | null }

async function runOne(app: Runner, id: string): Promise<CompletedRun | null> {
  const made = await app.pool.transaction((tx) => makeRun(tx, app, id))
  if (made !== null) app.log.info({ recurring_payment_id: id, day: made.day }, 'a recurring payment has run')
  return made
}

async function postpone(app: Runner, { error, id }: { error: unknown; id: string }): Promise<void> {
  app.log.error({ err: error, recurring_payment_id: id }, 'a run failed; it is retried in a minute')
  await postponeRun(app.pool, { id, seconds: RETRY_SECONDS }).catch((err: unknown) =>
    app.log.error({ err, recurring_payment_id: id }, 'a failed run could not be postponed'),
  )
}

/** Null if another worker has the run, or if it is no longer due. */
async function makeRun(tx: DatabaseTransactionConnection, app: Runner, id: string): Promise<CompletedRun | null> {
  const recurring = await lockDue(tx, id)
  if (recurring === null) return null
  const day = recurring.next_run_day
  const after = runAfter(scheduleOf(recurring, app.config.holidays), day)
  const next = after === null ? null : { day: after.day, at: after.at.toISOString() }
  if (!(await recordRun(tx, { id, day, next }))) return null
  const isNew = await insertOrder(tx, orderOf(recurring, { id: app.ids.for('run', id, day).uuid(), day }))
  if (!isNew) app.log.error({ recurring_payment_id: id, day }, 'a run had its payment already; none was created')
  return { day, next }
}

function orderOf(recurring: DueRecurring, { id, day }: { id: string; day: string }): NewOrder {
  const identification = runIdentification(recurring.id, day)
  return {
    id,
    customerId: recurring.customer_id,
    instructionIdentification: identification,
    endToEndIdentification: identification,
    debtorAccountId: recurring.debtor_account_id,
    creditor: {
      scheme: recurring.creditor_scheme_name,
      identification: recurring.creditor_identification,
      name: recurring.creditor_name,
    },
    amountMinor: recurring.amount_minor,
    currency: recurring.currency,
    reference: recurring.reference,
    run: { recurringPaymentId: recurring.id, day },
  }
}

/** The digits of 128 bits in base 36. */
const ID_DIGITS = 25

/**
 * The identification of a run's payment: its day and the recurring payment's id in base 36, 33 characters. It is
 * unique, even in the first 31 characters, which Faster Payments carries (decision 8).
 */
function runIdentification(recurringPaymentId: string, day: string): string {
  const id = BigInt(`0x${recurringPaymentId.replaceAll('-', '')}`)
    .toString(36)
    .padStart(ID_DIGITS, '0')
  return `${day.replaceAll('-', '')}${id.toUpperCase()}`
}
