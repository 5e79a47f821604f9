import type { Allowance, Mandate } from '../../src/wire/consents.ts'
import type { Context } from '../kit/context.ts'
import { tableOf } from '../output/table.ts'
import { minuteOf, shortTime } from '../base/text.ts'
import { distanceOf } from '../base/times.ts'

export function printMandate({ print }: Context, mandate: Mandate): void {
  const { currency } = mandate
  const allowances = allowanceLines(mandate.allowances, print.width)
  print.record({
    item: mandate,
    id: mandate.consent_id,
    lines: [
      ['Mandate', mandate.consent_id],
      ['Status', mandate.status],
      ['At most', `${mandate.max_amount_per_payment} ${currency} for each payment`],
      ['Caps', capsText(mandate)],
      ['Payer', mandate.payer_name ?? ''],
      ['Reference', mandate.remittance_reference ?? ''],
      ['Bank', mandate.debtor_bank_id ?? ''],
      ['Payments', `${mandate.payment_count}, the first ${mandate.first_payment_id}`],
      ['Valid to', endText(mandate)],
      ['Created', shortTime(mandate.created_at)],
    ],
    ...(allowances.length === 0 ? {} : { after: allowances.join('\n') }),
  })
}

/** What the caps mean here (decision 49). */
function capsText({ caps_enforced: isEnforced }: Pick<Mandate, 'caps_enforced'>): string {
  return isEnforced ? 'the service refuses payments above them' : 'kept as they were given, and not enforced'
}

/** How near the end is, of a mandate that can still come to it. */
function endText({ status, valid_to: at }: Pick<Mandate, 'status' | 'valid_to'>): string {
  return status === 'AUTHORISED' ? `${shortTime(at)} (${distanceOf(at)})` : shortTime(at)
}

/** What is used of each period's cap, and what is left. */
function allowanceLines(allowances: readonly Allowance[], width: number | undefined): string[] {
  if (allowances.length === 0) return []
  const plain = (_style: unknown, text: string): string => text
  return tableOf(allowances, ALLOWANCE_COLUMNS, { header: true, paint: plain, width })
}

const ALLOWANCE_COLUMNS = [
  { title: 'period', value: (row: Allowance) => row.period },
  { title: 'at most', value: (row: Allowance) => row.max_amount, align: 'right' as const },
  { title: 'used', value: (row: Allowance) => row.used_amount, align: 'right' as const },
  { title: 'left', value: (row: Allowance) => row.remaining_amount, align: 'right' as const },
  { title: 'begins anew', value: (row: Allowance) => shortTime(row.resets_at), short: minuteOf },
]
