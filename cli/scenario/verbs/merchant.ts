import { getMerchant, setKybStatus, setMerchantActive, setPayoutHold } from '../../../src/wire/admin.ts'
import { listAudit } from '../../../src/wire/audit.ts'
import { setFees } from '../../../src/wire/fees.ts'
import { call } from '../../client/call.ts'
import { merchantOf, readInput } from '../play/case-run.ts'
import type { CaseRun } from '../play/case-run.ts'
import { StepFailure } from '../failure.ts'
import { refuseDifferences } from '../assert-matches.ts'
import { Active, ExpectAudit, ExpectMerchant, Fees, Hold, Kyb } from '../language/merchant.ts'
import { differencesOf } from '../matchers.ts'
import { refuseUnlike } from './refuse-unlike.ts'

/** What an operator decides about a merchant. */
export async function kyb(run: CaseRun, given: unknown): Promise<void> {
  const { of, status, reason, expect } = readInput(run, Kyb, given)
  const body = { kyb_status: status, reason }
  const reply = await call(run.client, setKybStatus, { params: idOf(run, of), body })
  refuseUnlike('the merchant', reply, { usual: 200, expected: expect })
}

/** Holds the merchant's payouts, or releases them. */
export async function hold(run: CaseRun, given: unknown): Promise<void> {
  const { of, payouts, reason, expect } = readInput(run, Hold, given)
  const body = { payout_held: payouts, reason }
  const reply = await call(run.client, setPayoutHold, { params: idOf(run, of), body })
  refuseUnlike('the merchant', reply, { usual: 200, expected: expect })
}

/** Disables the merchant, or enables it again. */
export async function active(run: CaseRun, given: unknown): Promise<void> {
  const { of, enabled, reason, expect } = readInput(run, Active, given)
  const body = { is_active: enabled, reason }
  const reply = await call(run.client, setMerchantActive, { params: idOf(run, of), body })
  refuseUnlike('the merchant', reply, { usual: 200, expected: expect })
}

/** Sets what the merchant pays for payments to come. */
export async function fees(run: CaseRun, given: unknown): Promise<void> {
  const { of, expect, ...body } = readInput(run, Fees, given)
  const reply = await call(run.client, setFees, { params: idOf(run, of), body })
  refuseUnlike('the fees', reply, { usual: 200, expected: expect })
}

export async function expectMerchant(run: CaseRun, given: unknown): Promise<void> {
  const { merchant: reference, ...expected } = readInput(run, ExpectMerchant, given)
  const { body } = await call(run.client, getMerchant, { params: idOf(run, reference) })
  refuseDifferences(reference, differencesOf(expected, body))
}

/** The newest entry of the action; those of other merchants and other actions are nobody's business here. */
export async function expectAudit(run: CaseRun, given: unknown): Promise<void> {
  const { audit: action, merchant: reference, ...expected } = readInput(run, ExpectAudit, given)
  const { id: merchant_id } = idOf(run, reference)
  const { body } = await call(run.client, listAudit, { query: { action, merchant_id, limit: 1 } })
  const [entry] = body.data
  if (entry === undefined)
    throw new StepFailure(`the audit trail has no ${action} about ${reference ?? '$merchant'}`, {
      at: ['audit'],
      hint: 'svc audit actions lists the actions that there are',
    })
  refuseDifferences(`the newest ${action}`, differencesOf(expected, entry))
}

function idOf(run: CaseRun, reference: string | undefined): { id: string } {
  return { id: merchantOf(run, reference).merchant.merchant_id }
}
