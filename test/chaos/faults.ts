import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { EmbeddedServer } from '../../src/db/embedded.ts'
import type { SeededRandom } from '../../src/lib/seeded-random.ts'
import type { Bank } from './bank.ts'
import type { Clock } from './clocks.ts'
import type { Disk } from './disk.ts'
import type { Identity } from './identity.ts'
import type { Fault } from './judge.ts'
import type { Link } from './link.ts'
import type { Part } from './process.ts'

export type FaultsInput = {
  random: SeededRandom
  runMs: number
  parts: readonly Part[]
  link: Link
  database: EmbeddedServer
  /** What runs of seconds do without. */
  disk: Disk | undefined
  bank: Bank | undefined
  identity: Identity | undefined
  clocks: readonly Clock[]
  realms: readonly string[]
  /** Asks PostgreSQL, past the link, until it answers. */
  ask<T>(work: (client: pg.Client) => Promise<T>): Promise<T>
  rotateSecret(): Promise<void>
  rotateKey(): Promise<void>
}

/**
 * `backAt`: when PostgreSQL answered again after each time that it was killed. `failure` is an error of a fault itself: it ends
 * the faults, and what was before it is judged all the same.
 */
export type MadeFaults = { faults: Fault[]; backAt: number[]; failure: string | undefined }

/** What the model bank does wrong with its next answers. */
const BANK_FAILURES = [
  'timeout_after_acceptance',
  'server_error_after_acceptance',
  'half_a_body',
  'wrong_signature',
  'late_settlement',
  'server_error',
  'down',
]
const HOURS_MS = 3_600_000
const MINUTES_MS = 60_000
/** Which jumps a clock makes: into the past and the future, by much and by little. */
const JUMPS_MS = [-2 * HOURS_MS, -5 * MINUTES_MS, -1_000, 1_000, 5 * MINUTES_MS, 2 * HOURS_MS]

/** One fault after the other, in the order that the seed decides; none is left when it returns. */
export async function makeFaults(input: FaultsInput): Promise<MadeFaults> {
  const { random, runMs, parts, link, database, ask } = input
  const faults: Fault[] = []
  const backAt: number[] = []
  const unended = new Set<Promise<void>>()
  /** Makes a fault, which lasts as long as `isOver` says, or else as its work. Nothing waits for that end. */
  const during: During = async (kind, work, isOver) => {
    const fault = { kind, at: Date.now(), until: Number.POSITIVE_INFINITY }
    faults.push(fault)
    await work()
    if (isOver === undefined) fault.until = Date.now()
    else {
      const end = isOver().then(() => {
        fault.until = Date.now()
        unended.delete(end)
      })
      unended.add(end)
    }
  }
  const untilBack = async (): Promise<void> => {
    await ask((client) => client.query('select 1'))
    backAt.push(Date.now())
  }
  const others = otherFaults(input, { during, untilBack })
  const begun = Date.now()
  let keyIsNew = false
  let killedAt = 0
  const makeOne = async (): Promise<void> => {
    // The embedded server is started again five times a minute at most.
    const mayKillDatabase = Date.now() - killedAt > 15_000
    if (others.length > 0 && random.chance(30)) {
      const other = random.pick(others)
      if (other.endsDatabase === true && !mayKillDatabase) return
      if (other.endsDatabase === true) killedAt = Date.now()
      return other.make()
    }
    const part = random.pick(parts)
    const kind = part.name.split(' ')[0] ?? ''
    const dice = random.below(100)
    if (dice < 45) await during(`kill ${kind}`, () => part.kill())
    else if (dice < 55) await during(`pause ${kind}`, () => part.pauseFor(random.between(500, 4_000)))
    else if (dice < 65) await during(`restart ${kind}`, () => part.restart())
    else if (dice < 75) await during('cut database', () => link.cut())
    else if (dice < 78) await during('silent database', () => link.silence(random.between(1_000, 4_000)))
    else if (dice < 80) await during('slow database', () => link.slow(random.between(1_000, 4_000)))
    else if (dice < 88) await during('end backends', () => endBackends(input))
    else if (dice < 93) await during('rotate secret', () => input.rotateSecret())
    else if (dice < 97 && mayKillDatabase) {
      killedAt = Date.now()
      await during('kill database', () => killServer(database), untilBack)
    } else if (!keyIsNew && Date.now() - begun > runMs / 3) {
      keyIsNew = true
      await during('rotate key', () => input.rotateKey())
    }
  }
  let failure: string | undefined
  while (failure === undefined && Date.now() - begun < runMs) {
    await delay(random.between(300, 1_500))
    await makeOne().catch((error: unknown) => {
      failure = error instanceof Error ? error.stack : String(error)
    })
  }
  await Promise.all(unended)
  for (const fault of faults) fault.until = Math.min(fault.until, Date.now())
  return { faults, backAt, failure }
}

/** It may have ended by a fault of before, and be about to begin again. */
function killServer({ pid }: EmbeddedServer): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

type During = (kind: string, work: () => Promise<unknown> | void, isOver?: () => Promise<void>) => Promise<void>

type OtherFault = { make(): Promise<void>; endsDatabase?: true }

/** The faults of what only long runs have. */
function otherFaults(
  { random, disk, bank, identity, clocks, realms }: FaultsInput,
  { during, untilBack }: { during: During; untilBack: () => Promise<void> },
): OtherFault[] {
  const ofBank = (made: Bank): OtherFault[] => [
    { make: () => during('kill bank', () => made.part.kill()) },
    { make: () => during('pause bank', () => made.part.pauseFor(random.between(500, 4_000))) },
    {
      make: () => {
        const name = random.pick(BANK_FAILURES)
        return during(`bank: ${name}`, () => made.fail(name, random.between(1, 3)))
      },
    },
  ]
  const ofIdentity = (made: Identity): OtherFault[] => [
    { make: () => during('rotate token key', () => made.rotateKey(random.pick(realms))) },
    ...(['away', 'silent'] as const).map((how) => ({
      make: () => {
        const end = made.away(random.between(1_000, 8_000), how)
        return during(
          `identity ${how}`,
          () => undefined,
          () => end,
        )
      },
    })),
  ]
  const jump = (): Promise<void> => {
    const clock = random.pick(clocks)
    const ms = random.pick(JUMPS_MS)
    const lasts = random.between(2_000, 10_000)
    return during(
      ms < 0 ? 'clock into the past' : 'clock into the future',
      () => clock.shift(ms),
      () => delay(lasts).then(() => clock.shift(0)),
    )
  }
  const fillDisk = (full: Disk): OtherFault => ({
    endsDatabase: true,
    make: () =>
      during(
        'full disk of database',
        async () => {
          full.fill()
          await delay(random.between(1_000, 4_000))
          full.free()
        },
        untilBack,
      ),
  })
  return [
    ...(bank === undefined ? [] : ofBank(bank)),
    ...(identity === undefined ? [] : ofIdentity(identity)),
    ...(clocks.length === 0 ? [] : [{ make: jump }, { make: jump }]),
    ...(disk === undefined ? [] : [fillDisk(disk)]),
  ]
}

async function endBackends({ ask }: Pick<FaultsInput, 'ask'>): Promise<void> {
  await ask((client) =>
    client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    ),
  )
}
