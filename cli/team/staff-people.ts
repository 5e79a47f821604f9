import { z } from 'zod'
import { PlatformRole, StaffMember, addStaff, changeStaffRole, listStaff, removeStaff } from '../../src/wire/staff.ts'
import { ChangeOptions, Reason, change } from '../kit/change.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { findPerson } from './find-person.ts'
import type { Style } from '../base/io.ts'
import { noteInvitation } from '../kit/invitation.ts'
import { effectOfAdding } from './staff-effects.ts'
import { dayOf, endOfId, shortTime } from '../base/text.ts'

export async function list(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  context.print.list({
    items: await staffOf(context.client()),
    fields: Object.keys(StaffMember.shape),
    columns: [
      { title: 'id', value: (row) => row.id, short: endOfId },
      { title: 'e-mail', value: (row) => row.email },
      { title: 'name', value: (row) => row.display_name, dropped: 2, least: 12 },
      { title: 'role', value: (row) => row.role },
      { title: 'state', value: stateOf, style: stateStyle },
      { title: 'last seen', value: (row) => shortTime(row.last_seen_at) || 'never', short: dayOf, dropped: 1 },
    ],
    id: (row) => row.id,
    empty: 'There is nobody.',
  })
  return undefined
}

/** Whoever was never seen has yet to take the invitation, and to sign in. */
function stateOf({ is_active, last_seen_at }: StaffMember): string {
  if (!is_active) return 'removed'
  return last_seen_at === null ? 'invited' : 'active'
}

function stateStyle(state: string): Style | undefined {
  if (state === 'removed') return 'red'
  return state === 'invited' ? 'yellow' : 'green'
}

async function staffOf(client: Client): Promise<StaffMember[]> {
  return (await call(client, listStaff, {})).body.data
}

export const InviteOptions = ChangeOptions.extend({
  email: z.string(),
  role: PlatformRole,
  name: z.string().optional(),
  reason: Reason,
})

export async function invite(
  context: Context,
  { options }: CommandInput<z.infer<typeof InviteOptions>>,
): Promise<CommandResult> {
  const { email, role, name, reason } = options
  const client = context.client()
  const body = { email, role, ...(name === undefined ? {} : { display_name: name }), reason }
  const effect = options.dryRun ? await effectOfAdding(client, await staffOf(client), { email, role }) : undefined
  const added = await change(context, client, addStaff, { input: { body }, options, effect })
  if (added === undefined) return undefined
  printMember(context, added)
  await noteInvitation(context, client, added)
  return undefined
}

export const RoleOptions = ChangeOptions.extend({ reason: Reason })

export async function changeRole(
  context: Context,
  { args, options }: CommandInput<z.infer<typeof RoleOptions>>,
): Promise<CommandResult> {
  const role = PlatformRole.safeParse(args[1]).data
  if (role === undefined) throw usageError(`"${args[1] ?? ''}" is no role: ${PlatformRole.options.join(', ')}`)
  const client = context.client()
  const { person, isExact } = await findPerson(await staffOf(client), 'staff member', args)
  const what = `make ${person.email} ${role} in the place of ${person.role}`
  const changed = await change(context, client, changeStaffRole, {
    input: { params: { id: person.id }, body: { role, reason: options.reason } },
    options,
    ...(person.role === role ? {} : { danger: { what, words: [person.email], isExact, yes: options.yes } }),
  })
  if (changed !== undefined) printMember(context, changed)
  return undefined
}

export const RemoveOptions = ChangeOptions.extend({ reason: Reason })

export async function remove(
  context: Context,
  { args, options }: CommandInput<z.infer<typeof RemoveOptions>>,
): Promise<CommandResult> {
  const client = context.client()
  const { person, isExact } = await findPerson(await staffOf(client), 'staff member', args)
  const removed = await change(context, client, removeStaff, {
    input: { params: { id: person.id }, query: { reason: options.reason } },
    options,
    // Removing somebody again heals what the identity provider did not hear of, and hurts nobody.
    ...(person.is_active
      ? { danger: { what: `remove ${person.email} from the staff`, words: [person.email], isExact, yes: options.yes } }
      : {}),
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
      ['State', stateOf(member)],
      ['Last seen', shortTime(member.last_seen_at) || 'never'],
    ],
  })
}
