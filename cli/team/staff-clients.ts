import { z } from 'zod'
import {
  PlatformRole,
  StaffClient,
  createStaffClient,
  listStaffClients,
  revokeStaffClient,
} from '../../src/wire/staff.ts'
import { quoted } from '../base/command-hints.ts'
import { ChangeOptions, Reason, change } from '../kit/change.ts'
import { call } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { printNewSecret } from '../kit/new-secret.ts'
import { dayOf, shortTime } from '../base/text.ts'

export async function clients(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  const { body } = await call(context.client(), listStaffClients, {})
  context.print.list({
    items: body.data,
    fields: Object.keys(StaffClient.shape),
    columns: [
      { title: 'client id', value: (row) => row.client_id },
      { title: 'role', value: (row) => row.role },
      { title: 'name', value: (row) => row.name ?? '', least: 16 },
      { title: 'made by', value: (row) => row.created_by, dropped: 1, least: 12 },
      { title: 'made', value: (row) => shortTime(row.created_at), short: dayOf, dropped: 2 },
    ],
    id: (row) => row.client_id,
    empty: 'There are no clients.',
  })
  return undefined
}

export const CreateOptions = ChangeOptions.extend({ role: PlatformRole, name: z.string(), reason: Reason })

export async function createClient(
  context: Context,
  { options }: CommandInput<z.infer<typeof CreateOptions>>,
): Promise<CommandResult> {
  const { role, name, reason } = options
  const made = await change(context, context.client(), createStaffClient, {
    input: { body: { role, name, reason } },
    options,
  })
  if (made !== undefined)
    await printNewSecret(
      context,
      made,
      `svc staff revoke-client ${quoted(made.client_id)} --reason "its secret is lost"`,
    )
  return undefined
}

export const RevokeOptions = ChangeOptions.extend({ reason: Reason })

export async function revokeClient(
  context: Context,
  { args, options }: CommandInput<z.infer<typeof RevokeOptions>>,
): Promise<CommandResult> {
  const [id] = args
  if (id === undefined) throw usageError('which client? Its id is missing', 'svc staff clients')
  const revoked = await change(context, context.client(), revokeStaffClient, {
    input: { params: { id }, query: { reason: options.reason } },
    options,
    danger: { what: `revoke the client ${id}`, words: [id], isExact: true, yes: options.yes },
  })
  if (revoked === undefined) return undefined
  context.print.record({
    item: revoked,
    id: revoked.client_id,
    lines: [
      ['Client id', revoked.client_id],
      ['Role', revoked.role],
      ['Revoked', shortTime(revoked.revoked_at)],
    ],
  })
  return undefined
}
