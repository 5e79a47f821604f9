import { randomUUID } from 'node:crypto'
import t from 'tap'
import { listMails } from '../../src/mail/list-mails.ts'
import { contactContext } from '../../src/payers/contact.ts'
import { requestLink } from '../../src/payers/request-link.ts'
import { sendPayerLinks } from '../../src/payers/send-links.ts'
import { testService } from '../support/app.ts'
import { normalisePhone } from '../../src/lib/payer-contact.ts'
import { capturedLog } from '../support/captured-log.ts'
import { AUTH, messagesTo, paymentOf } from '../support/payers.ts'

const PHONE = '+447700900123'
const service = await testService(t)
const { app, owner } = service
const merchant = await service.merchant()
await paymentOf(service, merchant, { payer_phone: PHONE, payer_email: 'ada@payer.example' })

const live = { ...app, config: { ...app.config, mode: 'live' as const, smtpUrl: 'smtp://mail.example' } }
const withTexts = { ...live, config: { ...live.config, sms: { url: 'https://texts.example', token: undefined } } }
const clientAddress = '203.0.113.7'
const never = new AbortController().signal

t.test('live mode without an SMS gateway rejects every phone number alike, and accepts e-mail addresses', async (t) => {
  for (const phone of [PHONE, '07700 900999']) {
    await t.rejects(requestLink(live, { body: { phone }, clientAddress }), {
      code: 'VALIDATION_FAILED',
      errors: [{ path: 'phone', code: 'NOT_OFFERED', message: /e-mail/ }],
    })
  }
  await requestLink(live, { body: { email: 'ada@payer.example' }, clientAddress })
  await sendPayerLinks(live, never)
  const { rows } = await owner.query('select channel, status, (useless_at - created_at)::text as life from mails')
  t.match(rows, [{ channel: 'EMAIL', status: 'PENDING', life: '00:10:00' }])
})

t.test('with a gateway, a link is sent as a text message', async (t) => {
  await owner.query('delete from mails')
  await requestLink(withTexts, { body: { phone: '07700 900123' }, clientAddress })
  await sendPayerLinks(withTexts, never)
  const { rows } = await owner.query('select channel, status, realm from mails')
  t.same(rows, [{ channel: 'SMS', status: 'PENDING', realm: 'payer hub' }])
  t.match(await listMails(app), [{ recipient: PHONE }])
})

t.test('a request from a time with a gateway is dropped without one', async (t) => {
  await owner.query('delete from mails')
  await owner.query('delete from payer_tokens')
  await requestLink(withTexts, { body: { phone: PHONE }, clientAddress })
  t.same(await sendPayerLinks(live, never), { more: false })
  t.same((await owner.query('select from mails')).rows, [])
  t.same((await owner.query('select from payer_tokens')).rows, [])
  t.same((await owner.query('select from payer_link_requests where handled_at is null')).rows, [])
})

t.test('the sandbox shows text messages with its mails', async (t) => {
  await service.call('POST', `${AUTH}/request-link`, { body: { phone: PHONE } })
  await sendPayerLinks(app, never)
  const { body } = await service.call('GET', '/api/v1/sandbox/mails')
  t.match(body.data[0], { recipient: PHONE, kind: 'payer-link', subject: 'Your link to sign in', status: 'KEPT' })
  const [text] = await messagesTo(service, PHONE)
  t.match(text.links, [`${app.publicUrl}/hub#token=`])
})

t.test("a number that can't receive text messages is rejected", async (t) => {
  for (const phone of ['+492234', '+4922345678901234']) {
    t.equal(normalisePhone(phone), undefined, phone)
    const answer = await service.call('POST', `${AUTH}/request-link`, { body: { phone } })
    t.match(answer, { status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ path: 'phone' }] } })
  }
  t.equal(normalisePhone('07700 900123'), PHONE)
  t.equal(normalisePhone('+49 2234 567890'), '+492234567890')
})

t.test('a request that fails is given up, and later ones are handled', async (t) => {
  await owner.query('delete from mails')
  await owner.query('delete from payer_tokens')
  const BROKEN = '+492234'
  const { rows: made } = await owner.query('select consent_id from payment_intents where id = $1', [
    await paymentOf(service, merchant, {}),
  ])
  const hash = await app.lookupHash('PHONE', BROKEN)
  await owner.query('update payment_consents set payer_phone_hash = $2 where id = $1', [made[0].consent_id, hash])
  const id = randomUUID()
  await owner.query(
    `insert into payer_link_requests (id, contact_type, contact, contact_hash, request_ip_hash, wide_ip_hash,
       created_at)
     values ($1, 'PHONE', $2, $3, repeat('0', 64), repeat('0', 64), now() - interval '1 minute')`,
    [id, app.sealer.seal(BROKEN, contactContext('payer_link_requests', id)), hash],
  )
  await requestLink(app, { body: { phone: PHONE }, clientAddress })
  const { log, lines } = capturedLog()
  t.same(await sendPayerLinks({ ...app, log }, never), { more: false })
  t.match(lines().join('\n'), /given up/)
  t.notMatch(lines().join('\n'), BROKEN)
  t.match(await listMails(app), [{ recipient: PHONE }])
  t.equal((await listMails(app)).length, 1)
  t.same((await owner.query('select from payer_tokens')).rows.length, 1, 'the token of the broken one is undone')
  t.same((await owner.query('select from payer_link_requests where handled_at is null')).rows, [])
})

t.test('a link is still sent after the database was unavailable', async (t) => {
  await owner.query('delete from mails')
  await requestLink(app, { body: { phone: PHONE }, clientAddress })
  const away = Object.assign(new Error('the connection is gone'), { code: '57P01' })
  const broken = {
    ...app.sealer,
    seal: () => {
      throw away
    },
  }
  await t.rejects(sendPayerLinks({ ...app, sealer: broken }, never), { message: /./ })
  t.same((await owner.query('select from mails')).rows, [])
  await sendPayerLinks(app, never)
  t.equal((await owner.query('select from mails')).rows.length, 1)
})
