import type { Answer } from './send.ts'
import type { Kit } from './kit.ts'

/** One request of a check, as it travels. */
export type Delivery = {
  method: 'POST' | 'GET' | 'HEAD' | 'PUT'
  headers: Readonly<Record<string, string>>
  /** What is sent, in one piece or in several with a pause between them; null for no body at all. */
  body: readonly Buffer[] | null
  /** What tells it from the others of its check. */
  label: string
}

/**
 * What the answers of a check are held against. `taken`: each is a 2xx within the limit. `refused`: none is a 2xx, and
 * each is a 4xx. `steady`: each is an answer, and none is a 5xx. `quick`: taken, and in half of the limit.
 */
export type Rule = 'taken' | 'refused' | 'steady' | 'quick'

/** One question of the exam. */
export type Check = {
  id: string
  title: string
  /** What is sent. */
  sends: string
  /** What a good receiver answers. */
  expects: string
  /** What to do where it does not. */
  advice: string
  /** Whether a receiver that fails it loses events, or takes what is not genuine; what only should hold is a warning. */
  must: boolean
  rule: Rule
  /** The requests: round after round, those of one round at the same time. Made anew for each exam. */
  rounds(kit: Kit): readonly (readonly Delivery[])[]
}

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
