import { listStaff } from '../../../src/wire/staff.ts'
import type { ListedStaffMember } from '../../../src/wire/staff.ts'
import { listTeam } from '../../../src/wire/team.ts'
import type { ListedTeamMember } from '../../../src/wire/team.ts'
import { shortTime } from '../../base/text.ts'
import type { Who } from '../../client/auth/acting-side.ts'
import { call } from '../../client/call.ts'
import { STAFF_ACTIONS, TEAM_ACTIONS } from '../../team/actions.ts'
import { STAFF_COLUMNS, TEAM_COLUMNS, factorText } from '../../team/members.ts'
import { actionKeys } from '../action-key.ts'
import { EMPTY_LINE, line } from '../lines.ts'
import type { Line } from '../lines.ts'
import { screen } from '../screen.ts'
import type { Hint, Resource } from '../screen.ts'

/* The people of the platform, and those of a merchant: who may do what, and who has a second factor. */

type Person = ListedStaffMember | ListedTeamMember

const SHARED = { key: '7', group: 'People', short: 'People' } as const

// People accept invitations and set up a factor without an event.
const OLD_MS = 20_000
const refreshing: Pick<Resource<unknown>, 'isDirty' | 'isOld'> = {
  isDirty: (hint: Hint) => 'of' in hint && hint.of.includes('audit'),
  isOld: (_rows, { readAt, now }) => now - readAt > OLD_MS,
}

export const staff = screen<ListedStaffMember>({
  ...SHARED,
  name: 'staff',
  title: 'Staff',
  reads: ['administer platform'],
  list: {
    read: async ({ client }) => ({ rows: (await call(client, listStaff, {})).body.data, next: null }),
    ...refreshing,
  },
  id: ({ id }) => id,
  head: (rows, { who }) => ownFactor(rows, who),
  columns: () => STAFF_COLUMNS,
  empty: 'There are no staff members.',
  open: (row, { show }) => show(row.display_name, linesOf(row)),
  keys: actionKeys<ListedStaffMember, ListedStaffMember>(STAFF_ACTIONS, {
    get: (row) => row,
    set: (row, member) => ({ ...row, ...member }),
  }),
})

export const team = screen<ListedTeamMember>({
  ...SHARED,
  name: 'team',
  title: 'Team',
  reads: ['manage team'],
  list: {
    read: async ({ client }) => ({ rows: (await call(client, listTeam, {})).body.data, next: null }),
    ...refreshing,
  },
  id: ({ id }) => id,
  head: (rows, { who }) => ownFactor(rows, who),
  columns: () => TEAM_COLUMNS,
  empty: 'There are no team members.',
  open: (row, { show }) => show(row.email, linesOf(row)),
  keys: actionKeys<ListedTeamMember, ListedTeamMember>(TEAM_ACTIONS, {
    get: (row) => row,
    set: (row, member) => ({ ...row, ...member }),
  }),
})

function subjectOf(person: Person): string {
  return 'keycloak_user_id' in person ? person.keycloak_user_id : person.id
}

/** The viewer's own factor; programs have none, and some providers don't report it. */
function ownFactor(rows: readonly Person[], { subject }: Who): Line[] {
  const own = rows.find((row) => subjectOf(row) === subject)
  if (own === undefined || own.second_factor === null) return []
  const text = own.second_factor
    ? ' You have a second factor; to change it: svc login --second-factor'
    : ' You have no second factor; to set one up: svc login --second-factor'
  return [line(text, own.second_factor ? 'dim' : 'warn'), EMPTY_LINE]
}

function linesOf(person: Person): string[] {
  return [
    `${person.email}, ${person.role}${person.is_active ? '' : ', removed'}`,
    `Second factor: ${factorText(person)}`,
    '',
    'last_seen_at' in person
      ? `Last seen: ${shortTime(person.last_seen_at) || 'never'}`
      : `Invited ${shortTime(person.created_at)} by ${person.invited_by}`,
  ]
}
