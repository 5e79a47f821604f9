import { createHmac } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { CALLBACK_SIGNATURE_HEADER, callbackBytes } from '../../src/banks/mock-callback.ts'
import { completeSca as completeBetween } from '../../src/payments/complete-sca.ts'
import { expireConsents } from '../../src/payments/expire-consents.ts'
import { atBank, createPayment, testService, until } from '../support/app.ts'
import type { Answer, BankReturn } from '../support/app.ts'
import { mockBankSecret } from '../support/bank-secret.ts'
import { completeSca, endConsent, eventsOf, stateOf, tally, times, webhookTypesOf } from '../support/payments.ts'

const service = await testService(t)
const merchant = await service.merchant()
const secret = mockBankSecret(service.app.config.encryptionKey)

type Waiting = { id: string; back: BankReturn }

async function waiting(): Promise<Waiting> {
  const { body } = await createPayment(service, merchant)
  return { id: body.payment_id, back: await atBank(body.redirect_url, 'approve') }
}

function report(state: string): Promise<Answer> {
  const raw = callbackBytes({
    state,
    result: { outcome: 'authorised', bankReference: undefined, settleInSeconds: 3_600 },
  })
  const signature = createHmac('sha256', secret).update(raw).digest('hex')
  return service.call('POST', '/api/v1/bank/callbacks/mock', {
    raw,
    headers: { 'content-type': 'application/json', [CALLBACK_SIGNATURE_HEADER]: signature },
  })
}

async function endedOnce(id: string): Promise<string> {
  const moves = await eventsOf(service, id)
  const types = await webhookTypesOf(service, id)
  const { payment, consent, failure } = await stateOf(service, id)
  if (moves.length !== 2 || types.length !== 2) throw new Error(`${moves.length} events, ${types.length} webhooks`)
  if (moves[1]?.new_status !== payment) throw new Error('the last event is not the status')
  if (types[1] !== (payment === 'Authorised' ? 'payment.authorized' : 'payment.failed'))
    throw new Error(`${types[1]} for ${payment}`)
  return `${payment} ${consent} ${failure ?? '-'}`
}

t.test('concurrent return page, callback, both cancellations and expiry: exactly one wins, once', async (t) => {
  const endings: string[] = []
  for (let round = 0; round < 60; round += 1) {
    const { id, back } = await waiting()
    // In the last rounds each is twice the first, with an answer before the others begin: so each ending is seen.
    const isAhead = round >= 48
    // The expiry job is faster than HTTP requests: in some rounds it starts later, or not at all.
    const headStart = round % 12
    const calls: (() => Promise<unknown>)[] = [
      () => completeSca(service, id, back),
      () => completeSca(service, id, { state: back.state, error: 'access_denied' }),
      () => report(back.state),
      () => service.call('POST', `/api/v1/payments/${id}/cancel`, { merchant }),
      () => service.call('POST', `/api/v1/payments/${id}/cancel`, { headers: { 'x-payment-state': back.state } }),
      async () => {
        await delay(headStart)
        if (isAhead || round % 3 === 0) await endConsent(service, id)
        await expireConsents(service.app)
      },
    ]
    // Each round starts with another one.
    const inOrder = [...calls.slice(round % calls.length), ...calls.slice(0, round % calls.length)]
    if (isAhead) await inOrder.shift()?.()
    await Promise.all(inOrder.map((call) => call()))
    endings.push(await endedOnce(id))
  }
  t.same(Object.keys(tally(endings)).toSorted(), [
    'Authorised AUTHORISED -',
    'Failed EXPIRED CONSENT_EXPIRED',
    'Failed REJECTED ACCESS_DENIED',
    'Failed REJECTED CANCELLED_BY_MERCHANT',
  ])
})

t.test("every response at the moment of the consent's end agrees with the database", async (t) => {
  for (let round = 0; round < 20; round += 1) {
    const { id, back } = await waiting()
    await service.owner.query(
      `update payment_consents c set expires_at = clock_timestamp() + interval '15 milliseconds'
       from payment_intents p where p.merchant_id = c.merchant_id and p.consent_id = c.id and p.id = $1`,
      [id],
    )
    const ended = until(
      async () =>
        (
          await service.owner.query(
            'select 1 from payment_consents where expires_at <= now() and id = (select consent_id from payment_intents where id = $1)',
            [id],
          )
        ).rowCount === 1,
    )
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, () => completeSca(service, id, back)),
      ...Array.from({ length: 4 }, async () => {
        await ended
        await expireConsents(service.app)
        return completeSca(service, id, back)
      }),
    ])
    const ending = await endedOnce(id)
    const expected = ending.startsWith('Authorised') ? '200 Authorised' : '409 CONSENT_EXPIRED'
    t.same(tally(answers.map(({ status, body }) => `${status} ${status === 200 ? body.status : body.code}`)), {
      [expected]: 8,
    })
  }
})

t.test('a request after the end returns the authorisation that began before it and won', async (t) => {
  const { id, back } = await waiting()
  const endsIn = (interval: string) =>
    service.owner.query(
      `update payment_consents c set expires_at = clock_timestamp() + $2::interval
       from payment_intents p where p.merchant_id = c.merchant_id and p.consent_id = c.id and p.id = $1`,
      [id, interval],
    )
  await endsIn('-1 second')
  const { move } = service.app.batches
  const run: typeof move.run = async (item) => {
    // Between the read and the move, the other request commits what it began before the end.
    await endsIn('1 hour')
    t.match(await completeSca(service, id, back), { status: 200, body: { status: 'Authorised' } })
    await endsIn('-1 second')
    return move.run(item)
  }
  const app = { ...service.app, batches: { ...service.app.batches, move: { ...move, run } } }
  t.match(await completeBetween(app, { id, body: back, rawBody: '{}' }), { status: 'Authorised' })
  t.equal(await endedOnce(id), 'Authorised AUTHORISED -')
})

t.test("many concurrent authorisations, cancellations and reports don't interfere", async (t) => {
  const payments = await times(60, () => waiting())
  const answers = await Promise.all(
    payments.flatMap(({ id, back }, index) => [
      completeSca(service, id, back),
      index % 2 === 0 ? report(back.state) : service.call('POST', `/api/v1/payments/${id}/cancel`, { merchant }),
      service.call('GET', `/api/v1/payments/${id}`, { merchant }),
    ]),
  )
  t.same(
    answers.filter(({ status }) => status >= 500),
    [],
  )
  for (const { id } of payments) await endedOnce(id)
})
