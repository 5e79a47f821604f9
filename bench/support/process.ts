import { readFile } from 'node:fs/promises'
import { z } from 'zod'

/** The memory and processor time of a process. */
export type Usage = {
  /** Resident memory in MiB. */
  rssMib: number
  /** Milliseconds of processor time so far. */
  cpuMs: number
}

/** One clock tick of /proc, in milliseconds. */
const TICK_MS = 10

/** Reads the usage of a process from Linux. */
export async function usageOf(pid: number): Promise<Usage> {
  const [status, stat] = await Promise.all([
    readFile(`/proc/${pid}/status`, 'utf8'),
    readFile(`/proc/${pid}/stat`, 'utf8'),
  ])
  const rssKib = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1])
  // The fields after the command's name in brackets; the times of user and system are the twelfth and thirteenth.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { rssMib: rssKib / 1024, cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS }
}

const Heap = z.object({ at: z.number(), heapMib: z.number() })
export type Heap = z.infer<typeof Heap>

/** The heap of a process after garbage collection over time, as written by heap-report.js. */
export async function heapOf(file: string): Promise<Heap[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Heap.parse(JSON.parse(line)))
}

/** How fast values grow: the slope of the straight line through them, per unit of `at`. */
export function slopeOf(points: readonly { at: number; value: number }[]): number {
  const mean = (of: readonly number[]): number => of.reduce((sum, each) => sum + each, 0) / of.length
  const [atMean, valueMean] = [mean(points.map(({ at }) => at)), mean(points.map(({ value }) => value))]
  const over = points.reduce((sum, { at, value }) => sum + (at - atMean) * (value - valueMean), 0)
  const under = points.reduce((sum, { at }) => sum + (at - atMean) ** 2, 0)
  return over / under
}
