import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { sql } from '../../db/sql.ts'
import type { SchemeName } from '../../lib/account-identification.ts'
import type { RecurringStatus } from '../../wire/recurring.ts'
import { DueRecurring } from './record.ts'

/** `next_run_at` is as it was agreed, also where the sandbox's clock has brought the run nearer. */
export const recurringColumns = sql.fragment`
  r.id, r.customer_id, r.frequency, r.first_payment_at, r.next_payment_at, r.final_payment_at, r.debtor_account_id,
  r.creditor_scheme_name, r.creditor_identification, r.creditor_name, r.amount_minor, r.currency, r.reference, r.status,
  r.next_run_day, r.next_run_at + r.clock_ahead as next_run_at, r.run_count, r.created_at, r.updated_at
`

/** A recurring payment to be stored; times as ISO 8601, the run's day as London has it. */
export type NewRecurring = {
  id: string
  customerId: string
  frequency: string
  firstPaymentAt: string
  nextPaymentAt: string | null
  finalPaymentAt: string | null
  debtorAccountId: string
  creditor: { scheme: SchemeName; identification: string; name: string | null }
  amountMinor: bigint
  currency: string
  reference: string | null
  status: RecurringStatus
  firstRun: StoredRun
}

/** A run as it is stored. */
export type StoredRun = { day: string; at: string }

export async function insertRecurring(tx: DatabaseTransactionConnection, recurring: NewRecurring): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    insert into recurring_payments (
      id, customer_id, frequency, first_payment_at, next_payment_at, final_payment_at, debtor_account_id,
      creditor_scheme_name, creditor_identification, creditor_name, amount_minor, currency, reference, status,
      next_run_day, next_run_at
    )
    values (
      ${recurring.id}, ${recurring.customerId}, ${recurring.frequency}, ${recurring.firstPaymentAt}::timestamptz,
      ${recurring.nextPaymentAt}::timestamptz, ${recurring.finalPaymentAt}::timestamptz, ${recurring.debtorAccountId},
      ${recurring.creditor.scheme}, ${recurring.creditor.identification}, ${recurring.creditor.name},
      ${recurring.amountMinor}, ${recurring.currency}, ${recurring.reference}, ${recurring.status}::recurring_status,
      ${recurring.firstRun.day}::date, ${recurring.firstRun.at}::timestamptz
    )
  `)
}

/**
 * The recurring payments whose next run is due, the longest due first, and one that has failed as if it were due when it
 * is to be tried again; nobody holds them by this.
 */
export async function listDue(db: CommonQueryMethods, limit: number): Promise<string[]> {
  const rows = await db.any(sql.typeAlias('id')`
    select id
    from recurring_payments
    where next_run_at is not null and greatest(next_run_at, retry_at) <= now()
    order by greatest(next_run_at, retry_at)
    limit ${limit}
  `)
  return rows.map(({ id }) => id)
}

/** Puts off a run that has failed, so that the others have their turn. */
export async function postponeRun(
  db: CommonQueryMethods,
  { id, seconds }: { id: string; seconds: number },
): Promise<void> {
  await db.query(sql.typeAlias('void')`
    update recurring_payments set retry_at = now() + make_interval(secs => ${seconds}) where id = ${id} and next_run_at <= now()
  `)
}

/** Holds a recurring payment for the transaction; null where it is due no more, or somebody else holds it. */
export function lockDue(tx: DatabaseTransactionConnection, id: string): Promise<DueRecurring | null> {
  return tx.maybeOne(sql.prepared('hold_due_recurring', DueRecurring)`
    select ${recurringColumns}
    from recurring_payments r
    where r.id = ${id} and r.next_run_at is not null and greatest(r.next_run_at, r.retry_at) <= now()
    for no key update skip locked
  `)
}

/**
 * Counts the run of this day and plans the next one, which the sandbox's clock may have brought nearer; the caller
 * holds the row. False, with nothing changed, where the
 * payment of the run before has a time that is not before this transaction's: the two would be carried out in the wrong
 * order. That is so only when another worker made it in this very moment, after this transaction had begun.
 */
export async function recordRun(
  tx: DatabaseTransactionConnection,
  { id, day, next }: { id: string; day: string; next: StoredRun | null },
): Promise<boolean> {
  const { rowCount } = await tx.query(sql.typeAlias('void')`
    update recurring_payments r
    set run_count = r.run_count + 1, last_run_day = ${day}::date, next_run_day = ${next?.day ?? null}::date,
      next_run_at = ${next?.at ?? null}::timestamptz - r.clock_ahead, retry_at = null
    where r.id = ${id} and r.next_run_day = ${day}::date
      and not exists (
        select
        from payment_orders o
        where o.recurring_payment_id = r.id and o.run_day = r.last_run_day and o.created_at >= now()
      )
  `)
  return rowCount === 1
}

/** Moves a recurring payment that is still in `from`; one that is not set up, or no longer, has no next run. */
export async function updateStatus(
  db: CommonQueryMethods,
  move: { customerId: string; id: string; from: RecurringStatus; to: RecurringStatus },
): Promise<boolean> {
  const { rowCount } = await db.query(sql.typeAlias('void')`
    update recurring_payments
    set status = ${move.to}::recurring_status, updated_at = now(),
      next_run_day = case when ${move.to}::recurring_status = 'InitiationCompleted' then next_run_day end,
      next_run_at = case when ${move.to}::recurring_status = 'InitiationCompleted' then next_run_at end
    where customer_id = ${move.customerId} and id = ${move.id} and status = ${move.from}::recurring_status
  `)
  return rowCount === 1
}
