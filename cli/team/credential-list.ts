import { z } from 'zod'
import { StaffClient, listStaffClients } from '../../src/wire/staff.ts'
import { ApiCredential, listApiCredentials } from '../../src/wire/team.ts'
import { roleText } from '../base/role-text.ts'
import { dayOf, shortTime } from '../base/text.ts'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import { call } from '../client/call.ts'
import { command } from '../kit/command.ts'
import type { Context } from '../kit/context.ts'
import type { Column } from '../output/table.ts'
import { CREATE } from './credential-actions.ts'

type Listed = Omit<ApiCredential, 'role' | 'kind'> & { role: string | null; kind?: string }

export const list = command({
  command: 'credentials list',
  summary: 'List API clients',
  details: 'Secrets are not shown again.',
  examples: ['svc credentials list', 'svc credentials list --platform'],
  flags: { platform: { summary: CREATE.own.flags.platform.summary } },
  async run(context, input) {
    const client = context.client()
    if (await meansAllMerchants(client, input.platform))
      print(context, (await call(client, listStaffClients, {})).body.data, StaffClient)
    else print(context, (await call(client, listApiCredentials, {})).body.data, ApiCredential)
  },
})

function print(context: Context, items: readonly Listed[], { shape }: z.ZodObject): void {
  const kind: Column<Listed> = { title: 'kind', value: (row) => row.kind ?? '', dropped: 3 }
  context.print.list(items, {
    fields: Object.keys(shape),
    columns: [
      { title: 'client id', value: (row) => row.client_id },
      ...('kind' in shape ? [kind] : []),
      { title: 'role', value: (row) => roleText(row.role) },
      { title: 'name', value: (row) => row.name ?? '', least: 16 },
      { title: 'created by', value: (row) => row.created_by, dropped: 1, least: 12 },
      { title: 'created', value: (row) => shortTime(row.created_at), short: dayOf, dropped: 2 },
    ],
    empty: 'There are no clients.',
  })
}
