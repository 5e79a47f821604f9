import type { App } from '../app.ts'

/** `second_factor`: null where the identity provider does not say it. */
type WithFactor<Person> = Person & { second_factor: boolean | null }

/** People of a realm, each with whether it has a second factor. */
export async function withFactors<Person>(
  { identity }: Pick<App, 'identity'>,
  realm: string | null,
  { people, idOf }: { people: readonly Person[]; idOf(person: Person): string },
): Promise<WithFactor<Person>[]> {
  const having = realm === null ? undefined : await identity.usersWithFactor?.(realm, people.map(idOf))
  return people.map((person) => ({ ...person, second_factor: having?.has(idOf(person)) ?? null }))
}
