import t from 'tap'
import { BankUnavailableError } from '../../src/banks/connector.ts'
import { settlePayments } from '../../src/payments/settle-payments.ts'
import { insertUnanswered } from '../../src/payments/unanswered-sql.ts'
import { authorisedPayment, testService } from '../support/app.ts'
import type { Answer } from '../support/app.ts'
import { movesOf, settledPayment, stateOf } from '../support/payments.ts'
import { noAnswer, steeredBank } from '../support/steered-bank.ts'

/** A bank that has accepted a payment, and for days says nothing of what became of it. */
const bank = steeredBank()
const confirmed: string[] = []
const unanswered = {
  isOrder: async ({ bankPaymentId }: { bankPaymentId: string }) => {
    if (!confirmed.includes(bankPaymentId)) throw new BankUnavailableError('it knows no such payment of this client')
    return true
  },
  note: async () => true,
}
const service = await testService(t, {
  env: { SVC_IDENTITY: 'embedded' },
  overrides: { bank: { ...bank.connector, unanswered } },
})
bank.behind(service.app.mockBank)
const { app, owner } = service
const merchant = await service.merchant()
const headers = await service.operator('OPS')

async function tasks(): Promise<string[]> {
  const { body } = await service.call('GET', '/api/v1/admin/inbox', { headers })
  return body.data
    .filter(({ kind }: { kind: string }) => kind.startsWith('payment_'))
    .map(({ kind, id }: { kind: string; id: string }) => `${kind} ${id}`)
}

async function standing(id: string): Promise<string> {
  return (await service.call('GET', `/api/v1/admin/explain/${id}`, { headers })).body.standing
}

const resolve = (id: string, body: object): Promise<Answer> =>
  service.call('POST', `/api/v1/admin/payments/${id}/resolve`, {
    headers,
    body: { reason: 'so says the bank', ...body },
  })

const notTaken = (id: string): Promise<Answer> => resolve(id, { outcome: 'NOT_TAKEN' })

/** Lets the job ask the bank once, so many days after the authorisation. */
async function askAfter(days: number, id: string): Promise<void> {
  await owner.query(
    `update payment_intents
     set updated_at = now() - make_interval(days => $1), settle_at = now(), locked_until = null where id = $2`,
    [days, id],
  )
  const before = bank.calls.execute
  await settlePayments(app)
  t.equal(bank.calls.execute - before, 1, `the bank is asked after ${days} days`)
}

async function rows(): Promise<number> {
  return Number((await owner.query('select count(*) from unanswered_payments')).rows[0].count)
}

const ANSWERS = {
  accepted: async () => ({ outcome: 'pending', askAgainInSeconds: 300 }),
  silent: noAnswer,
  refused: async () => ({ outcome: 'unanswered', reason: 'refused when repeated', askAgainInSeconds: 300 }),
  unreadable: async () => {
    throw new TypeError('an answer that no code expects')
  },
} as const

for (const [what, answer] of Object.entries(ANSWERS)) {
  t.test(`${what}: after three days an operator is to ask as well, until the bank settles the payment`, async (t) => {
    const { id } = await authorisedPayment(service, merchant)
    bank.steer('execute', answer)
    await askAfter(2, id)
    t.same(await tasks(), [], 'a bank may take a weekend')
    for (const days of [4, 5]) {
      await askAfter(days, id)
      t.same(await tasks(), [`payment_unanswered ${id}`], 'one task, and the bank is asked all the same')
    }
    t.match(await standing(id), /left it open for days: an operator asks the bank/)
    bank.steer('execute', undefined)
    await askAfter(6, id)
    t.equal((await stateOf(service, id)).payment, 'Settled')
    t.same([await tasks(), await rows()], [[], 0])
    t.match(await notTaken(id), { status: 409, body: { code: 'PAYMENT_NOT_RESOLVABLE' } })
  })
}

t.test('or rejects it', async (t) => {
  const { id } = await authorisedPayment(service, merchant)
  bank.steer('execute', ANSWERS.accepted)
  await askAfter(4, id)
  t.equal(await rows(), 1)
  bank.steer('execute', async () => ({ outcome: 'rejected', failureCode: 'ACCOUNT_CLOSED' }))
  await askAfter(5, id)
  bank.steer('execute', undefined)
  t.same([await tasks(), await rows()], [[], 0])
  t.match(await stateOf(service, id), { payment: 'Failed', failure: 'ACCOUNT_CLOSED' })
  t.match(await standing(id), /No money was taken/)
})

t.test(
  'or an operator has its word that it has no such payment; what it settles then is a task of its own',
  async (t) => {
    const { id } = await authorisedPayment(service, merchant)
    bank.steer('execute', ANSWERS.accepted)
    await askAfter(4, id)
    bank.steer('execute', async (answer) => {
      t.match(await notTaken(id), { status: 200, body: { status: 'Failed' } })
      return answer()
    })
    await askAfter(5, id)
    bank.steer('execute', undefined)
    t.same(await tasks(), [`payment_settled_late ${id}`])
    t.same(await movesOf(service, id), ['AwaitingAuthorisation', 'Authorised', 'Failed'])
    await owner.query('delete from unanswered_payments')
  },
)

t.test('or has its word that it took the payment, and asks again where the bank still leaves it open', async (t) => {
  const { id } = await authorisedPayment(service, merchant)
  bank.steer('execute', ANSWERS.accepted)
  await askAfter(4, id)
  const taken = { outcome: 'TAKEN', bank_payment_id: 'b-1' }
  t.match(await resolve(id, taken), { status: 502, body: { next: /another client/ } })
  t.same(await tasks(), [`payment_unanswered ${id}`])
  confirmed.push('b-1')
  t.match(await resolve(id, taken), { status: 200, body: { status: 'Authorised' } })
  await askAfter(5, id)
  t.same(await tasks(), [], 'the bank is still asked, and the operator is not')
  t.notMatch(await standing(id), /operator/)
  for (const body of [taken, { outcome: 'NOT_TAKEN' }])
    t.match(await resolve(id, body), { status: 409, body: { code: 'PAYMENT_NOT_RESOLVABLE' } })
  await owner.query("update unanswered_payments set since = since - interval '3 days'")
  await askAfter(8, id)
  t.same(await tasks(), [`payment_unanswered ${id}`], 'three days later')
  t.match(await resolve(id, taken), { status: 200 })
  bank.steer('execute', undefined)
  await askAfter(9, id)
  t.equal((await stateOf(service, id)).payment, 'Settled')
  t.same([await tasks(), await rows()], [[], 0])
})

t.test('what a slower worker notes of a payment that has ended is no task', async (t) => {
  const id = await settledPayment(service, merchant)
  await insertUnanswered(app.pool, { id, merchant_id: merchant.id })
  t.same(await tasks(), [])
  t.notMatch(await standing(id), /operator/)
  t.match(await notTaken(id), { status: 409, body: { current: { status: 'Settled' } } })
})
