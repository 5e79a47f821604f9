import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from '../../test/support/terminal.ts'
import { startService } from '../support/context.ts'
import type { BenchOptions } from '../support/context.ts'
import { insertMerchant } from '../support/database.ts'
import { percentile } from '../support/numbers.ts'
import { builtLauncher } from '../support/launcher.ts'
import { heapOf, slopeOf, usageOf } from '../support/process.ts'
import type { RatioTarget } from '../support/report.ts'
import { makePaymentCreator } from './console/creator.ts'
import { printFigures } from './console/figures.ts'
import { watchMemory } from './console/memory.ts'
import { pressKeys, pressQuietly } from './console/press-keys.ts'
import { readStream } from './console/stream.ts'

const PAYMENTS = 10_000
/** The memory of a process that has just started does not indicate a leak. */
const WARM_UP_MS = 15_000

/** An operator looks at payments, and moves about, while 200 of them come every second. Needs `npm run build`. */
export async function benchConsole(bench: BenchOptions): Promise<RatioTarget[]> {
  const launcher = builtLauncher()
  const count = bench.quick ? PAYMENTS / 10 : PAYMENTS
  const database = await bench.server.database('bench_console')
  const merchant = await insertMerchant(database, 'bench-console', 'https://shop.example/webhooks')
  const service = await startService(bench, database, ['api'])
  const url = `http://127.0.0.1:${service.ready['port']}`
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-console-'))
  const heapFile = join(folder, 'heap')
  const closing: (() => unknown)[] = []
  const owner = { teardown: (run: () => unknown) => void closing.push(run) }
  // The echo of a bare terminal, on the same machine at the same time.
  const echo = open(owner, `'${process.execPath}' -e "process.stdin.pipe(process.stdout)"`, { columns: 120, rows: 40 })
  const opened = performance.now()
  const console = open(owner, `'${process.execPath}' '${launcher}' ui --platform --screen payments`, {
    cwd: folder,
    env: {
      SVC_API_URL: url,
      SVC_CONFIG_DIR: join(folder, 'config'),
      SVC_STATE_DIR: join(folder, 'state'),
      SVC_PLATFORM_USER: 'ada',
      NODE_OPTIONS: `--expose-gc --import=${join(import.meta.dirname, '../processes/heap-report.js')}`,
      BENCH_HEAP_FILE: heapFile,
    },
    columns: 120,
    rows: 40,
  })
  await console.until(/\[4 Payments\]/)
  const firstPicture = performance.now() - opened
  await console.until((text) => /There are no payments yet/.test(text) && / fresh/.test(text))
  const quiet = await pressQuietly(console)
  const stream = await readStream(url)
  const pids = { console: console.pid() ?? 0, service: service.pid ?? 0 }
  const begun = performance.now()
  const before = await usageOf(pids.console)
  const created = makePaymentCreator(url, merchant.clientId, count)
  const [pressed, watched] = await Promise.all([
    pressKeys({ console, echo }, created),
    watchMemory(pids, created),
    created.run(),
  ])
  const seconds = (performance.now() - begun) / 1000
  const after = await usageOf(pids.console)
  // The last turn may have ended in the help.
  console.press('esc', '4', 'g')
  await console.until((text) => text.includes(created.newest().slice(-8)))
  await stream.until(count)
  const { events, gaps, bytes } = stream.stop()
  console.press('ctrl-c')
  await console.ended()
  for (const run of closing) run()
  await service.stop()
  const heap = await heapOf(heapFile)
  if (!bench.quick && heap.length < 4) throw new Error('the console has not reported its heap (heap-report.js)')
  await rm(folder, { recursive: true })
  printFigures({
    created: count / created.seconds(),
    events,
    gaps,
    bytes,
    pressed,
    watched,
    heap,
    busy: created.busy(),
    cpu: (after.cpuMs - before.cpuMs) / seconds / 10,
  })
  const growth = slopeOf(
    heap.filter(({ at }) => at >= WARM_UP_MS).map(({ at, heapMib }) => ({ at: at / 60_000, value: heapMib })),
  )
  return [
    { what: 'console: from its command to the first picture', ratio: firstPicture, most: 1_000, unit: ' ms' },
    { what: 'console at rest: from key to frame, p95', ratio: percentile(quiet, 0.95), most: 100, unit: ' ms' },
    {
      what: 'console under load: from key to frame, p95',
      ratio: percentile(
        pressed.waits.map(({ ms }) => ms),
        0.95,
      ),
      most: 200,
      unit: ' ms',
    },
    {
      what: 'console under load: newest payment shown, p95',
      ratio: percentile(pressed.ages, 0.95),
      most: 2_500,
      unit: ' ms',
    },
    ...(heap.length < 4 ? [] : [{ what: 'console under load: heap growth', ratio: growth, most: 5, unit: ' MiB/min' }]),
  ]
}
