import type pg from 'pg'

/** The number of rows of each table, which a rejected request must not change. */
export async function countRows(owner: pg.Client): Promise<Record<string, string>> {
  const { rows } = await owner.query<{ name: string; rows: string }>(`
    select format('%I.%I', schemaname, tablename) as name,
      (xpath('/row/c/text()', query_to_xml(format('select count(*) as c from %I.%I', schemaname, tablename), false, true, '')))[1]::text as rows
    from pg_tables
    where schemaname in ('public', 'mock_bank')
    order by 1
  `)
  return Object.fromEntries(rows.map(({ name, rows: count }) => [name, count]))
}

/** The number of rows of each table with a hash of their content: what a request that changes nothing leaves as it was. */
export async function hashTables(owner: pg.Client): Promise<Record<string, string>> {
  const { rows: tables } = await owner.query<{ name: string }>(`
    select format('%I.%I', schemaname, tablename) as name
    from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')
    order by 1
  `)
  const hashes: Record<string, string> = {}
  for (const { name } of tables) {
    const { rows } = await owner.query<{ hash: string }>(`
      select count(*) || ' ' || md5(coalesce(string_agg(md5(t::text), '' order by md5(t::text)), '')) as hash from ${name} t
    `)
    hashes[name] = rows[0]?.hash ?? ''
  }
  return hashes
}
