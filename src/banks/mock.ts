import type { DatabasePool } from 'slonik'
import { constantTimeEqual } from '../lib/hmac.ts'
import type { Ids } from '../lib/ids.ts'
import { parseAmount } from '../lib/money.ts'
import type { Logger } from '../observe/log.ts'
import type {
  AuthorisationOutcome,
  BankCallback,
  BankConnector,
  ExecutionOrder,
  ExecutionOutcome,
  MandateOrder,
  RefundOrder,
  RefundOutcome,
  StagingOutcome,
} from './connector.ts'
import { postCallback, postOverHttp, readSignedCallback } from './mock-callback.ts'
import type { PostCallback } from './mock-callback.ts'
import { stageOrder } from './mock-mandates.ts'
import { insertEnded } from './mock-mandates-sql.ts'
import { giveBack, takeMoney } from './mock-money.ts'
import { choosePayingAccount, payingAccounts } from './mock-paying-account.ts'
import type { PayingAccounts } from './mock-paying-account.ts'
import { readRequest, stageConsent } from './mock-request.ts'
import type { MockBankRequest } from './mock-request.ts'
import { keepSilent, refuseAborted } from './mock-silence.ts'
import { countExchange, countExecution, findAuthorisation, insertAuthorisation } from './mock-sql.ts'
import type { Authorisation, Decision } from './mock-sql.ts'
import { parseScenario } from './scenarios.ts'
import type { Behaviour } from './scenarios.ts'

/**
 * The mock bank: the connector of the sandbox, and what stands behind the bank's own page. It is the outside world, so it
 * keeps books of its own (the schema `mock_bank`) and reads nothing of the service's payments. Its accounts are those of the
 * Open Banking API: what a payer pays is missing there (decision 59).
 */
export type MockBank = BankConnector & {
  /** Reads the signed request of the bank's page; undefined when the bank did not sign it. */
  readRequest(text: string): MockBankRequest | undefined
  /** The accounts of this bank that the payment may come from. */
  payingAccounts(request: MockBankRequest): Promise<PayingAccounts>
  /**
   * Records what the payer decided and says where the payer goes next. The first decision counts: every later one is
   * answered as the first was.
   * @param account the id or number of the account that the payer pays from; none is one at another bank
   */
  decide(request: MockBankRequest, decision: Decision, account?: string): Promise<DecisionOutcome>
}

/** Where a decision leads the payer; nowhere in the scenario `never-returns`. */
export type DecisionOutcome =
  | { returns: 'with-code'; code: string }
  | { returns: 'with-error'; error: 'access_denied' }
  | { returns: 'never' }
  | { returns: 'account-refused'; problem: string }

export type MockBankOptions = {
  /** Where payers reach the bank's page and the bank reaches the service, without a slash at the end. */
  publicUrl: string
  /** The bank's own key, for its request objects and callbacks. */
  secret: string
  pool: DatabasePool
  ids: Ids
  log: Logger
  /** How callbacks are sent; over HTTP when not given. */
  post?: PostCallback
  /** How long the bank is silent before it is clear that it won't answer; 1 second when not given. */
  silenceMs?: number
}

type Bank = Required<MockBankOptions>

const SILENCE_MS = 1_000

export function makeMockBank(options: MockBankOptions): MockBank {
  const bank: Bank = { post: postOverHttp, silenceMs: SILENCE_MS, ...options }
  return {
    id: 'mock',
    staging: 'local',
    stage: (consent) => stageConsent({ ...bank, reference: `mock-${bank.ids.uuid()}` }, consent),
    exchangeCode: (request, signal) => exchangeCode(bank, request, signal),
    execute: (order, signal) => execute(bank, order, signal),
    refund: (order, signal) => refund(bank, order, signal),
    stageUnderMandate: (order, signal) => stageUnderMandate(bank, order, signal),
    authoriseUnderMandate: (order, signal) => authoriseUnderMandate(bank, order, signal),
    endMandate: (mandate, signal) => endMandate(bank, mandate, signal),
    readCallback: (callback) => readSignedCallback(bank.secret, callback),
    readRequest: (text) => readRequest(bank.secret, text),
    payingAccounts: (request) => payingAccounts(bank.pool, request),
    decide: (request, decision, account) => decide(bank, request, { decision, account }),
  }
}

async function decide(
  bank: Bank,
  request: MockBankRequest,
  { decision, account }: { decision: Decision; account: string | undefined },
): Promise<DecisionOutcome> {
  const chosen = decision === 'approve' ? await choosePayingAccount(bank.pool, request, account) : { accountId: null }
  if ('problem' in chosen) return againOrRefused(bank, request, chosen.problem)
  const { redirect, callbacks } = parseScenario(request.scenario).behaviour
  const code = decision === 'approve' && redirect === 'code' ? bank.ids.token() : null
  const bankReference = `MB${bank.ids.uuid().replaceAll('-', '')}`
  const debtorAccountId = chosen.accountId
  const first = await insertAuthorisation(bank.pool, { request, decision, code, bankReference, debtorAccountId })
  const authorisation = first ?? (await findAuthorisation(bank.pool, request.state))
  if (authorisation === null) throw new Error('an authorisation is neither new nor known')
  if (first !== null) await report(bank, first, callbacks)
  return wayBack(authorisation)
}

/** An account that can't pay stops the first approval; what is decided already stays as it is. */
async function againOrRefused(bank: Bank, request: MockBankRequest, problem: string): Promise<DecisionOutcome> {
  const decided = await findAuthorisation(bank.pool, request.state)
  return decided === null ? { returns: 'account-refused', problem } : wayBack(decided)
}

function wayBack(authorisation: Authorisation): DecisionOutcome {
  if (authorisation.code !== null) return { returns: 'with-code', code: authorisation.code }
  const { redirect } = behaviourOf(authorisation)
  return redirect === 'none' ? { returns: 'never' } : { returns: 'with-error', error: 'access_denied' }
}

/** Reports at once as often as the scenario wants, so that duplicates arrive side by side. */
async function report(bank: Bank, authorisation: Authorisation, callbacks: number): Promise<void> {
  const callback: BankCallback = { state: authorisation.state, result: decidedOutcome(authorisation) }
  await Promise.all(Array.from({ length: callbacks }, () => postCallback(bank, callback)))
}

async function exchangeCode(
  bank: Bank,
  { state, code }: { state: string; code: string },
  signal: AbortSignal,
): Promise<AuthorisationOutcome> {
  refuseAborted(signal)
  const authorisation = await findAuthorisation(bank.pool, state)
  if (authorisation === null || authorisation.code === null) return { outcome: 'code-invalid' }
  if (!constantTimeEqual(authorisation.code, code)) return { outcome: 'code-invalid' }
  const { exchange } = behaviourOf(authorisation)
  if (exchange) await keepSilent(bank, exchange, () => countExchange(bank.pool, state), signal)
  return decidedOutcome(authorisation)
}

async function execute(bank: Bank, order: ExecutionOrder, signal: AbortSignal): Promise<ExecutionOutcome> {
  refuseAborted(signal)
  const authorisation = await findAuthorisation(bank.pool, order.state)
  if (authorisation === null || !covers(authorisation, order)) {
    return { outcome: 'rejected', failureCode: 'AUTHORISATION_FAILED' }
  }
  const { execution } = behaviourOf(authorisation)
  if (execution) {
    await keepSilent(bank, execution, () => countExecution(bank.pool, order.state), signal)
    return { outcome: 'rejected', failureCode: execution.failureCode }
  }
  return takeMoney(bank, order, authorisation)
}

async function refund(bank: Bank, order: RefundOrder, signal: AbortSignal): Promise<RefundOutcome> {
  refuseAborted(signal)
  return giveBack(bank, order, (authorisation) => behaviourOf(authorisation).refund)
}

async function stageUnderMandate(bank: Bank, order: MandateOrder, signal: AbortSignal): Promise<StagingOutcome> {
  refuseAborted(signal)
  return stageOrder(bank, order)
}

async function authoriseUnderMandate(
  bank: Bank,
  order: MandateOrder,
  signal: AbortSignal,
): Promise<BankCallback['result']> {
  refuseAborted(signal)
  const authorisation = await findAuthorisation(bank.pool, order.state)
  if (authorisation === null) return { outcome: 'rejected', failureCode: 'AUTHORISATION_FAILED' }
  const { exchange } = behaviourOf(authorisation)
  if (exchange) await keepSilent(bank, exchange, () => countExchange(bank.pool, order.state), signal)
  return decidedOutcome(authorisation)
}

async function endMandate(bank: Bank, mandate: { bankConsentReference: string }, signal: AbortSignal): Promise<void> {
  refuseAborted(signal)
  await insertEnded(bank.pool, mandate.bankConsentReference)
}

/** What the bank says of a decision once it answers: it follows from the books alone, so every repeat says the same. */
function decidedOutcome(authorisation: Authorisation): BankCallback['result'] {
  if (authorisation.code === null) return { outcome: 'rejected', failureCode: 'ACCESS_DENIED' }
  const { exchange, settleInSeconds } = behaviourOf(authorisation)
  if (exchange) return { outcome: 'rejected', failureCode: exchange.failureCode }
  return { outcome: 'authorised', bankReference: authorisation.bank_reference, settleInSeconds }
}

/** Whether the payer authorised exactly this: the bank moves no other amount and nothing that was refused. */
function covers(authorisation: Authorisation, order: ExecutionOrder): boolean {
  return (
    decidedOutcome(authorisation).outcome === 'authorised' &&
    authorisation.end_to_end_id === order.endToEndId &&
    authorisation.currency === order.currency &&
    parseAmount(authorisation.amount) === parseAmount(order.amount)
  )
}

function behaviourOf(authorisation: Authorisation): Behaviour {
  return parseScenario(authorisation.scenario).behaviour
}
