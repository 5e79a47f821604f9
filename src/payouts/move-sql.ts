import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { PayoutStatus } from '../wire/payouts.ts'
import { PayoutRecord } from './record.ts'
import { mayBePaid, payoutColumns } from './sql.ts'
import type { PayoutKey } from './sql.ts'

export type PayoutChange = PayoutKey & {
  from: PayoutStatus
  to: PayoutStatus
  changedBy: 'BATCH_JOB' | 'OPERATOR'
  bankReference: string | null
  failureCode: string | null
  /** After a failure or return: at once, after a time that doubles with each failure in a row, or never by itself. */
  retry: 'at once' | 'later' | 'never' | null
}

/** Moves those payouts that are still in `from`, which are returned. */
export function updatePayouts(
  tx: DatabaseTransactionConnection,
  changes: readonly PayoutChange[],
): Promise<readonly PayoutRecord[]> {
  const rows = changes.map((each) => [
    each.merchantId,
    each.id,
    each.from,
    each.to,
    each.changedBy,
    each.bankReference,
    each.failureCode,
    each.retry,
  ])
  return tx.any(sql.type(PayoutRecord)`
    update payouts p
    set status = c.to_status::payout_status, changed_by = c.changed_by,
      bank_reference = coalesce(c.bank_reference, p.bank_reference), failure_code = c.failure_code,
      retry_at = case c.retry
        when 'at once' then now()
        when 'never' then 'infinity'::timestamptz
        when 'later' then now() + least(interval '15 minutes' * 2 ^ (
          select count(*)
          from (
            select from payouts f
            where f.merchant_id = p.merchant_id and f.currency = p.currency and f.status in ('FAILED', 'RETURNED')
              and f.created_at > coalesce((
                select max(l.created_at) from payouts l
                where l.merchant_id = p.merchant_id and l.currency = p.currency and l.status = 'PAID'
              ), '-infinity')
            limit 10
          ) before
        ), interval '1 day')
      end,
      locked_until = case when c.to_status = 'SENT' then p.locked_until end,
      sent_at = case when c.to_status = 'SENT' then now() else p.sent_at end,
      paid_at = case when c.to_status = 'PAID' then now() else p.paid_at end,
      failed_at = case when c.to_status = 'FAILED' then now() end,
      returned_at = case when c.to_status = 'RETURNED' then now() end,
      updated_at = now()
    from (
      select c.*
      from ${sql.unnest(rows, ['uuid', 'uuid', 'text', 'text', 'text', 'text', 'text', 'text'])} as c (
        merchant_id, id, from_status, to_status, changed_by, bank_reference, failure_code, retry
      )
      join payouts d on d.merchant_id = c.merchant_id and d.id = c.id
      -- Everything that locks several payouts takes them in this order, so that no two wait for each other.
      order by d.created_at, d.id
      for update of d
    ) c
    where p.merchant_id = c.merchant_id and p.id = c.id and p.status = c.from_status::payout_status
    returning ${payoutColumns}
  `)
}

/** Leaves the settlements of payouts whose money came back to the next one. */
export async function freeSettlements(tx: DatabaseTransactionConnection, payouts: readonly PayoutKey[]): Promise<void> {
  const keys = payouts.map(({ merchantId, id }) => [merchantId, id])
  await tx.query(sql.type(z.object({}))`
    update settlements set payout_id = null
    where (merchant_id, payout_id) in (select * from ${sql.unnest(keys, ['uuid', 'uuid'])})
  `)
}

/**
 * Claims payouts that a bank's API is to be asked about: new ones of merchants that may be paid, and those whose outcome
 * is not known. No other worker takes them for `leaseSeconds`. The time until the bank is asked again doubles with each
 * attempt.
 */
export function claimPayouts(
  tx: CommonQueryMethods,
  { limit, leaseSeconds }: { limit: number; leaseSeconds: number },
): Promise<readonly PayoutRecord[]> {
  return tx.any(sql.type(PayoutRecord)`
    update payouts p
    set next_attempt_at = now() + make_interval(secs => least(3600, 10 * 2 ^ least(p.attempt_count, 10))),
      attempt_count = p.attempt_count + 1, locked_until = now() + make_interval(secs => ${leaseSeconds}), updated_at = now()
    from (
      select d.merchant_id, d.id
      from payouts d
      join merchants m on m.id = d.merchant_id
      where d.status in ('CREATED', 'SENT') and d.connector <> 'file' and d.next_attempt_at <= now()
        and (d.locked_until is null or d.locked_until <= now()) and (d.status = 'SENT' or ${mayBePaid})
      order by d.next_attempt_at
      limit ${limit}
      for update of d skip locked
    ) due
    where p.merchant_id = due.merchant_id and p.id = due.id
    returning ${payoutColumns}
  `)
}

const Readiness = z.object({ status: z.string(), may_be_paid: z.boolean(), is_account_active: z.boolean() })

/** Locks a payout, and says whether it can be sent now. */
export function lockReadiness(
  tx: DatabaseTransactionConnection,
  { merchantId, id }: PayoutKey,
): Promise<z.infer<typeof Readiness>> {
  return tx.one(sql.type(Readiness)`
    select p.status, ${mayBePaid} as may_be_paid, a.is_active as is_account_active
    from payouts p
    join merchants m on m.id = p.merchant_id
    join merchant_bank_accounts a on a.merchant_id = p.merchant_id and a.id = p.bank_account_id
    where p.merchant_id = ${merchantId} and p.id = ${id}
    for update of p
  `)
}

/** Ends the claim of a payout that the bank has not answered, or that was not sent. */
export async function unlockPayout(tx: CommonQueryMethods, { merchantId, id }: PayoutKey): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update payouts set locked_until = null, updated_at = now() where merchant_id = ${merchantId} and id = ${id}
  `)
}

/** Has the bank asked about a payout now. */
export async function makePayoutDue(tx: DatabaseTransactionConnection, { merchantId, id }: PayoutKey): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update payouts set next_attempt_at = now(), updated_at = now() where merchant_id = ${merchantId} and id = ${id}
  `)
}

const Returned = z.object({ status: PayoutStatus, is_noted: z.boolean() })

/**
 * Notes that a bank has returned a payout that did not move by it, once.
 * @returns its status; null for one that has come back before, by which nothing is unexpected, and `NONE` for an unknown one
 */
export async function noteUnexpectedReturn(
  tx: DatabaseTransactionConnection,
  { merchantId, id }: PayoutKey,
): Promise<string | null> {
  const known = await tx.maybeOne(sql.type(Returned)`
    select p.status, p.unexpected_return_at is not null as is_noted
    from payouts p
    where p.merchant_id = ${merchantId} and p.id = ${id}
    for update
  `)
  if (known === null) return 'NONE'
  if (known.status === 'RETURNED' || known.is_noted) return null
  await tx.query(sql.typeAlias('void')`
    update payouts set unexpected_return_at = now(), updated_at = now() where merchant_id = ${merchantId} and id = ${id}
  `)
  return known.status
}

const Position = z.object({ position: z.string() })

/** How far the returns of a bank are read; undefined before the first. */
export async function readReturnPosition(tx: CommonQueryMethods, connector: string): Promise<string | undefined> {
  const row = await tx.maybeOne(sql.type(Position)`
    select position from payout_return_positions where connector = ${connector}
  `)
  return row?.position
}

export async function saveReturnPosition(
  tx: CommonQueryMethods,
  { connector, position }: { connector: string; position: string },
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    insert into payout_return_positions (connector, position) values (${connector}, ${position})
    on conflict (connector) do update set position = excluded.position, updated_at = now()
  `)
}
