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

/** How long a claimed story is nobody else's. */
const LEASE_SECONDS = 30

/** Between two looks at a payment that has not settled, or a dispute that somebody else has in hand. */
const LOOK_SECONDS = 1

/** Who takes the merchant's and the operator's part. */
const SANDBOX: Actor = { id: 'sandbox', name: 'sandbox', role: 'OWNER' }

/**
 * Plays the disputes of the scenarios `dispute-…` (contract §Sandbox scenarios), once their payments have settled: the payer raises
 * one, and in two of them the merchant answers and an operator decides. All of it by the use cases that people use.
 * A job of the sandbox alone.
 */
export async function playDisputes(app: App): Promise<{ more: boolean }> {
  if (app.config.mode !== 'sandbox') return { more: false }
  const claimed = await claimDisputeScenarios(app.pool, { limit: SCENARIOS_MAX, leaseSeconds: LEASE_SECONDS })
  for (const story of claimed) await playOne(app, story)
  return { more: false }
}

/** One that can't be played leaves the others alone, and is tried again when its lease ends. */
async function playOne(app: App, story: DisputeScenario): Promise<void> {
  try {
    if (await play(app, story)) await completeDisputeScenario(app.pool, story.state)
    else await postponeDisputeScenario(app.pool, { state: story.state, seconds: LOOK_SECONDS })
  } catch (error) {
    app.log.error(
      { err: error, scenario: story.scenario },
      'the dispute of a scenario was not played; it is tried again',
    )
  }
}

/** True where the story is at its end. */
async function play(app: App, { state, scenario }: DisputeScenario): Promise<boolean> {
  const payment = await findPaymentByState(app.pool, state)
  const { dispute } = parseScenario(scenario).behaviour
  if (payment === null || dispute === undefined) return true
  if (payment.status === 'AwaitingAuthorisation' || payment.status === 'Authorised') return false
  // It failed, or somebody was faster and gave the money back.
  if (payment.status !== 'Settled' && (await isUndisputed(app, payment))) return true
  return advanceDispute(app, payment, dispute)
}

async function isUndisputed(
  { pool }: App,
  { merchant_id: merchantId, id: paymentId }: PaymentRecord,
): Promise<boolean> {
  return (await findNewestDispute(pool, { merchantId, paymentId })) === null
}

/** Takes the steps that are left, from wherever the dispute is: a process that ended in between has done some of them. */
async function advanceDispute(app: App, payment: PaymentRecord, story: ScriptedDispute): Promise<boolean> {
  const { merchant_id: merchantId, id: paymentId } = payment
  const found = await findNewestDispute(app.pool, { merchantId, paymentId })
  try {
    const { id, status } = found ?? (await raise(app, payment, story))
    if (story.favour === undefined) return true
    if (status === 'OPEN') {
      const evidence = 'The delivery note, as the scenario has it.'
      await submitEvidence(app, { merchantId, id, evidence, actor: { ...SANDBOX, role: 'ADMIN' } })
    }
    if (status === 'OPEN' || status === 'UNDER_REVIEW') await decide(app, id, story.favour)
    return true
  } catch (error) {
    // Somebody else has taken the payment or its dispute in hand: the story is theirs now.
    if (!(error instanceof DomainError) || error.code === 'SERVICE_UNAVAILABLE') throw error
    app.log.info({ code: error.code, paymentId }, 'the dispute of a scenario is not played on: it was refused')
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
