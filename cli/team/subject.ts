import type { StaffMember } from '../../src/wire/staff.ts'
import type { TeamMember } from '../../src/wire/team.ts'
import type { Client } from '../client/call.ts'
import type { Subject } from '../kit/action.ts'

/** Somebody who works for a merchant or for the platform. */
type Person = { id: string; email: string }

function personIn<P extends Person>(
  noun: 'staff member' | 'team member',
  listOf: (client: Client) => Promise<readonly P[]>,
): Subject<P> {
  return {
    noun: 'member',
    summary: 'E-mail address, id, or at least its last 8 characters',
    async find(client, given) {
      const people = await listOf(client)
      const named = people.find(({ id, email }) => id === given || email === given.toLowerCase())
      if (named !== undefined) return { thing: named, isExact: true }
      const { notFound, resolveId } = await import('../kit/resolve-id.ts')
      const id = await resolveId(given, noun, async function* ids() {
        for (const person of people) yield person.id
      })
      const thing = people.find((each) => each.id === id)
      if (thing === undefined) throw notFound(given, noun)
      return { thing, isExact: false }
    },
    id: ({ id }) => id,
    name: ({ email }) => email,
    handle: ({ email }) => email,
    confirmBy: ({ email }) => [email],
  }
}

/** A member of the merchant's team. */
export const teamMember = personIn<TeamMember>('team member', async (client) => {
  const { teamOf } = await import('./members.ts')
  return teamOf(client)
})

/** An operator of the platform. */
export const staffMember = personIn<StaffMember>('staff member', async (client) => {
  const { staffOf } = await import('./members.ts')
  return staffOf(client)
})
