import type { Client } from 'pg'
import { printTable } from '../support/report.ts'

type Table = { name: string; column: string | null }

/** The ways that are tried; a table without a merchant can only be copied. */
const WAYS = [
  { title: 'Distributed by merchant, settings as they come', triggers: false, isCopy: false },
  { title: 'Distributed by merchant, triggers allowed', triggers: true, isCopy: false },
  { title: 'Copied to every node, triggers allowed', triggers: true, isCopy: true },
]

/** Prints what Citus says to each table of the migrations, each for itself; tables with the same answer share a row. */
export async function printOutcomes(owner: Client): Promise<void> {
  const tables = await tablesInOrder(owner)
  for (const { title, triggers, isCopy } of WAYS) {
    const answers = new Map<string, string[]>()
    for (const { name, column } of tables) {
      const distribute = `select create_distributed_table('${name}', '${column}')`
      if (!isCopy && column === null) continue
      const said = await tried(owner, isCopy ? `select create_reference_table('${name}')` : distribute, { triggers })
      const answer = said.replace(`"${name.split('.').at(-1)}"`, 'it')
      answers.set(answer, [...(answers.get(answer) ?? []), name])
    }
    printTable(title, [['answer', 'tables'], ...[...answers].map(([answer, names]) => [answer, names.join(', ')])])
  }
}

/** What the server says to a statement, in a transaction that is rolled back. */
async function tried(owner: Client, statement: string, { triggers }: { triggers: boolean }): Promise<string> {
  await owner.query('begin')
  try {
    if (triggers) await owner.query('set local citus.enable_unsafe_triggers = on')
    await owner.query(statement)
    return 'yes'
  } catch (error) {
    return reasonOf(error)
  } finally {
    await owner.query('rollback')
  }
}

/** The server's own words. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const detail = 'detail' in error && typeof error.detail === 'string' ? ` (${error.detail})` : ''
  return `${error.message}${detail}`.replaceAll('\n', ' ').replaceAll('|', '/')
}

/** All tables, each after those that its foreign keys name; in a circle of keys by their names. */
async function tablesInOrder(owner: Client): Promise<Table[]> {
  const { rows: tables } = await owner.query<Table>(`
    select c.oid::regclass::text as name, case
      when c.oid = 'merchants'::regclass then 'id'
      when exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'merchant_id') then 'merchant_id'
    end as column
    from pg_class c
    where c.relkind = 'r' and c.relnamespace::regnamespace::text in ('public', 'obie', 'idp', 'mock_bank')
    order by 1`)
  const { rows: keys } = await owner.query<{ of: string; names: string }>(`
    select conrelid::regclass::text as of, confrelid::regclass::text as names from pg_constraint where contype = 'f'`)
  const ordered: Table[] = []
  while (ordered.length < tables.length) {
    const left = tables.filter((table) => !ordered.includes(table))
    const isAfter = ({ name }: Table) =>
      keys.every(({ of, names }) => of !== name || names === name || ordered.some((table) => table.name === names))
    const [next] = [...left.filter(isAfter), ...left]
    if (next !== undefined) ordered.push(next)
  }
  return ordered
}
