import { usageError } from '../base/errors.ts'
import { notFound, resolveId } from '../kit/resolve-id.ts'
import type { Noun } from '../kit/resolve-id.ts'

type Person = { id: string; email: string }

/** Someone of a list, and whether the words that named the person can mean no other. */
export type FoundPerson<P> = { person: P; isExact: boolean }

/**
 * Whom the first argument means: by e-mail address, by id, or by 8 characters or more of the id's beginning or end.
 * @throws {CliError} when there is nobody, or more than one
 */
export async function findPerson<P extends Person>(
  people: readonly P[],
  noun: Extract<Noun, 'staff member' | 'team member'>,
  args: readonly string[],
): Promise<FoundPerson<P>> {
  const [given] = args
  if (given === undefined)
    throw usageError(
      'who? An e-mail address or id is missing',
      noun === 'staff member' ? 'svc staff list' : 'svc team list',
    )
  const named = people.find(({ id, email }) => id === given || email === given.toLowerCase())
  if (named !== undefined) return { person: named, isExact: true }
  const id = await resolveId(given, noun, async function* ids() {
    for (const person of people) yield person.id
  })
  const person = people.find((each) => each.id === id)
  if (person === undefined) throw notFound(given, noun)
  return { person, isExact: false }
}
