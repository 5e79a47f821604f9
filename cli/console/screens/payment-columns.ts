import type { Who } from '../../client/auth/acting-side.ts'
import type { ScreenColumn } from '../screen.ts'
import { ofMerchant, ownerText } from './merchant-text.ts'
import type { PaymentRow } from './payment-lines.ts'

type Columns = readonly ScreenColumn<PaymentRow>[]

/** Between whom the money moves, and what for: operators see the merchant too. */
export function whoseColumns({ kind }: Who): Columns {
  return [
    ...(kind === 'platform' ? [{ title: 'merchant', value: ownerText, least: 8 }] : []),
    { title: 'payer', value: (row) => row.payer_name ?? '', least: 8, dropped: 2 },
    { title: 'reference', value: (row) => row.remittance_reference ?? '', least: 8, dropped: 1 },
  ]
}

/** What commands and the filter take, last and only where there is room for it. */
export function idColumns({ kind }: Who): Columns {
  const payment: ScreenColumn<PaymentRow> = { title: 'payment', value: (row) => row.payment_id, onlyWide: true }
  if (kind !== 'platform') return [payment]
  return [
    payment,
    { title: 'realm', value: (row) => row.realm_slug ?? '', onlyWide: true },
    { title: 'filter by', value: (row) => ofMerchant(row.merchant_id ?? ''), onlyWide: true },
  ]
}
