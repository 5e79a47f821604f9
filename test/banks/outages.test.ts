import t from 'tap'
import type { Test } from 'tap'
import { withCircuit } from '../../src/banks/circuit.ts'
import { BankUnavailableError } from '../../src/banks/connector.ts'
import { makeOutages, watchOutages } from '../../src/banks/outages/outages.ts'
import { makePool } from '../../src/db/pool.ts'
import { makePgConnection } from '../../src/db/connection.ts'
import { makeLog } from '../../src/observe/log.ts'
import { makeMetrics } from '../../src/observe/metrics.ts'
import { until } from '../support/app.ts'
import { testDatabase } from '../support/database.ts'
import { steeredBank } from '../support/steered-bank.ts'

/*
 * Processes side by side, each with a pool and calls to the bank of its own: what they show of the bank (decision 405). One
 * process by itself: circuit.test.ts.
 */
const { url: databaseUrl } = await testDatabase(t)
const owner = await makePgConnection({ databaseUrl, onError: () => undefined })
t.teardown(() => owner.end())
const SIGNAL = new AbortController().signal
const silent = makeLog('silent')

/** A process. `skip` moves its clock, so that rests need no waiting. */
async function startProcess(t: Test, id: string) {
  const pool = await makePool({ databaseUrl, role: 'svc_runtime', size: 2, timeoutFactor: 10 })
  let warnings = 0
  const log = Object.create(silent, { warn: { value: () => (warnings += 1) } })
  const clock = { skipped: 0 }
  const now = () => Date.now() + clock.skipped
  const outages = await watchOutages({ pool, log, now })
  const metrics = makeMetrics()
  const bank = steeredBank('remote', 'api', id)
  const { connector, circuit } = withCircuit(bank.connector, { metrics, log, now, outages })
  t.teardown(async () => {
    outages.stop()
    await pool.end()
  })
  return {
    outages,
    circuit,
    gauge: async () => (await metrics.bankAvailable.get()).values[0]?.value,
    warnings: () => warnings,
    skip: (ms: number) => (clock.skipped += ms),
    ask: async (isHeard: boolean) => {
      bank.steer('readConsent', () =>
        isHeard ? Promise.resolve({ status: 'awaiting' }) : Promise.reject(new BankUnavailableError('silent')),
      )
      await connector.readConsent({ state: 's' }, SIGNAL).catch(() => undefined)
    },
    stage: (isHeard: boolean) => {
      bank.steer('stage', () =>
        isHeard
          ? Promise.resolve({ bankConsentReference: 'c', redirectUrl: 'https://bank.example' })
          : Promise.reject(new BankUnavailableError('silent')),
      )
      if (connector.staging !== 'remote') throw new Error('the bank stages remotely')
      return connector.stage({ paymentId: 'p', state: 's' } as never, SIGNAL)
    },
    staged: () => bank.calls.stage,
  }
}

type Process = Awaited<ReturnType<typeof startProcess>>

async function fails(process: Process, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) await process.ask(false)
}

/** One after the other, until it rests five minutes: longer than these tests take. It has been silent for 450 seconds then. */
async function fallsSilent(process: Process): Promise<void> {
  await fails(process, 5)
  for (const seconds of [30, 60, 120, 240]) {
    process.skip(seconds * 1_000)
    await process.ask(false)
  }
}

const stateOf = async (process: Process) => ({
  available: process.circuit.isAvailable(),
  gauge: await process.gauge(),
  isSilent: process.circuit.unavailableSince() !== undefined,
})
const AWAY = { available: false, gauge: 0, isSilent: true }
const THERE = { available: true, gauge: 1, isSilent: false }

type Recorded = { is_silent: boolean; silent_at: string; silent_seconds: number }

async function recorded(id: string): Promise<Recorded | undefined> {
  const { rows } = await owner.query(
    `select coalesce(silent_at > coalesce(answered_at, '-infinity'), false) as is_silent, silent_at::text as silent_at,
       extract(epoch from now() - silent_since)::float8 as silent_seconds
     from bank_outages where bank_id = $1`,
    [id],
  )
  return rows[0]
}

t.test('what one process finds, the others show: a silence, since when, and its end', async (t) => {
  const [one, two] = [await startProcess(t, 'shared'), await startProcess(t, 'shared')]
  const began = Date.now()
  await fallsSilent(one)
  t.same(await stateOf(one), AWAY)
  await until(async () => !two.circuit.isAvailable())
  t.same(await stateOf(two), AWAY)
  const late = await startProcess(t, 'shared')
  t.same(await stateOf(late), AWAY, 'one that starts later too')
  await until(async () => Number((await recorded('shared'))?.silent_seconds) >= 450)
  for (const { clock, process } of [
    { clock: 450_000, process: one },
    { clock: 0, process: two },
  ]) {
    await process.outages.refresh()
    const since = (process.circuit.unavailableSince() ?? 0) - clock + 450_000
    t.ok(since >= began - 10 && since <= Date.now() + 10, 'since the first failure, by the clock of each')
  }

  const called = two.staged()
  const first = (await recorded('shared'))?.silent_at
  await t.rejects(two.stage(false), { name: 'BankUnavailableError' })
  t.equal(two.staged(), called + 1, 'it tries with one payment')
  await t.rejects(two.stage(false), { name: 'BankUnavailableError' })
  t.equal(two.staged(), called + 1, 'and rests after its first failure')
  await until(async () => (await recorded('shared'))?.silent_at !== first)

  await late.ask(true)
  t.same(await stateOf(late), THERE)
  for (const process of [one, two]) {
    await until(async () => process.circuit.isAvailable())
    t.same(await stateOf(process), THERE, 'without a call of its own')
  }
  await t.resolves(two.stage(true), 'which ends its rest')
})

t.test('a bank that one process alone can’t reach is there for the others, and stays there', async (t) => {
  const [lonely, well] = [await startProcess(t, 'half'), await startProcess(t, 'half')]
  await fails(lonely, 5)
  await until(async () => (await recorded('half'))?.is_silent === true)
  await well.outages.refresh()
  await well.ask(true)
  await until(async () => (await recorded('half'))?.is_silent === false)
  const before = (await recorded('half'))?.silent_at
  const silentAt = async () => (await recorded('half'))?.silent_at
  for (let trial = 0; trial < 12; trial += 1) {
    // As the other one does once a minute.
    await owner.query(`update bank_outages set answered_at = now() where bank_id = 'half'`)
    await lonely.outages.refresh()
    lonely.skip(301_000)
    await fails(lonely, 5)
    await until(async () => lonely.outages.of('half') === undefined || (await silentAt()) !== before)
    t.equal(await silentAt(), before, `its report of trial ${trial} is not believed`)
    await well.outages.refresh()
    t.same(await stateOf(well), THERE)
  }
  await until(async () => lonely.circuit.isAvailable())
  t.same(await stateOf(lonely), THERE, 'it shows what the others know')
  await t.rejects(lonely.stage(false), { name: 'BankUnavailableError' })

  await owner.query(
    `update bank_outages set answered_at = now() - interval '71 seconds', silent_since = now() - interval '80 seconds',
       silent_at = now() - interval '80 seconds' where bank_id = 'half'`,
  )
  await lonely.outages.refresh()
  lonely.skip(301_000)
  await fails(lonely, 5)
  await until(async () => (await recorded('half'))?.is_silent === true)
  t.same(await stateOf(lonely), AWAY, 'until nobody has had an answer for a minute')
})

t.test('of an answer and a silence in one millisecond the last one counts', async (t) => {
  const { outages } = makeOutages(() => 1_000)
  const silence = { since: 1_000, restsUntil: 2_000, isFirst: true }
  outages.reportAnswer('b')
  outages.reportSilence('b', silence)
  t.match(outages.of('b'), { restsUntil: 2_000 })
  outages.reportAnswer('b')
  t.equal(outages.of('b'), undefined)
})

t.test('what is not recorded yet is known here all the same, and is tried again', async (t) => {
  const process = await startProcess(t, 'unsaved')
  const isKnown = () => process.outages.of('unsaved') !== undefined
  const isRecorded = (isSilent: boolean) => until(async () => (await recorded('unsaved'))?.is_silent === isSilent)
  await process.ask(true)
  await isRecorded(false)
  await owner.query('revoke update on bank_outages from svc_runtime')
  await fails(process, 5)
  await until(async () => process.warnings() > 0)
  await process.outages.refresh()
  t.ok(isKnown(), 'the row says that the bank answers')
  await owner.query('grant update on bank_outages to svc_runtime')
  await isRecorded(true)

  await process.ask(true)
  await isRecorded(false)
  await owner.query('begin')
  await owner.query('lock table bank_outages in exclusive mode')
  await fails(process, 5)
  await process.outages.refresh()
  const wasKnown = isKnown()
  await owner.query('rollback')
  t.ok(wasKnown, 'a look that begins and ends while the report is written')
  await isRecorded(true)
})

t.test('an answer is recorded once a minute, not each time', async (t) => {
  const process = await startProcess(t, 'busy')
  // It would read what is written below.
  process.outages.stop()
  await process.ask(true)
  await until(async () => (await recorded('busy')) !== undefined)
  await owner.query(`update bank_outages set answered_at = '2026-01-01' where bank_id = 'busy'`)
  for (let time = 0; time < 20; time += 1) await process.ask(true)
  const { rows } = await owner.query(`select answered_at::date::text as day from bank_outages where bank_id = 'busy'`)
  t.same(rows, [{ day: '2026-01-01' }])
})
