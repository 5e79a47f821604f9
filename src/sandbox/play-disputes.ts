import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { parseScenario } from '../banks/scenarios.ts'
import type { ScriptedDispute } from '../banks/scenarios.ts'
import {
  claimDisputeScenarios,
  completeDisputeScenario,
  postponeDisputeScenario,
} from '../banks/dispute-scenarios-sql.ts'
import type { DisputeScenario } from '../banks/dispute-scenarios-sql.ts'
import { raiseDispute } from '../disputes/raise-dispute.ts'
import { resolveDispute } from '../disputes/resolve-dispute.ts'
import { submitEvidence } from '../disputes/submit-evidence.ts'
import { DomainError } from '../lib/errors.ts'
import type { PaymentRecord } from '../payments/record.ts'
import { findPaymentByState } from '../payments/sql.ts'
import { findNewestDispute } from './play-disputes-sql.ts'

const SCENARIOS_MAX = 20

/** The lease of a claimed scenario. */
const LEASE_SECONDS = 30

/** The pause before checking again a payment that has not settled. */
const POLL_SECONDS = 1

/** The actor that replaces the merchant and the operator. */
const SANDBOX: Actor = { id: 'sandbox', name: 'sandbox', role: 'OWNER' }

/**
 * Plays the disputes of the scenarios `dispute-…` (contract §Sandbox scenarios), once their payments have settled: the
 * payer raises a dispute, and in two of the scenarios the merchant responds and an operator resolves it, all through
 * the regular use cases. A job that runs only in the sandbox.
 */
export async function playDisputes(app: App): Promise<{ more: boolean }> {
  if (app.config.mode !== 'sandbox') return { more: false }
  const claimed = await claimDisputeScenarios(app.pool, { limit: SCENARIOS_MAX, leaseSeconds: LEASE_SECONDS })
  for (const scenario of claimed) await playOne(app, scenario)
  return { more: false }
}

/** A failure does not affect the other scenarios; it is retried when the lease ends. */
async function playOne(app: App, claimed: DisputeScenario): Promise<void> {
  try {
    if (await play(app, claimed)) await completeDisputeScenario(app.pool, claimed.state)
    else await postponeDisputeScenario(app.pool, { state: claimed.state, seconds: POLL_SECONDS })
  } catch (error) {
    app.log.error(
      { err: error, scenario: claimed.scenario },
      'the dispute of a scenario could not be played; it will be retried',
    )
  }
}

/** True when the scenario is completed. */
async function play(app: App, { state, scenario }: DisputeScenario): Promise<boolean> {
  const payment = await findPaymentByState(app.pool, state)
  const { dispute } = parseScenario(scenario).behaviour
  if (payment === null || dispute === undefined) return true
  if (payment.status === 'AwaitingAuthorisation' || payment.status === 'Authorised') return false
  // It failed, or was refunded before the dispute.
  if (payment.status !== 'Settled' && (await isUndisputed(app, payment))) return true
  return advanceDispute(app, payment, dispute)
}

async function isUndisputed(
  { pool }: App,
  { merchant_id: merchantId, id: paymentId }: PaymentRecord,
): Promise<boolean> {
  return (await findNewestDispute(pool, { merchantId, paymentId })) === null
}

/** Takes the remaining steps from the dispute's current status: an interrupted process may have done some of them. */
async function advanceDispute(app: App, payment: PaymentRecord, scripted: ScriptedDispute): Promise<boolean> {
  const { merchant_id: merchantId, id: paymentId } = payment
  const found = await findNewestDispute(app.pool, { merchantId, paymentId })
  try {
    const { id, status } = found ?? (await raise(app, payment, scripted))
    if (scripted.favour === undefined) return true
    if (status === 'OPEN') {
      const evidence = 'The delivery note, as the scenario has it.'
      await submitEvidence(app, { merchantId, id, evidence, actor: { ...SANDBOX, role: 'ADMIN' } })
    }
    if (status === 'OPEN' || status === 'UNDER_REVIEW') await decide(app, id, scripted.favour)
    return true
  } catch (error) {
    // Someone has changed the payment or its dispute by hand: the scenario leaves it to them.
    if (!(error instanceof DomainError) || error.code === 'SERVICE_UNAVAILABLE') throw error
    app.log.info({ code: error.code, paymentId }, 'the dispute of a scenario was abandoned: a step was rejected')
    return true
  }
}

async function raise(
  app: App,
  { merchant_id: merchantId, id: paymentId }: PaymentRecord,
  { reason }: ScriptedDispute,
): Promise<{ id: string; status: 'OPEN' }> {
  const statement = 'The payer of a scenario disputes this payment.'
  const { id } = await raiseDispute(app, { merchantId, paymentId, openedBy: 'PAYER', reason, statement, actor: null })
  return { id, status: 'OPEN' }
}

async function decide(app: App, id: string, favour: 'merchant' | 'payer'): Promise<void> {
  const isForMerchant = favour === 'merchant'
  await resolveDispute(app, {
    id,
    status: isForMerchant ? 'RESOLVED_MERCHANT_FAVOUR' : 'RESOLVED_PAYER_FAVOUR',
    note: isForMerchant ? 'The evidence shows the delivery.' : 'The evidence shows no delivery.',
    refund: !isForMerchant,
    actor: SANDBOX,
    role: 'OWNER',
  })
}
