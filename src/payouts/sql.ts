import type { CommonQueryMethods, DatabaseTransactionConnection, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { PayoutBlock } from '../wire/ledger.ts'
import type { PayoutStatus } from '../wire/payouts.ts'
import { PayoutEventRecord, PayoutRecord } from './record.ts'

export type PayoutKey = { merchantId: string; id: string }

export const payoutColumns = sql.fragment`
  p.id, p.merchant_id, p.currency, p.amount, p.debt_deducted, p.status, p.bank_account_id, p.connector, p.end_to_end_id, p.bank_reference,
  p.failure_code, p.attempt_count,
  case when p.status in ('CREATED', 'SENT') and p.connector <> 'file' then p.next_attempt_at end as next_attempt_at,
  nullif(p.retry_at, 'infinity') as retry_at, p.created_at, p.sent_at, p.paid_at, p.failed_at, p.returned_at
`

/** Whether a merchant `m` may be paid out now. */
export const mayBePaid = sql.fragment`(m.kyb_status = 'APPROVED' and m.is_active and not m.payout_held)`

const Blocked = z.object({ merchant_id: z.string(), currency: z.string(), blocked_by: PayoutBlock })
export type Blocked = z.infer<typeof Blocked>

/** Of some merchants the currencies in which something is payable that no payout will pay, and why. */
export function listBlocked(tx: CommonQueryMethods, merchantIds: readonly string[]): Promise<readonly Blocked[]> {
  return tx.any(sql.type(Blocked)`
    select v.merchant_id, v.currency, coalesce(v.blocked_by, 'BANK_ACCOUNT_REJECTED') as blocked_by
    from payout_prospects v
    where v.merchant_id = any(${sql.array(merchantIds, 'uuid')}) and (v.blocked_by is not null or v.due_at = 'infinity')
  `)
}

/** A payout by its id, with `merchantId` only if it is that merchant's. */
export function findPayout(
  tx: CommonQueryMethods,
  { merchantId, id }: { merchantId: string | undefined; id: string },
): Promise<PayoutRecord | null> {
  return tx.maybeOne(sql.type(PayoutRecord)`
    select ${payoutColumns} from payouts p where p.id = ${id} and ${ofMerchant(merchantId)}
  `)
}

/** A payout whose row stays locked until the transaction ends. */
export function lockPayout(tx: DatabaseTransactionConnection, id: string): Promise<PayoutRecord | null> {
  return tx.maybeOne(sql.type(PayoutRecord)`select ${payoutColumns} from payouts p where p.id = ${id} for update`)
}

/** The payouts of a merchant that neither a bank nor a file has. */
export function listUnsentPayouts(tx: CommonQueryMethods, merchantId: string): Promise<readonly PayoutRecord[]> {
  return tx.any(sql.type(PayoutRecord)`
    select ${payoutColumns} from payouts p where p.merchant_id = ${merchantId} and p.status = 'CREATED'
  `)
}

function ofMerchant(merchantId: string | undefined): FragmentSqlToken {
  return merchantId === undefined ? sql.fragment`true` : sql.fragment`p.merchant_id = ${merchantId}`
}

export type PayoutFilter = {
  /** Undefined for the payouts of all merchants. */
  merchantId: string | undefined
  status?: PayoutStatus | undefined
  currency?: string | undefined
  from?: string | undefined
  to?: string | undefined
}

/** One row more than `limit`, the newest first. */
export function listPayoutRows(
  tx: CommonQueryMethods,
  { afterId, limit, ...filter }: PayoutFilter & { afterId: string | undefined; limit: number },
): Promise<readonly PayoutRecord[]> {
  const conditions = [ofMerchant(filter.merchantId)]
  if (filter.status !== undefined) conditions.push(sql.fragment`p.status = ${filter.status}::payout_status`)
  if (filter.currency !== undefined) conditions.push(sql.fragment`p.currency = ${filter.currency}`)
  if (filter.from !== undefined) conditions.push(sql.fragment`p.created_at >= ${filter.from}::timestamptz`)
  if (filter.to !== undefined) conditions.push(sql.fragment`p.created_at < ${filter.to}::timestamptz`)
  if (afterId !== undefined)
    conditions.push(
      sql.fragment`(p.created_at, p.id) < (select a.created_at, a.id from payouts a where a.id = ${afterId})`,
    )
  return tx.any(sql.type(PayoutRecord)`
    select ${payoutColumns}
    from payouts p
    where ${sql.join(conditions, sql.fragment` and `)}
    order by p.created_at desc, p.id desc
    limit ${limit + 1}
  `)
}

/** The moves of a payout, the oldest first. */
export function listPayoutEvents(
  tx: CommonQueryMethods,
  { merchantId, id }: PayoutKey,
): Promise<readonly PayoutEventRecord[]> {
  return tx.any(sql.type(PayoutEventRecord)`
    select e.previous_status, e.new_status, e.changed_by, e.created_at
    from payout_events e
    where e.merchant_id = ${merchantId} and e.payout_id = ${id}
    order by e.ordinal
  `)
}

const Id = z.object({ id: z.string() })

/** The settlements that a payout pays, `limit` of them at most, the oldest first. */
export async function listPaidSettlementIds(
  tx: CommonQueryMethods,
  { merchantId, id, limit }: PayoutKey & { limit: number },
): Promise<string[]> {
  const rows = await tx.any(sql.type(Id)`
    select s.id from settlements s
    where s.merchant_id = ${merchantId} and s.payout_id = ${id}
    order by s.period_to
    limit ${limit}
  `)
  return rows.map((row) => row.id)
}
