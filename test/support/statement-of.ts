import type { DatabaseTransactionConnection } from 'slonik'

/** The text and values of the statement that a function of a SQL file runs, for `explain`. Nothing is executed. */
export async function statementOf(
  run: (tx: DatabaseTransactionConnection) => unknown,
): Promise<{ text: string; values: readonly unknown[] }> {
  let query: { sql: string; values: readonly unknown[] } | undefined
  const capture = (statement: typeof query): Promise<null> => {
    query = statement
    return Promise.resolve(null)
  }
  await run({ any: capture, maybeOne: capture, one: capture } as never)
  if (query === undefined) throw new Error('no statement was run')
  // Slonik's placeholders have a prefix that PostgreSQL does not understand.
  return { text: query.sql.replaceAll(/\$slonik_(\d+)/g, '$$$1'), values: query.values }
}
