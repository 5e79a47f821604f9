import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { queueMail, queueText } from '../../src/mail/queue.ts'
import { sendMails } from '../../src/mail/send.ts'
import { sendText } from '../../src/mail/text-gateway.ts'
import { testService } from '../support/app.ts'
import type { TestService } from '../support/app.ts'
import { smtpSink } from '../support/smtp-sink.ts'

type Handed = { authorization: string | undefined; body: Record<string, string> }
type Gateway = {
  url: string
  handed: Handed[]
  answer(next: (req: IncomingMessage, res: ServerResponse) => void): void
}

/** A gateway on a port of its own that takes what it is given, or answers as a test says. */
async function startGateway(t: Test): Promise<Gateway> {
  const handed: Handed[] = []
  let answer = (_req: IncomingMessage, res: ServerResponse): void => void res.writeHead(202).end()
  const server = createServer((req, res) => {
    let text = ''
    req.on('data', (part) => (text += String(part)))
    req.on('end', () => {
      handed.push({ authorization: req.headers.authorization, body: JSON.parse(text) })
      answer(req, res)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/texts`, handed, answer: (next) => (answer = next) }
}

const TEXT = {
  merchantId: null,
  realm: 'payer hub',
  kind: 'payer-link',
  recipient: '+447700900123',
  subject: 'Your link to sign in',
  body: 'Sign in: https://svc.example/hub#token=abc',
}

const send = ({ app }: TestService): Promise<unknown> => sendMails(app, new AbortController().signal)
const rows = async ({ owner }: TestService): Promise<Record<string, unknown>[]> =>
  (await owner.query('select *, due_at - now() as wait from mails order by created_at, id')).rows

t.test('a text message is handed to the gateway, once, with the bearer token', async (t) => {
  const gateway = await startGateway(t)
  const service = await testService(t, { env: { SVC_SMS_URL: gateway.url, SVC_SMS_TOKEN: 'the-token' } })
  await queueText(service.app, service.app.pool, TEXT)
  await send(service)
  await send(service)
  const [row] = await rows(service)
  t.match(row, { status: 'SENT', channel: 'SMS', attempt_count: 1, last_error: null })
  t.same(gateway.handed, [
    { authorization: 'Bearer the-token', body: { id: row?.['id'], to: '+447700900123', text: TEXT.body } },
  ])
})

t.test('one run sends both mails and text messages', async (t) => {
  const gateway = await startGateway(t)
  const sink = await smtpSink(t)
  const service = await testService(t, { env: { SVC_SMS_URL: gateway.url, SVC_SMTP_URL: sink.url } })
  const { app } = service
  for (let at = 0; at < 6; at += 1) {
    await queueText(app, app.pool, TEXT)
    await queueMail(app, app.pool, { ...TEXT, recipient: 'ada@payer.example' })
  }
  await send(service)
  t.equal(gateway.handed.length, 6)
  t.equal(sink.received.length, 6)
  t.ok(sink.received.every(({ recipients }) => recipients[0] === 'ada@payer.example'))
  t.equal(gateway.handed[0]?.authorization, undefined, 'without a token none is sent')
  t.ok((await rows(service)).every(({ status }) => status === 'SENT'))
})

t.test('with only a gateway texts are sent and mails are kept, and with only a mail server the reverse', async (t) => {
  const gateway = await startGateway(t)
  const sink = await smtpSink(t)
  for (const env of [{ SVC_SMS_URL: gateway.url }, { SVC_SMTP_URL: sink.url }]) {
    const service = await testService(t, { env })
    const { app } = service
    await queueText(app, app.pool, TEXT)
    await queueMail(app, app.pool, { ...TEXT, recipient: 'ada@payer.example' })
    await send(service)
    const [sent, kept] = 'SVC_SMS_URL' in env ? ['SMS', 'EMAIL'] : ['EMAIL', 'SMS']
    const found = new Map((await rows(service)).map(({ channel, status }) => [channel, status]))
    t.same(
      found,
      new Map([
        [sent, 'SENT'],
        [kept, 'KEPT'],
      ]),
    )
  }
  t.equal(gateway.handed.length, 1)
  t.equal(sink.received.length, 1)
})

t.test('texts queued for a removed gateway wait, and disturb nothing', async (t) => {
  const gateway = await startGateway(t)
  const service = await testService(t, { env: { SVC_SMS_URL: gateway.url } })
  await queueText(service.app, service.app.pool, TEXT)
  const { sms: _sms, ...config } = service.app.config
  await sendMails({ ...service.app, config: { ...config, sms: undefined } }, new AbortController().signal)
  t.match(await rows(service), [{ status: 'PENDING', attempt_count: 0 }])
  t.equal(gateway.handed.length, 0)
})

t.test('a text that the gateway rejects is retried, and its response is not stored', async (t) => {
  const gateway = await startGateway(t)
  const service = await testService(t, { env: { SVC_SMS_URL: gateway.url } })
  gateway.answer((_req, res) => void res.writeHead(500).end('no credit for +447700900123'))
  await queueText(service.app, service.app.pool, TEXT)
  await send(service)
  t.match(await rows(service), [{ status: 'PENDING', attempt_count: 1, last_error: 'gateway_refused (500)' }])
  t.match(await rows(service), [{ wait: /^00:00:5\d/ }])
  gateway.answer((_req, res) => void res.writeHead(200).end())
  await service.owner.query('update mails set due_at = now()')
  await send(service)
  t.match(await rows(service), [{ status: 'SENT', attempt_count: 2 }])
  t.equal(gateway.handed[0]?.body['id'], gateway.handed[1]?.body['id'], 'a gateway can tell a repeat')
})

t.test('a link that has ended is not sent any more', async (t) => {
  const gateway = await startGateway(t)
  const service = await testService(t, { env: { SVC_SMS_URL: gateway.url } })
  const { app, owner } = service
  await queueText(app, app.pool, { ...TEXT, uselessAfterSeconds: 600 })
  await owner.query(`update mails set useless_at = useless_at - interval '10 minutes'`)
  await send(service)
  t.match(await rows(service), [{ status: 'DEAD', last_error: 'too_late' }])
  t.equal(gateway.handed.length, 0)
})

t.test('a redirect is not followed, and a wrong gateway costs an attempt', async (t) => {
  const gateway = await startGateway(t)
  const other = await startGateway(t)
  const text = { id: 'x', to: '+447700900123', text: 'a link' }
  gateway.answer((_req, res) => void res.writeHead(307, { location: other.url }).end())
  t.equal(await sendText({ url: gateway.url, token: 'secret' }, text), 'gateway_refused (307)')
  t.equal(other.handed.length, 0)
  gateway.answer((_req, res) => void res.destroy())
  t.equal(await sendText({ url: gateway.url, token: 'secret' }, text), 'connection_failed')
  t.equal(await sendText({ url: 'http://127.0.0.1:1/', token: undefined }, text), 'connection_failed')
  gateway.answer(() => undefined)
  t.equal(await sendText({ url: gateway.url, token: undefined }, text, 100), 'timed_out')
  gateway.answer((_req, res) => void res.writeHead(200).end('x'.repeat(1_000_000)))
  t.equal(await sendText({ url: gateway.url, token: undefined }, text), null, 'a long answer is an answer')
})

t.test('only one phone number is a recipient', async (t) => {
  const service = await testService(t)
  const { app } = service
  for (const recipient of ['07700900123', '+44', 'ada@payer.example', '+447700900123,+447700900124', '+44 7700', '']) {
    await t.rejects(queueText(app, app.pool, { ...TEXT, recipient }), TypeError, recipient)
  }
  const live = { ...app, config: { ...app.config, mode: 'live' as const } }
  await t.rejects(queueText(live, app.pool, TEXT), /no gateway/, 'live mode keeps no text that nobody can read')
  t.same(await rows(service), [])
})
