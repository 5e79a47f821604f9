/** What was looked at, and what to do about it. */
export type Check = Verdict & { check: string }

/** What a check comes to. */
export type Verdict = {
  /** `remark` where something could be better and nothing is wrong; `skipped` where it could not be looked at: the reason is told. */
  state: 'ok' | 'remark' | 'finding' | 'skipped'
  text: string
  /** A command to type; null where nothing is to be done. */
  fix: string | null
}

export function ok(text: string): Verdict {
  return { state: 'ok', text, fix: null }
}

/** What is worth knowing, and no finding: with it alone everything is well. */
export function remark(text: string, fix: string): Verdict {
  return { state: 'remark', text, fix }
}

export function finding(text: string, fix: string): Verdict {
  return { state: 'finding', text, fix }
}

export function skipped(text: string): Verdict {
  return { state: 'skipped', text, fix: null }
}

/** What a check may take; one that has no answer by then says so, and the others don't wait for it. */
const CHECK_MS = 3_000

/** Work that ends within the time of a check. @throws where it has not */
export async function within<T>(work: Promise<T>, ms: number = CHECK_MS): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${ms / 1_000} seconds`)), ms)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** One check, which ends in time and never fails: what can't be looked at is told with its reason. */
export async function runCheck(check: string, work: () => Verdict | Promise<Verdict>): Promise<Check> {
  const verdict = await within(Promise.resolve().then(work)).catch((error: unknown) => skipped(reasonOf(error)))
  return { check, ...verdict }
}

/** An error in one line. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n', 1)[0] ?? text
}

/** What brings back a service of svc up, whose worker and database are its own; otherwise what its parts ask for. */
export function restartOr({ by }: { by: string }, otherwise: string): string {
  return by === 'state directory' ? 'svc down && svc up --detach' : otherwise
}

/** Tokens and signatures count for minutes; more than this is no delay of an answer. */
const SKEW_MAX_MS = 5_000

/** How far another clock is ahead of ours; a machine's own, but for what follows from it. */
export function clockVerdict(aheadMs: number, whose = 'this machine', effect = ''): Verdict {
  if (Math.abs(aheadMs) <= SKEW_MAX_MS) return ok(`within 5 seconds of ${whose}`)
  const seconds = Math.round(Math.abs(aheadMs) / 1_000)
  return finding(
    `it is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} ${whose}${effect}`,
    'timedatectl set-ntp true',
  )
}
