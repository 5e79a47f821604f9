import type pg from 'pg'

/** Every row of every table as text: everything that a dump of the database contains. */
export async function dumpDatabase(owner: pg.Client): Promise<string> {
  const { rows: tables } = await owner.query<{ name: string }>(`
    select format('%I.%I', schemaname, tablename) as name
    from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')
  `)
  const parts: string[] = []
  for (const { name } of tables) {
    const { rows } = await owner.query<{ text: string }>(`select t::text as text from ${name} t`)
    parts.push(name, ...rows.map(({ text }) => text))
  }
  return parts.join('\n')
}
