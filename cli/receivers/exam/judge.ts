import type { Answer } from '../send.ts'
import type { Check } from './kit.ts'

export const VERDICTS = ['passed', 'warning', 'failed', 'skipped'] as const
export type Verdict = (typeof VERDICTS)[number]

export type Answered = { label: string; answer: Answer }

/** What a check came to. */
export type Seen = {
  verdict: Verdict
  /** What was answered, for people. */
  saw: string
  /** What to do about it; null where nothing is to be done. */
  advice: string | null
  /** How long the slowest answer took, in milliseconds; null where nothing was sent. */
  slowestMs: number | null
}

const FORBIDDEN = new Set([401, 403])

type Problem = Pick<Seen, 'verdict' | 'advice'> & { answered: Answered }

/** Holds the answers of a check against its rule. */
export function judge(check: Check, answers: readonly Answered[], limitMs: number): Seen {
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

/** What some answers ask for, whatever was sent. */
function adviceOnAnswer({ end, status }: Answer): string | undefined {
  if (end === 'late') return 'Answer first and do the work afterwards: after 5 seconds a delivery counts as failed.'
  if (status !== null && status >= 300 && status < 400)
    return 'Redirects are not followed: give the last address itself.'
  if (status === 404 || status === 405) return 'Is this the right address? It has to take POST.'
  return undefined
}

/** What to do where the good delivery itself is not taken; `ending` is the end of the secret that it was signed with. */
export function adviceOnGood(check: Check, answer: Answer, ending: string): string {
  if (answer.status !== null && FORBIDDEN.has(answer.status))
    return `Does your server hold the secret ending in ${ending}, and compute the HMAC over the bytes as they arrive?`
  return adviceOnAnswer(answer) ?? check.advice
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
  const why = reason === undefined || reason === 'the answer is no 2xx' ? '' : `: ${reason}`
  return `answered ${status}${why}`
}
