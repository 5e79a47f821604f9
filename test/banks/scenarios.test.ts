import t from 'tap'
import { parseScenario, SCENARIO_NAMES } from '../../src/banks/scenarios.ts'
import { DomainError } from '../../src/lib/errors.ts'

const DOCUMENTED = [
  'success',
  'success-slow-settle:<duration>',
  'payer-cancels',
  'sca-fails',
  'otp-wrong-then-ok',
  'insufficient-funds',
  'limit-exceeded',
  'account-blocked',
  'fraud-stop',
  'bank-timeout',
  'bank-down',
  'authorised-then-rejected',
  'settlement-fails',
  'never-returns',
  'callback-before-redirect',
  'duplicate-callback',
  'refund-fails',
  'dispute-payer:<reason>',
  'dispute-won',
  'dispute-lost',
]

t.test('the scenarios are those of contract §Sandbox scenarios', async (t) => {
  t.same(SCENARIO_NAMES, DOCUMENTED.toSorted())
})

t.test('every scenario without a parameter is read by its own name', async (t) => {
  for (const name of SCENARIO_NAMES.filter((text) => !text.includes(':'))) t.equal(parseScenario(name).text, name)
})

t.test('a delay is read in whole seconds, rounded up', async (t) => {
  const delays: [string, number][] = [
    ['90s', 90],
    ['5m', 300],
    ['1ms', 1],
    ['1500ms', 2],
    ['0s', 0],
    ['30d', 2_592_000],
  ]
  for (const [text, seconds] of delays) {
    t.equal(parseScenario(`success-slow-settle:${text}`).behaviour.settleInSeconds, seconds, text)
  }
})

t.test('a dispute names one of the reasons', async (t) => {
  t.equal(parseScenario('dispute-payer:ITEM_NOT_RECEIVED').behaviour.redirect, 'code')
  t.throws(() => parseScenario('dispute-payer:BORED'), { code: 'VALIDATION_FAILED' })
})

t.test('unknown scenarios are rejected', async (t) => {
  const wrong = [
    '',
    'Success',
    ' success',
    'success:',
    'success:1s',
    'nope',
    'toString',
    '__proto__',
    'constructor:1s',
    'success-slow-settle',
    'success-slow-settle:',
    'success-slow-settle:soon',
    'success-slow-settle:31d',
    'success-slow-settle:1s:2s',
    'dispute-payer',
  ]
  for (const text of wrong)
    t.throws(() => parseScenario(text), { code: 'VALIDATION_FAILED', errors: [{ path: 'scenario' }] }, text)
})

t.test('an unknown name is answered with the known ones', async (t) => {
  try {
    parseScenario('nope')
    t.fail('it was accepted')
  } catch (error) {
    t.ok(error instanceof DomainError)
    for (const name of SCENARIO_NAMES) t.ok(String(error).includes(name), name)
  }
})
