import { SCENARIO_PARAMETERS } from '../lib/bank-scenarios.ts'
import type { ParameterisedScenario, PlainScenario } from '../lib/bank-scenarios.ts'
import { parseDuration } from '../lib/duration.ts'
import { invalidField } from '../lib/errors.ts'
import type { FailureCode } from '../lib/failure-codes.ts'
import { DisputeReason } from '../wire/dispute-fields.ts'

/**
 * How the mock bank behaves, scenario by scenario (contract §Sandbox scenarios). The table shows the outcome when the
 * payer approves; a payer who cancels returns with error=access_denied in all of them except `never-returns`, where the
 * payer does not return.
 *
 * Reasons that a bank knows before the authorisation (identity of the payer, a blocked account, the limit) reject the
 * exchange of the code: the payment never becomes Authorised. Reasons that appear when money moves (insufficient funds,
 * fraud, the scheme's answer) reject the execution, after Authorised (contract §Payment status).
 *
 * | scenario | redirect | exchange | execution | refund | payment ends as |
 * |---|---|---|---|---|---|
 * | success, otp-wrong-then-ok | code | authorised | executed | executed | Settled |
 * | dispute-payer:<reason>, dispute-won | code | authorised | executed | executed | Settled, disputed |
 * | dispute-lost | code | authorised | executed | executed | Refunded after its dispute |
 * | success-slow-settle:<duration> | code | authorised, settles later | executed | executed | Settled |
 * | callback-before-redirect | callback, then code | authorised | executed | executed | Settled |
 * | duplicate-callback | two callbacks, then code | authorised | executed | executed | Settled |
 * | refund-fails | code | authorised | executed | ACCOUNT_CLOSED | Settled |
 * | payer-cancels | error=access_denied | - | - | - | Failed ACCESS_DENIED |
 * | sca-fails | code | AUTHORISATION_FAILED | - | - | Failed AUTHORISATION_FAILED |
 * | limit-exceeded | code | LIMIT_EXCEEDED | - | - | Failed LIMIT_EXCEEDED |
 * | account-blocked | code | ACCOUNT_BLOCKED | - | - | Failed ACCOUNT_BLOCKED |
 * | bank-down | code | no answer once, then BANK_UNAVAILABLE | - | - | Failed BANK_UNAVAILABLE |
 * | insufficient-funds | code | authorised | INSUFFICIENT_FUNDS | - | Failed INSUFFICIENT_FUNDS |
 * | fraud-stop | code | authorised | FRAUD_SUSPECTED | - | Failed FRAUD_SUSPECTED |
 * | bank-timeout | code | authorised | silent twice, then BANK_TIMEOUT | - | Failed BANK_TIMEOUT |
 * | authorised-then-rejected | code | authorised | BANK_ERROR | - | Failed BANK_ERROR |
 * | settlement-fails | code | authorised | SETTLEMENT_FAILED | - | Failed SETTLEMENT_FAILED |
 * | never-returns | none | - | - | - | Failed CONSENT_EXPIRED, by the sweeper |
 */
export type Behaviour = {
  /** One sentence for the bank's page and for lists of scenarios. */
  summary: string
  /** How an approving payer returns: with a code, as if cancelled, or not at all. */
  redirect: 'code' | 'access_denied' | 'none'
  /** The failure of the code exchange; undefined: authorised. */
  exchange: SimulatedFailure | undefined
  /** The failure of the execution; undefined: executed. */
  execution: SimulatedFailure | undefined
  /** The failure of a refund; undefined: refunded. */
  refund: FailureCode | undefined
  /** The number of callbacks with the payer's decision before the payer returns. */
  callbacks: number
  /** Seconds between the authorisation and the settlement. */
  settleInSeconds: number
  /** The dispute that the payer raises after the settlement. */
  dispute?: ScriptedDispute
}

/** The reason of a scripted dispute, and in whose favour it is resolved; undefined where it stays open. */
export type ScriptedDispute = { reason: DisputeReason; favour: 'merchant' | 'payer' | undefined }

/** A simulated failure, preceded by unanswered calls: these fail at once, or after a silence. */
export type SimulatedFailure = { failureCode: FailureCode; unanswered: number; silent: boolean }

/** A scenario as written (`success-slow-settle:90s`), and its behaviour. */
export type Scenario = { text: string; behaviour: Behaviour }

const SUCCESS = {
  summary: 'The bank authorises the payment and carries it out.',
  redirect: 'code',
  exchange: undefined,
  execution: undefined,
  refund: undefined,
  callbacks: 0,
  settleInSeconds: 0,
} as const satisfies Behaviour

const BEHAVIOURS = {
  success: SUCCESS,
  'payer-cancels': {
    ...SUCCESS,
    summary: 'Whichever button you press, the bank reports that the payer cancelled.',
    redirect: 'access_denied',
  },
  'sca-fails': {
    ...SUCCESS,
    summary: "The bank can't confirm that it is you.",
    exchange: failure('AUTHORISATION_FAILED'),
  },
  'otp-wrong-then-ok': {
    ...SUCCESS,
    summary:
      'The first one-time code of the full login is wrong, the second is right; without that login it is a success.',
  },
  'insufficient-funds': {
    ...SUCCESS,
    summary: 'The payment is authorised, then rejected: insufficient funds.',
    execution: failure('INSUFFICIENT_FUNDS'),
  },
  'limit-exceeded': {
    ...SUCCESS,
    summary: 'The bank rejects it: the amount is above the limit.',
    exchange: failure('LIMIT_EXCEEDED'),
  },
  'account-blocked': {
    ...SUCCESS,
    summary: 'The bank rejects it: the account is blocked.',
    exchange: failure('ACCOUNT_BLOCKED'),
  },
  'fraud-stop': {
    ...SUCCESS,
    summary: 'The payment is authorised, then stopped on suspicion of fraud.',
    execution: failure('FRAUD_SUSPECTED'),
  },
  'bank-timeout': {
    ...SUCCESS,
    summary: 'The payment is authorised; the bank does not answer twice, and then gives up.',
    execution: { failureCode: 'BANK_TIMEOUT', unanswered: 2, silent: true },
  },
  'bank-down': {
    ...SUCCESS,
    summary: "The bank can't be reached at first; the next request fails as not available.",
    exchange: { failureCode: 'BANK_UNAVAILABLE', unanswered: 1, silent: false },
  },
  'authorised-then-rejected': {
    ...SUCCESS,
    summary: 'The payment is authorised, then rejected without a reason.',
    execution: failure('BANK_ERROR'),
  },
  'settlement-fails': {
    ...SUCCESS,
    summary: 'The payment is authorised, but the settlement fails.',
    execution: failure('SETTLEMENT_FAILED'),
  },
  'never-returns': {
    ...SUCCESS,
    summary: 'You are not sent back to the shop; the payment waits until it expires.',
    redirect: 'none',
  },
  'callback-before-redirect': {
    ...SUCCESS,
    summary: 'The bank reports your decision by itself before it sends you back.',
    callbacks: 1,
  },
  'duplicate-callback': {
    ...SUCCESS,
    summary: 'The bank reports your decision twice before it sends you back.',
    callbacks: 2,
  },
  'refund-fails': {
    ...SUCCESS,
    summary: 'The bank carries out the payment; a later refund is rejected because the account is closed.',
    refund: 'ACCOUNT_CLOSED',
  },
  'dispute-won': {
    ...SUCCESS,
    summary: 'You dispute the payment once it has settled; the merchant answers, and it is decided for the merchant.',
    dispute: { reason: 'ITEM_NOT_RECEIVED', favour: 'merchant' },
  },
  'dispute-lost': {
    ...SUCCESS,
    summary: 'You dispute the payment once it has settled; it is decided for you, and the money comes back.',
    dispute: { reason: 'ITEM_NOT_RECEIVED', favour: 'payer' },
  },
} as const satisfies Record<PlainScenario, Behaviour>

type Parameterised = { parameter: string; summary: string; behave(parameter: string): Behaviour }

/** Scenarios with a parameter after a colon. */
const OWN_PARAMETERS: Readonly<Record<ParameterisedScenario, Parameterised>> = {
  'success-slow-settle': {
    parameter: SCENARIO_PARAMETERS['success-slow-settle'],
    summary: 'The bank carries out the payment so long after you authorise it, such as 90s or 2h; 30d at most.',
    behave: (duration) => ({
      ...SUCCESS,
      summary: `The bank carries out the payment ${duration} after you authorise it.`,
      settleInSeconds: settleSeconds(duration),
    }),
  },
  'dispute-payer': {
    parameter: SCENARIO_PARAMETERS['dispute-payer'],
    summary: 'You dispute the payment once it has settled, and the dispute stays open.',
    behave: disputedFor,
  },
}
const PARAMETERISED: Readonly<Record<string, Parameterised>> = OWN_PARAMETERS

/** The names of all scenarios, those with a parameter as `success-slow-settle:<duration>`. */
export const SCENARIO_NAMES: readonly string[] = [
  ...Object.keys(BEHAVIOURS),
  ...Object.entries(PARAMETERISED).map(([name, { parameter }]) => `${name}:${parameter}`),
].toSorted()

/** All scenarios with their summaries, ordered by name. */
export function listBankScenarios(): { name: string; summary: string }[] {
  const plain = Object.entries(BEHAVIOURS).map(([name, { summary }]) => ({ name, summary }))
  const others = Object.entries(PARAMETERISED).map(([name, { parameter, summary }]) => ({
    name: `${name}:${parameter}`,
    summary,
  }))
  return [...plain, ...others].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Longer delays are typing mistakes: the deadlines of consents and disputes are far shorter. */
const SETTLE_SECONDS_MAX = 30 * 86_400

/**
 * Parses a scenario's name, with its parameter if it has one: `success`, `success-slow-settle:90s`.
 * @throws {DomainError} VALIDATION_FAILED on `scenario`, listing the names, for an unknown scenario
 */
export function parseScenario(text: string): Scenario {
  const [name = '', ...rest] = text.split(':')
  const parameter = rest.join(':')
  if (rest.length === 0 && isPlainName(name)) return { text, behaviour: BEHAVIOURS[name] }
  const parameterised = Object.hasOwn(PARAMETERISED, name) ? PARAMETERISED[name] : undefined
  if (parameterised && parameter !== '') return { text, behaviour: parameterised.behave(parameter) }
  throw invalidField('scenario', 'UNKNOWN_SCENARIO', `must be one of ${SCENARIO_NAMES.join(', ')}`)
}

/** The scenario of payments that name none. */
export const DEFAULT_SCENARIO = 'success'

function isPlainName(name: string): name is keyof typeof BEHAVIOURS {
  return Object.hasOwn(BEHAVIOURS, name)
}

function failure(failureCode: FailureCode): SimulatedFailure {
  return { failureCode, unanswered: 0, silent: false }
}

/** Whole seconds, rounded up: a requested delay is never 0. */
function settleSeconds(duration: string): number {
  const seconds = Math.ceil(durationMs(duration) / 1_000)
  if (seconds <= SETTLE_SECONDS_MAX) return seconds
  throw invalidField('scenario', 'too_big', 'must not settle later than 30d after the authorisation')
}

function durationMs(duration: string): number {
  try {
    return parseDuration(duration)
  } catch (error) {
    if (error instanceof RangeError) throw invalidField('scenario', 'invalid_duration', error.message)
    throw error
  }
}

function disputedFor(text: string): Behaviour {
  const reason = DisputeReason.options.find((each) => each === text)
  const summary = `You dispute the payment once it has settled (${text}), and the dispute stays open.`
  if (reason !== undefined) return { ...SUCCESS, summary, dispute: { reason, favour: undefined } }
  throw invalidField('scenario', 'unknown_reason', `must name a reason: ${DisputeReason.options.join(', ')}`)
}
