import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import type { Load } from './load.ts'
import type { Sample } from './numbers.ts'

export const WRK = '/usr/bin/wrk'
const run = promisify(execFile)

/** More than any service answers: a creation that is repeated would be answered at once. */
const REQUESTS_PER_SECOND_MAX = 30_000

const SCRIPT = String.raw`
local requests, sent = {}, 0
function init(args)
  for text in io.open(args[1], 'rb'):read('*a'):gmatch('[^%z]+') do requests[#requests + 1] = text end
end
function request()
  sent = sent + 1
  return requests[sent] or requests[#requests]
end
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('\nresult {"requests":%d,"us":%d,"failed":%d,"p50":%f,"p95":%f,"p99":%f}\n',
    summary.requests, summary.duration, errors.status + errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50) / 1000, latency:percentile(95) / 1000, latency:percentile(99) / 1000))
end
`

const Result = z.object({
  requests: z.number(),
  us: z.number(),
  failed: z.number(),
  p50: z.number(),
  p95: z.number(),
  p99: z.number(),
})

/** The same load by one thread of wrk, which sends what `next` has written for it beforehand. Whole seconds, at least one. */
export async function runWrk({
  port,
  connections,
  seconds,
  next,
  perSecondMax = REQUESTS_PER_SECOND_MAX,
}: Load): Promise<Sample> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-wrk-'))
  try {
    const whole = Math.max(1, Math.round(seconds))
    const count = whole * perSecondMax
    await writeFile(join(folder, 'script.lua'), SCRIPT)
    await writeFile(join(folder, 'requests'), Array.from({ length: count }, next).join('\0'), 'latin1')
    const { stdout } = await run(WRK, [
      '--threads=1',
      `--connections=${connections}`,
      `--duration=${whole}s`,
      '--timeout=10s',
      `--script=${join(folder, 'script.lua')}`,
      `http://127.0.0.1:${port}`,
      '--',
      join(folder, 'requests'),
    ])
    const found = Result.parse(JSON.parse(/^result (.*)$/m.exec(stdout)?.[1] ?? 'null'))
    if (found.failed > 0 || found.requests > count)
      throw new Error(`not every request was answered as expected: ${stdout}`)
    return {
      rate: found.requests / (found.us / 1_000_000),
      units: found.requests,
      p50: found.p50,
      p95: found.p95,
      p99: found.p99,
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
