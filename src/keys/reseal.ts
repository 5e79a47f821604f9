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
  /** Where to go on, if they were not. */
  next: ResealPosition | null
}

/** After a row of a column, by the number of the column; null is its beginning. */
type ResealPosition = { column: number; after: RowKey | null }

const BATCH = 200

/** Rows that a statement looks through: a column can have as many as there are payments. */
export const PART_ROWS = 20_000

/** Maximum number of batches in one run of the job, over all columns. */
const RUN_BATCHES_MAX = 50

/** Maximum number of parts that one run of the job looks through, over all columns. */
const RUN_PARTS_MAX = 50

const COLUMNS = Object.freeze(SEALED_COLUMNS.filter(({ context }) => context !== null))

/** Where the next run of the job in this process goes on. */
const nextRuns = new WeakMap<KeysApp['sealer'], ResealPosition | null>()

/**
 * The job: reseals values of previous keys with the current key. With a single key there is nothing to do. A run never
 * asks for an immediate next one: while processes switch to a new key one by one, each half reseals the values of the
 * other, and that must stay slow.
 */
export async function resealSecrets(
  app: KeysApp & Pick<App, 'log'>,
  signal: AbortSignal,
  { partsMax = RUN_PARTS_MAX, partRows }: Pick<ResealOptions, 'partsMax' | 'partRows'> = {},
): Promise<{ more: boolean }> {
  if (app.sealer.previousKids.length === 0) return { more: false }
  const onBroken = (value: string, err: unknown): void =>
    app.log.error({ err, value }, 'a sealed value cannot be opened; it stays unchanged')
  const { resealed, next } = await resealAll(app, {
    signal,
    batchesMax: RUN_BATCHES_MAX,
    partsMax,
    partRows,
    from: nextRuns.get(app.sealer),
    onBroken,
  })
  nextRuns.set(app.sealer, next)
  if (resealed > 0) app.log.info({ resealed, kid: app.sealer.kid }, 'values were resealed with the current key')
  return { more: false }
}

export type ResealOptions = {
  signal?: AbortSignal
  batchesMax?: number
  partsMax?: number
  partRows?: number | undefined
  /** Where to begin, if not with all values. */
  from?: ResealPosition | null | undefined
  /** Called after each batch with the total so far. */
  onProgress?(resealed: number): void
  /** Called for each value that can't be opened, with its column and row key. */
  onBroken?(value: string, error: unknown): void
}

/** Reseals all values of previous keys once. Several processes may do it concurrently. */
export async function resealAll(app: KeysApp, options: ResealOptions = {}): Promise<ResealResult> {
  const { from, batchesMax = Number.POSITIVE_INFINITY, partsMax = Number.POSITIVE_INFINITY } = options
  const total: ResealResult = { resealed: 0, broken: 0, finished: true, next: null }
  const budget = { batches: batchesMax, parts: partsMax }
  const onBatch = ({ resealed, broken }: Counts): void => {
    total.resealed += resealed
    total.broken += broken
    options.onProgress?.(total.resealed)
  }
  for (const [index, column] of COLUMNS.entries()) {
    if (index < (from?.column ?? 0)) continue
    const begin = index === from?.column ? from.after : null
    const stopped = await resealColumn(app, { column, after: begin }, { ...options, budget, onBatch })
    if (stopped !== null) return { ...total, finished: false, next: { column: index, after: stopped.after } }
  }
  return total
}

type Counts = Pick<ResealResult, 'resealed' | 'broken'>
type ColumnRun = Pick<ResealOptions, 'signal' | 'onBroken' | 'partRows'> & {
  budget: { batches: number; parts: number }
  onBatch(counts: Counts): void
}

/** The key after which a run has stopped; null if it reached the end. */
type Stopped = Pick<SealedPart, 'after'> | null

async function resealColumn(
  app: KeysApp,
  { column, ...begin }: Omit<SealedPart, 'upTo'>,
  run: ColumnRun,
): Promise<Stopped> {
  for (let { after } = begin; ;) {
    if (run.budget.parts === 0) return { after }
    run.budget.parts -= 1
    const upTo: RowKey | null = await findPartEnd(app.pool, { of: column, after, rows: run.partRows ?? PART_ROWS })
    const stopped = await resealPart(app, { column, after, upTo }, run)
    if (stopped !== null) return stopped
    if (upTo === null) return null
    after = upTo
  }
}

async function resealPart(app: KeysApp, { column, upTo, ...part }: SealedPart, run: ColumnRun): Promise<Stopped> {
  for (let { after } = part; ;) {
    if (run.signal?.aborted === true || run.budget.batches === 0) return { after }
    const rows: readonly SealedValue[] = await readSealed(app.pool, {
      column,
      kids: app.sealer.previousKids,
      after,
      upTo,
      limit: BATCH,
    })
    const last = rows.at(-1)
    if (last === undefined) return null
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
