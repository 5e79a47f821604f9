import t from 'tap'
import type { Test } from 'tap'
import { request } from 'undici'
import { answerText, startReceiver } from '../../cli/scenario/play/receiver.ts'
import type { Behaviour, Receiver } from '../../cli/scenario/play/receiver.ts'
import { signBody } from '../../src/lib/webhook-signature.ts'

const SECRET = 'a'.repeat(64)

async function receiverOf(t: Test, behaviour: Behaviour = {}): Promise<Receiver> {
  const receiver = await startReceiver(behaviour)
  t.teardown(() => receiver.close())
  receiver.trust(SECRET)
  return receiver
}

function eventOf(id: string, eventType = 'payment.settled'): string {
  return JSON.stringify({
    eventId: id,
    eventType,
    apiVersion: 'v1',
    createdAt: '2026-11-21T09:30:00.000Z',
    data: { id: 'p' },
  })
}

async function send(
  receiver: Receiver,
  body: string,
  signature: string | undefined = signBody({ secret: SECRET, body: Buffer.from(body) }),
): Promise<number> {
  const headers = signature === '' ? {} : { 'x-service-signature': signature }
  const answer = await request(receiver.url, { method: 'POST', headers, body })
  await answer.body.dump()
  return answer.statusCode
}

t.test('a delivery is kept with its bytes, and its signature is checked over them', async (t) => {
  const receiver = await receiverOf(t)
  const body = ` ${eventOf('evt_1')}\n`
  t.equal(await send(receiver, body), 200)
  t.match(receiver.receipts, [
    {
      eventId: 'evt_1',
      eventType: 'payment.settled',
      paymentId: 'p',
      signature: 'valid',
      status: 200,
      payload: { apiVersion: 'v1' },
    },
  ])
  t.same(receiver.receipts[0]?.body, Buffer.from(body))
})

t.test('what is not signed, or by another, is answered 401 and remembered as such', async (t) => {
  const receiver = await receiverOf(t, { answers: [204, 500] })
  t.equal(await send(receiver, eventOf('evt_1'), ''), 401)
  t.equal(await send(receiver, eventOf('evt_2'), '0'.repeat(64)), 401)
  t.equal(
    await send(receiver, eventOf('evt_3'), signBody({ secret: SECRET, body: Buffer.from(eventOf('evt_2')) })),
    401,
    'signed, but another body',
  )
  t.same(
    receiver.receipts.map((receipt) => receipt.signature),
    ['missing', 'wrong', 'wrong'],
  )
  t.equal(await send(receiver, eventOf('evt_4')), 204, 'a forgery uses up no answer')
})

t.test('answers come in turn, the last one again and again, until they are changed', async (t) => {
  const receiver = await receiverOf(t, { answers: [500, 503, 200] })
  const statuses: number[] = []
  for (const id of ['1', '2', '3', '4']) statuses.push(await send(receiver, eventOf(id)))
  receiver.behave({ answers: [410] })
  statuses.push(await send(receiver, eventOf('5')))
  t.same(statuses, [500, 503, 200, 200, 410])
})

t.test('a delay holds the sender, and not the reader of the receipts', async (t) => {
  const receiver = await receiverOf(t, { delayMs: 60_000 })
  const sent = send(receiver, eventOf('evt_1')).catch(() => 0)
  while (receiver.receipts.length === 0) await receiver.nextReceipt(5)
  t.equal(receiver.receipts[0]?.answeredAt, undefined)
  await receiver.close()
  t.equal(await sent, 0, 'closing does not wait for it')
})

t.test('an answer that the sender did not wait for is none', async (t) => {
  const receiver = await receiverOf(t, { delayMs: 200 })
  const abort = new AbortController()
  const body = eventOf('evt_1')
  const headers = { 'x-service-signature': signBody({ secret: SECRET, body: Buffer.from(body) }) }
  const sent = request(receiver.url, { method: 'POST', headers, body, signal: abort.signal }).catch(() => undefined)
  while (receiver.receipts.length === 0) await receiver.nextReceipt(5)
  t.match(receiver.receipts.map(answerText), ['not answered yet'])
  abort.abort()
  await sent
  await receiver.nextReceipt(10_000)
  t.match(receiver.receipts, [{ answeredAt: undefined, gaveUpAt: Number }])
  t.same(receiver.receipts.map(answerText), ['not answered in time'])
  t.equal(await send(receiver, eventOf('evt_2')), 200)
  t.equal(receiver.receipts[1] && answerText(receiver.receipts[1]), 'answered 200')
})

t.test('other requests are no deliveries', async (t) => {
  const receiver = await receiverOf(t)
  const get = await request(receiver.url)
  await get.body.dump()
  t.equal(get.statusCode, 405)
  const large = await request(receiver.url, { method: 'POST', body: Buffer.alloc(2 * 1024 * 1024) })
  await large.body.dump()
  t.equal(large.statusCode, 413)
  t.same(receiver.receipts, [])
  await send(receiver, 'no json', signBody({ secret: SECRET, body: Buffer.from('no json') }))
  t.match(receiver.receipts, [{ eventType: 'not an event', signature: 'valid' }])
})
