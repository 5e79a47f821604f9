import type { Check } from './check.ts'
import { CONDUCT } from './checks/conduct.ts'
import { FORGERIES } from './checks/forgeries.ts'
import { GENUINE, GOOD } from './checks/genuine.ts'
import { usageError } from '../../base/errors.ts'
import { nearestWord } from '../../base/nearest-word.ts'

/** The whole exam, in its order. The good delivery comes first: without it the others tell little. */
export const CHECKS: readonly Check[] = [GOOD, ...GENUINE, ...FORGERIES, ...CONDUCT]

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
