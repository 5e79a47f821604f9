import t from 'tap'
import { requestLink } from '../../src/payers/request-link.ts'
import { sendPayerLinks } from '../../src/payers/send-links.ts'
import { testService } from '../support/app.ts'
import { AUTH, messagesTo, paymentOf } from '../support/payers.ts'

const PHONE = '+447700900123'
const service = await testService(t)
const { app, owner } = service
await paymentOf(service, await service.merchant(), { payer_phone: PHONE, payer_email: 'ada@payer.example' })

const live = { ...app, config: { ...app.config, mode: 'live' as const, smtpUrl: 'smtp://mail.example' } }
const withTexts = { ...live, config: { ...live.config, sms: { url: 'https://texts.example', token: undefined } } }
const clientAddress = '203.0.113.7'
const never = new AbortController().signal

t.test('live mode without a gateway refuses every phone number alike, and takes addresses', async (t) => {
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

t.test('with one, a link goes out as a text', async (t) => {
  await owner.query('delete from mails')
  await requestLink(withTexts, { body: { phone: '07700 900123' }, clientAddress })
  await sendPayerLinks(withTexts, never)
  const { rows } = await owner.query('select channel, status, recipient, realm from mails')
  t.same(rows, [{ channel: 'SMS', status: 'PENDING', recipient: PHONE, realm: 'payer hub' }])
})

t.test('what was asked for while there was a gateway is dropped where there is none', async (t) => {
  await owner.query('delete from mails')
  await owner.query('delete from payer_tokens')
  await requestLink(withTexts, { body: { phone: PHONE }, clientAddress })
  t.same(await sendPayerLinks(live, never), { more: false })
  t.same((await owner.query('select from mails')).rows, [])
  t.same((await owner.query('select from payer_tokens')).rows, [])
  t.same((await owner.query('select from payer_link_requests where handled_at is null')).rows, [])
})

t.test('the sandbox shows a text where it shows its mails', async (t) => {
  await service.call('POST', `${AUTH}/request-link`, { body: { phone: PHONE } })
  await sendPayerLinks(app, never)
  const { body } = await service.call('GET', '/api/v1/sandbox/mails')
  t.match(body.data[0], { recipient: PHONE, kind: 'payer-link', subject: 'Your link to sign in', status: 'KEPT' })
  const [text] = await messagesTo(service, PHONE)
  t.match(text.links, [`${app.publicUrl}/hub#token=`])
})
