import type { CommonQueryMethods } from 'slonik'
import { findPartEnd, isIn } from '../db/parts-sql.ts'
import type { KeyRange, Parted, PartKey } from '../db/parts-sql.ts'
import { sql } from '../db/sql.ts'
import { EntrySum } from './scope-sql.ts'
import type { Scope } from './scope-sql.ts'

type Of = Pick<Scope, 'merchantId'>

/**
 * Cut by the subject, which has a few movements. The key of the index ends with the movement, by which PostgreSQL looks
 * up no row in the role of a merchant: it does not trust the comparison of an enum with rows of others.
 */
function entriesOf({ merchantId }: Of): Parted {
  const subject = { name: 'subject_id', type: 'uuid' } as const
  return merchantId === undefined
    ? { table: ['ledger_entries'], key: [{ name: 'merchant_id', type: 'uuid' }, subject] }
    : { table: ['ledger_entries'], key: [subject], where: sql.fragment`merchant_id = ${merchantId}` }
}

/** The key of the last entry of the part that begins after a key, or null where so many entries are not left. */
export function findEntriesEnd(
  tx: CommonQueryMethods,
  { merchantId, ...rest }: Of & { after: PartKey | null; rows: number },
): Promise<PartKey | null> {
  return findPartEnd(tx, { of: entriesOf({ merchantId }), ...rest })
}

/** By both accounts, so that each entry is added once: the view ledger_recount adds it seven times. */
export function sumEntries(
  tx: CommonQueryMethods,
  { merchantId, ...part }: Of & KeyRange,
): Promise<readonly EntrySum[]> {
  return tx.any(sql.type(EntrySum)`
    select merchant_id, currency, debit, credit, sum(amount)::text as amount
    from ledger_entries
    where ${isIn(entriesOf({ merchantId }), part)}
    group by merchant_id, currency, debit, credit
  `)
}
