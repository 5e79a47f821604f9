import {
  PlatformRole,
  addStaff,
  changeStaffRole,
  listStaff,
  removeStaff,
  resetStaffFactor,
  rotateRealmKeys,
} from '../../src/wire/staff.ts'
import type { StaffMember } from '../../src/wire/staff.ts'
import {
  MerchantRole,
  changeTeamRole,
  inviteTeamMember,
  listTeam,
  removeTeamMember,
  resetTeamFactor,
} from '../../src/wire/team.ts'
import type { TeamMember } from '../../src/wire/team.ts'
import type { Operation } from '../../src/wire/operation.ts'
import { call } from '../client/call.ts'
import { action, wordSubject } from '../kit/action.ts'
import type { Flag, Subject } from '../kit/action.ts'
import { reason } from '../kit/read-values.ts'
import { notFound, resolveId } from '../kit/resolve-id.ts'
import { printInvited, printMember, printOperator } from './members.ts'

type Person = { id: string; email: string }

/** @param list answers with such people */
function personIn<P extends Person>(noun: 'staff member' | 'team member', list: Operation): Subject<P> {
  return {
    noun: 'member',
    summary: 'E-mail address, id, or at least its last 8 characters',
    async find(client, given) {
      const { data: people } = (await call(client, list, {})).body as { data: P[] }
      const named = people.find(({ id, email }) => id === given || email === given.toLowerCase())
      if (named !== undefined) return { thing: named, isExact: true }
      const id = await resolveId(given, noun, async () => people.map((person) => person.id))
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

const teamMember = personIn<TeamMember>('team member', listTeam)
const staffMember = personIn<StaffMember>('staff member', listStaff)

const email = {
  value: 'address',
  summary: 'E-mail address to sign in with',
  required: true,
} as const satisfies Flag
const merchantRole = {
  value: 'role',
  summary: 'Role of the person',
  choices: MerchantRole.options,
  required: true,
} as const satisfies Flag
const platformRole = { ...merchantRole, choices: PlatformRole.options } as const satisfies Flag

const INVITE = 'Invite a person by e-mail, or resend the invitation'

const invite = action({
  command: 'team invite',
  summary: INVITE,
  details: 'An invitation that was not accepted is sent again.',
  examples: ['svc team invite --email grace@acme.example --role DEVELOPER'],
  subject: undefined,
  flags: { email, role: merchantRole },
  operation: inviteTeamMember,
  effect: (_thing, values) => `invite ${values.email} as ${values.role}`,
  done: (_thing, member) => `invited ${member.email}`,
  key: { letter: 'n', label: 'invite' },
  view: printInvited(printMember),
})

const role = action({
  command: 'team role',
  summary: "Change a team member's role",
  details: 'The last ADMIN cannot get another role.',
  examples: ['svc team role grace@acme.example FINANCE'],
  subject: teamMember,
  flags: { role: { ...merchantRole, positional: true } },
  operation: changeTeamRole,
  effect: (thing, values) => `make ${thing.email} ${values.role} in the place of ${thing.role}`,
  done: (thing, member) => `${thing.email} is ${member.role}`,
  applies: ({ is_active: isActive }) => isActive,
  key: { letter: 'c', label: 'role', needs: 'one' },
  view: printMember,
})

/** Removes a person. Repeating it repairs what the identity provider missed, and does no harm. */
const removed = { member: 'is_active', from: true, to: false } as const

const remove = action({
  command: 'team remove',
  summary: 'Remove a team member',
  details: 'Deletes the account, its sessions and its tokens. The last ADMIN cannot be removed.',
  examples: ['svc team remove grace@acme.example'],
  subject: teamMember,
  flags: {},
  operation: removeTeamMember,
  move: { ...removed, already: (thing) => `${thing.email} is removed already` },
  effect: (thing) => `remove ${thing.email}, ${thing.role}, from the team`,
  done: (thing) => `removed ${thing.email}`,
  confirm: true,
  key: { letter: 'x', label: 'remove', needs: 'one' },
  view: printMember,
})

const resetFactor = action({
  command: 'team reset-factor',
  summary: "Reset a team member's second factor",
  details: 'Removes app, passkeys and recovery codes, and ends all sessions. Your own is rejected.',
  examples: ['svc team reset-factor grace@acme.example'],
  subject: teamMember,
  flags: {},
  operation: resetTeamFactor,
  effect: (thing) => `remove the second factor of ${thing.email} and end all sessions`,
  done: (thing) => `reset the second factor of ${thing.email}`,
  confirm: true,
  applies: ({ is_active: isActive }) => isActive,
  key: { letter: 'F', label: 'reset factor', needs: 'one' },
  view: printMember,
})

const inviteStaff = action({
  command: 'staff invite',
  summary: INVITE,
  examples: ['svc staff invite --email ada@pay.example --role OPS --name "Ada Lovelace" --reason "joins the team"'],
  subject: undefined,
  flags: {
    email,
    role: platformRole,
    name: { value: 'name', summary: 'Name in the audit trail', member: 'display_name' },
    reason,
  },
  operation: addStaff,
  effect: (_thing, values) => `invite ${values.email} as ${values.role}`,
  done: (_thing, member) => `invited ${member.email}`,
  key: { letter: 'n', label: 'invite' },
  view: printInvited(printOperator),
})

const staffRole = action({
  command: 'staff role',
  summary: "Change a staff member's role",
  details: 'The last OWNER cannot get another role.',
  examples: ['svc staff role ada@pay.example OWNER --reason "leads the team now"'],
  subject: staffMember,
  flags: { role: { ...platformRole, positional: true }, reason },
  operation: changeStaffRole,
  effect: (thing, values) => `make ${thing.email} ${values.role} in the place of ${thing.role}`,
  done: (thing, member) => `${thing.email} is ${member.role}`,
  confirm: (values, thing) => values.role !== thing.role,
  applies: ({ is_active: isActive }) => isActive,
  key: { letter: 'c', label: 'role', needs: 'one' },
  view: printOperator,
})

const removeOperator = action({
  command: 'staff remove',
  summary: 'Remove a staff member',
  details: 'Deletes the account, its sessions and its tokens. The last OWNER cannot be removed.',
  examples: ['svc staff remove ada@pay.example --reason "has left"'],
  subject: staffMember,
  flags: { reason },
  operation: removeStaff,
  move: { ...removed, already: (thing) => `${thing.email} is removed already` },
  effect: (thing) => `remove ${thing.email}, ${thing.role}, from the staff`,
  done: (thing) => `removed ${thing.email}`,
  confirm: true,
  key: { letter: 'x', label: 'remove', needs: 'one' },
  view: printOperator,
})

const resetOperatorFactor = action({
  command: 'staff reset-factor',
  summary: "Reset a staff member's second factor",
  details: 'Removes app, passkeys and recovery codes, and ends all sessions. Your own is rejected.',
  examples: ['svc staff reset-factor ada@pay.example --reason "lost the phone, called by video"'],
  subject: staffMember,
  flags: { reason },
  operation: resetStaffFactor,
  effect: (thing) => `remove the second factor of ${thing.email} and end all sessions`,
  done: (thing) => `reset the second factor of ${thing.email}`,
  confirm: true,
  applies: ({ is_active: isActive }) => isActive,
  key: { letter: 'F', label: 'reset factor', needs: 'one' },
  view: printOperator,
})

/** A realm by its name; whether there is one, the service says. */
const realm = wordSubject('realm', 'Realm: platform, customers, or that of a merchant')

const rotateKeys = action({
  command: 'staff rotate-keys',
  summary: 'Rotate the token signing key of a realm',
  details:
    'New tokens are signed with the new key. Older tokens are accepted until they expire. With --revoke-now they are rejected within ten seconds, and programs and people of the realm get new ones.',
  examples: [
    'svc staff rotate-keys acme-ltd --reason "a backup was lost"',
    'svc staff rotate-keys acme-ltd --revoke-now --reason "the key was stolen"',
  ],
  subject: realm,
  flags: { revokeNow: { summary: 'Reject all tokens of the old keys, for a stolen key' }, reason },
  operation: rotateRealmKeys,
  effect: ({ word: slug }, { revokeNow }) =>
    `sign the tokens of ${slug} with a new key${revokeNow === true ? ' and reject all that the old keys signed' : ''}`,
  done: ({ word: slug }) => `gave ${slug} a new key`,
  confirm: true,
  view({ print }, rotated) {
    print.record(rotated, [
      ['Realm', rotated.realm],
      ['Keys', rotated.key_ids.join(', ')],
    ])
  },
})

export const TEAM_ACTIONS = [invite, role, remove, resetFactor] as const
export const STAFF_ACTIONS = [inviteStaff, staffRole, removeOperator, resetOperatorFactor, rotateKeys] as const
