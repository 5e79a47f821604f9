import type { CommonQueryMethods } from 'slonik'
import type { FailureCode } from '../lib/failure-codes.ts'
import type { Ids } from '../lib/ids.ts'
import type { MandateOrder, StagingOutcome } from './connector.ts'
import { findMandate, insertMandatePayment } from './mock-mandates-sql.ts'
import type { Mandate } from './mock-mandates-sql.ts'
import { findAuthorisation } from './mock-sql.ts'
import { DEFAULT_SCENARIO, parseScenario } from './scenarios.ts'
import { mockBankById } from './catalogue.ts'

/**
 * Records a payment under a mandate as approved: from the account that the mandate was authorised for, to the same
 * merchant. The scenario is the payment's own, or else its bank's. Redirect behaviour of a scenario does not apply,
 * because no payer returns; in `payer-cancels` the bank denies the payment.
 */
export async function stageMandatePayment(
  { pool, ids }: { pool: CommonQueryMethods; ids: Ids },
  order: MandateOrder,
): Promise<StagingOutcome> {
  const mandate = await findMandate(pool, order.bankConsentReference)
  if (mandate !== null && (await findAuthorisation(pool, order.state)) !== null) return { outcome: 'staged' }
  const failureCode = failureOf(mandate)
  if (mandate === null || failureCode !== undefined)
    return { outcome: 'rejected', failureCode: failureCode ?? 'AUTHORISATION_FAILED' }
  const scenario = order.scenario ?? mockBankById(mandate.debtor_bank_id)?.scenario ?? DEFAULT_SCENARIO
  const isDenied = parseScenario(scenario).behaviour.redirect === 'access_denied'
  const paymentIds = ids.for('decision at the bank', order.state)
  await insertMandatePayment(pool, {
    order,
    scenario,
    // Never handed out: it represents the approval that the mandate gives.
    code: isDenied ? null : paymentIds.token(),
    consentReference: `mock-${order.paymentId}`,
    bankReference: `MB${paymentIds.uuid().replaceAll('-', '')}`,
  })
  return { outcome: 'staged' }
}

/** Why this bank rejects payments under the mandate. The service itself checks the caps (decision 49). */
function failureOf(mandate: Mandate | null): FailureCode | undefined {
  if (mandate === null) return 'AUTHORISATION_FAILED'
  if (mandate.is_ended) return 'ACCESS_DENIED'
  return mandate.is_over ? 'CONSENT_EXPIRED' : undefined
}
