import type { App } from '../app.ts'
import { SEALED_COLUMNS, nameOf } from './sealed-columns.ts'
import type { RowKey, SealedColumn } from './sealed-columns.ts'
import { readSealed, writeSealed } from './sql.ts'
import type { Resealed, SealedValue } from './sql.ts'

/** What the keys' use cases need of the app. */
export type KeysApp = Pick<App, 'pool' | 'sealer'>

export type ResealResult = {
  /** How many values now stand under the current key. */
  resealed: number
  /** How many do not open, and stay as they are. */
  broken: number
  /** Whether the last of the values was looked at. */
  finished: boolean
}

const BATCH = 200

/** What one run of the job does at most, of every column. */
const RUN_BATCHES_MAX = 50

/**
 * The job: seals anew, under the current key, what is sealed under a previous one. With one key there is nothing to look
 * at. A run does not ask for the next at once: while the processes change to a new key one after the other, each half of
 * them seals what the other half did, and that must stay a trickle.
 */
export async function resealSecrets(app: KeysApp & Pick<App, 'log'>, signal: AbortSignal): Promise<{ more: boolean }> {
  if (app.sealer.previousKids.length === 0) return { more: false }
  const onBroken = (value: string, err: unknown): void =>
    app.log.error({ err, value }, 'a sealed value does not open, and stays as it is')
  const { resealed } = await resealAll(app, { signal, batchesMax: RUN_BATCHES_MAX, onBroken })
  if (resealed > 0) app.log.info({ resealed, kid: app.sealer.kid }, 'values were sealed anew under the current key')
  return { more: false }
}

export type ResealOptions = {
  signal?: AbortSignal
  batchesMax?: number
  /** Told after each batch how many it was in all. */
  onProgress?(resealed: number): void
  /** Told of each that does not open: its column and the key of its row. */
  onBroken?(value: string, error: unknown): void
}

/** One way through all that is sealed under a previous key. Any number of processes may be on it at once. */
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
type ColumnRun = Pick<ResealOptions, 'signal' | 'onBroken'> & {
  budget: { batches: number }
  onBatch(counts: Counts): void
}

/** @returns whether it came to the end of the column */
async function resealColumn(app: KeysApp, column: SealedColumn, run: ColumnRun): Promise<boolean> {
  let after: RowKey | null = null
  for (;;) {
    if (run.signal?.aborted === true || run.budget.batches === 0) return false
    const rows: readonly SealedValue[] = await readSealed(app.pool, {
      column,
      kids: app.sealer.previousKids,
      after,
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
