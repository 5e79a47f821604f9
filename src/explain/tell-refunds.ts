import { failureOf, isFailureCode } from '../lib/failure-codes.ts'
import type { TimelineEntry } from '../wire/explain.ts'
import type { ToldRefund } from './record.ts'
import { entry, newest } from './timeline.ts'
import type { Told } from './timeline.ts'
import { moneyText } from './words.ts'

/** How many refunds of a payment are told. */
export const REFUNDS_MAX = 50

/** Refunds asked for, and what came of them; read newest first, with one more than is told where there are more. */
export function tellRefunds(read: readonly ToldRefund[], currency: string): Told {
  const { rows, hasMore } = newest(read, REFUNDS_MAX)
  return {
    entries: rows.flatMap((refund) => [asked(refund, currency), end(refund, currency)]),
    leftOut: hasMore ? [`refunds before the last ${REFUNDS_MAX}`] : [],
  }
}

function asked({ id, amount, created_at, dispute_id }: ToldRefund, currency: string): TimelineEntry {
  const why = dispute_id === null ? 'was asked for' : 'was ordered with the resolution of a dispute'
  const text = `a refund of ${moneyText(amount, currency)} ${why}`
  return entry({ at: created_at, kind: 'refund', text, status: 'PENDING', ref: id })
}

function end({ id, amount, status, failure_code, attempt_count, resume_at, updated_at }: ToldRefund, currency: string) {
  const money = moneyText(amount, currency)
  if (status === 'PENDING') {
    const silent = attempt_count === 0 ? '' : `, ${attempt_count} times silent so far,`
    return entry({
      at: resume_at,
      kind: 'due',
      text: `the bank${silent} is asked to refund ${money}`,
      ref: id,
    })
  }
  const text =
    status === 'EXECUTED'
      ? `the bank refunded ${money}`
      : `the bank refused to refund ${money}: ${reasonOf(failure_code)}`
  return entry({ at: updated_at, kind: 'refund', text, status, ref: id })
}

function reasonOf(code: string | null): string {
  return code !== null && isFailureCode(code) ? `${failureOf(code).reason} (${code})` : 'without a reason'
}
