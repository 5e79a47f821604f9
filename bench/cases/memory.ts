import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startService } from '../support/context.ts'
import type { BenchOptions } from '../support/context.ts'
import { insertMerchant, insertPayments } from '../support/database.ts'
import type { BenchMerchant } from '../support/database.ts'
import { requestText, runLoad } from '../support/load.ts'
import { median } from '../support/numbers.ts'
import { heapOf, usageOf } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { printTable } from '../support/report.ts'
import type { RatioTarget } from '../support/report.ts'

const CONNECTIONS = 16
const MERCHANTS = 20
/** Reads are of these payments; the merchants' new ones are not remembered here. */
const READ_OF_EACH = 100
const EVERY_MS = 5_000
const BODY = JSON.stringify({ amount: '50.00', currency: 'GBP', redirect_uri: 'https://shop.example/return' })

type Memory = { at: number; mib: number }

/**
 * The memory of the API and of the worker, with all its jobs, under the most load that the machine gives: creations, as
 * many reads, and the webhooks of both.
 */
export async function benchMemory(bench: BenchOptions): Promise<RatioTarget[]> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-memory-'))
  const receiver = await startReceiver()
  const database = await bench.server.database('bench_memory')
  const merchants: (BenchMerchant & { paymentIds: string[] })[] = []
  for (let n = 0; n < MERCHANTS; n += 1) {
    const url = `${receiver.url}/merchant-${n}`
    const merchant = await insertMerchant(database, `bench-memory-${n}`, url)
    merchants.push({ ...merchant, paymentIds: await insertPayments(database, merchant, READ_OF_EACH) })
  }
  const heapFiles = { API: join(folder, 'api'), worker: join(folder, 'worker') }
  const api = await startService(bench, database, ['api'], { heapFile: heapFiles.API })
  const worker = await startService(bench, database, ['worker'], { heapFile: heapFiles.worker, allJobs: true })
  const resident: Record<keyof typeof heapFiles, Memory[]> = { API: [], worker: [] }
  const seconds = bench.minutes * 60
  const load = Promise.all(
    [creation, read].map((next) =>
      runLoad({
        port: Number(api.ready['port']),
        connections: CONNECTIONS,
        seconds,
        status: next === creation ? 201 : 200,
        next: () => next(merchants[Math.floor(Math.random() * MERCHANTS)]),
      }),
    ),
  )
  const begun = performance.now()
  while (performance.now() - begun < seconds * 1_000) {
    for (const [name, pid] of [
      ['API', api.pid],
      ['worker', worker.pid],
    ] as const)
      resident[name].push({ at: performance.now() - begun, mib: (await usageOf(pid ?? 0)).rssMib })
    await delay(EVERY_MS)
  }
  const [created, got] = await load
  await Promise.all([api.stop(), worker.stop(), receiver.stop()])
  const rows: string[][] = []
  const targets: RatioTarget[] = []
  for (const name of ['API', 'worker'] as const) {
    const heap = (await heapOf(heapFiles[name])).map(({ at, heapMib }) => ({ at, mib: heapMib }))
    for (const [what, samples] of [
      ['heap after garbage collection', heap],
      ['resident', resident[name]],
    ] as const) {
      const [early, late] = earlyAndLate(samples)
      rows.push([
        `${name}, ${what}`,
        early.toFixed(1),
        late.toFixed(1),
        Math.max(...samples.map(({ mib }) => mib)).toFixed(1),
      ])
      targets.push({ what: `${name}, ${what}, at the end : after a third`, ratio: late / early, most: 1.1 })
    }
  }
  await rm(folder, { recursive: true })
  printTable(
    `Memory over ${bench.minutes} minutes of ${created?.rate.toFixed(0)} creations and ${got?.rate.toFixed(0)} reads per second`,
    [['MiB', 'second third', 'last third', 'most'], ...rows],
  )
  return targets
}

function creation(merchant: BenchMerchant | undefined): string {
  const headers = { 'x-merchant-client-id': merchant?.clientId ?? '', 'x-idempotency-key': randomUUID() }
  return requestText('POST', '/api/v1/payments', headers, BODY)
}

function read(merchant: (BenchMerchant & { paymentIds: string[] }) | undefined): string {
  const id = merchant?.paymentIds[Math.floor(Math.random() * READ_OF_EACH)] ?? ''
  return requestText('GET', `/api/v1/payments/${id}`, { 'x-merchant-client-id': merchant?.clientId ?? '' })
}

/** The medians of the second and of the last third: in the first one caches fill and code is compiled. */
function earlyAndLate(samples: readonly Memory[]): [number, number] {
  const third = Math.floor(samples.length / 3)
  const medianOf = (part: readonly Memory[]) => median(part.map(({ mib }) => mib))
  return [medianOf(samples.slice(third, 2 * third)), medianOf(samples.slice(-third))]
}
