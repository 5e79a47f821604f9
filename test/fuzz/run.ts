import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Test } from 'tap'
import { testService } from '../support/app.ts'
import { capturedLog } from '../support/captured-log.ts'
import { fuzz } from './fuzz.ts'

/*
 * Sends hostile requests to every operation and page, and prints what was wrong: `npm run fuzz -- --seed 7 --requests 250000`.
 * It ends after `--minutes`, if that comes first.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    requests: { type: 'string', default: '10000' },
    minutes: { type: 'string', default: '60' },
    findings: { type: 'string', default: '20' },
    report: { type: 'string' },
  },
})
const begun = Date.now()
const ends: (() => unknown)[] = []
// A run outside of tap, which needs of it only the end.
const t = { teardown: (end: () => unknown) => void ends.unshift(end) } as unknown as Test
let restarts = 0
for (const event of ['uncaughtException', 'unhandledRejection'] as const)
  process.on(event, (error) => {
    restarts += 1
    process.stdout.write(`the service would have ended: ${String(error instanceof Error ? error.stack : error)}\n`)
  })
const { log, take } = capturedLog('info')
const service = await testService(t, {
  env: { SVC_IDENTITY: 'embedded', SVC_WEBHOOK_ALLOW_PRIVATE: 'true', SVC_SECURITY_LOG_LEVEL: 'info' },
  overrides: { log },
})
const isOver = (): boolean => Date.now() - begun > Number(values.minutes) * 60_000
let shownAt = 0
const report = await fuzz({
  service,
  takeLog: take,
  seed: values.seed,
  requests: Number(values.requests),
  findingsMax: Number(values.findings),
  isOver,
  onProgress: (done) => {
    if (Date.now() - shownAt < 30_000) return
    shownAt = Date.now()
    process.stderr.write(`${String(done)} requests, ${String(Math.round((Date.now() - begun) / 1_000))} s\n`)
  },
}).catch((error: unknown) => {
  process.stderr.write(`the run itself failed: ${String(error instanceof Error ? error.stack : error)}\n`)
  process.exit(2)
})
for (const end of ends) await end()
const seconds = Math.round((Date.now() - begun) / 1_000)
const text = JSON.stringify({ seed: values.seed, seconds, restarts, ...report }, null, 2)
if (values.report !== undefined) writeFileSync(values.report, text)
process.stdout.write(`${text}\n`)
const isGood = report.findings.length === 0 && restarts === 0
const [least] = report.findings.toSorted((a, b) => a.request.length - b.request.length)
if (least !== undefined)
  process.stdout.write(
    `the smallest: request ${String(least.number)} of seed ${values.seed}, ${least.request}, ${least.fault}\n`,
  )
process.stdout.write(
  `fuzz ${isGood ? 'ok' : 'FAILED'}: seed ${values.seed}, ${String(report.requests)} requests in ${String(seconds)} s, ` +
    `${String(report.findings.length)} findings, ${String(restarts)} restarts\n`,
)
process.exit(isGood ? 0 : 1)
