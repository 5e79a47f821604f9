import t from 'tap'
import type { FaultName } from '../../../src/model-bank/faults.ts'
import { until, untilStatus } from '../../support/app.ts'
import { mandateBody, payUnder } from '../../support/mandates.ts'
import { authoriseAtBank, newBankPayment, obieService, payAtBank } from '../../support/obie.ts'

/** Answers that the bank has signed, and that are about something else than what was asked. */
const world = await obieService(t)
const { service, bank, merchant } = world

const PROBLEMS: Partial<Record<FaultName, string>> = {
  another_amount: 'its answer is about another amount',
  another_reference: 'its answer is about another payment',
  another_payee: 'its answer is about another payee',
  another_consent: 'its answer is about another consent',
}
const FAULTS = Object.entries(PROBLEMS) as [FaultName, string][]

async function verdictsOn(state: string, step: string): Promise<string[]> {
  const { rows } = await service.owner.query<{ verdict: string }>(
    'select verdict from obie.calls where state = $1 and step = $2 and verdict is not null',
    [state, step],
  )
  return rows.map(({ verdict }) => verdict)
}

const atBank = async (endToEndId: string): Promise<string[]> =>
  (await bank.books()).payments.filter((each) => each.endToEndId === endToEndId).map(({ amount }) => amount)

for (const [name, problem] of FAULTS.filter(([each]) => each !== 'another_consent'))
  t.test(`${name} in a new consent: no payer is sent there`, async (t) => {
    await bank.setFault({ name, on: ['createConsent'], times: 1 })
    await t.rejects(newBankPayment(world), { message: /BANK_UNAVAILABLE/ })
    const { rows } = await service.owner.query('select from obie.calls where verdict = $1', [problem])
    t.equal(rows.length, 1)
  })

for (const [name, problem] of FAULTS)
  t.test(`${name} in the view of a consent: nothing is authorised by it`, async (t) => {
    const { id, state, address } = await newBankPayment(world)
    const { next } = await payAtBank(world, address)
    const body = { state, code: next?.searchParams.get('code') }
    const path = `/api/v1/payments/${id}/sca-complete`
    await bank.setFault({ name, on: ['showConsent'], times: 1 })
    t.match(await service.call('POST', path, { body }), { status: 502, body: { code: 'BANK_UNAVAILABLE' } })
    t.same(await verdictsOn(state, 'consent status'), [problem])
    t.match(await service.call('GET', `/api/v1/payments/${id}`, { merchant }), {
      body: { status: 'AwaitingAuthorisation' },
    })
    t.match(await service.call('POST', path, { body }), { status: 200 })
    await untilStatus(service, merchant, id, 'Settled')
  })

for (const [name, problem] of FAULTS)
  t.test(`${name} in the answer to the order: not believed, and paid once`, async (t) => {
    await bank.setFault({ name, on: ['createPayment'], times: 1 })
    const { id, state, endToEndId } = await authoriseAtBank(world)
    await untilStatus(service, merchant, id, 'Settled')
    t.same(await verdictsOn(state, 'payment'), [problem])
    t.same(await atBank(endToEndId), ['50.00'])
  })

for (const [name, problem] of FAULTS)
  t.test(`${name} in the state of a payment: it settles by an answer about itself`, async (t) => {
    await bank.setFault({ name: 'late_settlement', seconds: 3_600, times: 1 })
    await bank.setFault({ name, on: ['showPayment'], times: 1 })
    const { id, state, endToEndId } = await authoriseAtBank(world)
    await until(async () => (await verdictsOn(state, 'payment status')).length === 1)
    const taken = (await bank.books()).payments.find((each) => each.endToEndId === endToEndId)
    await bank.control('POST', `/payments/${String(taken?.id)}/settle`)
    await untilStatus(service, merchant, id, 'Settled')
    t.same(await verdictsOn(state, 'payment status'), [problem])
  })

t.test('a collection under a mandate is held against its own instruction', async (t) => {
  const caps = { max_amount_per_payment: 60 }
  const first = await authoriseAtBank(world, { changes: mandateBody({ control_parameters: caps }) })
  const { consent_id: consentId } = await untilStatus(service, merchant, first.id, 'Settled')
  await bank.setFault({ name: 'another_amount', on: ['createVrp'], times: 1 })
  const { body } = await payUnder(service, merchant, { consentId, changes: { amount: '7.01' } })
  const { end_to_end_id: endToEndId } = await untilStatus(service, merchant, body.payment_id, 'Settled')
  t.same(await verdictsOn(first.state, 'payment'), ['its answer is about another amount'])
  t.same(await atBank(endToEndId), ['7.01'])
})
