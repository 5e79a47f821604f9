import type { z } from 'zod'
import { Transaction, listTransactions } from '../../src/wire/transactions.ts'
import { call } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { ExportTarget, exportPages } from '../kit/export-pages.ts'
import { FilterOptions, filterOf } from './filters.ts'

export const ExportOptions = FilterOptions.extend(ExportTarget.shape)

/** `svc ledger export`: the whole ledger, page by page. */
export async function exportAll(
  context: Context,
  { options }: CommandInput<z.infer<typeof ExportOptions>>,
): Promise<CommandResult> {
  const filter = filterOf(options)
  await exportPages(context, options, {
    columns: Object.keys(Transaction.shape),
    noun: 'payment',
    instead: 'svc ledger list --all',
    read: async (client, page) => (await call(client, listTransactions, { query: { ...filter, ...page } })).body,
  })
  return undefined
}
