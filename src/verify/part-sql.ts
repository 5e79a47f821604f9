import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { findPartEnd, isIn } from '../db/parts-sql.ts'
import type { Parted, PartKey, KeyRange } from '../db/parts-sql.ts'
import { sql } from '../db/sql.ts'

const BY_ID: Parted['key'] = [{ name: 'id', type: 'uuid' }]

/** What is read in parts. */
const SOURCES = {
  payments: { table: ['payment_intents'], key: BY_ID },
  attempts: {
    table: ['webhook_attempts'],
    key: [
      { name: 'merchant_id', type: 'uuid' },
      { name: 'delivery_id', type: 'uuid' },
    ],
  },
  entries: { table: ['ledger_entries'], key: [{ name: 'ordinal', type: 'int8' }] },
  accounts: { table: ['accounts'], key: BY_ID },
  bookings: {
    table: ['transactions'],
    key: [
      { name: 'account_id', type: 'uuid' },
      { name: 'number', type: 'int8' },
    ],
  },
  transfers: { table: ['transfers'], key: BY_ID },
} as const satisfies Record<string, Parted>

export type SourceName = keyof typeof SOURCES
export const SOURCE_NAMES = Object.freeze(Object.keys(SOURCES)) as readonly SourceName[]

export type Part = KeyRange & { graceMs: number }

/** The rows of a part, under this alias. */
export function rowsOf(source: SourceName, alias: string, part: KeyRange): FragmentSqlToken {
  const { table } = SOURCES[source]
  return sql.fragment`
    (select * from ${sql.identifier(table)} where ${isIn(SOURCES[source], part)}) ${sql.identifier([alias])}
  `
}

/** The key of the last row of the part that begins after a key, or null where so many rows are not left. */
export function findEnd(
  tx: CommonQueryMethods,
  { source, ...rest }: { source: SourceName; after: PartKey | null; rows: number },
): Promise<PartKey | null> {
  return findPartEnd(tx, { of: SOURCES[source], ...rest })
}
