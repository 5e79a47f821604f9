import { z } from 'zod'
import {
  PlatformRole,
  StaffMember,
  addStaff,
  changeStaffRole,
  listStaff,
  removeStaff,
} from '../../../src/wire/staff.ts'
import { ChangeOptions, Reason, change } from '../../change.ts'
import { call } from '../../client.ts'
import type { Client } from '../../client.ts'
import type { CommandInput, CommandResult, Context } from '../../context.ts'
import { usageError } from '../../errors.ts'
import { findPerson } from '../../find-person.ts'
import { shortTime } from '../../text.ts'

export async function list(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  context.print.list({
    items: await staffOf(context.client()),
    fields: Object.keys(StaffMember.shape),
    columns: [
      { title: 'id', value: (row) => row.id },
      { title: 'e-mail', value: (row) => row.email },
      { title: 'name', value: (row) => row.display_name },
      { title: 'role', value: (row) => row.role },
      { title: 'active', value: (row) => (row.is_active ? '' : 'no'), style: () => 'red' },
      { title: 'last seen', value: (row) => shortTime(row.last_seen_at) || 'never' },
    ],
    id: (row) => row.id,
    empty: 'There is nobody.',
  })
  return undefined
}

async function staffOf(client: Client): Promise<StaffMember[]> {
  return (await call(client, listStaff, {})).body.data
}

export const AddOptions = ChangeOptions.extend({
  email: z.string(),
  role: PlatformRole,
  name: z.string().optional(),
  reason: Reason.optional(),
})

export async function add(
  context: Context,
  { options }: CommandInput<z.infer<typeof AddOptions>>,
): Promise<CommandResult> {
  const { email, role, name, reason } = options
  const body = {
    email,
    role,
    ...(name === undefined ? {} : { display_name: name }),
    ...(reason === undefined ? {} : { reason }),
  }
  const added = await change(context, context.client(), addStaff, { input: { body }, options })
  if (added === undefined) return undefined
  printMember(context, added)
  context.note(`An invitation goes to ${added.email}. In the sandbox: svc mail show --recipient ${added.email} --links`)
  return undefined
}

export const RoleOptions = ChangeOptions.extend({ reason: Reason.optional() })

export async function changeRole(
  context: Context,
  { args, options }: CommandInput<z.infer<typeof RoleOptions>>,
): Promise<CommandResult> {
  const role = PlatformRole.safeParse(args[1]).data
  if (role === undefined) throw usageError(`"${args[1] ?? ''}" is no role: ${PlatformRole.options.join(', ')}`)
  const client = context.client()
  const { person } = await findPerson(await staffOf(client), 'staff member', args)
  const body = { role, ...(options.reason === undefined ? {} : { reason: options.reason }) }
  const changed = await change(context, client, changeStaffRole, {
    input: { params: { id: person.id }, body },
    options,
  })
  if (changed !== undefined) printMember(context, changed)
  return undefined
}

export async function remove(context: Context, { args, options }: CommandInput<ChangeOptions>): Promise<CommandResult> {
  const client = context.client()
  const { person, isExact } = await findPerson(await staffOf(client), 'staff member', args)
  const removed = await change(context, client, removeStaff, {
    input: { params: { id: person.id } },
    options,
    danger: { what: `remove ${person.email} from the staff`, words: [person.email], isExact, yes: options.yes },
  })
  if (removed !== undefined) printMember(context, removed)
  return undefined
}

function printMember({ print }: Context, member: StaffMember): void {
  print.record({
    item: member,
    id: member.id,
    lines: [
      ['Staff member', member.id],
      ['E-mail', member.email],
      ['Name', member.display_name],
      ['Role', member.role],
      ['Active', member.is_active ? 'yes' : 'no'],
      ['Last seen', shortTime(member.last_seen_at) || 'never'],
    ],
  })
}
