import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from './sql.ts'

const LookupKey = z.object({ key: z.string() })

/** Stores the key if the database has none yet, and returns the one that it has, sealed. */
export async function insertLookupKey(tx: CommonQueryMethods, sealed: string): Promise<string> {
  // The update changes nothing; it makes the row of another process visible.
  const { key } = await tx.one(sql.type(LookupKey)`
    insert into lookup_keys as k (id, key) values ('current', ${sealed})
    on conflict (id) do update set key = k.key
    returning key
  `)
  return key
}

/** The key, sealed; null in a database that has none yet. */
export async function findLookupKey(tx: CommonQueryMethods): Promise<string | null> {
  return (await tx.maybeOne(sql.type(LookupKey)`select key from lookup_keys`))?.key ?? null
}
