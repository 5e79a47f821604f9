import { failureOf, isFailureCode } from '../lib/failure-codes.ts'
import { formatNumeric } from '../lib/money.ts'
import type { EventData } from '../webhooks/enqueue.ts'
import type { PayoutRecord } from './record.ts'

/** The position of each status among the webhooks of a payout; SENT has none. */
const SEQUENCES = { CREATED: 1, SENT: 1, PAID: 2, FAILED: 2, RETURNED: 3 } as const

/** The `data` of a webhook about a payout. */
export function payoutEventData(
  payout: PayoutRecord,
  { previousStatus, isTest }: { previousStatus: PayoutRecord['status'] | null; isTest: boolean },
): EventData {
  return {
    object: 'payout',
    id: payout.id,
    endToEndId: payout.end_to_end_id,
    merchantId: payout.merchant_id,
    financials: { amount: formatNumeric(payout.amount, payout.currency), currency: payout.currency },
    status: payout.status,
    previousStatus,
    bankAccountId: payout.bank_account_id,
    bankReference: payout.bank_reference,
    failure: failureData(payout.failure_code),
    sequence: SEQUENCES[payout.status],
    ...(isTest ? { test: true } : {}),
  }
}

function failureData(code: string | null): EventData | null {
  if (code === null) return null
  if (!isFailureCode(code)) throw new Error(`the payout has an unknown failure ${code}`)
  const { iso_code: isoCode, ...failure } = failureOf(code)
  return { ...failure, isoCode }
}
