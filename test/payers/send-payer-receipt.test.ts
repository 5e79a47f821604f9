import t from 'tap'
import { LANGUAGES } from '../../src/http/pages/payer-language.ts'
import { recipientHash } from '../../src/mail/seal-context.ts'
import { sendMails } from '../../src/mail/send.ts'
import { withHash } from '../../src/payers/contact.ts'
import { MAIL_LANGUAGES } from '../../src/payers/link-message.ts'
import { findPayerPayment } from '../../src/payers/payments-sql.ts'
import { settlePayments } from '../../src/payments/settle-payments.ts'
import { testService, untilStatus } from '../support/app.ts'
import type { Answer, TestService } from '../support/app.ts'
import { capturedLog } from '../support/captured-log.ts'
import { approve, plainToken, startPayment } from '../support/checkout.ts'
import { messagesTo, paymentOf, signIn } from '../support/payers.ts'
import type { Session } from '../support/payers.ts'
import { refund, settledPayment, times } from '../support/payments.ts'
import { smtpSink } from '../support/smtp-sink.ts'
import { statementOf } from '../support/statement-of.ts'
import { until } from '../support/until.ts'

const service = await testService(t, {
  env: {
    SVC_PROVIDER_NAME: 'Harbour Payments Ltd',
    SVC_COLLECTION_ACCOUNT: 'UK.OBIE.SortCodeAccountNumber:20000055779911:Collections Ltd',
  },
})
const merchant = await service.merchant()
const { owner } = service

const send = (
  headers: Partial<Session> & Record<string, string>,
  id: string,
  { at = service, language }: { at?: TestService; language?: string } = {},
): Promise<Answer> =>
  at.call('POST', `/api/v1/payer/payments/${id}/receipt`, {
    headers: { ...headers, ...(language === undefined ? {} : { 'accept-language': language }) },
  })

const receiptsTo = async (email: string, at = service): Promise<Answer['body'][]> =>
  (await messagesTo(at, email)).filter(({ kind }) => kind === 'payer-receipt')

t.test('a receipt goes to the address of the session, with the facts of the payment and no secret', async (t) => {
  const email = 'ada@payer.example'
  const account = '20201512345678'
  const id = await settledPayment(service, merchant, {
    amount: '71.25',
    payer_email: email,
    remittance_reference: 'ORDER-1042',
    debtor_account_scheme: 'UK.OBIE.SortCodeAccountNumber',
    debtor_identification: account,
    debtor_bank_id: 'mock-albion',
  })
  const headers = await signIn(service, { email })
  const receipt = (await service.call('GET', `/api/v1/payer/payments/${id}`, { headers })).body
  t.equal(receipt.can_mail_receipt, true)
  const answer = await send(headers, id)
  t.equal(answer.status, 202)
  t.same(answer.body, { payment_id: id, status: 'sent', contact: 'a…@payer.example' })
  const [mail, ...others] = await receiptsTo(email)
  t.same(others, [])
  t.match(mail, { recipient: email, status: 'KEPT', subject: 'Your receipt' })
  const lines = mail.body.split('\n')
  for (const line of [
    'You paid: £71.25',
    'To: Acme',
    'Payee: Collections Ltd, account ending 9911',
    'Status: Paid',
    'Reference: ORDER-1042',
    'From your bank: Albion Bank',
    `Payment number (end-to-end ID): ${receipt.end_to_end_id}`,
    `Payment ID: ${id}`,
    'Payment service by Harbour Payments Ltd.',
  ]) {
    t.ok(lines.includes(line), line)
  }
  t.match(mail.body, /^Date: \d{1,2} \w+ \d{4} at \d\d:\d\d:\d\d (GMT|BST)$/m)
  t.notMatch(mail.body, /Refunded|Fee|[{}]/)
  t.notMatch(mail.body, RegExp(`${account}|${account.slice(6)}|20000055779911|55779911|token`))
  t.same(mail.links, [`${service.app.publicUrl}/hub`], 'one link, which signs no one in')
  const { rows } = await owner.query(`select * from mails where kind = 'payer-receipt'`)
  for (const fact of [email, '71.25', 'Acme', 'ORDER-1042', receipt.end_to_end_id]) {
    t.notOk(JSON.stringify(rows).includes(fact), `${fact} is sealed`)
  }
})

t.test('a refund is in the receipt, and names can become no links', async (t) => {
  const email = 'bea@payer.example'
  const shop = await service.merchant()
  await owner.query(`update merchants set trading_name = 'www.evil.example' where id = $1`, [shop.id])
  const id = await settledPayment(service, shop, { payer_email: email, remittance_reference: 'see evil.example' })
  const giveBack = (amount: string) => refund(service, shop, { id, key: amount, body: { amount } })
  t.equal((await giveBack('5.00')).status, 200)
  const headers = await signIn(service, { email })
  t.equal((await send(headers, id)).status, 202)
  const [mail] = await receiptsTo(email)
  t.match(mail.body, 'To: www[.]evil[.]example\n')
  t.match(mail.body, 'Reference: see evil[.]example\n')
  t.match(mail.body, 'Status: Partly refunded\nRefunded to you: £5.00\n')
  await owner.query(`delete from mails where payment_id = $1`, [id])
  t.equal((await giveBack('45.00')).status, 200)
  t.equal((await send(headers, id)).status, 202, 'a payment that was refunded in full has a receipt')
  const [full] = await receiptsTo(email)
  t.match(full.body, 'Status: Refunded\nRefunded to you: £50.00\n')
})

t.test("the receipt is in every language of the payers' pages", async (t) => {
  const email = 'cy@payer.example'
  const id = await settledPayment(service, merchant, { payer_email: email, amount: '1234.50' })
  const headers = await signIn(service, { email })
  t.same(Object.keys(MAIL_LANGUAGES).toSorted(), Object.keys(LANGUAGES).toSorted())
  const subjects = new Set<string>()
  for (const [language, { checkout, hub }] of Object.entries(LANGUAGES)) {
    await owner.query('delete from mails where payment_id = $1', [id])
    t.equal((await send(headers, id, { language: `${language}, en;q=0.5` })).status, 202)
    const [mail] = await receiptsTo(email)
    subjects.add(mail.subject)
    t.match(mail.body, language === 'de' ? /1\.234,50\s£/ : language === 'en' ? '£1,234.50' : /1.?234[.,]50/)
    for (const words of [checkout.gross, checkout.date, hub.payment.endToEndId, hub.status.Settled, hub.questions]) {
      t.ok(mail.body.includes(words), `${language}: ${words}`)
    }
    t.notMatch(mail.body, /[{}]|undefined/, language)
    t.same(mail.links, [`${service.app.publicUrl}/hub${language === 'en' ? '' : `?lang=${language}`}`])
  }
  t.equal(subjects.size, Object.keys(LANGUAGES).length)
})

t.test('of one payment one receipt is sent within an hour, however many requests come at once', async (t) => {
  const email = 'dot@payer.example'
  const id = await settledPayment(service, merchant, { payer_email: email })
  const headers = await signIn(service, { email })
  const answers = await times(6, () => send(headers, id))
  t.same(answers.map(({ status }) => status).toSorted(), [202, 429, 429, 429, 429, 429])
  const late = answers.find(({ status }) => status === 429)
  t.match(late?.body, {
    code: 'RATE_LIMITED',
    error: /was asked for within the last hour/,
    next: /wait for it and look in the spam folder, or ask again in \d+ minutes/,
  })
  const seconds = Number(late?.headers['retry-after'])
  t.ok(seconds > 0 && seconds <= 3_600, String(seconds))
  t.equal((await receiptsTo(email)).length, 1)
  const another = await settledPayment(service, merchant, { payer_email: email })
  t.equal((await send(headers, another)).status, 202, 'another payment has its own')
  await owner.query(`update mails set created_at = created_at - interval '1 hour' where payment_id = $1`, [id])
  t.equal((await send(headers, id)).status, 202, 'and again an hour later')

  const age = `update mails set created_at = created_at - interval '2 hours', status = $2 where payment_id = $1`
  await owner.query(age, [id, 'PENDING'])
  const waiting = await send(headers, id)
  t.match(waiting, { status: 429, headers: { 'retry-after': '3600' } })
  t.match(waiting.body.error, /still waits to be sent/, 'the mail server is away')
  await owner.query(age, [id, 'DEAD'])
  t.equal((await send(headers, id)).status, 202, 'it was given up')
})

t.test('one address is sent twenty receipts an hour', async (t) => {
  const email = 'eve@payer.example'
  const id = await settledPayment(service, merchant, { payer_email: email })
  const headers = await signIn(service, { email })
  t.equal((await send(headers, id)).status, 202)
  await owner.query(
    `insert into mails (id, realm, kind, recipient, recipient_hash, subject, body, status, payment_id)
     select gen_random_uuid(), realm, kind, recipient, recipient_hash, subject, body, status, gen_random_uuid()
     from mails, generate_series(1, 19) where payment_id = $1`,
    [id],
  )
  const another = await settledPayment(service, merchant, { payer_email: email })
  const full = await send(headers, another)
  t.equal(full.status, 429)
  t.match(full.body.error, /20 were asked for at this address within an hour/)
  t.match(full.body.next, /print it, or ask again in \d+ minutes/)
})

t.test('only the payer of a completed payment gets a receipt, and only at a confirmed e-mail address', async (t) => {
  const email = 'fay@payer.example'
  const phone = '+447700900123'
  const own = await settledPayment(service, merchant, { payer_email: email, payer_phone: phone })
  const other = await service.merchant()
  const foreign = await settledPayment(service, other, { payer_email: 'gus@payer.example' })
  const open = await paymentOf(service, merchant, { payer_email: email })
  const headers = await signIn(service, { email })
  const refused = async (answer: Promise<Answer>, status: number, code: string): Promise<void> => {
    const { status: got, body } = await answer
    t.same([got, body.code], [status, code])
  }
  const unknown = await send(headers, '00000000-0000-4000-8000-00000000000f')
  await refused(send(headers, foreign), 404, 'PAYMENT_NOT_FOUND')
  t.equal((await send(headers, foreign)).body.error, unknown.body.error, 'as one that does not exist')
  await refused(send(headers, 'x'), 404, 'PAYMENT_NOT_FOUND')
  await refused(send(headers, open), 409, 'PAYMENT_NOT_SETTLED')
  await refused(send({}, own), 401, 'UNAUTHENTICATED')
  await refused(service.call('POST', `/api/v1/payer/payments/${own}/receipt`, { merchant }), 401, 'UNAUTHENTICATED')
  const { body: shown } = await service.call('GET', `/api/v1/payer/payments/${open}`, { headers })
  t.equal(shown.can_mail_receipt, false)

  const byPhone = await signIn(service, { phone })
  const { body: receipt } = await service.call('GET', `/api/v1/payer/payments/${own}`, { headers: byPhone })
  t.equal(receipt.can_mail_receipt, false, 'nobody has confirmed the address on the payment')
  await refused(send(byPhone, own), 409, 'EMAIL_NOT_CONFIRMED')

  await service.call('POST', '/api/v1/payer/auth/sign-out', { headers })
  await refused(send(headers, own), 401, 'UNAUTHENTICATED')
  for (const address of [email, 'gus@payer.example']) t.same(await receiptsTo(address), [])
})

t.test(
  'an address that a payer leaves on the receipt is sent one when its reader has signed in, and asks',
  async (t) => {
    const email = 'hal@payer.example'
    const started = await startPayment(service, plainToken(service, merchant))
    await approve(service, started)
    await settlePayments(service.app)
    const { payment_id: id, payment_state: state } = started.body
    await untilStatus(service, merchant, id, 'Settled')
    const headers = { 'x-payment-state': state }
    const left = await service.call('POST', `/api/v1/payments/${id}/contact`, { headers, body: { email } })
    t.equal(left.status, 200)
    const asked = await send(headers, id)
    t.same([asked.status, asked.body.code], [401, 'UNAUTHENTICATED'], 'the page of the checkout can send nothing')
    t.same(await messagesTo(service, email), [])
    t.equal((await send(await signIn(service, { email }), id)).status, 202)
    t.equal((await receiptsTo(email)).length, 1)
  },
)

t.test('a mail server is sent the receipt as it is, and live mode keeps no text of it', async (t) => {
  const sink = await smtpSink(t)
  const mailing = await testService(t, { env: { SVC_SMTP_URL: sink.url } })
  const email = 'ida@payer.example'
  const shop = await mailing.merchant()
  const id = await settledPayment(mailing, shop, { payer_email: email, amount: '19.99' })
  const headers = await signIn(mailing, { email })
  t.equal((await send(headers, id, { at: mailing })).status, 202)
  const live = { ...mailing.app, config: { ...mailing.app.config, mode: 'live' as const } }
  await sendMails(live, new AbortController().signal)
  const received = sink.received.find(({ text }) => /^Subject: Your receipt\r$/m.test(text))
  t.same(received?.recipients, [email])
  t.match(received?.text, /^Auto-Submitted: auto-generated\r$/m)
  const plain = fromQuotedPrintable(received?.text ?? '')
  t.match(plain, 'You paid: £19.99\r\n')
  t.match(plain, `Payment ID: ${id}\r\n`)
  const { rows } = await mailing.owner.query('select status, body from mails where payment_id = $1', [id])
  t.same(rows, [{ status: 'SENT', body: null }])
})

function fromQuotedPrintable(text: string): string {
  const bytes = text
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

t.test('erasing a payer deletes the receipts that were mailed', async (t) => {
  const email = 'joy@payer.example'
  const id = await settledPayment(service, merchant, { payer_email: email })
  t.equal((await send(await signIn(service, { email }), id)).status, 202)
  const headers = await service.operator('OWNER')
  const body = { email, reason: 'asked' }
  const erased = await service.call('POST', '/api/v1/admin/payers/erase', { headers, body })
  t.equal(erased.status, 200)
  t.same(await messagesTo(service, email), [])
})

t.test('erasing a payer by the phone number deletes the receipts that went to the e-mail address', async (t) => {
  const [email, phone] = ['lou@payer.example', '+447700900456']
  const id = await settledPayment(service, merchant, { payer_email: email, payer_phone: phone })
  const stranger = await settledPayment(service, merchant, { payer_email: email })
  const session = await signIn(service, { email })
  for (const each of [id, stranger]) t.equal((await send(session, each)).status, 202)
  const headers = await service.operator('OWNER')
  const body = { phone, reason: 'asked' }
  const erased = await service.call('POST', '/api/v1/admin/payers/erase', { headers, body })
  t.match(erased.body, { consents: 1, messages: 1 })
  const { rows } = await owner.query('select payment_id from mails where payment_id = any($1)', [[id, stranger]])
  t.same(rows, [{ payment_id: stranger }], 'that of a payment without the number stays')
})

t.test('a payer who is erased while the request waits is sent nothing', async (t) => {
  const email = 'moe@payer.example'
  const id = await settledPayment(service, merchant, { payer_email: email })
  const session = await signIn(service, { email })
  const headers = await service.operator('OWNER')
  const series = `mails payer-receipt ${await recipientHash(service.app, email)}`
  await owner.query('begin')
  await owner.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [series])
  const asked = send(session, id)
  // Not pg_stat_activity, of which a transaction sees one state.
  await until('the request waits', async () => {
    const { rowCount } = await owner.query(
      `select from pg_locks where locktype = 'advisory' and not granted
       and database = (select oid from pg_database where datname = current_database())`,
    )
    return rowCount === 1
  })
  const body = { email, reason: 'asked' }
  const erased = await service.call('POST', '/api/v1/admin/payers/erase', { headers, body })
  await owner.query('rollback')
  t.match(erased, { status: 200, body: { consents: 1 } })
  t.match(await asked, { status: 404, body: { code: 'PAYMENT_NOT_FOUND' } })
  t.same(await receiptsTo(email), [])
})

t.test('an erasure waits for a receipt that is being queued', async (t) => {
  const email = 'pat@payer.example'
  const id = await settledPayment(service, merchant, { payer_email: email })
  const headers = await service.operator('OWNER')
  const contact = await withHash(service.app, { type: 'EMAIL', value: email })
  const { text, values } = await statementOf((tx) => findPayerPayment(tx, { contact, windowDays: 1, id, hold: true }))
  await owner.query('begin')
  const { rowCount } = await owner.query(text, [...values])
  const body = { email, reason: 'asked' }
  const erasing = service.call('POST', '/api/v1/admin/payers/erase', { headers, body })
  await until('the erasure waits', async () => {
    const waiting = await owner.query(
      'select from pg_locks where transactionid = pg_current_xact_id()::xid and not granted',
    )
    return waiting.rowCount === 1
  })
  await owner.query('commit')
  t.equal(rowCount, 1)
  t.match(await erasing, { status: 200, body: { consents: 1 } })
})

t.test('the receipt of a payment to a merchant that was suspended since is sent', async (t) => {
  const email = 'ned@payer.example'
  const shop = await service.merchant()
  const id = await settledPayment(service, shop, { payer_email: email })
  await owner.query(`update merchants set kyb_status = 'SUSPENDED' where id = $1`, [shop.id])
  t.equal((await send(await signIn(service, { email }), id)).status, 202)
  t.equal((await receiptsTo(email)).length, 1)
})

t.test('the log names the mail and its payment, and no address', async (t) => {
  const { log, lines } = capturedLog()
  const logged = await testService(t, { overrides: { log } })
  const email = 'ola@payer.example'
  const id = await settledPayment(logged, await logged.merchant(), { payer_email: email })
  t.equal((await send(await signIn(logged, { email }), id, { at: logged })).status, 202)
  const [mail] = await receiptsTo(email, logged)
  const queued = lines().filter((line) => line.includes('the receipt of a payment was queued'))
  t.match(
    queued.map((line) => JSON.parse(line)),
    [{ mail: mail.id, payment_id: id }],
  )
  t.notMatch(lines().join('\n'), /payer\.example/)
})

t.test('a dry run sends nothing', async (t) => {
  const email = 'kay@payer.example'
  const id = await settledPayment(service, merchant, { payer_email: email })
  const headers = await signIn(service, { email })
  const dry = await service.call('POST', `/api/v1/payer/payments/${id}/receipt?dry_run=true`, { headers })
  t.equal(dry.status, 202)
  t.same(await receiptsTo(email), [])
})
