import { listStaff } from '../../../src/wire/staff.ts'
import type { ListedStaffMember } from '../../../src/wire/staff.ts'
import { listTeam } from '../../../src/wire/team.ts'
import type { ListedTeamMember } from '../../../src/wire/team.ts'
import { shortTime } from '../../base/text.ts'
import type { Who } from '../../client/auth/acting-side.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import type { AnyAction } from '../../kit/action.ts'
import { STAFF_ACTIONS, TEAM_ACTIONS } from '../../team/actions.ts'
import { STAFF_COLUMNS, TEAM_COLUMNS, factorText } from '../../team/members.ts'
import { actionKeys } from '../action-key.ts'
import { EMPTY_LINE, line } from '../lines.ts'
import type { Line } from '../lines.ts'
import { screen } from '../screen.ts'
import type { Hint, Resource, Screen } from '../screen.ts'

/* The people of the platform, and those of a merchant: who may do what, and who has a second factor. */

type Person = ListedStaffMember | ListedTeamMember

const SHARED = { key: '7', group: 'People', short: 'People' } as const

// People accept invitations and set up a factor without an event.
const OLD_MS = 20_000
const refreshing: Pick<Resource<unknown>, 'isDirty' | 'isOld'> = {
  isDirty: (hint: Hint) => 'of' in hint && hint.of.includes('audit'),
  isOld: (_rows, { readAt, now }) => now - readAt > OLD_MS,
}

type Own<Row> = Pick<Screen<Row>, 'name' | 'title' | 'reads' | 'columns' | 'empty' | 'open'> & {
  read(client: Client): Promise<readonly Row[]>
  actions: readonly AnyAction[]
}

function peopleScreen<Row extends Person>({ read, actions, ...own }: Own<Row>) {
  return screen<Row>({
    ...SHARED,
    ...own,
    list: { read: async ({ client }) => ({ rows: await read(client), next: null }), ...refreshing },
    id: ({ id }) => id,
    head: (rows, { who }) => ownFactor(rows, who),
    keys: actionKeys<Row, Row>(actions, { get: (row) => row, set: (row, member) => ({ ...row, ...member }) }),
  })
}

export const staff = peopleScreen<ListedStaffMember>({
  name: 'staff',
  title: 'Staff',
  reads: ['administer platform'],
  read: async (client) => (await call(client, listStaff, {})).body.data,
  columns: () => STAFF_COLUMNS,
  empty: 'There are no staff members.',
  open: (row, { show }) => show(row.display_name, linesOf(row)),
  actions: STAFF_ACTIONS,
})

export const team = peopleScreen<ListedTeamMember>({
  name: 'team',
  title: 'Team',
  reads: ['manage team'],
  read: async (client) => (await call(client, listTeam, {})).body.data,
  columns: () => TEAM_COLUMNS,
  empty: 'There are no team members.',
  open: (row, { show }) => show(row.email, linesOf(row)),
  actions: TEAM_ACTIONS,
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
