import type { AdminMerchant } from '../../src/wire/admin.ts'
import { percentText } from '../../src/lib/money.ts'
import type { MerchantFees } from '../../src/wire/fees.ts'
import type { Context } from '../kit/context.ts'
import { tableBelow } from '../output/table.ts'
import type { Column } from '../output/table.ts'
import { feeText } from './view.ts'
import { minuteOf, shortTime } from '../base/text.ts'

type Change = MerchantFees['history'][number]

const COLUMNS: readonly Column<Change>[] = [
  { title: 'time', value: (row) => shortTime(row.changed_at), short: minuteOf },
  { title: 'from', value: (row) => feeText(row.before) },
  { title: 'to', value: feeText },
  { title: 'who', value: (row) => row.changed_by, least: 12 },
  { title: 'why', value: (row) => row.reason ?? '', least: 12 },
]

export function printFees({ print }: Context, merchant: Pick<AdminMerchant, 'trading_name'>, fees: MerchantFees): void {
  print.record(
    fees,
    [
      ['Merchant', merchant.trading_name],
      ['Percentage', `${percentText(fees.fee_percentage)} of the amount`],
      ['Flat', `${fees.fee_flat} for each payment`],
    ],
    { id: fees.merchant_id, after: tableBelow(print, fees.history, COLUMNS) },
  )
}
