import { BankUnavailableError } from '../../src/banks/connector.ts'
import type { BankConnector, ConsentRequest, StagedConsent } from '../../src/banks/connector.ts'
import type { MockBank } from '../../src/banks/mock.ts'

type Call =
  | 'stage'
  | 'exchangeCode'
  | 'readConsent'
  | 'execute'
  | 'refund'
  | 'payOut'
  | 'payoutReturns'
  | 'stageUnderMandate'
  | 'authoriseUnderMandate'
  | 'endMandate'

/** A bank between the service and its mock bank that a test makes unreachable, slow or forgetful. */
export type SteeredBank = {
  connector: BankConnector
  /** The mock bank that answers in the end; to be given before the first call. */
  behind(bank: MockBank): void
  /** What happens around the calls of a kind; `answer` asks the mock bank. */
  steer(call: Call, around: ((answer: () => Promise<unknown>) => Promise<unknown>) | undefined): void
  /** How often the service has called. */
  calls: Record<Call, number>
}

/** @param staging `remote` makes the service record a payment before it asks the bank (decision 17) */
export function steeredBank(
  staging: 'local' | 'remote' = 'local',
  refundsBy: 'api' | 'file' = 'api',
  id = 'mock',
): SteeredBank {
  let mock: MockBank | undefined
  const calls: Record<Call, number> = {
    stage: 0,
    exchangeCode: 0,
    readConsent: 0,
    execute: 0,
    refund: 0,
    payOut: 0,
    payoutReturns: 0,
    stageUnderMandate: 0,
    authoriseUnderMandate: 0,
    endMandate: 0,
  }
  const arounds: Partial<Record<Call, (answer: () => Promise<unknown>) => Promise<unknown>>> = {}
  const staged = new Map<string, StagedConsent>()

  function inner(): MockBank {
    if (mock === undefined) throw new Error('the steered bank has no bank behind it')
    return mock
  }

  function stageOnce(request: ConsentRequest): StagedConsent {
    const bank = inner()
    if (bank.staging !== 'local') throw new Error('the mock bank stages locally')
    const known = staged.get(request.paymentId) ?? bank.stage(request)
    staged.set(request.paymentId, known)
    return known
  }

  async function around<T>(call: Call, answer: () => Promise<T>): Promise<T> {
    calls[call] += 1
    // A steering function answers what the call does, or throws.
    return (await (arounds[call]?.(answer) ?? answer())) as T
  }

  const rest: Omit<BankConnector, 'staging' | 'stage'> = {
    id,
    exchangeCode: (request, signal) => around('exchangeCode', () => inner().exchangeCode(request, signal)),
    readConsent: (request, signal) => around('readConsent', () => inner().readConsent(request, signal)),
    execute: (order, signal) => around('execute', () => inner().execute(order, signal)),
    ...(refundsBy === 'file'
      ? {}
      : { refund: (order, signal) => around('refund', () => inner().refund(order, signal)) }),
    payouts: {
      send: (order, signal) => around('payOut', () => inner().payouts.send(order, signal)),
      returns: (request, signal) => around('payoutReturns', () => inner().payouts.returns(request, signal)),
    },
    stageUnderMandate: (order, signal) => around('stageUnderMandate', () => inner().stageUnderMandate(order, signal)),
    authoriseUnderMandate: (order, signal) =>
      around('authoriseUnderMandate', () => inner().authoriseUnderMandate(order, signal)),
    endMandate: (mandate, signal) => around('endMandate', () => inner().endMandate(mandate, signal)),
    readCallback: (callback) => inner().readCallback(callback),
  }
  return {
    connector:
      staging === 'remote'
        ? { ...rest, staging, stage: (request) => around('stage', async () => stageOnce(request)) }
        : { ...rest, staging, stage: (request) => stageOnce(request) },
    behind: (bank) => (mock = bank),
    steer: (call, run) => (run === undefined ? delete arounds[call] : (arounds[call] = run)),
    calls,
  }
}

/** The bank gives no answer, whatever it did with the request. */
export async function noAnswer(): Promise<never> {
  throw new BankUnavailableError('the bank does not answer')
}
