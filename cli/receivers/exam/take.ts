import { makeIds } from '../../../src/lib/ids.ts'
import { CliError, usageError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { nearestWord } from '../../base/nearest-word.ts'
import { ATTEMPT_MS, makeSender } from '../send.ts'
import type { Sender, SenderOptions } from '../send.ts'
import { FORGERIES } from './checks/forgeries.ts'
import { GENUINE, GOOD, QUICK } from './checks/genuine.ts'
import { VERDICTS, adviceOnGood, judge } from './judge.ts'
import type { Answered, Seen, Verdict } from './judge.ts'
import type { Check, Kit } from './kit.ts'

/** The whole exam, in its order. The good delivery comes first: without it the others tell little. */
export const CHECKS: readonly Check[] = [GOOD, ...GENUINE, ...FORGERIES, ...QUICK]

/**
 * The checks of these ids, separated by commas, in the exam's order, and the good delivery always.
 * @throws {CliError} exit code 2 where there is none of such an id
 */
export function checksOf(only: readonly string[]): readonly Check[] {
  if (only.length === 0) return CHECKS
  const wanted = new Set(only.flatMap((text) => text.split(',')).map((text) => text.trim()))
  const known = CHECKS.map(({ id }) => id)
  for (const id of wanted) {
    if (known.includes(id)) continue
    const near = nearestWord(id, known)
    throw usageError(
      `--only: there is no check "${id}"${near === undefined ? '' : `; is ${near} meant?`}`,
      'svc webhooks exam --list',
    )
  }
  return CHECKS.filter((check) => check === GOOD || wanted.has(check.id))
}

/** A check with what it came to, as programs read it. */
export type Result = Pick<Check, 'id' | 'sends' | 'expects'> &
  Pick<Seen, 'verdict' | 'saw' | 'advice'> & { slowest_ms: number | null }

export type Report = {
  url: string
  /** Whether all that must hold does. */
  passed: boolean
  /** Of a hundred: how many of the checks passed, rounded down; at most 30 where a forgery was taken. */
  score: number
  counts: Readonly<Record<Verdict, number>>
  checks: readonly Result[]
}

/** What is left of the score of a receiver that takes a forgery. */
const FORGED_SCORE_MAX = 30

export type ExamOptions = Pick<SenderOptions, 'url' | 'headers' | 'skipVerify'> &
  Pick<SenderOptions, 'limitMs'> & { secret: string; checks: readonly Check[] }

/**
 * Sends a receiver what may come, one check after the other, and holds its answers against what they should be.
 * @throws {CliError} exit code 8 where nothing listens at the address
 */
export async function takeExam(options: ExamOptions): Promise<Report> {
  const { url, secret, checks, limitMs = ATTEMPT_MS } = options
  const sender = makeSender({ ...options, limitMs })
  const kit: Kit = { secret, ids: makeIds() }
  const results: Result[] = []
  try {
    let good: GoodIs = 'taken'
    for (const check of checks) {
      const { seen, answers } = await sit({ check, kit, sender, limitMs, good })
      if (check !== GOOD) results.push(resultOf(check, seen))
      else {
        const [first] = answers
        if (first?.answer.end === 'unreachable') throw unreachable(url, seen.saw)
        good = goodIs(first)
        results.push(resultOf(check, withAdvice(seen, first, secret)))
      }
    }
  } finally {
    await sender.close()
  }
  return reportOf(url, results)
}

/** What became of the good delivery, which decides what the others can tell. */
type GoodIs = 'taken' | 'refused' | 'unanswered'

function goodIs(answered: Answered | undefined): GoodIs {
  const status = answered?.answer.status ?? null
  if (status === null) return 'unanswered'
  return status >= 200 && status < 300 ? 'taken' : 'refused'
}

function withAdvice(seen: Seen, answered: Answered | undefined, secret: string): Seen {
  if (seen.verdict === 'passed' || answered === undefined) return seen
  return { ...seen, advice: adviceOnGood(GOOD, answered.answer, secret.slice(-4)) }
}

type Sitting = { check: Check; kit: Kit; sender: Sender; limitMs: number; good: GoodIs }

async function sit({ check, kit, sender, limitMs, good }: Sitting): Promise<{ seen: Seen; answers: Answered[] }> {
  const { rule } = check
  const needsGood = rule === 'taken' || rule === 'quick'
  if (good === 'unanswered' || (good === 'refused' && needsGood))
    return skipped('not sent: the good delivery is not taken')
  const answers: Answered[] = []
  for (const round of check.rounds(kit))
    answers.push(...(await Promise.all(round.map((each) => answered(sender, each)))))
  const seen = judge(check, answers, limitMs)
  // What refuses everything is not careful.
  if (good === 'refused' && rule === 'refused' && seen.verdict !== 'failed')
    return skipped('refused, as the good delivery is')
  return { seen, answers }
}

async function answered(sender: Sender, delivery: Parameters<Sender['send']>[0]): Promise<Answered> {
  return { label: delivery.label, answer: await sender.send(delivery) }
}

function skipped(saw: string): { seen: Seen; answers: Answered[] } {
  return { seen: { verdict: 'skipped', saw, advice: null, slowestMs: null }, answers: [] }
}

function resultOf({ id, sends, expects }: Check, { verdict, saw, advice, slowestMs }: Seen): Result {
  return { id, verdict, saw, advice, sends, expects, slowest_ms: slowestMs }
}

function reportOf(url: URL, checks: readonly Result[]): Report {
  const count = (verdict: Verdict): number => checks.filter((check) => check.verdict === verdict).length
  const counts = { passed: 0, warning: 0, failed: 0, skipped: 0 }
  for (const verdict of VERDICTS) counts[verdict] = count(verdict)
  const share = Math.floor((100 * counts.passed) / checks.length)
  const score = checks.some(takesForgery) ? Math.min(share, FORGED_SCORE_MAX) : share
  return { url: url.href, passed: counts.failed === 0, score, counts, checks }
}

/** Who takes one forgery takes orders from anybody, however well all else goes. */
function takesForgery({ id, verdict }: Result): boolean {
  return verdict === 'failed' && FORGERIES.some((check) => check.id === id)
}

function unreachable(url: URL, reason: string): CliError {
  return new CliError('RECEIVER_UNREACHABLE', `${url.href} can't be examined: ${reason}`, {
    exit: EXIT.network,
    hint: 'start your receiver first, or give the address that it listens on',
    retryable: true,
  })
}
