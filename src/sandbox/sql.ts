import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

/** The owners of sandbox clocks: at most one merchant, and customers of the bank by their internal ids. */
export type ClockSubjects = { merchantId: string | null; customerIds: readonly string[] }

const NextDue = z.strictObject({
  /** The jobs that have due work now. */
  jobs: z.array(z.string()),
  underway: z.int(),
  wait_ms: z.number().nullable(),
})
export type NextDue = z.infer<typeof NextDue>

/**
 * The due jobs of the subjects, the number of items that workers have in progress, and the time until the next due
 * time.
 */
export function findNextDue(tx: CommonQueryMethods, { merchantId, customerIds }: ClockSubjects): Promise<NextDue> {
  const customers = sql.array([...customerIds], 'uuid')
  return tx.one(sql.prepared('sandbox_next_due', NextDue)`
    -- Read after the clocks are locked: a transaction's own now() is from before it waited for them. Leases compare with
    -- now(), like sandbox_due_times, so that a job whose lease is running out is seen by one of the two.
    with clock as materialized (select clock_timestamp() as reading)
    select
      coalesce(array_agg(distinct job) filter (where due_at <= reading), '{}') as jobs,
      (select count(*)::int from webhook_lanes where merchant_id = ${merchantId}::uuid and locked_until > now())
        + (
          select count(*)::int from payment_intents
          where merchant_id = ${merchantId}::uuid and status = 'Authorised' and locked_until > now()
        )
        + (
          select count(*)::int from payouts
          where merchant_id = ${merchantId}::uuid and status in ('CREATED', 'SENT') and locked_until > now()
        )
        + (
          select count(*)::int from payment_orders
          where customer_id = any (${customers}) and status = 'AcceptedSettlementInProcess' and locked_until > now()
        ) as underway,
      extract(epoch from min(due_at) filter (where due_at > reading) - max(reading))::float8 * 1000 as wait_ms
    from clock left join (
      select job, due_at from sandbox_due_times(${merchantId}::uuid, ${customers})
      union all
      -- Disputes that payers of a scenario still raise about a completed payment (play-disputes.ts): these are polled in
      -- real time.
      select 'play-disputes', a.created_at
      from mock_bank.authorisations a join payment_intents p on p.bank_consent_id = a.state
      where a.payee_id = ${merchantId}::uuid and a.scenario like 'dispute-%' and a.code is not null
        and a.scenario_ended_at is null and p.status in ('Settled', 'Refunded', 'Failed')
    ) times on true
  `)
}

/**
 * Locks these clocks until the transaction ends. The locks are taken in one order, so that two transactions never
 * deadlock.
 */
export async function holdClocks(tx: DatabaseTransactionConnection, ids: readonly string[]): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    select
    from (select distinct unnest(${sql.array([...ids], 'uuid')}) as id order by id) held,
      lateral pg_advisory_xact_lock(hashtextextended('sandbox clock ' || held.id, 0))
  `)
}

/** Moves due times of the subjects to the past, and records it (migrations/functions/advance_sandbox_clock.sql). */
export async function advanceDueTimes(
  tx: CommonQueryMethods,
  { merchantId, customerIds }: ClockSubjects,
  ms: number,
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    select from advance_sandbox_clock(
      ${merchantId}::uuid, ${sql.array([...customerIds], 'uuid')}, make_interval(secs => ${ms}::float8 / 1000)
    )
  `)
}

const ClockReading = z.strictObject({ ahead_ms: z.int(), now: z.string() })
export type ClockReading = z.infer<typeof ClockReading>

/** How far a subject's clock is ahead of real time, in whole milliseconds, and its current time. */
export function findClockReading(tx: CommonQueryMethods, subjectId: string): Promise<ClockReading> {
  return tx.one(sql.type(ClockReading)`
    select floor(extract(epoch from ahead) * 1000)::int8::float8 as ahead_ms, iso_text(now() + ahead) as now
    from sandbox_clock_ahead(${subjectId}::uuid, '-infinity') as ahead
  `)
}

const CustomerName = z.strictObject({ id: z.string(), external_customer_id: z.string() })

/** The existing customers among these external ids. */
export function findCustomersByExternalId(
  tx: CommonQueryMethods,
  externalIds: readonly string[],
): Promise<readonly z.infer<typeof CustomerName>[]> {
  return tx.any(sql.type(CustomerName)`
    select id, external_customer_id from customers where external_customer_id = any (${sql.array([...externalIds], 'text')})
  `)
}
