import t from 'tap'
import { createPayment, paymentBody, testService, until } from '../support/app.ts'
import type { Answer } from '../support/app.ts'

const service = await testService(t, { env: { SVC_DATABASE_TIMEOUT_FACTOR: '1' } })
const merchant = await service.merchant()
const { body: paid } = await createPayment(service, merchant)

const create = (): Promise<Answer> =>
  service.call('POST', '/api/v1/payments', {
    merchant,
    isOnce: true,
    headers: { 'x-idempotency-key': crypto.randomUUID() },
    body: paymentBody(),
  })
const read = (): Promise<Answer> =>
  service.call('GET', `/api/v1/payments/${paid.payment_id}`, { merchant, isOnce: true })
const list = (): Promise<Answer> => service.call('GET', '/api/v1/payments', { merchant, isOnce: true })

/** Locks until the work has ended: whatever answers does so although the lock is never released. */
async function whileLocked<T>(lock: string, work: () => Promise<T>): Promise<T> {
  await service.owner.query('begin')
  try {
    await service.owner.query(lock)
    return await work()
  } finally {
    await service.owner.query('rollback')
  }
}

t.test(
  'while a table is locked, every request is answered soon, with Retry-After, and readiness is not in doubt',
  async (t) => {
    const answers: (Answer | undefined)[] = []
    // Fewer where so many at once keep this process busy for longer than readiness waits.
    let count = 210
    const ready = await whileLocked('lock table payment_intents', () =>
      until(async () => {
        let isOver = false
        const asked = Promise.all(Array.from({ length: count }, (_, at) => [create, read, list][at % 3]?.()))
        const over = asked.then((all) => {
          isOver = true
          answers.push(...all)
        })
        const answer = await service.call('GET', '/readyz')
        const wasMeanwhile = !isOver
        await over
        count = 21
        return answer.status === 200 && wasMeanwhile && answer
      }),
    )
    t.equal(ready.status, 200)
    t.match(ready.body, { status: 'ready', database: 'reachable' })
    for (const status of new Set(answers.map((answer) => answer?.status))) t.equal(status, 503)
    t.ok(answers.every((answer) => Number(answer?.headers['retry-after']) > 0))
    for (const ask of [create, read, list]) t.ok((await ask()).status < 300, 'and afterwards all is as before')
  },
)

t.test('a locked row costs the neighbours in its batch nothing', async (t) => {
  const others = await Promise.all(Array.from({ length: 8 }, () => createPayment(service, merchant)))
  const waiting = await createPayment(service, merchant)
  const locked: string = waiting.body.payment_id
  const cancel = (payment: string) =>
    service.call('POST', `/api/v1/payments/${payment}/cancel`, { merchant, isOnce: true })
  const answers = await whileLocked(`select from payment_intents where id = '${locked}' for update`, () =>
    Promise.all([locked, ...others.map(({ body }) => String(body.payment_id))].map(cancel)),
  )
  t.same(
    answers.map(({ status }) => status),
    [503, ...others.map(() => 200)],
  )
  t.equal((await cancel(locked)).status, 200)
})
