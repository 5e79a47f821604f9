import type { DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { Invariant } from './invariant.ts'
import { MONEY_INVARIANTS } from './money-invariants-sql.ts'
import type { Part } from './part-sql.ts'
import { PAYMENT_INVARIANTS } from './payment-invariants-sql.ts'
import { WEBHOOK_INVARIANTS } from './webhook-invariants-sql.ts'

/** Every invariant, by the name under which a violation is reported. */
export const INVARIANTS = Object.freeze({
  ...PAYMENT_INVARIANTS,
  ...WEBHOOK_INVARIANTS,
  ...MONEY_INVARIANTS,
}) satisfies Record<string, Invariant>
export type InvariantName = keyof typeof INVARIANTS
export const INVARIANT_NAMES = Object.freeze(Object.keys(INVARIANTS)) as readonly InvariantName[]

const Breach = z.object({ subject: z.string(), count: z.int() })

/** The rows of a part that break an invariant, the lowest first, and how many there are. */
export async function findBreaches(
  tx: DatabaseTransactionConnection,
  { name, part, limit }: { name: InvariantName; part: Part; limit: number },
): Promise<{ count: number; subjects: string[] }> {
  const rows = await tx.any(sql.type(Breach)`
    select b.subject, count(*) over ()::int4 as count from (${INVARIANTS[name].query(part)}) b order by b.subject limit ${limit}
  `)
  return { count: rows[0]?.count ?? 0, subjects: rows.map(({ subject }) => subject) }
}
