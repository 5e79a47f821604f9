import t from 'tap'
import { withCircuit } from '../../src/banks/circuit.ts'
import { makeOutages } from '../../src/banks/outages/outages.ts'
import { BankUnavailableError } from '../../src/banks/connector.ts'
import type { ConsentRequest, StagedConsent } from '../../src/banks/connector.ts'
import { makeLog } from '../../src/observe/log.ts'
import { makeMetrics } from '../../src/observe/metrics.ts'
import { createPayment } from '../support/app.ts'
import { moveClocks } from '../support/clocks.ts'
import { inVersion, obieService } from '../support/obie.ts'
import type { Profile } from '../support/obie.ts'
import { steeredBank } from '../support/steered-bank.ts'

const SIGNAL = new AbortController().signal
const STAGED: StagedConsent = { bankConsentReference: 'c', redirectUrl: 'https://bank.example' }
const SILENCE = () => Promise.reject(new BankUnavailableError('silent'))
const REJECTION = () => Promise.reject(new BankUnavailableError('rejected', { bank: 'answers' }))
const OWN_WAIT = () => Promise.reject(new BankUnavailableError('not asked', { bank: 'unknown' }))
const REQUEST = { paymentId: 'p', state: 's' } as ConsentRequest

/** A bank that answers as `outcome` says, and a clock that the test moves. */
function watchedBank() {
  const bank = steeredBank('remote')
  const clock = { now: 1_000_000 }
  const metrics = makeMetrics()
  const now = () => clock.now
  const { outages, keep } = makeOutages(now)
  const { connector, circuit } = withCircuit(bank.connector, { metrics, log: makeLog('silent'), now, outages })
  /** An answer that another process had a millisecond ago. */
  const answersOthers = () =>
    keep({ bank_id: bank.connector.id, silent_since: -9, silent_at: -9, rests_until: 9, answered_at: -1 })
  const answers = (outcome: () => Promise<unknown>) => {
    bank.steer('stage', outcome)
    bank.steer('readConsent', outcome)
  }
  const stage = async (): Promise<StagedConsent> => {
    if (connector.staging !== 'remote') throw new Error('the bank stages remotely')
    return connector.stage(REQUEST, SIGNAL)
  }
  return { bank, clock, metrics, connector, circuit, answers, answersOthers, stage }
}

async function fail(times: number, work: () => Promise<unknown>): Promise<void> {
  for (let time = 0; time < times; time += 1) await work().catch(() => undefined)
}

t.test('a bank that is silent five times rests, and is tried by one payment afterwards', async (t) => {
  const { bank, clock, metrics, circuit, answers, stage } = watchedBank()
  const gauge = async () => (await metrics.bankAvailable.get()).values.map(({ value }) => value)
  t.same(await gauge(), [1])
  answers(SILENCE)
  await fail(4, stage)
  t.ok(circuit.isAvailable(), 'four may be chance')
  t.equal(circuit.unavailableSince(), undefined)
  clock.now += 10_000
  await fail(1, stage)
  t.notOk(circuit.isAvailable())
  t.equal(circuit.unavailableSince(), 1_000_000, 'the first call without an answer')
  t.same(await gauge(), [0])
  const called = bank.calls.stage
  await t.rejects(stage(), { name: 'BankUnavailableError' })
  t.equal(bank.calls.stage, called, 'the bank is left alone')

  clock.now += 30_000
  t.ok(circuit.isAvailable())
  const { promise, resolve } = Promise.withResolvers<StagedConsent>()
  answers(() => promise)
  const probe = stage()
  await t.rejects(stage(), { name: 'BankUnavailableError' }, 'one at a time')
  t.equal(bank.calls.stage, called + 1)
  resolve(STAGED)
  t.same(await probe, STAGED)
  t.ok(circuit.isAvailable())
  t.equal(circuit.unavailableSince(), undefined)
  t.same(await gauge(), [1])
  answers(() => Promise.resolve(STAGED))
  t.same(await Promise.all([stage(), stage()]), [STAGED, STAGED], 'as before')
})

t.test('a call of before the silence that ends during the trial makes way for no second trial', async (t) => {
  const { bank, clock, answers, stage } = watchedBank()
  const [before, trial] = [Promise.withResolvers<StagedConsent>(), Promise.withResolvers<StagedConsent>()]
  answers(() => before.promise)
  const staging = stage()
  answers(SILENCE)
  await fail(5, stage)
  clock.now += 30_000
  answers(() => trial.promise)
  const probe = stage()
  before.reject(new BankUnavailableError('not asked', { bank: 'unknown' }))
  await t.rejects(staging, { message: 'not asked' })
  const called = bank.calls.stage
  await t.rejects(stage(), { message: /does not answer/ })
  t.equal(bank.calls.stage, called)
  trial.resolve(STAGED)
  t.same(await probe, STAGED)
})

t.test('a trial that fails makes the rest longer, up to five minutes', async (t) => {
  const { clock, circuit, answers, stage } = watchedBank()
  answers(SILENCE)
  await fail(5, stage)
  for (const seconds of [30, 60, 120, 240, 300, 300]) {
    clock.now += seconds * 1_000 - 1
    t.notOk(circuit.isAvailable(), `${seconds} s`)
    clock.now += 1
    t.ok(circuit.isAvailable())
    await fail(1, stage)
  }
})

t.test(
  'a silence that others have refuted counts no more: it takes five failures again, and the first rest',
  async (t) => {
    const { clock, circuit, answers, answersOthers, stage } = watchedBank()
    answers(SILENCE)
    await fail(5, stage)
    clock.now += 30_000
    await fail(1, stage)
    clock.now += 60_000
    answersOthers()
    t.ok(circuit.isAvailable())
    const first = clock.now
    await fail(4, stage)
    t.ok(circuit.isAvailable(), 'four may be chance')
    await fail(1, stage)
    t.equal(circuit.unavailableSince(), first)
    clock.now += 30_000
    t.ok(circuit.isAvailable(), 'a rest of 30 seconds, not of two minutes')
  },
)

t.test('a failure of last week does not say since when the bank is silent', async (t) => {
  const { clock, circuit, answers, stage } = watchedBank()
  answers(SILENCE)
  await fail(4, stage)
  clock.now += 7 * 24 * 60 * 60_000
  const first = clock.now
  await fail(1, stage)
  t.notOk(circuit.isAvailable(), 'it has not answered in between')
  t.equal(circuit.unavailableSince(), first)
  clock.now += 10 * 60_000
  await fail(1, stage)
  t.notOk(circuit.isAvailable())
  t.equal(circuit.unavailableSince(), first, 'a rest and a trial go on with the row')
  clock.now += 10 * 60_000 + 1
  await fail(1, stage)
  t.equal(circuit.unavailableSince(), clock.now)
})

t.test('payments under way are asked for while the bank rests, and their answer ends it', async (t) => {
  const { bank, circuit, connector, answers, stage } = watchedBank()
  answers(SILENCE)
  await fail(5, () => connector.readConsent({ state: 's' }, SIGNAL))
  t.notOk(circuit.isAvailable())
  await t.rejects(stage())
  t.equal(bank.calls.stage, 0)
  answers(() => Promise.resolve({ status: 'awaiting' }))
  t.same(await connector.readConsent({ state: 's' }, SIGNAL), { status: 'awaiting' })
  t.ok(circuit.isAvailable())
})

t.test('a rejection is an answer: it does not close the bank, and ends a silence', async (t) => {
  const { clock, metrics, circuit, answers, stage } = watchedBank()
  answers(REJECTION)
  await fail(9, stage)
  t.ok(circuit.isAvailable())
  answers(SILENCE)
  await fail(4, stage)
  answers(REJECTION)
  await fail(1, stage)
  answers(SILENCE)
  await fail(4, stage)
  t.ok(circuit.isAvailable(), 'four in a row may be chance')
  await fail(1, stage)
  t.notOk(circuit.isAvailable())
  clock.now += 30_000
  answers(REJECTION)
  await t.rejects(stage(), { message: 'rejected' }, 'the trial has its answer')
  t.equal(circuit.unavailableSince(), undefined)
  await fail(9, stage)
  t.ok(circuit.isAvailable())
  const { values } = await metrics.bankCalls.get()
  t.same(
    values.map(({ labels, value }) => [labels.outcome, value]),
    [
      ['refused', 20],
      ['unavailable', 9],
    ],
  )
})

t.test('a wait of our own is neither silence nor answer', async (t) => {
  const { clock, circuit, answers, stage } = watchedBank()
  answers(SILENCE)
  await fail(4, stage)
  answers(OWN_WAIT)
  await fail(9, stage)
  t.ok(circuit.isAvailable(), 'no fifth silence')
  answers(SILENCE)
  await fail(1, stage)
  t.notOk(circuit.isAvailable(), 'the four count on')
  clock.now += 30_000
  answers(OWN_WAIT)
  await fail(9, stage)
  answers(SILENCE)
  await fail(1, stage)
  clock.now += 59_999
  t.notOk(circuit.isAvailable(), 'the second rest is the longer one')
  clock.now += 1
  t.ok(circuit.isAvailable())
})

t.test('what is wrong with us says nothing of the bank', async (t) => {
  const { circuit, answers, stage } = watchedBank()
  answers(() => Promise.reject(new TypeError('a bug')))
  await fail(9, stage)
  t.ok(circuit.isAvailable())
})

t.test('payments are counted by what becomes of them at their bank', async (t) => {
  const { bank, metrics, connector } = watchedBank()
  const ORDER = { paymentId: 'p', endToEndId: 'e', state: 's', amount: '1.0000', currency: 'GBP' }
  for (const answer of [
    { outcome: 'pending', askAgainInSeconds: 2 },
    { outcome: 'executed', bankReference: 'r' },
    { outcome: 'rejected', failureCode: 'INSUFFICIENT_FUNDS' },
    { outcome: 'executed', bankReference: 'r' },
  ]) {
    bank.steer('execute', () => Promise.resolve(answer))
    t.equal(await connector.execute(ORDER, SIGNAL), answer)
  }
  bank.steer('execute', SILENCE)
  await t.rejects(connector.execute(ORDER, SIGNAL), { name: 'BankUnavailableError' })
  const { values } = await metrics.bankPayments.get()
  t.same(
    values.map(({ labels, value }) => [labels.outcome, labels.code, value]),
    [
      ['executed', '', 2],
      ['rejected', 'INSUFFICIENT_FUNDS', 1],
    ],
  )
})

t.test('payments that a bank rejects close it to no other merchant', async (t) => {
  const { service, bank, merchant } = await obieService(t)
  const euros = () => createPayment(service, merchant, { debtor_bank_id: 'model', currency: 'EUR' })
  for (const answer of await Promise.all(Array.from({ length: 6 }, euros)))
    t.match(answer, { status: 502, body: { code: 'BANK_UNAVAILABLE' } })
  const rejected = bank.exchanges.filter(({ answerBody }) => answerBody.includes('U023'))
  t.ok(rejected.length >= 6, 'the bank was asked, and does not take the currency')
  const { body } = await service.call('GET', '/api/v1/banks')
  t.match(
    body.data.find(({ id }: { id: string }) => id === 'model'),
    { available: true },
  )
  t.match(await createPayment(service, await service.merchant(), { debtor_bank_id: 'model' }), { status: 201 })
  t.match((await service.call('GET', '/metrics')).text, /call="stage",outcome="refused"\} [1-9]/)
})

for (const [version, reason] of [
  ['4.0', 'U016'],
  ['3.1', 'UK.OBIE.Signature.InvalidClaim'],
] as const)
  t.test(`a bank that rejects how we sign rejects all of ours, and closes, version ${version}`, async (t) => {
    const change = (profile: Profile): Profile => ({ ...inVersion(version)(profile), quirks: ['b64_header'] })
    const { service, bank, merchant } = await obieService(t, { change })
    for (let time = 0; time < 5; time += 1)
      t.equal((await createPayment(service, merchant, { debtor_bank_id: 'model' })).status, 502, 'BANK_UNAVAILABLE')
    t.equal(bank.exchanges.filter(({ answerBody }) => answerBody.includes(`"${reason}"`)).length, 5)
    const { body } = await service.call('GET', '/api/v1/banks')
    t.match(
      body.data.find(({ id }: { id: string }) => id === 'model'),
      { available: false },
    )
  })

t.test('a clock that is set back does not make a bank rest longer', async (t) => {
  const clocks = moveClocks(t)
  const bank = steeredBank('remote')
  const { connector, circuit } = withCircuit(bank.connector, { metrics: makeMetrics(), log: makeLog('silent') })
  bank.steer('readConsent', SILENCE)
  await fail(5, () => connector.readConsent({ state: 's' } as never, SIGNAL))
  t.notOk(circuit.isAvailable())
  clocks.setBack(7_200_000)
  clocks.pass(30_000)
  t.ok(circuit.isAvailable())
})

t.test('payers are not offered a bank that does not answer', async (t) => {
  const { service, bank, merchant } = await obieService(t)
  moveClocks(t).setBack(300_000)
  const available = async () => {
    const { body } = await service.call('GET', '/api/v1/banks')
    const found = body.data.find(({ id }: { id: string }) => id === 'model')
    if (found?.available === true) t.equal(found.unavailable_since, null)
    else t.ok(Math.abs(Date.parse(found?.unavailable_since) - Date.now()) < 60_000, 'by the clock that people set')
    return found?.available
  }
  t.equal(await available(), true)
  await bank.setFault({ name: 'down' })
  for (let time = 0; time < 5; time += 1)
    t.equal((await createPayment(service, merchant, { debtor_bank_id: 'model' })).status, 502, 'BANK_UNAVAILABLE')
  t.equal(await available(), false)
  const headers = await service.operator('OPS')
  t.match(await service.call('GET', '/api/v1/admin/banks', { headers }), {
    body: { data: [{ id: 'model', available: false }] },
  })
  const { text } = await service.call('GET', '/metrics')
  t.match(text, /svc_bank_available\{bank="model"\} 0/)
  t.match(text, /svc_bank_calls_total\{bank="model",call="stage",outcome="unavailable"\} 5/)
})
