import { z } from 'zod'
import {
  MerchantRole,
  TeamMember,
  changeTeamRole,
  inviteTeamMember,
  listTeam,
  removeTeamMember,
} from '../../src/wire/team.ts'
import { ChangeOptions, change } from '../kit/change.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { findPerson } from './find-person.ts'
import type { Style } from '../base/io.ts'
import { noteInvitation } from '../kit/invitation.ts'
import { dayOf, endOfId, shortTime } from '../base/text.ts'

export async function list(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  context.print.list({
    items: await teamOf(context.client()),
    fields: Object.keys(TeamMember.shape),
    columns: [
      { title: 'id', value: (row) => row.id, short: endOfId },
      { title: 'e-mail', value: (row) => row.email },
      { title: 'role', value: (row) => row.role },
      { title: 'state', value: stateOf, style: stateStyle },
      { title: 'invited by', value: (row) => row.invited_by, dropped: 1, least: 12 },
      { title: 'invited', value: (row) => shortTime(row.created_at), short: dayOf, dropped: 2 },
    ],
    id: (row) => row.id,
    empty: 'There is nobody.',
  })
  return undefined
}

/** The service does not tell whether somebody has taken the invitation. */
function stateOf({ is_active }: TeamMember): string {
  return is_active ? 'active' : 'removed'
}

function stateStyle(state: string): Style {
  return state === 'removed' ? 'red' : 'green'
}

async function teamOf(client: Client): Promise<TeamMember[]> {
  return (await call(client, listTeam, {})).body.data
}

export const InviteOptions = ChangeOptions.extend({ email: z.string(), role: MerchantRole })

export async function invite(
  context: Context,
  { options }: CommandInput<z.infer<typeof InviteOptions>>,
): Promise<CommandResult> {
  const { email, role } = options
  const client = context.client()
  const effect = options.dryRun ? effectOfInviting(await teamOf(client), { email, role }) : undefined
  const invited = await change(context, client, inviteTeamMember, { input: { body: { email, role } }, options, effect })
  if (invited === undefined) return undefined
  printMember(context, invited)
  await noteInvitation(context, client, invited)
  return undefined
}

/** The service does not tell who has taken an invitation: whether it would refuse another one is its to know. */
function effectOfInviting(team: readonly TeamMember[], { email, role }: Pick<TeamMember, 'email' | 'role'>): string {
  const known = team.find((person) => person.email === email.toLowerCase())
  if (known === undefined) return `this would invite ${email} as ${role}`
  if (!known.is_active) return `this would invite ${email} once more, as ${role}: the account was removed`
  return (
    `${email} is in the team already, ${known.role}: this would be refused if the first invitation was taken, ` +
    `and send another one, as ${role}, if it was not`
  )
}

export async function changeRole(
  context: Context,
  { args, options }: CommandInput<ChangeOptions>,
): Promise<CommandResult> {
  const role = MerchantRole.safeParse(args[1]).data
  if (role === undefined) throw usageError(`"${args[1] ?? ''}" is no role: ${MerchantRole.options.join(', ')}`)
  const client = context.client()
  const { person } = await findPerson(await teamOf(client), 'team member', args)
  const input = { params: { id: person.id }, body: { role } }
  const changed = await change(context, client, changeTeamRole, { input, options })
  if (changed !== undefined) printMember(context, changed)
  return undefined
}

export async function remove(context: Context, { args, options }: CommandInput<ChangeOptions>): Promise<CommandResult> {
  const client = context.client()
  const { person, isExact } = await findPerson(await teamOf(client), 'team member', args)
  const removed = await change(context, client, removeTeamMember, {
    input: { params: { id: person.id } },
    options,
    effect: person.is_active
      ? `this would remove ${person.email}, ${person.role}, from the team`
      : `this would change nothing but what the identity provider may have missed: ${person.email} is removed`,
    // Removing somebody again heals what the identity provider did not hear of, and hurts nobody.
    ...(person.is_active
      ? { danger: { what: `remove ${person.email} from the team`, words: [person.email], isExact, yes: options.yes } }
      : {}),
  })
  if (removed !== undefined) printMember(context, removed)
  return undefined
}

function printMember({ print }: Context, member: TeamMember): void {
  print.record({
    item: member,
    id: member.id,
    lines: [
      ['Team member', member.id],
      ['E-mail', member.email],
      ['Role', member.role],
      ['State', stateOf(member)],
      ['Invited by', member.invited_by],
      ['Invited', shortTime(member.created_at)],
    ],
  })
}
