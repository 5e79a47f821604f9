import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { sql } from '../../db/sql.ts'
import type { SchemeName } from '../../lib/account-identification.ts'
import type { RecurringStatus } from '../../wire/recurring.ts'
import { DueRecurring } from './record.ts'

/** `next_run_at` is the agreed time, even if the sandbox clock has moved the run closer. */
export const recurringColumns = sql.fragment`
  r.id, r.customer_id, r.frequency, r.first_payment_at, r.next_payment_at, r.final_payment_at, r.debtor_account_id,
  r.creditor_scheme_name, r.creditor_identification, r.creditor_name, r.amount_minor, r.currency, r.reference, r.status,
  r.next_run_day, r.next_run_at + r.clock_ahead as next_run_at, r.run_count, r.created_at, r.updated_at
`

/** A recurring payment to be stored; times in ISO 8601, the run's day in London. */
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
 * The recurring payments whose next run is due, longest overdue first; a failed one counts as due at its retry time.
 * They are not locked.
 */
export async function listDue(tx: CommonQueryMethods, limit: number): Promise<string[]> {
  const rows = await tx.any(sql.typeAlias('id')`
    select id
    from recurring_payments
    where next_run_at is not null and greatest(next_run_at, retry_at) <= now()
    order by greatest(next_run_at, retry_at)
    limit ${limit}
  `)
  return rows.map(({ id }) => id)
}

/** Postpones a failed run, so that the others get their turn. */
export async function postponeRun(
  tx: CommonQueryMethods,
  { id, seconds }: { id: string; seconds: number },
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    update recurring_payments set retry_at = now() + make_interval(secs => ${seconds}) where id = ${id} and next_run_at <= now()
  `)
}

/** Locks a recurring payment for the transaction; null if it is no longer due, or locked by another transaction. */
export function lockDue(tx: DatabaseTransactionConnection, id: string): Promise<DueRecurring | null> {
  return tx.maybeOne(sql.prepared('lock_due_recurring', DueRecurring)`
    select ${recurringColumns}
    from recurring_payments r
    where r.id = ${id} and r.next_run_at is not null and greatest(r.next_run_at, r.retry_at) <= now()
    for no key update skip locked
  `)
}

/**
 * Counts the run of this day and schedules the next one, shifted by the sandbox clock; the caller has locked the row.
 * False, with nothing changed, if the payment of the previous run is not older than this transaction: the two would be
 * executed in the wrong order. This happens only when another worker created it after this transaction had begun.
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

/** Moves a recurring payment that is still in `from`; one that is not set up, or cancelled, has no next run. */
export async function updateStatus(
  tx: CommonQueryMethods,
  move: { customerId: string; id: string; from: RecurringStatus; to: RecurringStatus },
): Promise<boolean> {
  const { rowCount } = await tx.query(sql.typeAlias('void')`
    update recurring_payments
    set status = ${move.to}::recurring_status, updated_at = now(),
      next_run_day = case when ${move.to}::recurring_status = 'InitiationCompleted' then next_run_day end,
      next_run_at = case when ${move.to}::recurring_status = 'InitiationCompleted' then next_run_at end
    where customer_id = ${move.customerId} and id = ${move.id} and status = ${move.from}::recurring_status
  `)
  return rowCount === 1
}
