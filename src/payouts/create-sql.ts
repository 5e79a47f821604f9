import type { CommonQueryMethods, DatabaseTransactionConnection, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { PayoutRecord } from './record.ts'
import { payoutColumns } from './sql.ts'

const Payee = z.object({ merchant_id: z.string(), currency: z.string() })
/** A merchant that is paid in one currency. */
export type Payee = z.infer<typeof Payee>

/** Merchants with closed settlements that no payout pays yet, and that can be paid now. */
export function listPayees(tx: CommonQueryMethods, limit: number, after?: Payee): Promise<readonly Payee[]> {
  const isBehind =
    after === undefined
      ? sql.fragment`true`
      : sql.fragment`(merchant_id, currency) > (${after.merchant_id}::uuid, ${after.currency})`
  return tx.any(sql.type(Payee)`
    select merchant_id, currency from payout_payees
    where due_at <= now() and ${isBehind}
    order by merchant_id, currency
    limit ${limit}
  `)
}

const Lock = z.object({ locked: z.unknown() })

function lockOf(merchantId: string, currency: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`
    pg_advisory_xact_lock(hashtextextended(format('payout %s %s', ${merchantId}::uuid, ${currency}::text), 0)) as locked
  `
}

/** Serialises what creates payouts of a merchant and currency, until the transaction ends. */
export async function lockPayee(tx: DatabaseTransactionConnection, { merchant_id, currency }: Payee): Promise<void> {
  await tx.query(sql.type(Lock)`select ${lockOf(merchant_id, sql.fragment`${currency}`)}`)
}

/** The same for all currencies of a merchant. */
export async function lockPayees(tx: DatabaseTransactionConnection, merchantId: string): Promise<void> {
  await tx.query(sql.type(Lock)`
    select ${lockOf(merchantId, sql.fragment`c.currency`)}
    from (select distinct currency from ledger_balances where merchant_id = ${merchantId} order by currency) c
  `)
}

const Creation = z.object({ payable: z.string(), is_payable: z.boolean(), payout: PayoutRecord.nullable() })
export type Creation = z.infer<typeof Creation>

export type NewPayout = Payee & { id: string; connector: string; endToEndId: string; evenAfterFailure: boolean }

/**
 * Records a payout of all that is payable, less what the merchant owes in clearing (decision 274), and which
 * settlements it pays, in one statement: a settlement that closes meanwhile is in both or in neither. Without a
 * payout, `is_payable` says whether the amount is the reason.
 */
export async function insertPayout(tx: DatabaseTransactionConnection, payout: NewPayout): Promise<Creation> {
  const isDue = payout.evenAfterFailure ? sql.fragment`true` : sql.fragment`v.due_at <= now()`
  const made = await tx.one(sql.type(z.object({ payable: z.string(), is_payable: z.boolean(), is_made: z.boolean() }))`
    with owed as (
      select coalesce(sum(b.balance) filter (where b.account = 'merchant_payable'), 0.0000) as payable,
        greatest(-round(coalesce(sum(b.balance) filter (where b.account = 'clearing'), 0), 2), 0.00) as debt
      from ledger_balances b
      where b.merchant_id = ${payout.merchant_id} and b.currency = ${payout.currency}
    ),
    payable as (select payable - debt as amount, debt from owed),
    made as (
      insert into payouts (id, merchant_id, currency, amount, debt_deducted, bank_account_id, connector, end_to_end_id)
      select ${payout.id}, v.merchant_id, v.currency, payable.amount, payable.debt, v.bank_account_id,
        ${payout.connector}, ${payout.endToEndId}
      from payable
      join payout_payees v on v.merchant_id = ${payout.merchant_id} and v.currency = ${payout.currency} and ${isDue}
      where payable.amount > 0 and payable.amount = round(payable.amount, 2)
      returning id
    ),
    paid as (
      update settlements s
      set payout_id = made.id
      from made
      where s.merchant_id = ${payout.merchant_id} and s.currency = ${payout.currency} and s.payout_id is null
        and s.payable_amount > 0
    )
    select amount as payable, amount > 0 and amount = round(amount, 2) as is_payable,
      exists (select from made) as is_made
    from payable
  `)
  if (!made.is_made) return { ...made, payout: null }
  const created = await tx.one(sql.type(PayoutRecord)`
    select ${payoutColumns} from payouts p where p.merchant_id = ${payout.merchant_id} and p.id = ${payout.id}
  `)
  return { ...made, payout: created }
}
