import type pg from 'pg'
import type { DatabaseTransactionConnection } from 'slonik'
import { statementOf } from './statement-of.ts'

/** A plan as text, with the buffers that it read. */
export type MeasuredPlan = { text: string; buffers: number }

/** Runs a statement, or what `prepare` has made of one, and reads its plan. */
export async function measurePlan(
  client: pg.Client,
  statement: string,
  values: readonly unknown[] = [],
): Promise<MeasuredPlan> {
  const { rows } = await client.query(`explain (analyze, buffers) ${statement}`, [...values])
  const text = rows.map((row) => Object.values(row)[0]).join('\n')
  const [, hit = '0', read = '0'] = /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(text) ?? []
  return { text, buffers: Number(hit) + Number(read) }
}

/** The plan that the server keeps for the statement of a function of a SQL file, whatever the values, run with its values. */
export async function measureKeptPlan(
  client: pg.Client,
  run: (tx: DatabaseTransactionConnection) => unknown,
): Promise<MeasuredPlan> {
  const { text, values } = await statementOf(run)
  await client.query('set plan_cache_mode = force_generic_plan')
  await client.query(`prepare kept as ${text}`)
  try {
    return await measurePlan(client, `execute kept (${values.map((value) => `'${String(value)}'`).join(', ')})`)
  } finally {
    await client.query('deallocate kept')
    await client.query('reset plan_cache_mode')
  }
}
