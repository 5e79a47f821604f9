import type { z } from 'zod'
import { AdminPaymentSummary, listAdminPayments } from '../../src/wire/console.ts'
import { Transaction, listTransactions } from '../../src/wire/transactions.ts'
import { call } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { ExportTarget, exportPages } from '../kit/export-pages.ts'
import { FilterOptions, adminFilterOf, filterOf } from './filters.ts'

export const ExportOptions = FilterOptions.extend(ExportTarget.shape)

/** `svc payments export`: every payment page by page, a merchant's own as the lines of its books. */
export async function exportAll(
  context: Context,
  { options }: CommandInput<z.infer<typeof ExportOptions>>,
): Promise<CommandResult> {
  const ofMerchants = await adminFilterOf(context.client(), options)
  if (ofMerchants === undefined) {
    const filter = filterOf(options)
    await exportPages(context, options, {
      columns: Object.keys(Transaction.shape),
      noun: 'payment',
      instead: 'svc payments list --fees --all',
      read: async (client, page) => (await call(client, listTransactions, { query: { ...filter, ...page } })).body,
    })
    return undefined
  }
  await exportPages(context, options, {
    // That address carries the signature that lets its holder act as the payer.
    columns: Object.keys(AdminPaymentSummary.shape).filter((member) => member !== 'redirect_url'),
    noun: 'payment',
    instead: 'svc payments list --all-merchants --all',
    read: async (client, page) => (await call(client, listAdminPayments, { query: { ...ofMerchants, ...page } })).body,
  })
  return undefined
}
