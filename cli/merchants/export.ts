import type { z } from 'zod'
import { AdminMerchant, listMerchants } from '../../src/wire/admin.ts'
import { call } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { ExportTarget, exportPages } from '../kit/export-pages.ts'
import { FilterFields, filterOf } from './read.ts'

export const ExportOptions = FilterFields.extend(ExportTarget.shape)

/** `svc merchants export`: every merchant that the filter leaves, page by page. */
export async function exportMerchants(
  context: Context,
  { options }: CommandInput<z.infer<typeof ExportOptions>>,
): Promise<CommandResult> {
  const filter = filterOf(options)
  await exportPages(context, options, {
    columns: Object.keys(AdminMerchant.shape),
    noun: 'merchant',
    instead: 'svc merchants list --all',
    read: async (client, page) => (await call(client, listMerchants, { query: { ...filter, ...page } })).body,
  })
  return undefined
}
