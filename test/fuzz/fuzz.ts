import { Pool } from 'undici'
import { routesOf } from '../../src/http/routes.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import type { SeededRandom } from '../../src/lib/seeded-random.ts'
import { startWorker } from '../../src/worker.ts'
import type { Operation } from '../../src/wire/operation.ts'
import { SAMPLE_REQUESTS, templateOf } from './samples.ts'
import { WORKER_JOBS } from '../support/app.ts'
import type { TestService } from '../support/app.ts'
import { rawRequest } from '../support/raw-http.ts'
import { RAW } from './corpora.ts'
import { describedBy } from './described.ts'
import { faultOf, leakInLog } from './judge.ts'
import type { Got } from './judge.ts'
import { ADDRESSES, makePageRequest } from './pages.ts'
import { keepId, makeRequest, textOf, wordsOf } from './requests.ts'
import type { Sent, Template } from './requests.ts'
import { hide, makeWorld } from './world.ts'
import type { World } from './world.ts'
import { smallest } from './smallest.ts'
import { watchWrites } from './writes.ts'
import type { Writes } from './writes.ts'

export type Finding = { number: number; fault: string; request: string; answer: string }

export type Report = {
  requests: number
  /** How many responses of each hundred. */
  statuses: Record<string, number>
  findings: Finding[]
  /** Operations without a single success. */
  unreached: string[]
  /** The tables that rejected requests have written to, which is meant. */
  countedIn: string[]
  slowest: { ms: number; request: string }
}

export type FuzzInput = {
  service: TestService
  /** The lines of the log since it was last asked. */
  takeLog: () => string
  seed: string
  requests: number
  /** Which operations begin with a request that is known to succeed. */
  samples?: (name: string) => boolean
  findingsMax?: number
  isOver?: () => boolean
  onProgress?: (done: number, report: Report) => void
}

/** Between two looks at what was written and logged. */
const BATCH = 40
/** Between two sets of callers. */
const RENEW_EVERY = 5_000
/** One batch in this many is sent at once, for what happens only between requests; nobody can tell who wrote what then. */
const AT_ONCE_EVERY = 4
const AT_ONCE = 8

type Fuzzing = FuzzInput & {
  operations: readonly Operation[]
  world: World
  writes: Writes
  client: Pool
  report: Report
  describe: ReturnType<typeof describedBy>
  templates: Map<string, Template[]>
  reached: Set<string>
}

/** Sends requests, judges every response, and reports. The same seed makes the same choices; ids and times differ. */
export async function fuzz(input: FuzzInput): Promise<Report> {
  const { service, requests } = input
  const operations = routesOf(service.app.config.mode).map(({ operation }) => operation)
  const report: Report = {
    requests: 0,
    statuses: {},
    findings: [],
    unreached: [],
    countedIn: [],
    slowest: { ms: 0, request: '' },
  }
  const run: Fuzzing = {
    ...input,
    operations,
    world: await makeWorld(service),
    writes: await watchWrites(service.owner),
    client: new Pool(service.url, { connections: 8, pipelining: 1 }),
    report,
    describe: describedBy(service.app),
    templates: new Map(),
    reached: new Set(),
  }
  await sendSamples(run)
  const findingsMax = input.findingsMax ?? 20
  for (
    let begun = 0;
    begun < requests && report.findings.length < findingsMax && input.isOver?.() !== true;
    begun += BATCH
  ) {
    if (begun % RENEW_EVERY === 0 && begun > 0) await run.world.renew()
    await runBatch(run, { begun, count: Math.min(BATCH, requests - begun) })
    input.onProgress?.(report.requests, report)
  }
  await run.client.close()
  report.unreached = operations.map(({ name }) => name).filter((name) => !run.reached.has(name))
  report.countedIn = [...run.writes.meant].toSorted()
  return report
}

async function runBatch(run: Fuzzing, { begun, count }: { begun: number; count: number }): Promise<void> {
  const isAtOnce = (begun / BATCH) % AT_ONCE_EVERY === AT_ONCE_EVERY - 1
  const numbers = Array.from({ length: count }, (_, index) => begun + index)
  if (isAtOnce)
    for (let at = 0; at < count; at += AT_ONCE)
      await Promise.all(numbers.slice(at, at + AT_ONCE).map((number) => sendOne(run, number)))
  else for (const number of numbers) await sendOne(run, number)
  await lookBehind(run, begun, isAtOnce)
}

/** The request of a number: of an operation, a page, or one that no client would write. */
async function sendOne(run: Fuzzing, number: number): Promise<void> {
  const random = seededRandom(`${run.seed} ${String(number)}`)
  if (random.below(1_000) < 4) return sendRaw(run, number, random.pick(RAW))
  if (random.chance(8)) return sendAndJudge(run, number, makePageRequest(run.world, random))
  const operation = choose(run, random)
  const templates = run.templates.get(operation.name) ?? []
  const described = run.describe(operation)
  await sendAndJudge(run, number, makeRequest(run.world, { operation, random, described, templates }))
}

function choose({ operations }: Fuzzing, random: SeededRandom): Operation {
  for (;;) {
    const operation = random.pick(operations)
    if (random.chance(WEIGHTS[operation.name] ?? 100)) return operation
  }
}

/** Operations that take long, or make much, are chosen less often: in so many of a hundred cases. */
const WEIGHTS: Readonly<Record<string, number>> = {
  advanceSandboxClock: 5,
  advanceSandboxPayment: 20,
  seedSandbox: 5,
  registerMerchant: 10,
  createSandboxMerchant: 10,
  createSandboxCustomer: 15,
  repairRegistration: 20,
  rotateRealmKeys: 10,
  checkWebhookEndpoint: 15,
  putWebhookEndpoint: 40,
  streamEvents: 10,
  testBank: 30,
  setBankFaults: 20,
}

/** What a worker would have written, or the log holds, belongs to the last request before it. */
async function lookBehind(
  { writes, world, takeLog, report }: Fuzzing,
  begun: number,
  isAtOnce: boolean,
): Promise<void> {
  const offences = await writes.take(isAtOnce)
  for (const { number, request, tables } of offences)
    report.findings.push({ number, fault: `was rejected, and wrote to ${tables.join(', ')}`, request, answer: '' })
  const lines = takeLog()
  const secret = leakInLog(world, lines)
  if (secret !== undefined) {
    const line = lines.split('\n').find((each) => each.includes(secret)) ?? ''
    report.findings.push({ number: begun, fault: 'a secret is in the log', request: line.slice(0, 400), answer: '' })
  }
  for (const line of lines
    .split('\n')
    .filter((each) => /"level":"(?:error|fatal)"/.test(each))
    .slice(0, 3))
    report.findings.push({ number: begun, fault: 'an error is in the log', request: line.slice(0, 900), answer: '' })
}

async function sendSamples(run: Fuzzing): Promise<void> {
  const operator = await run.service.operator('OWNER')
  for (const operation of run.operations) {
    const sample = SAMPLE_REQUESTS[operation.name]
    if (sample === undefined || run.samples?.(operation.name) === false) continue
    const merchant = await run.service.merchant()
    hide(run.world, merchant.clientSecret)
    const made = await sample({ service: run.service, merchant, operator })
    const template = await templateOf(run.world, operation, made)
    run.templates.set(operation.name, [template])
    const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(made.params?.[name] ?? 'x'),
    )
    for (const id of Object.values(template.params))
      keepId(run.world, wordsOf(operation.path), { id, caller: template.caller })
    await sendAndJudge(run, -1, {
      operation,
      caller: template.caller,
      method: operation.method,
      path,
      headers: {
        ...template.caller.headers,
        ...template.headers,
        ...(made.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: made.body === undefined ? undefined : JSON.stringify(made.body),
    })
  }
  await run.writes.take(true)
  run.takeLog()
}

async function sendAndJudge(run: Fuzzing, number: number, sent: Sent): Promise<void> {
  const { operation } = sent
  const began = run.writes.now()
  const got = await send(run, sent).catch((error: unknown) => String(error))
  run.report.requests += 1
  if (typeof got === 'string') {
    // A client that can't write such a request, and not a service that hung up.
    if (!/invalid|Invalid|ERR_/.test(got)) addFinding(run, number, sent, { fault: got, answer: '' })
    return
  }
  run.writes.note({
    number,
    began,
    isRejected: got.status >= 400 && operation?.name !== NEEDS_WORKER,
    request: textOf(sent),
  })
  const hundred = `${String(Math.floor(got.status / 100))}xx`
  run.report.statuses[hundred] = (run.report.statuses[hundred] ?? 0) + 1
  if (got.ms > run.report.slowest.ms)
    run.report.slowest = { ms: Math.round(got.ms), request: textOf(sent).slice(0, 200) }
  if (operation !== undefined && got.status < 300 && sent.method === operation.method) {
    run.reached.add(operation.name)
    learn(run, sent, got)
  }
  const described = operation === undefined ? undefined : run.describe(operation)
  const fault = faultOf(run.world, sent, got, described)
  if (fault === undefined) return
  const again = async (smaller: Sent): Promise<string | undefined> => {
    const answer = await send(run, smaller).catch(() => undefined)
    return answer === undefined ? undefined : faultOf(run.world, smaller, answer, described)
  }
  addFinding(run, number, await smallest(sent, fault, again), {
    fault,
    answer: `${String(got.status)} ${got.text.slice(0, 500)}`,
  })
}

function addFinding(
  run: Fuzzing,
  number: number,
  sent: Sent,
  { fault, answer }: { fault: string; answer: string },
): void {
  run.report.findings.push({ number, fault, request: textOf(sent), answer })
}

/** It waits for the work of a worker, which also does what else is due. */
const NEEDS_WORKER = 'advanceSandboxClock'

async function send({ client, service }: Fuzzing, { operation, method, path, headers, body }: Sent): Promise<Got> {
  const started = performance.now()
  const worker = operation?.name === NEEDS_WORKER ? startWorker(service.app, { jobs: WORKER_JOBS }) : undefined
  try {
    const response = await client.request({
      method: method as 'GET',
      path,
      headers,
      body: body ?? null,
      headersTimeout: 60_000,
    })
    // A stream does not end: its first bytes are enough.
    if (/event-stream/.test(String(response.headers['content-type']))) response.body.destroy()
    const text = response.body.destroyed ? '' : await response.body.text()
    return { status: response.statusCode, headers: response.headers, text, ms: performance.now() - started }
  } finally {
    await worker?.stop()
  }
}

async function sendRaw({ report, service }: Fuzzing, number: number, bytes: string): Promise<void> {
  const { status, text } = await rawRequest(service.app.config.port, Buffer.from(bytes, 'latin1'), 300)
  report.requests += 1
  if (status !== undefined && status >= 500)
    report.findings.push({
      number,
      fault: `responded ${String(status)}`,
      request: JSON.stringify(bytes.slice(0, 300)),
      answer: text.slice(0, 300),
    })
}

const SECRET = /secret$|session_token|payment_state/
const IDENTITY = /(?:^id|_id|Id|_cursor|slug|ordinal)$/

/** Remembers what a success shows: ids to ask for, addresses to open, secrets to look out for. */
function learn(run: Fuzzing, sent: Sent, { text, headers }: Got): void {
  const { operation } = sent
  if (operation === undefined || !/json/.test(String(headers['content-type']))) return
  const words = wordsOf(operation.path)
  JSON.parse(text, (name, value: unknown) => {
    if (typeof value !== 'string' || value === '' || value.length > 300) return value
    if (IDENTITY.test(name)) keepId(run.world, words, { id: value, caller: sent.caller })
    if (name === 'redirect_url') keepId(run.world, ADDRESSES, { id: value, caller: sent.caller })
    if (SECRET.test(name)) hide(run.world, value, [operation.name, ...SHOWN_AGAIN])
    return value
  })
}

/** A merchant may see its signing secret whenever it likes. */
const SHOWN_AGAIN = ['getWebhookSecret', 'rotateWebhookSecret', 'endSecretOverlap', 'createPayment']
