import type { CommonQueryMethods } from 'slonik'
import type { Ids } from '../lib/ids.ts'
import type { Logger } from '../observe/log.ts'
import type { BankCallback } from './connector.ts'
import type { PostCallback } from './mock-callback.ts'
import { reportDecision } from './mock-faults.ts'
import { choosePayingAccount } from './mock-paying-account.ts'
import type { MockBankRequest } from './mock-request.ts'
import { findAuthorisation, insertAuthorisation } from './mock-sql.ts'
import type { Authorisation, Decision } from './mock-sql.ts'
import { behaviourOf, decidedOutcome } from './mock-outcome.ts'
import { parseScenario } from './scenarios.ts'

type Bank = { pool: CommonQueryMethods; ids: Ids; publicUrl: string; secret: string; log: Logger; post: PostCallback }

/** How the payer returns after a decision; never in the scenario `never-returns`. */
export type DecisionOutcome =
  | { returns: 'with-code'; code: string }
  | { returns: 'with-error'; error: 'access_denied' }
  | { returns: 'never' }
  | { returns: 'account-refused'; problem: string }

/** Records a payer's decision and sends the scenario's callbacks; see `decide` of the mock bank. */
export async function decide(
  bank: Bank,
  request: MockBankRequest,
  { decision, account }: { decision: Decision; account: string | undefined },
): Promise<DecisionOutcome> {
  const chosen = decision === 'approve' ? await choosePayingAccount(bank.pool, request, account) : { accountId: null }
  if ('problem' in chosen) return repeatOrReject(bank, request, chosen.problem)
  const { redirect } = parseScenario(request.scenario).behaviour
  const ids = bank.ids.for('decision at the bank', request.state)
  const code = decision === 'approve' && redirect === 'code' ? ids.token() : null
  const bankReference = `MB${ids.uuid().replaceAll('-', '')}`
  const debtorAccountId = chosen.accountId
  const first = await insertAuthorisation(bank.pool, { request, decision, code, bankReference, debtorAccountId })
  const authorisation = first ?? (await findAuthorisation(bank.pool, request.state))
  if (authorisation === null) throw new Error('an authorisation is neither new nor known')
  if (first !== null) await report(bank, first)
  return returnOf(authorisation)
}

/** An account that can't pay rejects the first approval; an earlier decision stays as it is. */
async function repeatOrReject(bank: Bank, request: MockBankRequest, problem: string): Promise<DecisionOutcome> {
  const decided = await findAuthorisation(bank.pool, request.state)
  return decided === null ? { returns: 'account-refused', problem } : returnOf(decided)
}

function returnOf(authorisation: Authorisation): DecisionOutcome {
  if (authorisation.code !== null) return { returns: 'with-code', code: authorisation.code }
  const { redirect } = behaviourOf(authorisation)
  return redirect === 'none' ? { returns: 'never' } : { returns: 'with-error', error: 'access_denied' }
}

/** A bank whose payer never returns sends no callback either, whatever the fault injection settings. */
async function report(bank: Bank, authorisation: Authorisation): Promise<void> {
  const { redirect, callbacks } = behaviourOf(authorisation)
  const callback: BankCallback = { state: authorisation.state, result: decidedOutcome(authorisation) }
  const mayHaveFaults = authorisation.has_faults && redirect !== 'none'
  const merchantId = mayHaveFaults ? (authorisation.payee_id ?? undefined) : undefined
  await reportDecision(bank, { callback, callbackCount: callbacks, merchantId })
}
