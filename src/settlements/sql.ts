import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { DuePeriod, OpenPeriod, SettlementLineRecord, SettlementRecord } from './record.ts'

const isPaidOut = sql.fragment`exists (
  select from payouts p where p.merchant_id = s.merchant_id and p.id = s.payout_id and p.status = 'PAID'
)`

/** Of a settlement `s`. */
export const settlementColumns = sql.fragment`
  s.id as settlement_id, s.merchant_id, s.currency, case when ${isPaidOut} then 'PAID_OUT' else 'CLOSED' end as status,
  s.kind, s.period_from, s.period_to, s.opening_balance, s.gross_amount,
  s.fee_amount, s.refunded_amount, s.corrected_amount, s.deducted_amount, s.rounding_amount, s.net_amount, s.payable_amount, s.line_count,
  s.payout_id, s.bank_account_id, s.closed_at
`

export type ClosedPeriod = { id: string; period: OpenPeriod; byHand: boolean; linesAtOnce?: number | undefined }

/** Periods that have ended, the longest ago first, from the one behind `after`. */
export function listDuePeriods(
  tx: CommonQueryMethods,
  limit: number,
  after: DuePeriod = { due_at: '-infinity', merchant_id: '00000000-0000-0000-0000-000000000000', currency: '' },
): Promise<readonly DuePeriod[]> {
  return tx.any(sql.type(DuePeriod)`
    select merchant_id, currency, due_at::text
    from open_settlements s
    where due_at <= now()
      and (due_at, merchant_id, currency) > (${after.due_at}::timestamptz, ${after.merchant_id}::uuid, ${after.currency})
    order by s.due_at, merchant_id, currency
    limit ${limit}
  `)
}

/** The open periods of a merchant that have lines. */
export function listOpenPeriods(tx: CommonQueryMethods, merchantId: string): Promise<readonly OpenPeriod[]> {
  return tx.any(sql.type(OpenPeriod)`
    select merchant_id, currency from open_settlements where merchant_id = ${merchantId} order by currency
  `)
}

/** Lines of one statement: a fraction of the longest time that a statement has. */
const LINES_AT_ONCE = 10_000

const Closing = z.object({ is_closed: z.boolean(), more_from: z.string().nullable() })

/** Closes a period: after its end, or by hand now. @returns false where there is nothing to close @throws where it ends later by now */
export async function closePeriod(
  tx: DatabaseTransactionConnection,
  { id, period, byHand, linesAtOnce = LINES_AT_ONCE }: ClosedPeriod,
): Promise<boolean> {
  const { merchant_id: merchantId, currency } = period
  for (let from = '-infinity'; ;) {
    const { is_closed: isClosed, more_from: moreFrom } = await tx.one(sql.type(Closing)`
      select is_closed, more_from::text as more_from
      from close_settlement(${id}, ${merchantId}, ${currency}, ${byHand}, ${linesAtOnce}, ${from}::timestamptz)
    `)
    if (moreFrom === null) {
      // Lines of the calls before would name a settlement that is none: all is rolled back, and tried again.
      if (!isClosed && from !== '-infinity')
        throw new Error('the schedule of the merchant was changed while its settlement was closed')
      return isClosed
    }
    from = moreFrom
  }
}

export type SettlementPage = {
  /** Undefined for operators: of all merchants. */
  merchantId: string | undefined
  currency?: string | undefined
  status?: 'CLOSED' | 'PAID_OUT' | undefined
  /** Days in London, both inclusive. */
  from?: string | undefined
  to?: string | undefined
  afterId: string | undefined
  limit: number
}

/** A page of settlements, the last period first, with one row more than `limit` where there are more. */
export function listSettlementRows(tx: CommonQueryMethods, page: SettlementPage): Promise<readonly SettlementRecord[]> {
  const { merchantId, currency, status, from, to, afterId, limit } = page
  const conditions = [sql.fragment`true`]
  if (merchantId !== undefined) conditions.push(sql.fragment`s.merchant_id = ${merchantId}`)
  if (currency !== undefined) conditions.push(sql.fragment`s.currency = ${currency}`)
  if (status !== undefined) conditions.push(sql.fragment`${isPaidOut} = ${status === 'PAID_OUT'}`)
  if (from !== undefined) conditions.push(sql.fragment`s.period_to >= ${from}::timestamp at time zone 'Europe/London'`)
  if (to !== undefined)
    conditions.push(sql.fragment`s.period_to < (${to}::timestamp + interval '1 day') at time zone 'Europe/London'`)
  if (afterId !== undefined) {
    const own = merchantId === undefined ? sql.fragment`true` : sql.fragment`merchant_id = ${merchantId}`
    conditions.push(
      sql.fragment`(s.period_to, s.id) < (select period_to, id from settlements where id = ${afterId} and ${own})`,
    )
  }
  return tx.any(sql.type(SettlementRecord)`
    select ${settlementColumns}
    from settlements s
    where ${sql.join(conditions, sql.fragment` and `)}
    order by s.period_to desc, s.id desc
    limit ${limit + 1}
  `)
}

/** `merchantId` is undefined for operators. */
export type SettlementKey = { merchantId: string | undefined; id: string }

export function findSettlement(
  tx: CommonQueryMethods,
  { merchantId, id }: SettlementKey,
): Promise<SettlementRecord | null> {
  const own = merchantId === undefined ? sql.fragment`true` : sql.fragment`s.merchant_id = ${merchantId}`
  return tx.maybeOne(sql.type(SettlementRecord)`
    select ${settlementColumns} from settlements s where s.id = ${id} and ${own}
  `)
}

/** A page of lines in the order of the ledger, with one row more than `limit` where there are more. */
export function listLineRows(
  tx: CommonQueryMethods,
  { merchantId, id, after, limit }: { merchantId: string; id: string; after: string | undefined; limit: number },
): Promise<readonly SettlementLineRecord[]> {
  return tx.any(sql.type(SettlementLineRecord)`
    select l.ordinal::text as id, case l.movement
        when 'payment_settled' then 'PAYMENT'
        when 'fee_taken' then 'FEE'
        when 'payment_refunded' then 'REFUND'
        when 'dispute_refunded' then 'DISPUTE_REFUND'
        when 'correction' then 'CORRECTION'
        when 'debt_deducted' then 'DEBT'
        when 'debt_restored' then 'DEBT'
        else 'ROUNDING'
      end as kind, p.id as payment_id, r.id as refund_id, p.end_to_end_id,
      coalesce(p.remittance_reference, c.remittance_reference, k.reference) as remittance_reference, l.amount, l.currency, l.occurred_at
    from (
      select * from settlement_lines
      where merchant_id = ${merchantId} and settlement_id = ${id} and ordinal > ${after ?? '0'}::bigint
      order by ordinal
      limit ${limit + 1}
    ) l
    -- Lateral, because each must be looked up by its key: a join reads all payments for a page.
    left join lateral (
      select r.id, r.payment_intent_id from payment_refunds r
      where r.merchant_id = l.merchant_id and r.id = l.subject_id
      limit 1
    ) r on true
    -- Before it is compared: in the role of a merchant no index serves an expression.
    cross join lateral (select coalesce(r.payment_intent_id, l.subject_id) as id offset 0) paid
    left join lateral (
      select p.id, p.consent_id, p.end_to_end_id, p.remittance_reference from payment_intents p
      where p.merchant_id = l.merchant_id and p.id = paid.id
      limit 1
    ) p on true
    left join lateral (
      select c.remittance_reference from payment_consents c
      where c.merchant_id = l.merchant_id and c.id = p.consent_id
      limit 1
    ) c on true
    left join corrections k on k.merchant_id = l.merchant_id and k.id = l.subject_id
    order by l.ordinal
  `)
}

export async function updateSchedule(
  tx: CommonQueryMethods,
  { id, schedule }: { id: string; schedule: string },
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update merchants set settlement_schedule = ${schedule}, updated_at = now() where id = ${id}
  `)
}
