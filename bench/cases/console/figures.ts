import { percentile } from '../../support/numbers.ts'
import { printTable } from '../../support/report.ts'
import type { Heap } from '../../support/process.ts'
import type { MemorySample } from './memory.ts'
import type { KeyTimings } from './press-keys.ts'

const SAMPLE_EVERY_MS = 10_000

/** The figures of one run; `cpu` in percent of one processor. */
export type Figures = {
  created: number
  events: number
  gaps: number
  bytes: number
  pressed: KeyTimings
  watched: readonly MemorySample[]
  heap: readonly Heap[]
  busy: number
  cpu: number
}

export function printFigures({ created, events, gaps, bytes, pressed, watched, heap, busy, cpu }: Figures): void {
  const { waits, echoes, ages, stale } = pressed
  const ms = (values: readonly number[]): string =>
    [percentile(values, 0.5), percentile(values, 0.95), Math.max(...values)].map((each) => each.toFixed(0)).join(' / ')
  printTable('The console under load', [
    ['', ''],
    ['payments created per second, over HTTP', created.toFixed(0)],
    ['responses that the service was too busy', String(busy)],
    ['events of the stream; twice', `${events}; ${gaps}`],
    ['bytes of the stream per event', (bytes / events).toFixed(0)],
    [`from key to frame, ms, p50 / p95 / max, of ${waits.length}`, ms(waits.map((wait) => wait.ms))],
    ...[...Map.groupBy(waits, ({ key }) => key)].map(([key, ofKey]) => [
      `  the key ${key}`,
      ms(ofKey.map((wait) => wait.ms)),
    ]),
    ['from a line to its echo by a program that does nothing else, ms', ms(echoes)],
    ['age of the newest payment shown, ms, p50 / p95 / max', ms(ages)],
    ['frames that were stale or showed an error', String(stale)],
    ['processor of the console, % of one', cpu.toFixed(0)],
  ])
  const kept = watched.filter(
    ({ at }, n) => n === 0 || n === watched.length - 1 || Math.round(at / 1000) % (SAMPLE_EVERY_MS / 1000) === 0,
  )
  printTable('Memory, MiB', [
    ['after', 'console', 'service'],
    ...kept.map(({ at, console, service }) => [
      `${(at / 1000).toFixed(0)} s`,
      console.rssMib.toFixed(0),
      service.rssMib.toFixed(0),
    ]),
  ])
  printTable('Heap of the console after garbage collection, MiB', [
    ['after', 'heap'],
    ...heap.map(({ at, heapMib }) => [`${(at / 1000).toFixed(0)} s`, heapMib.toFixed(1)]),
  ])
}
