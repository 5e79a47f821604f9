import { randomUUID } from 'node:crypto'
import t from 'tap'
import { resumeRefunds } from '../../../src/payments/refunds/execute-refund.ts'
import { currentTraceparent } from '../../../src/lib/trace.ts'
import { testService } from '../../support/app.ts'
import {
  bookingsOf,
  eventsOf,
  movesOf,
  refund,
  settledPayment,
  stateOf,
  times,
  webhooksOf,
  webhookTypesOf,
} from '../../support/payments.ts'
import { provesNoneWaits } from '../../support/slow-bank.ts'
import { noAnswer, steeredBank } from '../../support/steered-bank.ts'

const bank = steeredBank()
const service = await testService(t, { overrides: { bank: bank.connector } })
bank.behind(service.app.mockBank)
const merchant = await service.merchant()

/** Makes pending refunds due for the job. */
async function passWaits(): Promise<void> {
  await service.owner.query(`update payment_refunds set resume_at = now() where status = 'PENDING'`)
}

async function refundsOf(id: string): Promise<unknown> {
  const { rows } = await service.owner.query(
    'select status::text as status, amount, failure_code from payment_refunds where payment_intent_id = $1 order by created_at',
    [id],
  )
  return rows
}

async function amountsOf(id: string): Promise<unknown> {
  const { rows } = await service.owner.query(
    'select refunded_amount as refunded, refund_reserved_amount as reserved from payment_intents where id = $1',
    [id],
  )
  return rows[0]
}

t.test('a refund that the bank rejects returns an error, releases its amount and sends a webhook', async (t) => {
  const id = await settledPayment(service, merchant, { scenario: 'refund-fails' })
  const key = randomUUID()
  const answer = await refund(service, merchant, { id, key, body: { amount: '10.00' } })
  t.match(answer, { status: 409, body: { code: 'REFUND_REFUSED', error: /ACCOUNT_CLOSED/ } })
  t.same(await amountsOf(id), { refunded: '0.0000', reserved: '0.0000' })
  t.same(await refundsOf(id), [{ status: 'FAILED', amount: '10.0000', failure_code: 'ACCOUNT_CLOSED' }])
  t.same(await movesOf(service, id), ['AwaitingAuthorisation', 'Authorised', 'Settled'])
  const webhook = (await webhooksOf(service, id)).at(-1)
  t.match(webhook, {
    event_type: 'refund.failed',
    sequence: 4,
    payload: {
      data: {
        status: 'SETTLED',
        failure: { code: 'ACCOUNT_CLOSED', isoCode: 'AC05' },
        refund: { amount: '10.00', refundedTotal: '0.00' },
      },
    },
  })
  t.match(
    await refund(service, merchant, { id, key, body: { amount: '10.00' } }),
    { status: 409, body: { code: 'REFUND_REFUSED' } },
    'a repeat asks nobody again',
  )
  t.equal((await webhookTypesOf(service, id)).length, 4)
})

t.test('a full refund that the bank rejects leaves the payment Settled', async (t) => {
  const id = await settledPayment(service, merchant, { scenario: 'refund-fails' })
  t.equal((await refund(service, merchant, { id })).status, 409)
  t.same(await stateOf(service, id), { payment: 'Settled', consent: 'AUTHORISED', failure: null })
  t.equal((await webhooksOf(service, id)).at(-1)?.event_type, 'refund.failed')
})

t.test('a silent bank leaves the refund PENDING; the job asks again and completes it', async (t) => {
  const id = await settledPayment(service, merchant)
  const key = randomUUID()
  bank.steer('refund', noAnswer)
  const answer = await refund(service, merchant, { id, key })
  t.match(answer, {
    status: 202,
    body: { status: 'Settled', refund_status: 'PENDING', refunded_amount: '0.00', remaining_amount: '0.00' },
  })
  t.same(await amountsOf(id), { refunded: '0.0000', reserved: '50.0000' })
  t.match(
    await refund(service, merchant, { id, key }),
    { status: 202, body: { refund_id: answer.body.refund_id, refund_status: 'PENDING' } },
    'a repeat is told the same',
  )
  t.match(
    await refund(service, merchant, { id }),
    { status: 409, body: { code: 'PAYMENT_ALREADY_REFUNDED' } },
    'what is reserved is not refunded twice',
  )
  await passWaits()
  await resumeRefunds(service.app)
  t.same(await refundsOf(id), [{ status: 'PENDING', amount: '50.0000', failure_code: null }], 'still silent')
  bank.steer('refund', undefined)
  await resumeRefunds(service.app)
  t.match(await refundsOf(id), [{ status: 'PENDING' }], 'not before a moment has passed')
  await passWaits()
  t.same(await resumeRefunds(service.app), { more: false })
  t.same(await refundsOf(id), [{ status: 'EXECUTED', amount: '50.0000', failure_code: null }])
  t.match((await eventsOf(service, id)).at(-1), {
    new_status: 'Refunded',
    changed_by: 'BATCH_JOB',
    raw_payload: /"job":"resume-refunds"/,
  })
  t.equal((await webhooksOf(service, id)).at(-1)?.event_type, 'payment.refunded')
  t.same((await bookingsOf(service, id)).credits, ['50.0000'])
  t.match(await refund(service, merchant, { id, key }), {
    status: 200,
    body: { refund_id: answer.body.refund_id, refund_status: 'EXECUTED', status: 'Refunded' },
  })
})

t.test('a bank whose answer was lost after it paid back pays back once', async (t) => {
  const id = await settledPayment(service, merchant)
  bank.steer('refund', async (answer) => {
    await answer()
    return noAnswer()
  })
  t.equal((await refund(service, merchant, { id, body: { amount: '5.00' } })).status, 202)
  bank.steer('refund', undefined)
  await passWaits()
  await times(4, () => resumeRefunds(service.app))
  t.same((await bookingsOf(service, id)).credits, ['5.0000'])
  t.same(await amountsOf(id), { refunded: '5.0000', reserved: '0.0000' })
  t.same((await webhookTypesOf(service, id)).slice(3), ['payment.partially_refunded'])
})

t.test('a refund that a crash left between its two steps is resumed, whatever the bank answers', async (t) => {
  for (const [scenario, expected] of [
    ['success', 'EXECUTED'],
    ['refund-fails', 'FAILED'],
  ] as const) {
    const id = await settledPayment(service, merchant, { scenario })
    bank.steer('refund', noAnswer)
    t.equal((await refund(service, merchant, { id })).status, 202)
    bank.steer('refund', undefined)
    t.match(await refundsOf(id), [{ status: 'PENDING' }])
    await resumeRefunds(service.app)
    t.match(await refundsOf(id), [{ status: 'PENDING' }], 'the request had its time first')
    await passWaits()
    await resumeRefunds(service.app)
    t.match(await refundsOf(id), [{ status: expected }])
    t.equal((await stateOf(service, id)).payment, expected === 'EXECUTED' ? 'Refunded' : 'Settled')
  }
})

t.test('a request and the job that ask concurrently record one answer', async (t) => {
  const id = await settledPayment(service, merchant)
  bank.steer('refund', async (answer) => {
    bank.steer('refund', undefined)
    await passWaits()
    await resumeRefunds(service.app)
    return answer()
  })
  t.match(await refund(service, merchant, { id }), {
    status: 200,
    body: { status: 'Refunded', refund_status: 'EXECUTED' },
  })
  t.same(await movesOf(service, id), ['AwaitingAuthorisation', 'Authorised', 'Settled', 'Refunded'])
  t.equal((await webhookTypesOf(service, id)).length, 4)
  t.same((await bookingsOf(service, id)).credits, ['50.0000'])
})

t.test('a rejected partial refund beside a waiting one leaves only the other reserved', async (t) => {
  const id = await settledPayment(service, merchant)
  bank.steer('refund', noAnswer)
  t.equal((await refund(service, merchant, { id, body: { amount: '30.00' } })).status, 202)
  bank.steer('refund', async () => ({ outcome: 'refused', failureCode: 'LIMIT_EXCEEDED' }))
  t.equal((await refund(service, merchant, { id, body: { amount: '20.00' } })).status, 409)
  t.same(await amountsOf(id), { refunded: '0.0000', reserved: '30.0000' })
  t.match(await refund(service, merchant, { id, body: { amount: '20.01' } }), {
    status: 422,
    body: { code: 'REFUND_EXCEEDS_AVAILABLE' },
  })
  bank.steer('refund', undefined)
  t.match(await refund(service, merchant, { id, body: { amount: '20.00' } }), {
    status: 200,
    body: { status: 'Settled', refunded_amount: '20.00', remaining_amount: '0.00' },
  })
  await passWaits()
  await resumeRefunds(service.app)
  t.equal((await stateOf(service, id)).payment, 'Refunded', 'the one that ends last completes it')
})

t.test(
  'a bank that does not answer, or is not configured any more, is asked less often the longer it lasts',
  async (t) => {
    t.teardown(() => bank.steer('refund', undefined))
    bank.steer('refund', noAnswer)
    const aged = async (age: string): Promise<string> => {
      const id = await settledPayment(service, merchant)
      await refund(service, merchant, { id, body: {} })
      await service.owner.query(
        'update payment_refunds set created_at = now() - $2::interval, resume_at = now() where payment_intent_id = $1',
        [id, age],
      )
      return id
    }
    const waits = [
      [await aged('20 seconds'), 10],
      [await aged('10 minutes'), 60],
      [await aged('3 days'), 3_600],
    ] as const
    const gone = await aged('1 hour')
    const connect = (name: string) =>
      service.owner.query('update payment_intents set bank_connector = $2 where id = $1', [gone, name])
    await connect('gone')
    await resumeRefunds(service.app)
    for (const [id, seconds] of [...waits, [gone, 360] as const]) {
      const { rows } = await service.owner.query(
        `select extract(epoch from resume_at - updated_at)::float8 as wait, attempt_count from payment_refunds
       where payment_intent_id = $1 and status = 'PENDING'`,
        [id],
      )
      t.match(rows, [{ attempt_count: 1 }])
      t.ok(Math.abs(rows[0].wait - seconds) < seconds / 2, `${rows[0].wait} s and not ${seconds} s`)
    }
    await connect(bank.connector.id)
    bank.steer('refund', undefined)
    await passWaits()
    await resumeRefunds(service.app)
    for (const id of [gone, ...waits.map(([each]) => each)]) t.match(await refundsOf(id), [{ status: 'EXECUTED' }])
  },
)

t.test("one refund's slow bank does not delay others, and the job ends when it has answered", async (t) => {
  await provesNoneWaits(t, {
    bank,
    call: 'refund',
    job: (signal) => resumeRefunds(service.app, signal),
    begin: async () => {
      const id = await settledPayment(service, merchant)
      bank.steer('refund', noAnswer)
      await refund(service, merchant, { id, key: randomUUID(), body: {} })
      bank.steer('refund', undefined)
      await service.owner.query('update payment_refunds set resume_at = now() where payment_intent_id = $1', [id])
      return id
    },
    isDone: async (id) => (await stateOf(service, id)).payment === 'Refunded',
  })
})

t.test('the job asks the bank in the trace of the request, else in that of the payment', async (t) => {
  const traceOf = (digit: string): string => `00-${digit.repeat(32)}-00f067aa0ba902b7-01`
  const asked: (string | undefined)[] = []
  t.teardown(() => bank.steer('refund', undefined))
  const pay = async (headers: Record<string, string>): Promise<string> => {
    const id = await settledPayment(service, merchant)
    await service.owner.query('update payment_intents set traceparent = $2 where id = $1', [id, traceOf('a')])
    bank.steer('refund', () => {
      asked.push(currentTraceparent())
      return noAnswer()
    })
    const path = `/api/v1/payments/${id}/refund`
    t.match(await service.call('POST', path, { merchant, headers, body: { amount: '1.00' } }), { status: 202 })
    bank.steer('refund', (answer) => {
      asked.push(currentTraceparent())
      return answer()
    })
    await passWaits()
    await resumeRefunds(service.app)
    const { rows } = await service.owner.query(
      `select traceparent from webhook_deliveries where payment_intent_id = $1 and event_type = 'payment.partially_refunded'`,
      [id],
    )
    return rows[0].traceparent
  }
  t.equal(await pay({ traceparent: traceOf('b') }), traceOf('b'), 'and so is the webhook')
  t.equal(await pay({}), traceOf('a'))
  t.same(asked, [traceOf('b'), traceOf('b'), undefined, traceOf('a')])
})
