import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { EntrySum, Scope } from './scope-sql.ts'

/** The key of an entry, by which a merchant's are in one order. */
const EntryKey = z.object({ merchant_id: z.string(), subject_id: z.string(), movement: z.string() })
export type EntryKey = z.infer<typeof EntryKey>

/** The merchant's entries after one, up to another; null is the beginning, and the end. */
export type EntryPart = Pick<Scope, 'merchantId'> & { after: EntryKey | null; upTo: EntryKey | null }

function isIn({ merchantId, after, upTo }: EntryPart): FragmentSqlToken {
  const own = merchantId === undefined ? sql.fragment`true` : sql.fragment`e.merchant_id = ${merchantId}`
  const isAfter =
    after === null ? sql.fragment`true` : sql.fragment`${keyOf(merchantId)} > ${valueOf(merchantId, after)}`
  const isUpTo = upTo === null ? sql.fragment`true` : sql.fragment`${keyOf(merchantId)} <= ${valueOf(merchantId, upTo)}`
  return sql.fragment`${own} and ${isAfter} and ${isUpTo}`
}

/** Without the merchant where it is known: PostgreSQL estimates a part by the first column alone. */
function keyOf(merchantId: string | undefined): FragmentSqlToken {
  return merchantId === undefined
    ? sql.fragment`(e.merchant_id, e.subject_id, e.movement)`
    : sql.fragment`(e.subject_id, e.movement)`
}

function valueOf(merchantId: string | undefined, { merchant_id, subject_id, movement }: EntryKey): FragmentSqlToken {
  return merchantId === undefined
    ? sql.fragment`(${merchant_id}::uuid, ${subject_id}::uuid, ${movement}::ledger_movement)`
    : sql.fragment`(${subject_id}::uuid, ${movement}::ledger_movement)`
}

/** The key of the last entry of the part that begins after a key, or null where so many entries are not left. */
export function findEntriesEnd(
  tx: CommonQueryMethods,
  { rows, ...part }: Omit<EntryPart, 'upTo'> & { rows: number },
): Promise<EntryKey | null> {
  return tx.maybeOne(sql.type(EntryKey)`
    select e.merchant_id, e.subject_id, e.movement
    from ledger_entries e
    where ${isIn({ ...part, upTo: null })}
    order by e.merchant_id, e.subject_id, e.movement
    offset ${rows - 1}
    limit 1
  `)
}

const Sum = z.object({
  merchant_id: z.string(),
  currency: z.string(),
  debit: z.string(),
  credit: z.string(),
  amount: z.string(),
}) satisfies z.ZodType<EntrySum>

/** By both accounts, so that each entry is added once: the view ledger_recount adds it seven times. */
export function sumEntries(tx: CommonQueryMethods, part: EntryPart): Promise<readonly EntrySum[]> {
  return tx.any(sql.type(Sum)`
    select e.merchant_id, e.currency, e.debit, e.credit, sum(e.amount)::text as amount
    from ledger_entries e
    where ${isIn(part)}
    group by e.merchant_id, e.currency, e.debit, e.credit
  `)
}
