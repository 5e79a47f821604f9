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
