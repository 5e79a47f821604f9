import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createParser } from 'eventsource-parser'
import { Pool, request } from 'undici'
import { z } from 'zod'
import { open, openConsole } from '../../test/support/terminal.ts'
import type { Opened } from '../../test/support/terminal.ts'
import { startService } from '../support/context.ts'
import type { Bench } from '../support/context.ts'
import { plantMerchant } from '../support/database.ts'
import { percentile } from '../support/numbers.ts'
import { slopeOf, usageOf } from '../support/process.ts'
import type { Usage } from '../support/process.ts'
import { printTable } from '../support/report.ts'
import type { Gate } from '../support/report.ts'

const PER_SECOND = 200
const PAYMENTS = 10_000
const OPERATOR = { 'x-platform-user': 'ada' }
const BODY = JSON.stringify({ amount: '50.00', currency: 'GBP', redirect_uri: 'https://shop.example/return' })
const PRESS_EVERY_MS = 150
const TURNS_MAX = 20
const SAMPLE_EVERY_MS = 10_000
/** The memory of a process that has just begun says nothing of a leak. */
const WARM_UP_MS = 15_000

const Created = z.object({ payment_id: z.string() })

/** An operator looks at payments, and moves about, while 200 of them come every second. */
export async function benchConsole(bench: Bench): Promise<Gate[]> {
  const count = bench.quick ? PAYMENTS / 10 : PAYMENTS
  const database = await bench.server.database('bench_console')
  const merchant = await plantMerchant(database, 'bench-console', 'https://shop.example/webhooks')
  const service = await startService(bench, database, ['api'])
  const url = `http://127.0.0.1:${service.ready['port']}`
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-console-'))
  const heapFile = join(folder, 'heap')
  const closing: (() => unknown)[] = []
  const owner = { teardown: (run: () => unknown) => void closing.push(run) }
  // What a terminal gives back by itself, on the same machine at the same time.
  const echo = open(owner, `'${process.execPath}' -e "process.stdin.pipe(process.stdout)"`, { columns: 120, rows: 40 })
  const console = openConsole(owner, {
    url,
    env: {
      SVC_PLATFORM_USER: 'ada',
      NODE_OPTIONS: `--expose-gc --import=${join(import.meta.dirname, '../processes/heap-report.js')}`,
      BENCH_HEAP_FILE: heapFile,
    },
    words: ['--platform', '--screen', 'payments'],
    columns: 120,
    rows: 40,
  })
  await console.until((text) => /There are no payments yet/.test(text) && / live/.test(text))
  const stream = await readStream(url)
  const pids = { console: console.pid() ?? 0, service: service.pid ?? 0 }
  const begun = performance.now()
  const before = await usageOf(pids.console)
  const created = makeCreator(url, merchant.clientId, count)
  const [pressed, watched] = await Promise.all([
    pressKeys({ console, echo }, created),
    watchMemory(pids, created),
    created.run(),
  ])
  const seconds = (performance.now() - begun) / 1000
  const after = await usageOf(pids.console)
  console.press('4', 'g')
  await console.until((text) => text.includes(created.newest().slice(-8)))
  await stream.until(count)
  const { events, gaps, bytes } = stream.stop()
  console.press('ctrl-c')
  await console.ended()
  for (const run of closing) run()
  await service.stop()
  const heap = await heapOf(heapFile)
  if (!bench.quick && heap.length < 4) throw new Error('the console has not told what it keeps: heap-report.js')
  await rm(folder, { recursive: true })
  print({
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
    {
      what: 'console under load: from key to picture, p95',
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
    ...(heap.length < 4
      ? []
      : [{ what: 'console under load: growth of what it keeps', ratio: growth, most: 5, unit: ' MiB/min' }]),
  ]
}

type Creator = {
  run(): Promise<void>
  isDone(): boolean
  seconds(): number
  /** When a payment was created, by the end of its id; milliseconds of the monotonic clock. */
  at(end: string): number | undefined
  newest(): string
  /** How often the service said that it was too busy. */
  busy(): number
}

/** Creates payments over HTTP at an even rate. */
function makeCreator(url: string, clientId: string, count: number): Creator {
  const pool = new Pool(url, { connections: 16 })
  const known = new Map<string, number>()
  let newest = { id: '', at: 0 }
  let [begun, ended, busy] = [0, 0, 0]

  /** Once more with the same key where the machine was too busy to answer. */
  async function create(): Promise<void> {
    const key = randomUUID()
    for (let turn = 0; ; turn += 1) {
      const { statusCode, body } = await pool.request({
        method: 'POST',
        path: '/api/v1/payments',
        headers: { 'content-type': 'application/json', 'x-merchant-client-id': clientId, 'x-idempotency-key': key },
        body: BODY,
      })
      const text = await body.text()
      if (statusCode === 503 && turn < TURNS_MAX) {
        busy += 1
        await delay(100)
        continue
      }
      if (statusCode !== 201) throw new Error(`answered ${statusCode}: ${text}`)
      const { payment_id: id } = Created.parse(JSON.parse(text))
      const at = performance.now()
      known.set(id.slice(-8), at)
      if (at > newest.at) newest = { id, at }
      return
    }
  }

  return {
    async run() {
      begun = performance.now()
      const all: Promise<void>[] = []
      let failure: unknown
      while (all.length < count) {
        const due = Math.min(count, Math.floor(((performance.now() - begun) / 1000) * PER_SECOND) + 1)
        while (all.length < due) all.push(create().catch((error: unknown) => void (failure ??= error)))
        if (failure !== undefined) break
        await delay(4)
      }
      await Promise.all(all)
      ended = performance.now()
      await pool.close()
      if (failure !== undefined) throw failure
    },
    isDone: () => ended > 0,
    seconds: () => (ended - begun) / 1000,
    at: (end) => known.get(end),
    newest: () => newest.id,
    busy: () => busy,
  }
}

type Pressed = { waits: { key: string; ms: number }[]; echoes: number[]; ages: number[]; stale: number }

/** What is pressed, one after the other, and what the screen shows then. */
const TURN: readonly { key: string; shows: (before: string) => (text: string) => boolean }[] = [
  // The first step stops following the newest row; from then on only keys lead to another row.
  { key: 'j', shows: () => (text) => placeOf(text) > 1 },
  ...['j', 'j', 'j', 'k', 'k'].map((key) => ({
    key,
    shows: (before: string) => (text: string) => selectedOf(text) !== selectedOf(before),
  })),
  { key: 'g', shows: () => (text) => placeOf(text) === 1 },
  { key: '?', shows: () => (text) => text.includes('Keys of Payments') },
  { key: 'q', shows: () => (text) => !text.includes('Keys of Payments') },
  { key: '1', shows: () => (text) => text.includes('[1 Overview]') },
  { key: '4', shows: () => (text) => text.includes('[4 Payments]') },
]

function placeOf(text: string): number {
  return Number(/ Payments (\d+)\//.exec(text)?.[1])
}

function selectedOf(text: string): string | undefined {
  return /^> (\w+)/m.exec(text)?.[1]
}

async function pressKeys({ console, echo }: Record<'console' | 'echo', Opened>, created: Creator): Promise<Pressed> {
  const pressed: Pressed = { waits: [], echoes: [], ages: [], stale: 0 }
  await console.until(/ Payments 1\//)
  for (let n = 0; !created.isDone(); n += 1) {
    const turn = TURN[n % TURN.length]
    if (turn === undefined) break
    const before = console.text()
    if (/ stale| Error /.test(before)) pressed.stale += 1
    // Whoever has moved keeps the rows of then.
    const shown = placeOf(before) === 1 ? newestShown(before, created) : undefined
    if (shown !== undefined) pressed.ages.push(performance.now() - shown)
    const shows = turn.shows(before)
    const sent = performance.now()
    console.press(turn.key)
    while (!shows(console.text())) {
      if (performance.now() - sent > 10_000) throw new Error(`${turn.key} did nothing:\n${console.text()}`)
      await delay(1)
    }
    pressed.waits.push({ key: turn.key, ms: performance.now() - sent })
    pressed.echoes.push(await echoed(echo, n))
    await delay(PRESS_EVERY_MS)
  }
  return pressed
}

/** How long a line takes to a program that only gives it back, and from there to the screen. */
async function echoed(echo: Opened, n: number): Promise<number> {
  const sent = performance.now()
  echo.type(`${n}\r`)
  // Once as it is typed, by the terminal, and once by the program.
  while ((echo.text().match(new RegExp(`^${n}$`, 'gm')) ?? []).length < 2) await delay(1)
  return performance.now() - sent
}

/** When the newest payment of the screen was created; undefined where the screen shows none. */
function newestShown(text: string, created: Creator): number | undefined {
  const times = text.split('\n').flatMap((line) => created.at(/[0-9a-f]{8}(?= )/.exec(line)?.[0] ?? '') ?? [])
  return times.length === 0 ? undefined : Math.max(...times)
}

const Heap = z.object({ at: z.number(), heapMib: z.number() })
type Heap = z.infer<typeof Heap>

/** What the console kept after its garbage was collected, as heap-report.js wrote it. */
async function heapOf(file: string): Promise<Heap[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Heap.parse(JSON.parse(line)))
}

type Watched = { at: number; console: Usage; service: Usage }

async function watchMemory(pids: { console: number; service: number }, created: Creator): Promise<Watched[]> {
  const begun = performance.now()
  const watched: Watched[] = []
  const look = async (): Promise<void> => {
    const [console, service] = await Promise.all([usageOf(pids.console), usageOf(pids.service)])
    watched.push({ at: performance.now() - begun, console, service })
  }
  while (!created.isDone()) {
    if (watched.length * 1_000 <= performance.now() - begun) await look()
    await delay(100)
  }
  await look()
  return watched
}

/** Follows the same stream as the console, and counts what comes. */
async function readStream(url: string) {
  const abort = new AbortController()
  const { body } = await request(`${url}/api/v1/events/stream`, {
    headers: OPERATOR,
    signal: abort.signal,
    bodyTimeout: 0,
  })
  const seen = new Set<string>()
  const told = { events: 0, bytes: 0, ofType: new Map<string, number>() }
  const parser = createParser({
    onEvent({ event, id = '' }) {
      if (event !== 'event') return
      told.events += 1
      seen.add(id)
    },
  })
  const reading = (async () => {
    for await (const chunk of body) {
      told.bytes += chunk.length
      parser.feed(Buffer.from(chunk).toString())
    }
  })().catch((error: unknown) => {
    if (!abort.signal.aborted) throw error
  })
  return {
    async until(count: number) {
      const deadline = performance.now() + 20_000
      while (seen.size < count && performance.now() < deadline) await delay(20)
    },
    stop() {
      abort.abort()
      void reading
      return { events: told.events, bytes: told.bytes, gaps: told.events - seen.size }
    },
  }
}

type Figures = {
  created: number
  events: number
  gaps: number
  bytes: number
  pressed: Pressed
  watched: readonly Watched[]
  heap: readonly Heap[]
  busy: number
  cpu: number
}

function print({ created, events, gaps, bytes, pressed, watched, heap, busy, cpu }: Figures): void {
  const { waits, echoes, ages, stale } = pressed
  const ms = (values: readonly number[]): string =>
    [percentile(values, 0.5), percentile(values, 0.95), Math.max(...values)].map((each) => each.toFixed(0)).join(' / ')
  printTable('The console, while payments come', [
    ['', ''],
    ['payments created per second, over HTTP', created.toFixed(0)],
    ['answers that the service was too busy', String(busy)],
    ['events of the stream; twice', `${events}; ${gaps}`],
    ['bytes of the stream per event', (bytes / events).toFixed(0)],
    [`from key to picture, ms, p50 / p95 / most, of ${waits.length}`, ms(waits.map((wait) => wait.ms))],
    ...[...Map.groupBy(waits, ({ key }) => key)].map(([key, ofKey]) => [
      `  the key ${key}`,
      ms(ofKey.map((wait) => wait.ms)),
    ]),
    ['from a line to its echo by a program that does nothing else, ms', ms(echoes)],
    ['age of the newest payment shown, ms, p50 / p95 / most', ms(ages)],
    ['pictures that were stale or told of an error', String(stale)],
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
  printTable('What the console keeps after its garbage was collected, MiB', [
    ['after', 'heap'],
    ...heap.map(({ at, heapMib }) => [`${(at / 1000).toFixed(0)} s`, heapMib.toFixed(1)]),
  ])
}
