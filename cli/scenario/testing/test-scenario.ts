import { AsyncLocalStorage } from 'node:async_hooks'
import type { z } from 'zod'
import type { Payment, PayerView } from '../../../src/wire/payments.ts'
import type { Client } from '../../client/call.ts'
import { CliError } from '../../base/errors.ts'
import { playAs, madeOf, merchantOf } from '../play/case-run.ts'
import type { CaseRun } from '../play/case-run.ts'
import { refuseOtherError } from '../play/expected-refusal.ts'
import type { Explained } from '../read/explain.ts'
import { makeKeys } from '../play/keys.ts'
import { ExpectError, CaseSetup, VERBS } from '../language.ts'
import type { Verb } from '../language.ts'
import { StepFailure } from '../failure.ts'
import { inBranch } from '../play/last-exchange.ts'
import { unmetNeed, clearStage, prepareStage, refuseForged, setStage } from '../play/stage.ts'
import { errorOf } from '../play/play-plan.ts'
import { parse } from '../read/read-step.ts'
import type { Receipt } from '../play/receiver.ts'
import { ruleProblems } from '../read/step-rules.ts'
import { paymentNow } from '../verbs/payments.ts'
import { merchantEnvironment } from '../verbs/exec.ts'
import type { Handle, MadeMerchant } from './answers.ts'
import { makeNames } from './names.ts'
import type { Names } from './names.ts'
import { ScenarioError, at, calledHere, scenarioError } from './scenario-error.ts'
import type { Called } from './scenario-error.ts'
import { functionName, makeVerbs } from './verbs.ts'
import type { Verbs } from './verbs.ts'

/** What a scenario has before its first verb, as `given` of a scenario file says it. */
export type TestScenarioOptions = z.input<typeof CaseSetup> & {
  /** Names it in a run with a seed; without one it is named by when it was begun. */
  name?: string | undefined
}

/** An error response of the API. */
export type ErrorResponse = { http: number; code: string; message: string }

/** A merchant with a webhook receiver of its own, and all verbs of the language as functions with its identity. */
export type TestScenario = Verbs & {
  /** The merchant of the scenario, for verbs that take one. */
  readonly self: MadeMerchant
  /** What a program needs to use its identity: SVC_API_URL, SVC_CLIENT_ID, SVC_WEBHOOK_SECRET and others. */
  readonly environment: Readonly<Record<string, string>>
  /** What the receiver has been sent so far. */
  readonly received: readonly Receipt[]
  /** A payment as it is now. */
  payment(payment: Handle<'payment'>): Promise<Payment | PayerView>
  /** Another merchant of the scenario; its verbs use that identity. */
  as(merchant: MadeMerchant): TestScenario
  /**
   * Expects that the API answers the action with an error, and returns it.
   * @throws {ScenarioError} when the error is another one, or there is none
   */
  expectError(action: () => Promise<unknown>, expected: ExpectError): Promise<ErrorResponse>
  /** Ends what is still waiting; the merchant's webhooks go nowhere from here on. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Begins a scenario: creates its merchant and its receiver. */
export async function beginScenario(
  client: Client,
  { name, ...given }: TestScenarioOptions,
  { key, seed }: { key: string; seed: string | undefined },
): Promise<TestScenario> {
  const called = calledHere('scenario')
  const over = new AbortController()
  const run = prepareStage(client, {
    // How long a test may take is up to the test runner.
    deadline: Number.POSITIVE_INFINITY,
    signal: over.signal,
    newKey: makeKeys(seed, name ?? key),
    isSeeded: seed !== undefined,
    // A test is a program already, which may run others.
    exec: { env: process.env, cwd: process.cwd() },
  })
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    over.abort()
    closing ??= clearStage(run)
    return closing
  }
  const names = makeNames()
  try {
    refuseMistakes(called, (note) => parse(CaseSetup, names.written(given), { path: [], note }))
    const stage = CaseSetup.parse(given)
    const missing = await unmetNeed(run.client, stage)
    if (missing !== undefined) throw new StepFailure(missing)
    await setStage(run, stage)
  } catch (error) {
    const reported = await scenarioError(run, error, called)
    await close()
    throw reported
  }
  const { merchant_id, client_id, name: legalName } = run.merchant
  const own = names.remember('merchant', { merchant_id, client_id, name: legalName })
  // That it is a merchant stands in its type alone.
  return testScenarioOf({ run, names, close, self: own as MadeMerchant, actingAs: undefined })
}

type Begun = {
  run: CaseRun
  names: Names
  close: () => Promise<void>
  self: MadeMerchant
  /** The reference of the merchant that verbs use; undefined for the scenario's own. */
  actingAs: string | undefined
}

function testScenarioOf(begun: Begun): TestScenario {
  const { run, names, close, self, actingAs } = begun
  return {
    ...makeVerbs((verb, input) => play(begun, verb, input)),
    self,
    get environment() {
      return merchantEnvironment(merchantOf(run, actingAs))
    },
    get received() {
      return merchantOf(run, actingAs).receiver?.receipts ?? []
    },
    payment: (payment) => lookUp(begun, payment),
    as: (other) => testScenarioOf({ ...begun, self: other, actingAs: referenceTo(names, other, 'merchant') }),
    expectError: (action, expected) => expectErrorOf(begun, action, expected),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Plays a verb as a step of a file is played, and answers what that step could have named. */
async function play({ run, names, actingAs }: Begun, verb: Verb, given: unknown): Promise<unknown> {
  const called = calledHere(functionName(verb))
  const name = names.nameFor(verb, given)
  const written = names.written(given)
  const input = name === undefined ? written : { ...Object(written), as: name }
  refuseMistakes(called, (note) => {
    const foreign = names.mistakesIn(verb, input)
    for (const mistake of foreign) note(mistake)
    if (foreign.length > 0) return
    if (parse(VERBS[verb].schema, input, { path: [], note }) === undefined) return
    for (const problem of ruleProblems(verb, input, undefined)) note(problem)
  })
  await reported(run, called, async () => {
    await playAs(run, actingAs, (acting) => VERBS[verb].play(acting, input))
    refuseForged(run)
  })
  return name === undefined ? undefined : names.remember(name, run.captures.get(name))
}

async function lookUp({ run, names, actingAs }: Begun, payment: object): Promise<Payment | PayerView> {
  const called = calledHere('payment')
  const { created } = madeOf(run, 'payment', referenceTo(names, payment, 'payment'))
  return reported(run, called, () => paymentNow(merchantOf(run, actingAs), created.payment_id))
}

/** A failure inside of it is left as it is: whether it is the expected one is looked at here. */
const expecting = new AsyncLocalStorage<true>()

async function expectErrorOf(
  { run }: Begun,
  action: () => Promise<unknown>,
  expected: ExpectError,
): Promise<ErrorResponse> {
  const called = calledHere('expectError')
  refuseMistakes(called, (note) => {
    parse(ExpectError, expected, { path: [], note })
    if (Object.keys(expected).length === 0)
      note({
        path: [],
        what: 'value',
        message: 'say which error is expected',
        hint: "{ http: 403, code: 'PAYOUT_HELD' }",
      })
  })
  const error = await errorOf(() => expecting.run(true, async () => void (await action())))
  await reported(run, called, async () => refuseOtherError(run, makeNames().written(expected) as ExpectError, error))
  if (!(error instanceof CliError)) throw new Error('not an error response', { cause: error })
  return { http: error.options.status ?? 0, code: error.code, message: error.message }
}

/** Runs it with a last request of its own, and reports a failure with all that helps to understand it. */
function reported<T>(run: CaseRun, called: Called, action: () => Promise<T>): Promise<T> {
  return inBranch(async () => {
    try {
      return await action()
    } catch (error) {
      throw expecting.getStore() === true ? error : await scenarioError(run, error, called)
    }
  })
}

function referenceTo(names: Names, answer: object, what: string): string {
  const reference = names.written(answer)
  if (typeof reference === 'string') return reference
  throw new TypeError(`not a ${what} of this scenario: use the answer itself that the verb returned, not a copy`)
}

/** @throws {ScenarioError} with all that is wrong with what a program gives a verb, before anything is sent */
function refuseMistakes(called: Called, check: (note: (found: Explained) => void) => void): void {
  const found: Explained[] = []
  check((mistake) => void found.push(mistake))
  if (found.length === 0) return
  const lines = found.map(({ path, message, hint }) => {
    const where = path.filter((part) => part !== '').join('.')
    return `${where === '' ? '' : `${where}: `}${message}${hint === undefined ? '' : ` (${hint})`}`
  })
  throw at(new ScenarioError(`${called.name}: ${lines.join('; ')}`, {}), called)
}
