import { z } from 'zod'
import {
  ApiCredential,
  MerchantRole,
  createApiCredential,
  listApiCredentials,
  revokeApiCredential,
  rotateApiCredential,
} from '../../src/wire/team.ts'
import { quoted } from '../base/command-hints.ts'
import { ChangeOptions, change } from '../kit/change.ts'
import { call } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { printNewSecret } from '../kit/new-secret.ts'
import { roleText } from '../base/role-text.ts'
import { dayOf, shortTime } from '../base/text.ts'

export async function list(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  const { body } = await call(context.client(), listApiCredentials, {})
  context.print.list({
    items: body.data,
    fields: Object.keys(ApiCredential.shape),
    columns: [
      { title: 'client id', value: (row) => row.client_id },
      { title: 'kind', value: (row) => row.kind, dropped: 3 },
      { title: 'role', value: (row) => roleText(row.role) },
      { title: 'name', value: (row) => row.name ?? '', least: 16 },
      { title: 'made by', value: (row) => row.created_by, dropped: 1, least: 12 },
      { title: 'made', value: (row) => shortTime(row.created_at), short: dayOf, dropped: 2 },
    ],
    id: (row) => row.client_id,
    empty: 'There are no clients.',
  })
  return undefined
}

export const CreateOptions = ChangeOptions.extend({ name: z.string(), role: MerchantRole.optional() })

export async function create(
  context: Context,
  { options }: CommandInput<z.infer<typeof CreateOptions>>,
): Promise<CommandResult> {
  const body = { name: options.name, role: options.role ?? null }
  const made = await change(context, context.client(), createApiCredential, { input: { body }, options })
  if (made !== undefined) await printNewSecret(context, made, `svc credentials revoke ${quoted(made.client_id)}`)
  return undefined
}

export async function rotate(context: Context, { args, options }: CommandInput<ChangeOptions>): Promise<CommandResult> {
  const id = clientIdOf(args)
  const rotated = await change(context, context.client(), rotateApiCredential, {
    input: { params: { id } },
    options,
    effect: `this would end the secret of ${id} at once, and make another`,
    danger: { what: `end the secret of ${id} at once`, words: [id], isExact: true, yes: options.yes },
  })
  if (rotated !== undefined) await printNewSecret(context, rotated, `svc credentials rotate ${quoted(id)}`)
  return undefined
}

export async function revoke(context: Context, { args, options }: CommandInput<ChangeOptions>): Promise<CommandResult> {
  const id = clientIdOf(args)
  const revoked = await change(context, context.client(), revokeApiCredential, {
    input: { params: { id } },
    options,
    effect: `this would revoke the client ${id}: nothing can sign in as it any more`,
    danger: { what: `revoke the client ${id}`, words: [id], isExact: true, yes: options.yes },
  })
  if (revoked === undefined) return undefined
  context.print.record({
    item: revoked,
    id: revoked.client_id,
    lines: [
      ['Client id', revoked.client_id],
      ['Role', roleText(revoked.role)],
      ['Revoked', shortTime(revoked.revoked_at)],
    ],
  })
  return undefined
}

function clientIdOf(args: readonly string[]): string {
  const [id] = args
  if (id === undefined) throw usageError('which client? Its id is missing', 'svc credentials list')
  return id
}
