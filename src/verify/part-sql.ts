import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

/** What is read in parts, by the key of its rows. */
const SOURCES = {
  payments: { table: ['payment_intents'], key: [['id', 'uuid']] },
  attempts: {
    table: ['webhook_attempts'],
    key: [
      ['merchant_id', 'uuid'],
      ['delivery_id', 'uuid'],
    ],
  },
  entries: { table: ['ledger_entries'], key: [['ordinal', 'int8']] },
  accounts: { table: ['accounts'], key: [['id', 'uuid']] },
  bookings: {
    table: ['transactions'],
    key: [
      ['account_id', 'uuid'],
      ['number', 'int8'],
    ],
  },
  transfers: { table: ['transfers'], key: [['id', 'uuid']] },
} as const satisfies Record<string, { table: readonly [string]; key: readonly (readonly [string, 'uuid' | 'int8'])[] }>

export type SourceName = keyof typeof SOURCES
export const SOURCE_NAMES = Object.freeze(Object.keys(SOURCES)) as readonly SourceName[]

/** Rows after a key, up to another; null is the beginning, and the end. */
export type Part = { after: readonly string[] | null; upTo: readonly string[] | null; graceMs: number }

function keyOf(source: SourceName, alias: string): FragmentSqlToken {
  const names = SOURCES[source].key.map(([name]) => sql.identifier([alias, name]))
  return sql.fragment`${sql.join(names, sql.fragment`, `)}`
}

function valueOf(source: SourceName, values: readonly string[]): FragmentSqlToken {
  const typed = SOURCES[source].key.map(([, type], index) => {
    const value = values[index] ?? null
    return type === 'uuid' ? sql.fragment`${value}::uuid` : sql.fragment`${value}::bigint`
  })
  return sql.fragment`(${sql.join(typed, sql.fragment`, `)})`
}

/** The rows of a part, under this alias. */
export function rowsOf(source: SourceName, alias: string, { after, upTo }: Omit<Part, 'graceMs'>): FragmentSqlToken {
  const name = sql.identifier([alias])
  const key = sql.fragment`(${keyOf(source, alias)})`
  const isAfter = after === null ? sql.fragment`true` : sql.fragment`${key} > ${valueOf(source, after)}`
  const isUpTo = upTo === null ? sql.fragment`true` : sql.fragment`${key} <= ${valueOf(source, upTo)}`
  return sql.fragment`
    (select * from ${sql.identifier(SOURCES[source].table)} ${name} where ${isAfter} and ${isUpTo}) ${name}
  `
}

/** The key of the last row of the part that begins after a key, or null where so many rows are not left. */
export function findEnd(
  tx: CommonQueryMethods,
  { source, after, rows }: { source: SourceName; after: readonly string[] | null; rows: number },
): Promise<readonly string[] | null> {
  const texts = SOURCES[source].key.map(([name]) => sql.fragment`${sql.identifier(['r', name])}::text`)
  return tx.maybeOneFirst(sql.type(z.object({ key: z.array(z.string()) }))`
    select array[${sql.join(texts, sql.fragment`, `)}] as key
    from ${rowsOf(source, 'r', { after, upTo: null })}
    -- Without brackets: a row as a whole has no index.
    order by ${keyOf(source, 'r')}
    offset ${rows - 1}
    limit 1
  `)
}
