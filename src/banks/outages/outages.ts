import type { CommonQueryMethods } from 'slonik'
import { ofEveryMerchant } from '../../db/merchant-scope.ts'
import type { Logger } from '../../observe/log.ts'
import { listOutages, putAnswer, putSilence } from './sql.ts'
import type { OutageRow } from './sql.ts'

/** The silence of a bank, by the monotonic clock of the process (decision 446). */
export type Outage = {
  /** When the first of the calls in a row was not answered. */
  since: number
  /** Until when new payments are not offered the bank. */
  restsUntil: number
}

/**
 * What all processes together know of banks (decision 405): one that answers any of them answers. It is what payers and
 * operators are shown, the same everywhere.
 */
export type Outages = {
  /** The bank's silence; undefined while it answers, as far as is known. */
  of(bankId: string): Outage | undefined
  /** When another process, or this one, had an answer; undefined where none is known. */
  answeredAt(bankId: string): number | undefined
  /** `isFirst`: since its last report this process has had answers, so that it is known to reach the bank. */
  reportSilence(bankId: string, silence: Outage & { isFirst: boolean }): void
  reportAnswer(bankId: string): void
  /** Calls back after each change that may be one of what is known. */
  onChange(listener: () => void): void
}

type Known = { since: number; at: number; restsUntil: number; answeredAt: number }

/** So soon every process knows what another one has found. */
const LOOK_AGAIN_MS = 2_000
/** While a bank answers, this is recorded so often, for all processes together. */
const ANSWER_EVERY_MS = 60_000
/** Longer than that: a process that alone can't reach a bank is not believed while others get answers. */
const UNHEARD_MS = ANSWER_EVERY_MS + 10_000
/** A silence that begins later than this after the last call without an answer is another one (banks/circuit.ts). */
export const SILENCE_GAP_MS = 600_000

const NEVER = -Infinity

/** What one process knows by itself. */
export function makeOutages(now: () => number = () => performance.now()) {
  const known = new Map<string, Known>()
  const listeners: (() => void)[] = []
  const changed = (): void => listeners.forEach((listener) => listener())
  const knownOf = (bankId: string): Known =>
    known.get(bankId) ?? { since: NEVER, at: NEVER, restsUntil: NEVER, answeredAt: NEVER }
  const isSilent = ({ at, answeredAt }: Known): boolean => at > answeredAt
  const set = (bankId: string, changes: Partial<Known>): void => {
    known.set(bankId, { ...knownOf(bankId), ...changes })
    changed()
  }
  const outages: Outages = {
    of: (bankId) => {
      const each = knownOf(bankId)
      return isSilent(each) ? { since: each.since, restsUntil: each.restsUntil } : undefined
    },
    answeredAt: (bankId) => known.get(bankId)?.answeredAt,
    reportSilence: (bankId, { since, restsUntil }) => {
      const before = knownOf(bankId)
      const goesOn = isSilent(before) && now() - before.at <= SILENCE_GAP_MS
      // The last report counts, also within the same millisecond.
      const at = Math.max(now(), before.answeredAt + 1)
      set(bankId, { since: goesOn ? Math.min(before.since, since) : since, at, restsUntil })
    },
    reportAnswer: (bankId) => set(bankId, { answeredAt: Math.max(now(), knownOf(bankId).at) }),
    onChange: (listener) => void listeners.push(listener),
  }
  const keep = (row: OutageRow): void => {
    const timeOf = (ms: number | null): number => (ms === null ? NEVER : now() + ms)
    known.set(row.bank_id, {
      since: timeOf(row.silent_since),
      at: timeOf(row.silent_at),
      restsUntil: timeOf(row.rests_until),
      answeredAt: timeOf(row.answered_at),
    })
    changed()
  }
  return { outages, keep }
}

type Parts = { pool: CommonQueryMethods; log: Logger; now?: () => number }

type Report = { isFirst: boolean; write: () => Promise<OutageRow | null> }

/** What all processes of this database know, read again every two seconds. */
export async function watchOutages({
  pool,
  log,
  now = () => performance.now(),
}: Parts): Promise<Outages & { refresh(): Promise<void>; stop(): void }> {
  const { outages, keep } = makeOutages(now)
  let isStopped = false
  let isWriting = false
  let writtenCount = 0
  /** The last report of each bank, until it is recorded: it is newer than any row. */
  const pending = new Map<string, Report>()

  async function refresh(): Promise<void> {
    const before = writtenCount
    const rows = await listOutages(pool)
    // What has been recorded meanwhile may not be in them.
    if (writtenCount === before) rows.filter((row) => !pending.has(row.bank_id)).forEach((row) => keep(row))
  }

  /** One after the other, so that an answer is never recorded before the silence that it ends. */
  async function writeReports(): Promise<void> {
    if (isWriting) return
    isWriting = true
    const failed = new Set<Report>()
    const next = () => [...pending].find(([, each]) => !failed.has(each))
    for (let found = next(); found !== undefined; found = next()) {
      const [bankId, each] = found
      try {
        const row = await ofEveryMerchant(each.write)
        writtenCount += 1
        if (pending.get(bankId) !== each) continue
        pending.delete(bankId)
        if (row !== null) keep(row)
      } catch (error) {
        failed.add(each)
        warn(error, 'whether a bank answers could not be recorded')
      }
    }
    isWriting = false
  }

  function report(bankId: string, each: Report): void {
    pending.set(bankId, each)
    void writeReports()
  }

  function warn(error: unknown, text: string): void {
    if (!isStopped) log.warn({ err: error }, text)
  }

  await refresh()
  const timer = setInterval(() => {
    void writeReports()
    refresh().catch((error: unknown) => warn(error, 'whether banks answer could not be read'))
  }, LOOK_AGAIN_MS).unref()
  return {
    ...outages,
    refresh,
    reportSilence: (bankId, silence) => {
      const { since, restsUntil } = silence
      const isFirst = silence.isFirst || pending.get(bankId)?.isFirst === true
      outages.reportSilence(bankId, silence)
      const write = async (): Promise<OutageRow | null> => {
        // As of now: an answer that comes while this waits ends the silence.
        const sinceMs = now() - since
        const unheardMs = isFirst ? sinceMs : UNHEARD_MS
        const restMs = restsUntil - now()
        const row = await putSilence(pool, { bankId, sinceMs, restMs, unheardMs, gapMs: SILENCE_GAP_MS })
        return row ?? (await listOutages(pool)).find((each) => each.bank_id === bankId) ?? null
      }
      report(bankId, { isFirst, write })
    },
    reportAnswer: (bankId) => {
      const isNews = outages.of(bankId) !== undefined
      if (!isNews && now() - (outages.answeredAt(bankId) ?? NEVER) < ANSWER_EVERY_MS) return
      outages.reportAnswer(bankId)
      report(bankId, { isFirst: false, write: () => putAnswer(pool, bankId) })
    },
    stop: () => {
      isStopped = true
      clearInterval(timer)
    },
  }
}
