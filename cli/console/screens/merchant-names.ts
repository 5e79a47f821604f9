import type { AdminMerchant } from '../../../src/wire/admin.ts'
import { usageError } from '../../base/errors.ts'
import type { Field } from '../model/modal.ts'
import type { MerchantRow } from './merchant-lines.ts'

export const REASON: Field = { name: 'reason', label: 'Why; it stands in the audit trail', kind: 'line', long: true }

export function nameOf({ merchant, registration }: MerchantRow): string {
  return merchant?.realm_slug ?? registration?.slug ?? merchant?.id ?? ''
}

export function whom(rows: readonly MerchantRow[], ofOne: (row: MerchantRow) => string): string {
  const [row] = rows
  return rows.length === 1 && row !== undefined ? ofOne(row) : `${rows.length} merchants`
}

export function tradingName({ merchant, registration }: MerchantRow): string {
  return merchant?.trading_name ?? registration?.trading_name ?? ''
}

/** The merchant of a row that a key fits. */
export function merchantOf({ merchant }: MerchantRow): AdminMerchant {
  if (merchant === null) throw usageError('this registration has made no merchant yet', 'svc merchants registrations')
  return merchant
}

/** Those of its names that no other has, to be typed in live mode. */
export function dangerOf(rows: readonly MerchantRow[]): readonly (string | null)[] {
  const [row] = rows
  return row === undefined ? [] : [row.merchant?.realm_slug ?? row.registration?.slug ?? null, row.merchant?.id ?? null]
}
