import type { DatabaseTransactionConnection } from 'slonik'

const CAPTURED = new Error('the statement is known; its rows are not')

/** The text and values of the first statement that a function of a SQL file runs, for `explain`. Nothing is executed. */
export async function statementOf(
  run: (tx: DatabaseTransactionConnection) => unknown,
): Promise<{ text: string; values: readonly unknown[] }> {
  let query: { sql: string; values: readonly unknown[] } | undefined
  const capture = (statement: typeof query): Promise<never> => {
    query = statement
    return Promise.reject(CAPTURED)
  }
  try {
    const tx = {
      any: capture,
      maybeOne: capture,
      maybeOneFirst: capture,
      one: capture,
      oneFirst: capture,
      query: capture,
    }
    await run(tx as never)
  } catch (error) {
    if (error !== CAPTURED) throw error
  }
  if (query === undefined) throw new Error('no statement was run')
  // Slonik's placeholders have a prefix that PostgreSQL does not understand.
  return { text: query.sql.replaceAll(/\$slonik_(\d+)/g, '$$$1'), values: query.values }
}
