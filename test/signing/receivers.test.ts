import { connect } from 'node:net'
import { Readable } from 'node:stream'
import t from 'tap'
import type { Test } from 'tap'
import { request } from 'undici'
import { freePort } from '../support/free-port.ts'
import { CHECKS, takeExam } from '../../cli/receivers/exam/take.ts'
import { RECEIVER_LANGUAGES } from '../../src/lib/receivers.ts'
import type { ReceiverLanguage } from '../../src/lib/receivers.ts'
import { signBody } from '../../src/lib/webhook-signature.ts'
import { createPayment, testService } from '../support/app.ts'
import type { TestMerchant } from '../support/app.ts'
import { eventOf, missingRuntime, send, startCopied } from '../support/copied-receiver.ts'
import { times } from '../support/payments.ts'
import { rotate, showSecret } from '../support/secrets.ts'
import { until } from '../support/until.ts'

const BODY_MAX = 1024 * 1024
const service = await testService(t, { worker: true })

type Delivery = {
  event_id: string
  event_type: string
  status: string
  payload: string
  last_http_status: number | null
}

/** The newest delivery of a merchant, once it was delivered. */
async function delivered(merchant: TestMerchant): Promise<Delivery> {
  let last: Delivery | undefined
  await until('it is delivered', async () => {
    const { rows } = await service.owner.query<Delivery>(
      `select event_id, event_type, status::text as status, payload::text as payload, last_http_status
       from webhook_log where merchant_id = $1 order by created_at desc limit 1`,
      [merchant.id],
    )
    last = rows[0]
    return last?.status === 'DELIVERED' || last?.last_http_status != null
  })
  if (last === undefined) throw new Error('nothing was queued')
  return last
}

/** The status of the answer to the head of a request that announces so many bytes. */
async function announce(port: number, bytes: number): Promise<number> {
  const socket = connect(port, '127.0.0.1')
  socket.write(`POST /hook HTTP/1.1\r\nHost: shop\r\nContent-Length: ${bytes}\r\n\r\n`)
  let text = ''
  for await (const chunk of socket) {
    text += String(chunk)
    if (text.includes('\r\n')) break
  }
  socket.destroy()
  return Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1])
}

/** A merchant whose webhooks go to a receiver that was copied from the portal. */
async function copied(t: Test, language: ReceiverLanguage) {
  const port = await freePort()
  const merchant = await service.merchant({ webhookUrl: `http://127.0.0.1:${port}/hook` })
  const { body } = await showSecret(service, merchant, `?language=${language}`)
  const text: string = body.verification_snippet
  const receiver = await startCopied(t, { language, text, port, secret: merchant.secret })
  return {
    port,
    merchant,
    receiver,
    sign: (bytes: string) => signBody({ secret: merchant.secret, body: Buffer.from(bytes) }),
  }
}

for (const language of RECEIVER_LANGUAGES) {
  const missing = missingRuntime(language)
  const title = `the receiver in ${language}, copied from the portal, verifies and acts once`
  t.test(title, missing === undefined ? {} : { skip: missing }, async (t) => {
    const { port, merchant, receiver, sign } = await copied(t, language)
    const actedOn = (id: string) => receiver.acted().filter((line) => line.endsWith(` ${id}`)).length

    await t.test('a real delivery is verified, and acted on', async (t) => {
      t.equal((await createPayment(service, merchant)).status, 201)
      const first = await delivered(merchant)
      t.equal(first.status, 'DELIVERED')
      await until('it says so', () => receiver.acted().length > 0)
      t.strictSame(receiver.acted(), [`${first.event_type} ${first.event_id}`])
      const again = { body: first.payload, signature: sign(first.payload) }
      t.equal(await send(port, again), 200, 'the same event again is answered 200')
      t.equal(actedOn(first.event_id), 1, 'and not acted on twice')
    })

    await t.test('it passes the exam without a warning, and acts on nothing twice', async (t) => {
      const url = new URL(`http://127.0.0.1:${port}/hook`)
      const exam = {
        url,
        secret: merchant.secret,
        headers: [],
        skipVerify: false,
        checks: CHECKS,
        limitMs: 60_000,
      }
      const { checks } = await takeExam(exam)
      t.strictSame(
        checks.filter(({ verdict }) => verdict !== 'passed'),
        [],
      )
      const acted = receiver.acted()
      t.equal(new Set(acted).size, acted.length)
    })

    await t.test('the event is named by the outermost members, wherever they stand', async (t) => {
      const inner = { eventId: 'evt_inner', eventType: 'payment.failed', note: '","eventId":"evt_text\\' }
      const [eventId, eventType] = [`evt_outer_${language}`, 'payment.settled']
      for (const event of [
        { list: [inner], data: inner, eventType, eventId: `${eventId}_1` },
        { eventId: `${eventId}_2`, data: inner, eventType, after: { eventId: 'evt_inner' } },
      ]) {
        const body = JSON.stringify(event)
        t.equal(await send(port, { body, signature: sign(body) }), 200)
        await until('it says so', () => receiver.acted().includes(`${eventType} ${event.eventId}`))
      }
      t.equal(actedOn('evt_inner') + actedOn('evt_text'), 0)
    })

    await t.test('unsigned requests are rejected, and not acted on', async (t) => {
      const body = eventOf(`refused_${language}`, { amount: '50.00' })
      const signature = sign(body)
      t.equal(await send(port, { body: body.replace('50.00', '5000.00'), signature }), 401, 'another body')
      t.equal(await send(port, { body: `${body} `, signature }), 401, 'one byte more')
      t.equal(await send(port, { body }), 401, 'no header')
      const another = signBody({ secret: 'f'.repeat(64), body: Buffer.from(body) })
      const wrong = [another, '', signature.slice(1), `${signature}0`, signature.toUpperCase(), 'é'.repeat(64)]
      for (const each of wrong) {
        t.equal(await send(port, { body, signature: each }), 401, `"${each.slice(0, 4)}..", ${each.length} long`)
        t.equal(await send(port, { body, previous: each }), 401, 'nor as the previous one')
      }
      t.equal(await send(port, { body: '', signature }), 401, 'no body')
      t.equal(actedOn(`evt_refused_${language}`), 0)
      t.equal(await send(port, { body, signature }), 200, 'and the real one is let in')
    })

    await t.test('requests other than POST, and bodies over 1 MiB, are rejected', async (t) => {
      for (const method of ['GET', 'PUT', 'DELETE'] as const) {
        const body = eventOf('method')
        t.equal(await send(port, { method, body, signature: sign(body) }), 405, method)
      }
      // PHP's own server runs no script before it has the whole body.
      if (language === 'php') t.equal(await send(port, { body: Buffer.alloc(BODY_MAX + 1) }), 413)
      else for (const bytes of [BODY_MAX + 1, 9_999_999_999_999]) t.equal(await announce(port, bytes), 413)
      const empty = eventOf(`big_${language}`, { text: '' })
      const full = eventOf(`big_${language}`, { text: 'x'.repeat(BODY_MAX - empty.length) })
      t.equal(Buffer.byteLength(full), BODY_MAX)
      t.equal(await send(port, { body: full, signature: sign(full) }), 200, 'and 1 MiB itself is taken')
    })

    await t.test('of many concurrent copies of an event, one is acted on', async (t) => {
      const body = eventOf(`many_${language}`, { name: 'Zoë' })
      const statuses = await times(8, () => send(port, { body, signature: sign(body) }))
      t.strictSame(
        statuses,
        Array.from({ length: 8 }, () => 200),
      )
      await until('it says so', () => actedOn(`evt_many_${language}`) > 0)
      t.equal(actedOn(`evt_many_${language}`), 1)
    })

    await t.test('the previous secret still verifies during an overlap, and not after it', async (t) => {
      t.equal((await rotate(service, merchant, { overlap_seconds: 600 })).status, 200)
      await createPayment(service, merchant)
      const during = await delivered(merchant)
      t.equal(during.status, 'DELIVERED')
      await until('it says so', () => actedOn(during.event_id) === 1)
      await service.call('DELETE', '/api/v1/portal/webhook-secret/previous', { merchant })
      await createPayment(service, merchant)
      const after = await delivered(merchant)
      t.match(after, { status: 'FAILED', last_http_status: 401 })
      t.equal(actedOn(after.event_id), 0)
    })
  })
}

t.test('a body without an announced length that exceeds 1 MiB is rejected too', async (t) => {
  for (const language of ['node', 'go'] as const) {
    const missing = missingRuntime(language)
    await t.test(language, missing === undefined ? {} : { skip: missing }, async (t) => {
      const { port } = await copied(t, language)
      const body = Readable.from([Buffer.alloc(BODY_MAX), Buffer.alloc(1)])
      const answer = await request(`http://127.0.0.1:${port}/`, { method: 'POST', body })
      await answer.body.dump()
      t.equal(answer.statusCode, 413)
    })
  }
})
