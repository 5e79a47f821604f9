import { skipped } from './check.ts'
import type { Check } from './check.ts'

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
export async function runCheck(check: string, work: () => Check | Promise<Check>): Promise<Check> {
  try {
    return await within(Promise.resolve().then(work))
  } catch (error) {
    return skipped(check, reasonOf(error))
  }
}

/** An error in one line. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n', 1)[0] ?? text
}
