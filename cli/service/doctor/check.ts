import { messageOf } from '../../base/errors.ts'
import { inTime } from '../../base/times.ts'

export type Verdict = {
  /**
   * `remark` where nothing is wrong and something could be better; `skipped` where it could not be checked: the text
   * says why.
   */
  state: 'ok' | 'remark' | 'finding' | 'skipped'
  text: string
  fix: string | null
}

export type Check = Verdict & { check: string }

export function ok(text: string): Verdict {
  return { state: 'ok', text, fix: null }
}

export function remark(text: string, fix: string): Verdict {
  return { state: 'remark', text, fix }
}

export function finding(text: string, fix: string): Verdict {
  return { state: 'finding', text, fix }
}

export function skipped(text: string): Verdict {
  return { state: 'skipped', text, fix: null }
}

const CHECK_MS = 3_000

/** Work that ends within the time of a check. @throws where it has not */
export function within<T>(work: Promise<T>, ms: number = CHECK_MS): Promise<T> {
  return inTime(work, ms, () => new Error(`no answer within ${ms / 1_000} seconds`))
}

/** Checks side by side. Each ends in time and none fails: what can't be checked is skipped, with the reason. */
export function runChecks(
  checks: Readonly<Record<string, () => Verdict | Promise<Verdict>>>,
  ms: number = CHECK_MS,
): Promise<Check[]> {
  return Promise.all(
    Object.entries(checks).map(async ([check, run]) => {
      const verdict = await within(Promise.resolve().then(run), ms).catch((error: unknown) => skipped(reasonOf(error)))
      return { check, ...verdict }
    }),
  )
}

export function reasonOf(error: unknown): string {
  const text = messageOf(error)
  return text.split('\n', 1)[0] ?? text
}

/** What restarts a service of svc up, whose worker and database are its own; otherwise what its parts ask for. */
export function restartOr({ by }: { by: string }, otherwise: string): string {
  return by === 'state directory' ? 'svc down && svc up --detach' : otherwise
}

/** Tokens and signatures are valid for minutes; more than this is no delay of an answer. */
const SKEW_MAX_MS = 5_000

export function clockVerdict(aheadMs: number, effect = ''): Verdict {
  if (Math.abs(aheadMs) <= SKEW_MAX_MS) return ok('within 5 seconds of this machine')
  const direction = aheadMs > 0 ? 'ahead of' : 'behind'
  const seconds = Math.round(Math.abs(aheadMs) / 1_000)
  return finding(`its clock is ${seconds} s ${direction} this machine${effect}`, 'timedatectl set-ntp true')
}
