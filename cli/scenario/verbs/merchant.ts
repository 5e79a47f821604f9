import { setKybStatus, setPayoutHold } from '../../../src/wire/admin.ts'
import { call } from '../../client.ts'
import { readInput } from '../case-run.ts'
import type { CaseRun } from '../case-run.ts'
import { Hold, Kyb } from '../language/merchant.ts'

/** What an operator decides about the case's merchant. */
export async function kyb(run: CaseRun, given: unknown): Promise<void> {
  const { status, reason } = readInput(run, Kyb, given)
  await call(run.client, setKybStatus, {
    params: { id: run.merchant.merchant_id },
    body: { kyb_status: status, ...(reason === undefined ? {} : { reason }) },
  })
}

/** Holds the merchant's payouts, or releases them. */
export async function hold(run: CaseRun, given: unknown): Promise<void> {
  const { payouts, reason } = readInput(run, Hold, given)
  await call(run.client, setPayoutHold, {
    params: { id: run.merchant.merchant_id },
    body: { payout_held: payouts, ...(reason === undefined ? {} : { reason }) },
  })
}
