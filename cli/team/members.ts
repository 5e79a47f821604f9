import { ListedStaffMember, listStaff } from '../../src/wire/staff.ts'
import { ListedTeamMember, listTeam } from '../../src/wire/team.ts'
import type { StaffMember } from '../../src/wire/staff.ts'
import type { TeamMember } from '../../src/wire/team.ts'
import type { Style } from '../base/io.ts'
import { dayOf, endOfId, shortTime } from '../base/text.ts'
import { reading } from '../kit/reading.ts'
import type { Context } from '../kit/context.ts'
import { noteInvitation } from '../kit/new-secret.ts'
import { stylesOf } from '../output/table.ts'
import type { Column } from '../output/table.ts'

const stateStyle = stylesOf({ removed: 'red', invited: 'yellow' }, 'green')

export function factorText({ second_factor: factor }: Pick<ListedTeamMember, 'second_factor'>): string {
  return factor === null ? 'unknown' : factor ? 'yes' : 'no'
}

const FACTOR = {
  title: '2nd factor',
  value: factorText,
  style: (text: string): Style | undefined => (text === 'no' ? 'yellow' : undefined),
  dropped: 3,
}

export const TEAM_COLUMNS: readonly Column<ListedTeamMember>[] = [
  { title: 'id', value: (row) => row.id, short: endOfId },
  { title: 'e-mail', value: (row) => row.email },
  { title: 'role', value: (row) => row.role },
  { title: 'state', value: stateOf, style: stateStyle },
  FACTOR,
  { title: 'invited by', value: (row) => row.invited_by, dropped: 1, least: 12 },
  { title: 'invited', value: (row) => shortTime(row.created_at), short: dayOf, dropped: 2 },
]

export const STAFF_COLUMNS: readonly Column<ListedStaffMember>[] = [
  { title: 'id', value: (row) => row.id, short: endOfId },
  { title: 'e-mail', value: (row) => row.email },
  { title: 'name', value: (row) => row.display_name, dropped: 2, least: 12 },
  { title: 'role', value: (row) => row.role },
  { title: 'state', value: stateOf, style: stateStyle },
  FACTOR,
  { title: 'last seen', value: (row) => shortTime(row.last_seen_at) || 'never', short: dayOf, dropped: 1 },
]

export const listMembers = reading({
  command: 'team list',
  summary: 'List team members and pending invitations',
  examples: ['svc team list'],
  flags: {},
  operation: listTeam,
  view: { fields: ListedTeamMember, columns: TEAM_COLUMNS, empty: 'No members.' },
})

export const listOperators = reading({
  command: 'staff list',
  summary: 'List staff members',
  examples: ['svc staff list'],
  flags: {},
  operation: listStaff,
  view: { fields: ListedStaffMember, columns: STAFF_COLUMNS, empty: 'No members.' },
})

/** An operator who was never seen has yet to take the invitation; of a team member the service does not report it. */
function stateOf(member: TeamMember | StaffMember): string {
  if (!member.is_active) return 'removed'
  return 'last_seen_at' in member && member.last_seen_at === null ? 'invited' : 'active'
}

export function printMember({ print }: Context, member: TeamMember): void {
  print.record(member, [
    ['Team member', member.id],
    ['E-mail', member.email],
    ['Role', member.role],
    ['State', stateOf(member)],
    ['Invited by', member.invited_by],
    ['Invited', shortTime(member.created_at)],
  ])
}

export function printOperator({ print }: Context, member: StaffMember): void {
  print.record(member, [
    ['Staff member', member.id],
    ['E-mail', member.email],
    ['Name', member.display_name],
    ['Role', member.role],
    ['State', stateOf(member)],
    ['Last seen', shortTime(member.last_seen_at) || 'never'],
  ])
}

/** The same for whom it has invited: how to open the invitation. */
export function printInvited<M extends { email: string }>(
  print: (context: Context, member: M) => void,
): (context: Context, member: M) => Promise<void> {
  return async (context, member) => {
    print(context, member)
    await noteInvitation(context, context.client(), member)
  }
}
