import { z } from 'zod'
import { StaffClient, listStaffClients } from '../../src/wire/staff.ts'
import { ApiCredential, listApiCredentials } from '../../src/wire/team.ts'
import { roleText } from '../base/role-text.ts'
import { dayOf, shortTime } from '../base/text.ts'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import { call } from '../client/call.ts'
import type { CommandResult, Context, InputOf } from '../kit/context.ts'
import type { Column } from '../output/table.ts'

type Listed = Omit<ApiCredential, 'role' | 'kind'> & { role: string | null; kind?: string }

export const ListOptions = z.object({ platform: z.boolean().default(false) })

export async function list(context: Context, { options }: InputOf<typeof ListOptions>): Promise<CommandResult> {
  const client = context.client()
  if (await meansAllMerchants(client, options.platform))
    print(context, (await call(client, listStaffClients, {})).body.data, StaffClient)
  else print(context, (await call(client, listApiCredentials, {})).body.data, ApiCredential)
}

function print(context: Context, items: readonly Listed[], { shape }: z.ZodObject): void {
  const kind: Column<Listed> = { title: 'kind', value: (row) => row.kind ?? '', dropped: 3 }
  context.print.list({
    items,
    fields: Object.keys(shape),
    columns: [
      { title: 'client id', value: (row) => row.client_id },
      ...('kind' in shape ? [kind] : []),
      { title: 'role', value: (row) => roleText(row.role) },
      { title: 'name', value: (row) => row.name ?? '', least: 16 },
      { title: 'made by', value: (row) => row.created_by, dropped: 1, least: 12 },
      { title: 'made', value: (row) => shortTime(row.created_at), short: dayOf, dropped: 2 },
    ],
    id: (row) => row.client_id,
    empty: 'There are no clients.',
  })
}

type Revoked = { client_id: string; role: string | null; revoked_at: string }

export function printRevoked({ print: printer }: Context, revoked: Revoked): void {
  printer.record({
    item: revoked,
    id: revoked.client_id,
    lines: [
      ['Client id', revoked.client_id],
      ['Role', roleText(revoked.role)],
      ['Revoked', shortTime(revoked.revoked_at)],
    ],
  })
}
