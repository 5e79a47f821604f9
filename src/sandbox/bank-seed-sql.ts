import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { TransferOutcome } from '../accounts/transfer-sql.ts'
import { sql } from '../db/sql.ts'
import type { SeedTransfer } from './bank-seed/history.ts'

/** Tries to lock the seeding of the bank until this transaction ends; never waits. */
export async function lockSeeding(tx: CommonQueryMethods): Promise<boolean> {
  const row = await tx.one(sql.type(z.object({ locked: z.boolean() }))`
    select pg_try_advisory_xact_lock(hashtextextended('sandbox seed', 0)) as locked
  `)
  return row.locked
}

/** The ids among these that exist. */
export async function findCustomerIds(tx: CommonQueryMethods, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await tx.any(sql.typeAlias('id')`
    select id from customers where id = any (${sql.array([...ids], 'uuid')})
  `)
  return new Set(rows.map(({ id }) => id))
}

const Counted = z.object({ outcome: TransferOutcome, count: z.int() })

/** Books transfers in GBP at their given times and in the given order, and counts them by outcome. */
export function bookTransfers(
  tx: CommonQueryMethods,
  transfers: readonly SeedTransfer[],
): Promise<readonly z.infer<typeof Counted>[]> {
  const items = transfers.map((transfer) => ({
    id: transfer.id,
    debtor: transfer.debtorAccountId,
    creditor: transfer.creditorAccountId,
    amount: transfer.amount.toString(),
    debtor_name: transfer.debtorName,
    creditor_name: transfer.creditorName,
    reference: transfer.reference,
    moment: new Date(transfer.at).toISOString(),
  }))
  return tx.any(sql.type(Counted)`
    select booked.outcome, count(*)::int as count
    from (
      select book_transfer(
        i.id, i.debtor, i.creditor, i.amount, 'GBP', i.debtor_name, i.creditor_name, i.reference, i.moment
      ) as outcome
      from (
        select *
        from rows from (
          json_to_recordset(${JSON.stringify(items)}::json) as (
            id uuid, debtor uuid, creditor uuid, amount bigint, debtor_name text, creditor_name text, reference text,
            moment timestamptz
          )
        ) with ordinality as r (id, debtor, creditor, amount, debtor_name, creditor_name, reference, moment, place)
        order by place
      ) i
      offset 0
    ) booked
    group by booked.outcome
  `)
}
