/*
 * Preloaded into a measured program: periodically collects garbage and appends the remaining heap, in MiB, to the file
 * of BENCH_HEAP_FILE. Requires --expose-gc.
 */
import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const file = process.env['BENCH_HEAP_FILE']
const EVERY_MS = 10_000

function report() {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  const at = Math.round(performance.now())
  appendFileSync(file, `${JSON.stringify({ at, heapMib: (heapUsed + external) / 2 ** 20 })}\n`)
}

if (isMainThread && file !== undefined && globalThis.gc !== undefined) setInterval(report, EVERY_MS).unref()
