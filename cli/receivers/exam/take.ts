import { makeIds } from '../../../src/lib/ids.ts'
import { CliError, usageError } from '../../base/errors.ts'
import { nearestWord } from '../../base/nearest-word.ts'
import { ATTEMPT_MS, makeSender } from '../send.ts'
import type { Sender, SenderOptions, Answer } from '../send.ts'
import { FORGERIES } from './checks/forgeries.ts'
import { GENUINE, GOOD, QUICK } from './checks/genuine.ts'
import type { Check, Kit } from './kit.ts'

/** The whole exam, in its order. The good delivery comes first: without it the others say little. */
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

export type Result = Pick<Check, 'id' | 'sends' | 'expects'> &
  Pick<CheckResult, 'verdict' | 'saw' | 'advice'> & { slowest_ms: number | null }

export type Report = {
  url: string
  passed: boolean
  counts: Readonly<Record<Verdict, number>>
  checks: readonly Result[]
}

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
    for (const check of checks) {
      const [good] = results
      const isProving = good === undefined || good.verdict === 'passed'
      const answers = isProving ? await answersTo(check.rounds(kit), sender) : []
      const seen = isProving ? judge(check, answers, limitMs) : SKIPPED
      const [first] = answers
      if (check === GOOD && first?.answer.end === 'unreachable') throw unreachable(url, seen.saw)
      results.push(resultOf(check, check === GOOD ? withSecretHint(seen, first, secret) : seen))
    }
  } finally {
    await sender.close()
  }
  const counts = { passed: 0, warning: 0, failed: 0, skipped: 0 }
  for (const { verdict } of results) counts[verdict] += 1
  return { url: url.href, passed: counts.failed === 0, counts, checks: results }
}

/** Without the good delivery the others prove nothing. */
const SKIPPED: CheckResult = {
  verdict: 'skipped',
  saw: 'not sent: the good delivery failed',
  advice: null,
  slowestMs: null,
}

async function answersTo(rounds: ReturnType<Check['rounds']>, sender: Sender): Promise<Answered[]> {
  const answers: Answered[] = []
  for (const round of rounds)
    answers.push(
      ...(await Promise.all(round.map(async (each) => ({ label: each.label, answer: await sender.send(each) })))),
    )
  return answers
}

function withSecretHint(seen: CheckResult, answered: Answered | undefined, secret: string): CheckResult {
  const status = answered?.answer.status
  if (status !== 401 && status !== 403) return seen
  const ending = secret.slice(-4)
  const advice = `Does your server hold the secret ending in ${ending}, and compute the HMAC over the bytes as they arrive?`
  return { ...seen, advice }
}

function resultOf({ id, sends, expects }: Check, { verdict, saw, advice, slowestMs }: CheckResult): Result {
  return { id, verdict, saw, advice, sends, expects, slowest_ms: slowestMs }
}

function unreachable(url: URL, reason: string): CliError {
  return new CliError('RECEIVER_UNREACHABLE', `${url.href} can't be examined: ${reason}`, {
    hint: 'start your receiver first, or give the address that it listens on',
    retryable: true,
  })
}

export type Verdict = 'passed' | 'warning' | 'failed' | 'skipped'

type Answered = { label: string; answer: Answer }

type CheckResult = {
  verdict: Verdict
  saw: string
  /** What to do about it; null where nothing is to be done. */
  advice: string | null
  /** How long the slowest answer took, in milliseconds; null where nothing was sent. */
  slowestMs: number | null
}

type Problem = Pick<CheckResult, 'verdict' | 'advice'> & { answered: Answered }

export function judge(check: Check, answers: readonly Answered[], limitMs: number): CheckResult {
  const slowestMs = Math.max(0, ...answers.map(({ answer }) => answer.durationMs))
  const problem = worst(answers.flatMap((answered) => problemOf(check, answered, limitMs) ?? []))
  if (problem === undefined)
    return { verdict: 'passed', saw: goodText(check, answers, slowestMs), advice: null, slowestMs }
  const { verdict, advice, answered } = problem
  const label = answers.length > 1 ? `${answered.label}: ` : ''
  return { verdict, saw: `${label}${answerText(check, answered.answer)}`, advice, slowestMs }
}

function worst(problems: readonly Problem[]): Problem | undefined {
  return problems.find(({ verdict }) => verdict === 'failed') ?? problems[0]
}

function problemOf(check: Check, answered: Answered, limitMs: number): Problem | undefined {
  const { answer } = answered
  const { advice, rule } = check
  const bad = { verdict: 'failed', advice, answered } as const
  switch (rule) {
    case 'taken':
      return isTaken(answer) ? undefined : { ...bad, advice: adviceOnAnswer(answer) ?? advice }
    case 'quick':
      if (!isTaken(answer)) return bad
      return answer.durationMs > limitMs / 2 ? { verdict: 'warning', advice, answered } : undefined
    case 'refused':
      if (isTaken(answer) || answer.end === 'late') return bad
      return isRefused(answer) ? undefined : { verdict: 'warning', advice: NO_REFUSAL, answered }
  }
}

const NO_REFUSAL =
  'Answer 401 to what is not genuine. This answer looks like a failure of your own, which alarms you for nothing.'

function adviceOnAnswer({ end, status }: Answer): string | undefined {
  if (end === 'late') return 'Answer first and do the work afterwards: after 5 seconds a delivery counts as failed.'
  if (status !== null && status >= 300 && status < 400)
    return 'Redirects are not followed: give the last address itself.'
  if (status === 404 || status === 405) return 'Is this the right address? It has to take POST.'
  return undefined
}

function isTaken({ status }: Answer): boolean {
  return status !== null && status >= 200 && status < 300
}

function isRefused({ status }: Answer): boolean {
  return status !== null && status >= 400 && status < 500 && status !== 429
}

function goodText({ rule }: Check, answers: readonly Answered[], slowestMs: number): string {
  const statuses = [...new Set(answers.map(({ answer }) => answer.status))].join(', ')
  return rule === 'quick' ? `answered ${statuses}, in at most ${slowestMs} ms` : `answered ${statuses}`
}

/** A refusal's own words say why; of an answer that should have been none they say nothing. */
function answerText({ rule }: Check, { status, reason, durationMs }: Answer): string {
  if (status === null) return reason ?? 'no answer'
  if (rule === 'quick' && reason === undefined) return `answered ${status} after ${durationMs} ms`
  const why = reason === undefined || reason === 'the status is not 2xx' ? '' : `: ${reason}`
  return `answered ${status}${why}`
}
