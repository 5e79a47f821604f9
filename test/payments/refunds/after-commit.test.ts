import { randomUUID } from 'node:crypto'
import t from 'tap'
import { resumeRefunds } from '../../../src/payments/refunds/execute-refund.ts'
import { testService } from '../../support/app.ts'
import { brokenInvariants } from '../../support/invariants.ts'
import { bookingsOf, refund, settledPayment, times, webhookTypesOf } from '../../support/payments.ts'
import { steeredBank } from '../../support/steered-bank.ts'

/*
 * A reserved refund is always finished, whatever error follows: after an error response the caller would order a second
 * one.
 */
const bank = steeredBank()
const service = await testService(t, { overrides: { bank: bank.connector } })
bank.behind(service.app.mockBank)
const { owner, app } = service
const merchant = await service.merchant()

type Mishap = { name: string; begin(id: string): Promise<unknown>; end(): Promise<unknown> }

/** Lets the bank execute the refund, and then an error occur. */
function afterTheBank(begin: () => Promise<unknown> | void): void {
  bank.steer('refund', async (answer) => {
    const answered = await answer()
    await begin()
    return answered
  })
}

const find = app.batches.find.run

const MISHAPS: Mishap[] = [
  {
    name: "the payment's row is locked for longer than anybody waits",
    begin: async (id) =>
      afterTheBank(async () => {
        await owner.query('begin')
        await owner.query('select from payment_intents where id = $1 for update', [id])
      }),
    end: () => owner.query('rollback'),
  },
  {
    name: 'the database refuses the update',
    begin: async () => {
      await owner.query(`
        create function break_refund() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$;
        create trigger break_refund before update of status on payment_refunds for each row execute function break_refund()`)
    },
    end: () => owner.query('drop function break_refund cascade'),
  },
  {
    name: 'the connector to the bank has a defect',
    begin: async () =>
      bank.steer('refund', async () => {
        throw new Error('a defect')
      }),
    end: async () => undefined,
  },
]

for (const { name, begin, end } of MISHAPS) {
  for (const [how, key] of [
    ['with a key', randomUUID()],
    ['without a key', undefined],
  ] as const) {
    t.test(`a refund stays PENDING where ${name}, and its repeat ${how} gives nothing back twice`, async (t) => {
      const id = await settledPayment(service, merchant)
      await begin(id)
      const first = await refund(service, merchant, { id, ...(key === undefined ? {} : { key }) })
      bank.steer('refund', undefined)
      t.match(first, {
        status: 202,
        body: { status: 'Settled', refund_status: 'PENDING', refunded_amount: '0.00', remaining_amount: '0.00' },
      })
      await end()
      const repeat = await refund(service, merchant, { id, ...(key === undefined ? {} : { key }) })
      if (key === undefined) t.match(repeat, { status: 409, body: { code: 'PAYMENT_ALREADY_REFUNDED' } })
      else t.match(repeat, { status: 202, body: { refund_id: first.body.refund_id, refund_status: 'PENDING' } })
      await times(3, () => resumeRefunds(app))
      t.same((await bookingsOf(service, id)).credits, ['50.0000'], 'the job completes it at once, and once')
      t.same((await webhookTypesOf(service, id)).slice(3), ['payment.refunded'])
      t.match(await refund(service, merchant, { id, ...(key === undefined ? {} : { key }) }), {
        status: key === undefined ? 409 : 200,
      })
      t.same(await brokenInvariants(owner), [])
    })
  }
}

t.test("an executed refund whose payment can't be read is returned as PENDING", async (t) => {
  const id = await settledPayment(service, merchant)
  t.teardown(() => (app.batches.find.run = find))
  afterTheBank(() => {
    app.batches.find.run = () => Promise.reject(new Error('the database is away'))
  })
  const key = randomUUID()
  const first = await refund(service, merchant, { id, key, body: { amount: '20.00' } })
  app.batches.find.run = find
  bank.steer('refund', undefined)
  t.match(first, {
    status: 202,
    body: { refund_status: 'PENDING', refunded_amount: '0.00', remaining_amount: '30.00' },
  })
  t.match(await refund(service, merchant, { id, key, body: { amount: '20.00' } }), {
    status: 200,
    body: { refund_id: first.body.refund_id, refund_status: 'EXECUTED', refunded_amount: '20.00' },
  })
  t.same((await bookingsOf(service, id)).credits, ['20.0000'])
})

t.test("a refund that the bank rejects returns an error, also where its payment can't be read", async (t) => {
  const id = await settledPayment(service, merchant, { scenario: 'refund-fails' })
  t.teardown(() => (app.batches.find.run = find))
  afterTheBank(() => {
    app.batches.find.run = () => Promise.reject(new Error('the database is away'))
  })
  const answer = await refund(service, merchant, { id })
  bank.steer('refund', undefined)
  t.match(answer, { status: 409, body: { code: 'REFUND_REFUSED' } })
})
