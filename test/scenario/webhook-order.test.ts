import t from 'tap'
import type { Test } from 'tap'
import { headerCredentials } from '../../cli/client/auth/credentials.ts'
import { makeClient } from '../../cli/client/call.ts'
import { playCase } from '../../cli/scenario/play/play.ts'
import type { CaseResult } from '../../cli/scenario/play/play.ts'
import { hasInOrder, sameOrder } from '../../cli/scenario/verbs/webhook-order.ts'
import { testService } from '../support/app.ts'
import { casesOf, scenarioOf } from './read.ts'

/** Without an identity provider a name is enough. */
const TESTER = headerCredentials({ clientId: undefined, platformUser: 'tester' })

const SERVICE = testService(t, { worker: true })

const PAY = 'pay: { as: p1, amount: "50.00", currency: GBP }'

async function playSteps(t: Test, steps: readonly string[], more = ''): Promise<CaseResult> {
  const { url } = await SERVICE
  const client = makeClient({ apiUrl: url, credentials: TESTER, timeoutMs: 15_000 })
  t.teardown(() => client.close())
  const [scenario] = casesOf(scenarioOf(steps, more))
  if (scenario === undefined) throw new Error('no case')
  const signal = new AbortController().signal
  return playCase(client, scenario, { timeoutMs: 30_000, signal, rerun: () => 'again' })
}

type Arrival = Parameters<typeof sameOrder>[0][number]

/** Of an event that happened in the order of the alphabet. */
function arrival(eventType: string, arrivedAt: number, end: Partial<Arrival> = { answeredAt: arrivedAt + 1 }): Arrival {
  return { eventType, createdAt: eventType, arrivedAt, answeredAt: undefined, gaveUpAt: undefined, ...end }
}

t.test('attempts that overlapped in time are held in the order in which their events happened', async (t) => {
  t.ok(sameOrder([arrival('a', 0), arrival('b', 60)], ['a', 'b']))
  t.notOk(sameOrder([arrival('b', 0), arrival('a', 60)], ['a', 'b']), 'however soon after each other')
  t.ok(sameOrder([arrival('b', 0, { answeredAt: 100 }), arrival('a', 60)], ['a', 'b']))
  t.notOk(sameOrder([arrival('b', 0, { answeredAt: 100 }), arrival('a', 60)], ['b', 'a']), 'and in no other')
  t.notOk(sameOrder([arrival('a', 0), arrival('b', 1)], ['b', 'a']), 'nor where both orders are right')
  t.ok(sameOrder([arrival('b', 0, {}), arrival('a', 6_000)], ['a', 'b']), 'one that has no answer yet')
  t.notOk(sameOrder([arrival('b', 0, { gaveUpAt: 5_000 }), arrival('a', 6_000)], ['a', 'b']))
  t.notOk(
    sameOrder([arrival('c', 0), arrival('b', 60, { answeredAt: 200 }), arrival('a', 100)], ['a', 'b', 'c']),
    'every pair counts',
  )
  t.ok(sameOrder([arrival('a', 0), arrival('b', 60), arrival('a', 120)], ['a', 'b', 'a']), 'one type twice')
  t.notOk(sameOrder([arrival('a', 0)], ['b']))
  t.notOk(sameOrder([arrival('a', 0)], ['a', 'b']))
})

t.test('without exactly, the events have to be among what came, in their order', async (t) => {
  const came = [arrival('a', 0), arrival('b', 60), arrival('a', 120), arrival('c', 180)]
  for (const expected of [['a'], ['a', 'b'], ['b', 'a'], ['a', 'a'], ['a', 'b', 'a', 'c'], ['b', 'c']])
    t.ok(hasInOrder(came, expected), expected.join())
  for (const expected of [['c', 'a'], ['b', 'b'], ['a', 'a', 'b'], ['d'], ['a', 'b', 'a', 'b']])
    t.notOk(hasInOrder(came, expected), expected.join())
  t.notOk(hasInOrder([], ['a']))
  t.ok(
    hasInOrder([arrival('b', 0, { answeredAt: 100 }), arrival('x', 30), arrival('a', 60)], ['a', 'b']),
    'overlapping',
  )
  t.notOk(
    hasInOrder([arrival('c', 0), arrival('b', 60, { answeredAt: 200 }), arrival('a', 100)], ['a', 'b', 'c']),
    'every pair counts',
  )
})

t.test('a second event of a type fails no expectation without exactly, whether it has come or not', async (t) => {
  const twice = [
    'pay: { as: p1, amount: "5.00", currency: GBP, bank: approve }',
    'await: { payment: $p1, status: Settled }',
    'payments.refund: { payment: $p1, amount: "1.00" }',
    'await: { webhook: payment.partially_refunded, for: $p1 }',
    'payments.refund: { payment: $p1, amount: "1.00" }',
  ]
  const order = 'webhooks: { for: $p1, in_order: [payment.settled, payment.partially_refunded] }'
  t.equal((await playSteps(t, [...twice, order])).failure, undefined, 'on its way')
  const rest = `webhooks: { for: $p1, in_order: [${'payment.initiated, payment.authorized, payment.settled'}, ${'payment.partially_refunded, payment.partially_refunded'}], exactly: true }`
  t.equal((await playSteps(t, [...twice, rest, order])).failure, undefined, 'arrived')
  t.match(
    (
      await playSteps(t, [
        ...twice,
        rest,
        'webhooks: { for: $p1, in_order: [payment.partially_refunded, payment.settled] }',
      ])
    ).failure,
    {
      message: 'the webhooks of $p1 came in another order',
      differences: [{ expected: /^payment\.partially_refunded, / }],
    },
  )
})

t.test('exactly waits for what is still under way', async (t) => {
  t.match(
    await playSteps(t, [
      'pay: { as: p1, amount: "5.00", currency: GBP, bank: cancel }',
      'webhooks: { for: $p1, in_order: [payment.initiated], exactly: true }',
    ]),
    {
      failure: {
        message: '$p1 had other webhooks than these',
        differences: [{ actual: 'payment.initiated, payment.failed' }],
      },
    },
  )
  const slow = 'given: { receiver: { delay: 300ms } }\n'
  t.equal(
    (await playSteps(t, [PAY, 'webhooks: { for: $p1, in_order: [payment.initiated], exactly: true }'], slow)).failure,
    undefined,
    'and no longer than that',
  )
})

t.test('an event without a receiver is not waited for', async (t) => {
  for (const step of [
    'expect: { webhook: payment.initiated, for: $p1, payload: { data: {} } }',
    'webhooks: { for: $p1, in_order: [payment.initiated] }',
  ]) {
    const { failure, durationMs } = await playSteps(t, [PAY, step], 'given: { receiver: false }\n')
    t.match(failure, { step: 2, message: /this case has no receiver/, hint: /^given: \{ receiver: / })
    t.ok(durationMs < 8_000, `${durationMs} ms`)
  }
})
