import type pg from 'pg'

/** One query over all tables for a connection's database, by its name: planning it anew costs more than running it. */
const statements = new WeakMap<pg.Client, Map<string, string>>()

async function perTable(
  owner: pg.Client,
  name: string,
  schemas: string,
  columns: string,
): Promise<Record<string, string>> {
  const known = statements.get(owner) ?? new Map<string, string>()
  statements.set(owner, known)
  const text = known.get(name) ?? (await unionOfTables(owner, schemas, columns))
  known.set(name, text)
  // What the worker moves within the ledger by itself, a few seconds after a payment, is no change of a request's.
  await owner.query('select from ledger_unfolded for update')
  await owner.query('select fold_ledger(1000000)')
  const { rows } = await owner.query<{ name: string; value: string }>({ name, text })
  return Object.fromEntries(rows.map((row) => [row.name, row.value]))
}

async function unionOfTables(owner: pg.Client, schemas: string, columns: string): Promise<string> {
  const { rows: tables } = await owner.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where ${schemas} order by 1`,
  )
  return tables.map(({ name }) => `select '${name}' as name, ${columns} as value from ${name} t`).join(' union all ')
}

/** The number of rows of each table, which a rejected request must not change. */
export function countRows(owner: pg.Client): Promise<Record<string, string>> {
  return perTable(owner, 'count-rows', "schemaname in ('public', 'mock_bank')", 'count(*)::text')
}

/** The number of rows of each table with a hash of their content: what a request that changes nothing leaves as it was. */
export function hashTables(owner: pg.Client): Promise<Record<string, string>> {
  const columns = "count(*) || ' ' || coalesce(sum(hashtextextended(t::text, 0)), 0)"
  return perTable(owner, 'hash-tables', "schemaname not in ('pg_catalog', 'information_schema')", columns)
}
