import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Test } from 'tap'
import { atBank, testService } from '../support/app.ts'
import type { TestService } from '../support/app.ts'
import { approve, plainToken, seenByPayer, startPayment, tokenStates } from '../support/checkout.ts'
import { completeSca } from '../support/payments.ts'
import { noAnswer, steeredBank } from '../support/steered-bank.ts'

const service = await testService(t)

t.test('twenty concurrent tabs leave one open payment', async (t) => {
  for (let round = 0; round < 5; round += 1) await startTwenty(t, service)
})

async function startTwenty(t: Test, service: TestService): Promise<void> {
  const shop = await service.merchant()
  const token = plainToken(service, shop)
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => startPayment(service, token, { debtor_bank_id: 'mock-albion' })),
  )
  for (const { status, body } of answers) {
    t.ok([201, 503].includes(status), `${status} ${body.code ?? ''}`)
    if (status === 503) t.match(body, { code: 'SERVICE_UNAVAILABLE' })
  }
  const states = await tokenStates(service, shop)
  t.equal(states['AwaitingAuthorisation'], 1, JSON.stringify(states))
  t.equal((states['Failed'] ?? 0) + 1, answers.filter(({ status }) => status === 201).length)
  const open = await Promise.all(
    answers.filter(({ status }) => status === 201).map((answer) => seenByPayer(service, answer)),
  )
  t.equal(open.filter(({ body }) => body.status === 'AwaitingAuthorisation').length, 1)
}

t.test('a payment that is authorised while others start remains the only one', async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const shop = await service.merchant()
    const token = plainToken(service, shop)
    const first = await startPayment(service, token, { debtor_bank_id: 'mock-slow' })
    const back = await atBank(first.body.redirect_url, 'approve')
    const starts = Array.from({ length: 4 }, () => startPayment(service, token, { debtor_bank_id: 'mock-albion' }))
    const [, ...answers] = await Promise.all([completeSca(service, first.body.payment_id, back), ...starts])
    const isPaid = (await seenByPayer(service, first)).body.status === 'Authorised'
    const { Failed: _, ...alive } = await tokenStates(service, shop)
    t.same(alive, isPaid ? { Authorised: 1 } : { AwaitingAuthorisation: 1 })
    if (isPaid) for (const answer of answers) t.match(answer, { status: 409, body: { code: 'CHECKOUT_ALREADY_PAID' } })
  }
})

t.test('ten concurrent requests with one key create one payment', async (t) => {
  const shop = await service.merchant()
  const token = plainToken(service, shop)
  const key = randomUUID()
  const answers = await Promise.all(Array.from({ length: 10 }, () => startPayment(service, token, {}, key)))
  t.same(answers.map(({ status }) => status).toSorted(), [...Array(9).fill(200), 201])
  t.equal(new Set(answers.map(({ body }) => JSON.stringify(body))).size, 1)
  t.same(await tokenStates(service, shop), { AwaitingAuthorisation: 1 })
})

t.test('many tabs of many orders of one shop lock in one order, without a deadlock', async (t) => {
  const shop = await service.merchant()
  const tokens = Array.from({ length: 8 }, () => plainToken(service, shop))
  const starts = Array.from({ length: 40 }, (_, index) => startPayment(service, tokens[(index * 3) % 8] ?? ''))
  const answers = await Promise.all(starts)
  t.same(
    answers.filter(({ status, body }) => status !== 201 && body.code !== 'SERVICE_UNAVAILABLE'),
    [],
  )
  t.equal((await tokenStates(service, shop))['AwaitingAuthorisation'], 8, 'each order has one payment')
})

const remoteBank = steeredBank('remote')
const remote = await testService(t, { overrides: { bank: remoteBank.connector } })
remoteBank.behind(remote.app.mockBank)

t.test('twenty concurrent tabs leave one open payment at a bank that stages it later, too', async (t) => {
  for (let round = 0; round < 5; round += 1) await startTwenty(t, remote)
})

t.test('an order can be paid at another bank while its first one does not answer', async (t) => {
  const shop = await remote.merchant()
  const token = plainToken(remote, shop)
  const key = randomUUID()
  remoteBank.steer('stage', noAnswer)
  const silent = await startPayment(remote, token, { debtor_bank_id: 'mock-albion' }, key)
  t.match(silent, { status: 502, body: { code: 'BANK_UNAVAILABLE' } })
  t.same(await tokenStates(remote, shop), { Initiated: 1 })
  remoteBank.steer('stage', undefined)
  const other = await startPayment(remote, token, { debtor_bank_id: 'mock-fern' })
  t.match(other, { status: 201, body: { status: 'AwaitingAuthorisation' } })
  t.same(await tokenStates(remote, shop), { AwaitingAuthorisation: 1, Failed: 1 })
  const repeated = await startPayment(remote, token, { debtor_bank_id: 'mock-albion' }, key)
  t.match(repeated, { status: 200, body: { status: 'Failed', redirect_url: null } }, 'the first one is over')
  t.match((await seenByPayer(remote, repeated)).body, { failure: { code: 'ACCESS_DENIED', source: 'PAYER' } })
  await approve(remote, other)
  t.match(await startPayment(remote, token), { status: 409, body: { code: 'CHECKOUT_ALREADY_PAID' } })
  t.same(await tokenStates(remote, shop), { Authorised: 1, Failed: 1 })
})

t.test('a repeat at a bank that was silent stages the same payment, unless the order was started again', async (t) => {
  const shop = await remote.merchant()
  const token = plainToken(remote, shop)
  const key = randomUUID()
  remoteBank.steer('stage', noAnswer)
  await startPayment(remote, token, { debtor_bank_id: 'mock-albion' }, key)
  remoteBank.steer('stage', undefined)
  const repeated = await startPayment(remote, token, { debtor_bank_id: 'mock-albion' }, key)
  t.match(repeated, { status: 200, body: { status: 'AwaitingAuthorisation', payment_state: String } })
  t.same(await tokenStates(remote, shop), { AwaitingAuthorisation: 1 })
})

t.test('what the first bank answers after another one was chosen changes nothing', async (t) => {
  const shop = await remote.merchant()
  const token = plainToken(remote, shop)
  const asked = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  remoteBank.steer('stage', async (answer) => {
    remoteBank.steer('stage', undefined)
    asked.resolve()
    await held.promise
    return answer()
  })
  const slow = startPayment(remote, token, { debtor_bank_id: 'mock-albion' })
  await asked.promise
  const other = await startPayment(remote, token, { debtor_bank_id: 'mock-fern' })
  t.match(other, { status: 201, body: { status: 'AwaitingAuthorisation' } })
  held.resolve()
  t.match(await slow, { status: 201, body: { status: 'Failed', redirect_url: null } })
  t.same(await tokenStates(remote, shop), { AwaitingAuthorisation: 1, Failed: 1 })
  t.match((await seenByPayer(remote, other)).body, { status: 'AwaitingAuthorisation' })
})
