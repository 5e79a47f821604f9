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
  const each = tables.map(
    ({ name }) => `
      select '${name}' as name, count(*) || ' ' || md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as hash
      from ${name} t`,
  )
  const { rows } = await owner.query<{ name: string; hash: string }>(each.join(' union all '))
  return Object.fromEntries(rows.map(({ name, hash }) => [name, hash]))
}
