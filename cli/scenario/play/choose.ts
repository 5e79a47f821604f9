import { seededRandom } from '../../../src/lib/seeded-random.ts'
import { usageError } from '../../base/errors.ts'
import type { Case } from '../read/read-scenarios.ts'

/**
 * The cases that bear one of the tags; all of them where none is asked for.
 * @throws {CliError} with exit code 2 when there is none
 */
export function taggedCases(cases: readonly Case[], tags: readonly string[]): Case[] {
  if (tags.length === 0) return [...cases]
  const found = cases.filter((each) => each.tags.some((tag) => tags.includes(tag)))
  if (found.length > 0) return found
  const known = [...new Set(cases.flatMap((each) => each.tags))].toSorted()
  throw usageError(
    `--tag: no case bears ${tags.map((tag) => `"${tag}"`).join(' or ')}; ${known.length === 0 ? 'they bear none' : `there are ${known.join(', ')}`}`,
    known[0] === undefined ? 'tags: [smoke] above the steps' : `--tag ${known[0]}`,
  )
}

/** The cases in an order that follows from the seed alone (Fisher and Yates), or as they are where there is none. */
export function shuffledCases(cases: readonly Case[], seed: string | undefined): Case[] {
  const left = [...cases]
  if (seed === undefined) return left
  const random = seededRandom(`order of cases\n${seed}`)
  const shuffled: Case[] = []
  while (left.length > 0) shuffled.push(...left.splice(random.below(left.length), 1))
  return shuffled
}
