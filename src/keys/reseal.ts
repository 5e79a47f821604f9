import type { App } from '../app.ts'
import { findPartEnd } from '../db/parts-sql.ts'
import { SEALED_COLUMNS, nameOf } from './sealed-columns.ts'
import type { RowKey, SealedColumn } from './sealed-columns.ts'
import { readSealed, writeSealed } from './sql.ts'
import type { Resealed, SealedPart, SealedValue } from './sql.ts'

/** The parts of the app that the use cases of keys need. */
export type KeysApp = Pick<App, 'pool' | 'sealer'>

export type ResealResult = {
  /** Number of values resealed with the current key. */
  resealed: number
  /** Number of values that can't be opened; they stay unchanged. */
  broken: number
  /** Whether all values were processed. */
  finished: boolean
}

const BATCH = 200

/** Rows that a statement looks through: a column can have as many as there are payments. */
export const PART_ROWS = 20_000

/** Maximum number of batches in one run of the job, over all columns. */
const RUN_BATCHES_MAX = 50

/**
 * The job: reseals values of previous keys with the current key. With a single key there is nothing to do. A run never
 * asks for an immediate next one: while processes switch to a new key one by one, each half reseals the values of the
 * other, and that must stay slow.
 */
export async function resealSecrets(app: KeysApp & Pick<App, 'log'>, signal: AbortSignal): Promise<{ more: boolean }> {
  if (app.sealer.previousKids.length === 0) return { more: false }
  const onBroken = (value: string, err: unknown): void =>
    app.log.error({ err, value }, 'a sealed value cannot be opened; it stays unchanged')
  const { resealed } = await resealAll(app, { signal, batchesMax: RUN_BATCHES_MAX, onBroken })
  if (resealed > 0) app.log.info({ resealed, kid: app.sealer.kid }, 'values were resealed with the current key')
  return { more: false }
}

export type ResealOptions = {
  signal?: AbortSignal
  batchesMax?: number
  partRows?: number
  /** Called after each batch with the total so far. */
  onProgress?(resealed: number): void
  /** Called for each value that can't be opened, with its column and row key. */
  onBroken?(value: string, error: unknown): void
}

/** Reseals all values of previous keys once. Several processes may do it concurrently. */
export async function resealAll(app: KeysApp, options: ResealOptions = {}): Promise<ResealResult> {
  const total: ResealResult = { resealed: 0, broken: 0, finished: true }
  const budget = { batches: options.batchesMax ?? Number.POSITIVE_INFINITY }
  for (const column of SEALED_COLUMNS.filter(({ context }) => context !== null)) {
    const onBatch = ({ resealed, broken }: Counts): void => {
      total.resealed += resealed
      total.broken += broken
      options.onProgress?.(total.resealed)
    }
    total.finished &&= await resealColumn(app, column, { ...options, budget, onBatch })
  }
  return total
}

type Counts = Pick<ResealResult, 'resealed' | 'broken'>
type ColumnRun = Pick<ResealOptions, 'signal' | 'onBroken' | 'partRows'> & {
  budget: { batches: number }
  onBatch(counts: Counts): void
}

/** @returns whether the end of the column was reached */
async function resealColumn(app: KeysApp, column: SealedColumn, run: ColumnRun): Promise<boolean> {
  for (let after: RowKey | null = null; ;) {
    const upTo: RowKey | null = await findPartEnd(app.pool, { of: column, after, rows: run.partRows ?? PART_ROWS })
    if (!(await resealPart(app, { column, after, upTo }, run))) return false
    if (upTo === null) return true
    after = upTo
  }
}

/** @returns whether the end of the part was reached */
async function resealPart(app: KeysApp, { column, upTo, ...part }: SealedPart, run: ColumnRun): Promise<boolean> {
  for (let { after } = part; ;) {
    if (run.signal?.aborted === true || run.budget.batches === 0) return false
    const rows: readonly SealedValue[] = await readSealed(app.pool, {
      column,
      kids: app.sealer.previousKids,
      after,
      upTo,
      limit: BATCH,
    })
    const last = rows.at(-1)
    if (last === undefined) return true
    run.budget.batches -= 1
    const values = rows
      .map((row) => resealed(app, { column, row, onBroken: run.onBroken }))
      .filter((value) => value !== undefined)
    const count = await writeSealed(app.pool, column, values)
    run.onBatch({ resealed: count, broken: rows.length - values.length })
    after = last.key
  }
}

type ResealTask = { column: SealedColumn; row: SealedValue; onBroken: ResealOptions['onBroken'] }

function resealed({ sealer }: KeysApp, { column, row, onBroken }: ResealTask): Resealed | undefined {
  const { key, merchant_id, sealed } = row
  const context = column.context?.(key, merchant_id)
  if (context === undefined) return undefined
  try {
    return { key, before: sealed, after: sealer.seal(sealer.open(sealed, context), context) }
  } catch (error) {
    onBroken?.(`${nameOf(column)} ${key.join(' ')}`, error)
    return undefined
  }
}
