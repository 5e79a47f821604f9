import { z } from 'zod'
import {
  MerchantRole,
  TeamMember,
  changeTeamRole,
  inviteTeamMember,
  listTeam,
  removeTeamMember,
} from '../../../src/wire/team.ts'
import { ChangeOptions, change } from '../../change.ts'
import { call } from '../../client.ts'
import type { Client } from '../../client.ts'
import type { CommandInput, CommandResult, Context } from '../../context.ts'
import { usageError } from '../../errors.ts'
import { findPerson } from '../../find-person.ts'
import { shortTime } from '../../text.ts'

export async function list(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  context.print.list({
    items: await teamOf(context.client()),
    fields: Object.keys(TeamMember.shape),
    columns: [
      { title: 'id', value: (row) => row.id },
      { title: 'e-mail', value: (row) => row.email },
      { title: 'role', value: (row) => row.role },
      { title: 'active', value: (row) => (row.is_active ? '' : 'no'), style: () => 'red' },
      { title: 'invited by', value: (row) => row.invited_by },
      { title: 'since', value: (row) => shortTime(row.created_at) },
    ],
    id: (row) => row.id,
    empty: 'There is nobody.',
  })
  return undefined
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
  const invited = await change(context, context.client(), inviteTeamMember, {
    input: { body: { email, role } },
    options,
  })
  if (invited === undefined) return undefined
  printMember(context, invited)
  context.note(
    `An invitation goes to ${invited.email}. In the sandbox: svc mail show --recipient ${invited.email} --links`,
  )
  return undefined
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
    danger: { what: `remove ${person.email} from the team`, words: [person.email], isExact, yes: options.yes },
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
      ['Active', member.is_active ? 'yes' : 'no'],
      ['Invited by', member.invited_by],
      ['Since', shortTime(member.created_at)],
    ],
  })
}
