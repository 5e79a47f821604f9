import type { CommonQueryMethods } from 'slonik'
import { constantTimeEqual } from '../lib/hmac.ts'
import type { Ids } from '../lib/ids.ts'
import type { Logger } from '../observe/log.ts'
import type {
  AuthorisationOutcome,
  BankCallback,
  BankConnector,
  ConsentView,
  ExecutionOrder,
  ExecutionOutcome,
  MandateOrder,
  PayoutOrder,
  PayoutOutcome,
  PayoutReturns,
  RefundOrder,
  RefundOutcome,
  StagingOutcome,
} from './connector.ts'
import { postOverHttp, readSignedCallback } from './mock-callback.ts'
import type { PostCallback } from './mock-callback.ts'
import { countCall, countMandateCall, countPayoutCall } from './faults-sql.ts'
import { decide } from './mock-decide.ts'
import type { DecisionOutcome } from './mock-decide.ts'
import { answerWithFaults } from './mock-faults.ts'
import { stageMandatePayment } from './mock-mandates.ts'
import { insertEndedMandate } from './mock-mandates-sql.ts'
import { refundMoney, takeMoney } from './mock-money.ts'
import { bookPayout, readReturns } from './mock-payouts.ts'
import { payingAccounts } from './mock-paying-account.ts'
import type { PayingAccounts } from './mock-paying-account.ts'
import { readRequest, stageConsent } from './mock-request.ts'
import type { MockBankRequest } from './mock-request.ts'
import { simulateNoAnswer, throwIfAborted } from './mock-no-answer.ts'
import { countExchange, countExecution, findAuthorisation } from './mock-sql.ts'
import type { Authorisation, Decision } from './mock-sql.ts'
import { behaviourOf, isAuthorised, decidedOutcome } from './mock-outcome.ts'

/**
 * The mock bank: the connector of the sandbox, and the backend of the bank's own page. It plays the outside world, so
 * it keeps its own books (the schema `mock_bank`) and never reads the service's payments. Its accounts are those of the
 * Open Banking API: a payer's payments are debited there (decision 59).
 */
export type MockBank = BankConnector &
  Required<Pick<BankConnector, 'refund' | 'payouts' | 'readCallback'>> & {
    /** Verifies and parses the signed request of the bank's page; undefined when the bank did not sign it. */
    readRequest(text: string): MockBankRequest | undefined
    /** The accounts of this bank that can pay. */
    payingAccounts(request: MockBankRequest): Promise<PayingAccounts>
    /**
     * Records the payer's decision and returns how the payer continues. The first decision counts: later ones get the
     * same answer.
     * @param account the id or number of the account that pays; an account at another bank if omitted
     */
    decide(request: MockBankRequest, decision: Decision, account?: string): Promise<DecisionOutcome>
  }

export type MockBankOptions = {
  /** Where payers reach the bank's page and the bank reaches the service, without a trailing slash. */
  publicUrl: string
  /** The bank's own key, for its request objects and callbacks. */
  secret: string
  pool: CommonQueryMethods
  ids: Ids
  log: Logger
  /** How callbacks are sent; default: over HTTP. */
  post?: PostCallback
  /** How long an unanswered call takes; default: 1 second. */
  silenceMs?: number
}

type Bank = Required<MockBankOptions>

const SILENCE_MS = 1_000

export function makeMockBank(options: MockBankOptions): MockBank {
  const bank: Bank = { post: postOverHttp, silenceMs: SILENCE_MS, ...options }
  return {
    id: 'mock',
    staging: 'local',
    stage: (consent) =>
      stageConsent(
        { ...bank, reference: `mock-${bank.ids.for('consent at the bank', consent.state).uuid()}` },
        consent,
      ),
    exchangeCode: (request, signal) => exchangeCode(bank, request, signal),
    readConsent: ({ state }, signal) => readConsent(bank, state, signal),
    execute: (order, signal) => execute(bank, order, signal),
    refund: (order, signal) => refund(bank, order, signal),
    payouts: {
      send: (order, signal) => payOut(bank, order, signal),
      returns: (request, signal) => payoutReturns(bank, request, signal),
    },
    stageUnderMandate: (order, signal) => stageUnderMandate(bank, order, signal),
    authoriseUnderMandate: (order, signal) => authoriseUnderMandate(bank, order, signal),
    endMandate: (mandate, signal) => endMandate(bank, mandate, signal),
    readCallback: (callback) => readSignedCallback(bank.secret, callback),
    readRequest: (text) => readRequest(bank.secret, text),
    payingAccounts: (request) => payingAccounts(bank.pool, request),
    decide: (request, decision, account) => decide(bank, request, { decision, account }),
    within: (tx) => makeMockBank({ ...options, pool: tx, post: () => Promise.resolve(200), silenceMs: 0 }),
  }
}

/** Answers a call about a payment: first the fault injection settings apply, then the scenario. */
async function answer<T>(
  bank: Bank,
  authorisation: Authorisation,
  { signal, work }: { signal: AbortSignal; work: () => Promise<T> },
): Promise<T> {
  const counted = authorisation.has_faults ? await countCall(bank.pool, authorisation.state) : null
  return answerWithFaults(counted, signal, work)
}

async function exchangeCode(
  bank: Bank,
  { state, code }: { state: string; code: string },
  signal: AbortSignal,
): Promise<AuthorisationOutcome> {
  throwIfAborted(signal)
  const authorisation = await findAuthorisation(bank.pool, state)
  if (authorisation === null || authorisation.code === null) return { outcome: 'code-invalid' }
  if (!constantTimeEqual(authorisation.code, code)) return { outcome: 'code-invalid' }
  return answer(bank, authorisation, { signal, work: () => reportOutcome(bank, authorisation, signal) })
}

async function reportOutcome(
  bank: Bank,
  authorisation: Authorisation,
  signal: AbortSignal,
): Promise<BankCallback['result']> {
  const { exchange } = behaviourOf(authorisation)
  if (exchange) await simulateNoAnswer(bank, exchange, () => countExchange(bank.pool, authorisation.state), signal)
  return decidedOutcome(authorisation)
}

async function readConsent(bank: Bank, state: string, signal: AbortSignal): Promise<ConsentView> {
  throwIfAborted(signal)
  const authorisation = await findAuthorisation(bank.pool, state)
  if (authorisation === null) return { status: 'awaiting' }
  const decided = decidedOutcome(authorisation)
  if (decided.outcome === 'authorised') return { status: 'authorised' }
  return { status: 'rejected', failureCode: decided.failureCode }
}

async function execute(bank: Bank, order: ExecutionOrder, signal: AbortSignal): Promise<ExecutionOutcome> {
  throwIfAborted(signal)
  const authorisation = await findAuthorisation(bank.pool, order.state)
  if (authorisation === null || !isAuthorised(authorisation, order)) {
    return { outcome: 'rejected', failureCode: 'AUTHORISATION_FAILED' }
  }
  const { execution } = behaviourOf(authorisation)
  const work = async (): Promise<ExecutionOutcome> => {
    if (!execution) return takeMoney(bank, order, authorisation)
    await simulateNoAnswer(bank, execution, () => countExecution(bank.pool, order.state), signal)
    return { outcome: 'rejected', failureCode: execution.failureCode }
  }
  return answer(bank, authorisation, { signal, work })
}

async function refund(bank: Bank, order: RefundOrder, signal: AbortSignal): Promise<RefundOutcome> {
  throwIfAborted(signal)
  const counted = await countCall(bank.pool, order.state)
  return answerWithFaults(counted, signal, () =>
    refundMoney(bank, order, (authorisation) => behaviourOf(authorisation).refund),
  )
}

async function payOut(bank: Bank, order: PayoutOrder, signal: AbortSignal): Promise<PayoutOutcome> {
  throwIfAborted(signal)
  const counted = await countPayoutCall(bank.pool, order.merchantId)
  return answerWithFaults(counted, signal, () => bookPayout(bank, order))
}

function payoutReturns(
  bank: Bank,
  { after }: { after: string | undefined },
  signal: AbortSignal,
): Promise<PayoutReturns> {
  throwIfAborted(signal)
  return readReturns(bank, after)
}

async function stageUnderMandate(bank: Bank, order: MandateOrder, signal: AbortSignal): Promise<StagingOutcome> {
  throwIfAborted(signal)
  const counted = await countMandateCall(bank.pool, order.bankConsentReference)
  return answerWithFaults(counted, signal, () => stageMandatePayment(bank, order))
}

async function authoriseUnderMandate(
  bank: Bank,
  order: MandateOrder,
  signal: AbortSignal,
): Promise<BankCallback['result']> {
  throwIfAborted(signal)
  const authorisation = await findAuthorisation(bank.pool, order.state)
  if (authorisation === null) return { outcome: 'rejected', failureCode: 'AUTHORISATION_FAILED' }
  return answer(bank, authorisation, { signal, work: () => reportOutcome(bank, authorisation, signal) })
}

async function endMandate(bank: Bank, mandate: { bankConsentReference: string }, signal: AbortSignal): Promise<void> {
  throwIfAborted(signal)
  const counted = await countMandateCall(bank.pool, mandate.bankConsentReference)
  await answerWithFaults(counted, signal, () => insertEndedMandate(bank.pool, mandate.bankConsentReference))
}
