import t from 'tap'
import { jobs, startJobs } from '../../src/jobs.ts'
import { AUTH, askForLink, linkToken, messagesTo, paymentOf, signIn, verify } from '../support/payers.ts'
import { testService } from '../support/app.ts'
import { smtpSink } from '../support/smtp-sink.ts'
import { until } from '../support/until.ts'

const service = await testService(t)
const merchant = await service.merchant()
const ADA = { email: 'ada@payer.example' }
await paymentOf(service, merchant, { payer_email: ADA.email })
await paymentOf(service, merchant, { payer_phone: '+447700900123' })

const count = async (statement: string): Promise<number> =>
  Number((await service.owner.query<{ count: string }>(statement)).rows[0]?.count)

t.test("a known payer gets a link that opens the payer's own payments", async (t) => {
  const answer = await askForLink(service, ADA)
  t.equal(answer.status, 202)
  t.same(answer.body, { status: 'sent' })
  const [mail] = await messagesTo(service, ADA.email)
  t.match(mail, { kind: 'payer-link', recipient: ADA.email, status: 'KEPT' })
  t.equal(mail.links.length, 1)
  const link = new URL(mail.links[0])
  t.equal(`${link.origin}${link.pathname}`, `${service.app.publicUrl}/hub`)
  t.equal(link.search, '', 'no server and no scanner is sent the token')
  t.match(link.hash, /^#token=[\w-]{43}$/)
  t.match(mail.body, /works once, and for 10 minutes/)
  t.match(mail.body, /never ask for your bank's passwords/)
  const session = await verify(service, link.hash.slice('#token='.length))
  t.equal(session.status, 200)
  t.match(session.body, { session_token: /^[\w-]+\.[\w-]+\.[\w-]+$/, token_type: 'Bearer', expires_in: 900 })
  t.equal(session.body.contact, 'a…@payer.example', 'whose it is')
  const headers = { authorization: `Bearer ${session.body.session_token}` }
  const { body } = await service.call('GET', '/api/v1/payer/payments', { headers })
  t.equal(body.data.length, 1)
  t.match(body.data[0], { merchant_name: 'Acme', gross_amount: '50.00', is_disputable: false, dispute: null })
})

t.test('only the hash of a token is stored', async (t) => {
  const token = await linkToken(service, ADA)
  const { rows } = await service.owner.query('select * from payer_tokens')
  t.ok(rows.length > 0)
  t.notOk(JSON.stringify(rows).includes(token))
  const { rows: mails } = await service.owner.query('select * from mails')
  t.notOk(JSON.stringify(mails).includes(token), 'the mail that carries it is sealed')
})

t.test('an e-mail address is the same in capitals, on the payment and in the request', async (t) => {
  await paymentOf(service, merchant, { payer_email: 'Bea.Lovelace@Payer.Example' })
  const headers = await signIn(service, { email: 'bea.lovelace@payer.example' })
  t.equal((await service.call('GET', '/api/v1/payer/payments', { headers })).body.data.length, 1)
  await askForLink(service, { email: ' BEA.LOVELACE@PAYER.EXAMPLE ' })
  t.equal((await messagesTo(service, 'bea.lovelace@payer.example')).length, 2)
})

t.test('a repeated creation still matches after its e-mail address was lower-cased', async (t) => {
  const create = (payer_email: string) =>
    service.call('POST', '/api/v1/payments', {
      merchant,
      headers: { 'x-idempotency-key': 'capitals' },
      body: { amount: '1.50', currency: 'GBP', redirect_uri: 'https://shop.example/return', payer_email },
    })
  t.equal((await create('Cy@Payer.Example')).status, 201)
  t.equal((await create('Cy@Payer.Example')).status, 200)
  t.equal((await create('cy@payer.example')).status, 422, 'another body is another request')
})

t.test('a phone number is the same however it is written', async (t) => {
  const written = ['+447700900123', '07700 900123', '(07700) 900-123', '+44 7700 900 123', '0044 7700 900123']
  for (const phone of written) {
    const before = (await messagesTo(service, '+447700900123')).length
    t.equal((await askForLink(service, { phone })).status, 202, phone)
    t.equal((await messagesTo(service, '+447700900123')).length, before + 1, phone)
  }
  const [text] = await messagesTo(service, '+447700900123')
  t.match(text, { kind: 'payer-link', status: 'KEPT' })
  t.ok(text.body.length <= 320, 'it fits into two text messages')
  const headers = await signIn(service, { phone: '+447700900123' })
  t.equal((await service.call('GET', '/api/v1/payer/payments', { headers })).body.data.length, 1)
})

t.test('a national zero in a number that a merchant gave does not hide the payment', async (t) => {
  await paymentOf(service, merchant, { payer_phone: '+4407700900456' })
  const headers = await signIn(service, { phone: '+447700900456' })
  t.equal((await service.call('GET', '/api/v1/payer/payments', { headers })).body.data.length, 1)
})

t.test('an invalid contact is rejected, and nothing is stored', async (t) => {
  const before = await count('select count(*) from payer_link_requests')
  const refused: [object, string][] = [
    [{ phone: '12345' }, 'phone'],
    [{ phone: '07700 900123 ext. 4' }, 'phone'],
    [{ phone: 'call 07700 900123 now' }, 'phone'],
    [{ phone: '+999 1234 5678' }, 'phone'],
    [{ phone: '+44' }, 'phone'],
    [{ email: 'ada' }, 'email'],
    [{ email: 'a@b.example\r\nBcc: c@d.example' }, 'email'],
    [{ email: `${'a'.repeat(250)}@b.example` }, 'email'],
    [{}, 'email'],
    [{ email: 'a@b.example', phone: '+447700900123' }, 'phone'],
    [{ email: ['a@b.example'] }, 'email'],
  ]
  for (const [contact, path] of refused) {
    const { status, body } = await service.call('POST', `${AUTH}/request-link`, { body: contact })
    t.equal(status, 400, JSON.stringify(contact))
    t.equal(body.code, 'VALIDATION_FAILED')
    t.equal(body.errors[0].path, path, JSON.stringify(contact))
  }
  t.equal(await count('select count(*) from payer_link_requests'), before)
})

t.test('a worker sends a link at once, not in its next scheduled run', async (t) => {
  const sink = await smtpSink(t)
  const working = await testService(t, { env: { SVC_SMTP_URL: sink.url } })
  // With an interval of an hour, the job runs only because it was woken.
  const names = ['send-payer-links', 'send-mails']
  const table = jobs.filter(({ name }) => names.includes(name)).map((job) => ({ ...job, everyMs: 3_600_000 }))
  const running = startJobs(working.app, table)
  t.teardown(() => running.stop())
  await paymentOf(working, await working.merchant(), { payer_email: ADA.email })
  await until('the worker listens', async () => {
    const { rowCount } = await working.owner.query(
      `select from pg_stat_activity where datname = current_database() and query ilike 'listen svc_wake' and state = 'idle'`,
    )
    return rowCount === 1
  })
  await working.call('POST', `${AUTH}/request-link`, { body: ADA })
  await until('the mail has come', () => sink.received.length === 1)
  t.same(sink.received[0]?.recipients, [ADA.email])
  const plain = sink.received[0]?.text.replaceAll('=\r\n', '').replaceAll('=3D', '=') ?? ''
  const [, token = ''] = /#token=([\w-]{43})\b/.exec(plain) ?? []
  t.equal((await verify(working, token)).status, 200, 'what the mail carries works')
})

t.test('a mandate is found by the address in capitals, too', async (t) => {
  await paymentOf(service, merchant, {
    payer_email: 'Dot@Payer.Example',
    consent_type: 'VARIABLE_RECURRING',
    control_parameters: { max_amount_per_payment: '60.00' },
  })
  const headers = await signIn(service, { email: 'dot@payer.example' })
  t.match((await service.call('GET', '/api/v1/payer/payments', { headers })).body.data, [{ is_recurring: true }])
})
