import { getMerchant } from '../../../src/wire/admin.ts'
import { listAudit } from '../../../src/wire/audit.ts'
import { call } from '../../client/call.ts'
import { merchantOf, readInput } from '../play/case-run.ts'
import type { CaseRun } from '../play/case-run.ts'
import { StepFailure } from '../failure.ts'
import { refuseDifferences } from '../assert-matches.ts'
import { ExpectAudit, ExpectMerchant } from '../language/merchant.ts'
import { differencesOf } from '../matchers.ts'

/** A merchant as operators see it. */
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
      hint: 'The actions that there are: svc audit list --help',
    })
  refuseDifferences(`the newest ${action}`, differencesOf(expected, entry))
}

function idOf(run: CaseRun, reference: string | undefined): { id: string } {
  return { id: merchantOf(run, reference).merchant.merchant_id }
}
