import { request } from 'undici'
import t from 'tap'
import { moneyText } from '../../../src/http/pages/money-text.ts'
import { atBank, createPayment, testService, untilStatus } from '../../support/app.ts'
import { plainToken, startPayment } from '../../support/checkout.ts'
import { getPage } from '../../support/forms.ts'
import type { PageAnswer } from '../../support/forms.ts'

const service = await testService(t, { worker: true })
const merchant = await service.merchant()

async function returned(redirectUrl: string, decision: 'approve' | 'cancel' = 'approve'): Promise<PageAnswer> {
  const back = await atBank(redirectUrl, decision)
  const first = await getPage(`${service.url}/payments/return?${new URLSearchParams(back)}`)
  return getPage(`${service.url}${first.location}`)
}

/** A payment of the shop's own server, at its end. */
async function ended(status: string, changes: Record<string, unknown> = {}): Promise<PageAnswer> {
  const { body } = await createPayment(service, merchant, {
    redirect_uri: `${service.url}/payments/return`,
    ...changes,
  })
  await returned(body.redirect_url)
  await untilStatus(service, merchant, body.payment_id, status)
  return getPage(`${service.url}/payments/return?state=${new URL(body.redirect_url).searchParams.get('state')}`)
}

t.test('the receipt has gross, fee and net, the reference, and what happened when', async (t) => {
  const { status, html } = await ended('Settled')
  t.equal(status, 200)
  t.match(html, /<h1>Paid<\/h1>/)
  t.match(html, /<dt>Amount<\/dt><dd>£50\.00<\/dd>/)
  t.match(html, /<dt>Fee, paid by the shop<\/dt><dd>£0\.70<\/dd>/)
  t.match(html, /<dt>The shop receives<\/dt><dd>£49\.30<\/dd>/)
  t.match(html, /<dt>Reference<\/dt><dd>SVC[0-9a-f]{32}<\/dd>/)
  t.match(html, /<div data-status="Settled"><dt>Status<\/dt><dd>Paid<\/dd>/)
  const steps = [...html.matchAll(/<li data-status="(\w+)">([^<]+) <time datetime="([^"]+)">([^<]+)<\/time>/g)]
  t.same(
    steps.map(([, status, step]) => [status, step]),
    [
      ['AwaitingAuthorisation', 'Waiting for your approval at the bank'],
      ['Authorised', 'Approved'],
      ['Settled', 'Paid to the merchant'],
    ],
  )
  for (const [, , , instant = '', words] of steps) {
    t.match(instant, /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/)
    t.match(words, /^\d{1,2} [A-Z][a-z]+ \d{4} at \d{2}:\d{2}:\d{2} (GMT|BST)$/)
  }
  t.notMatch(html, /Return to|data-poll/, "a shop's own payment has no way back here")
})

t.test('reading the return page completes nothing', async (t) => {
  for (const path of ['/payments/return', '/dev/merchant-success']) {
    for (const decision of ['approve', 'cancel'] as const) {
      const { body } = await createPayment(service, merchant, { redirect_uri: service.url + path })
      const back = new URLSearchParams(await atBank(body.redirect_url, decision))
      const reply = await request(`${service.url}${path}?${back}`, { method: 'HEAD' })
      t.equal(reply.statusCode, 200)
      t.equal(await reply.body.text(), '')
      const { body: seen } = await service.call('GET', `/api/v1/payments/${body.payment_id}`, { merchant })
      t.equal(seen.status, 'AwaitingAuthorisation', `${path} ${decision}`)
      t.equal((await getPage(`${service.url}${path}?${back}`)).status, 303)
      await untilStatus(service, merchant, body.payment_id, decision === 'approve' ? 'Settled' : 'Failed')
    }
  }
})

t.test('amounts keep every digit', async (t) => {
  for (const [amount, currency, text] of [
    ['50.0000', 'GBP', '£50.00'],
    ['0.2725', 'GBP', '£0.2725'],
    ['1234567890123.0700', 'EUR', '€1,234,567,890,123.07'],
    ['9999999999999.9999', 'GBP', '£9,999,999,999,999.9999'],
  ] as const)
    t.equal(moneyText(amount, currency), text)
})

t.test('a payment that was given back says so', async (t) => {
  const { body } = await createPayment(service, merchant, { redirect_uri: `${service.url}/payments/return` })
  await returned(body.redirect_url)
  await untilStatus(service, merchant, body.payment_id, 'Settled')
  await service.call('POST', `/api/v1/payments/${body.payment_id}/refund`, { merchant, body: {} })
  await untilStatus(service, merchant, body.payment_id, 'Refunded')
  const state = new URL(body.redirect_url).searchParams.get('state')
  const { html } = await getPage(`${service.url}/payments/return?state=${state}`)
  t.match(html, /<h1>Refunded<\/h1>/)
  t.match(html, /<dt>Refunded<\/dt><dd>£50\.00<\/dd>/)
})

t.test('the page of a pending payment reloads by itself', async (t) => {
  const { body } = await createPayment(service, merchant, { redirect_uri: `${service.url}/payments/return` })
  const state = new URL(body.redirect_url).searchParams.get('state')
  const waiting = await getPage(`${service.url}/payments/return?state=${state}`)
  t.match(waiting.html, /<main data-poll="2">/)
  t.match(waiting.html, /<h1>Waiting for your bank<\/h1>/)
  await service.owner.query(`update payment_intents set updated_at = now() - interval '3 minutes' where id = $1`, [
    body.payment_id,
  ])
  const calm = await getPage(`${service.url}/payments/return?state=${state}`)
  t.notMatch(calm.html, /data-poll/)
  t.match(calm.html, /<a href="">Check again<\/a>/)
})

t.test('every failure has a text for payers', async (t) => {
  const { html } = await ended('Failed', { scenario: 'insufficient-funds' })
  t.match(html, /<h1>Not paid<\/h1>/)
  t.match(html, /There is not enough money in that account\. No money was taken\./)
  t.match(html, /<p>Nothing was paid to Acme\.<\/p>/)
  t.notMatch(html, /The shop receives/, 'nobody received anything')
})

t.test('a failure with an unknown outcome of the money makes no claim about it', async (t) => {
  for (const code of ['BANK_TIMEOUT', 'DUPLICATE_PAYMENT'] as const) {
    const { body } = await createPayment(service, merchant, { redirect_uri: `${service.url}/payments/return` })
    await returned(body.redirect_url, 'cancel')
    await service.owner.query(`update payment_intents set failure_code = $2 where id = $1`, [body.payment_id, code])
    const state = new URL(body.redirect_url).searchParams.get('state')
    const unclear = await getPage(`${service.url}/payments/return?state=${state}`)
    t.match(unclear.html, /<h1>Payment not completed<\/h1>/, code)
    t.match(unclear.html, /Check your account before you pay again\./, code)
    t.notMatch(unclear.html, /Nothing was paid|Not paid|No money/, code)
  }
})

t.test('payers of a checkout can return to its shop, paid or not', async (t) => {
  const returnUrl = 'https://shop.example/basket?a=1&b="<x>"'.replace(/"<x>"/, '%22%3Cx%3E')
  for (const decision of ['approve', 'cancel'] as const) {
    const { body } = await startPayment(service, plainToken(service, merchant, { returnUrl }))
    await returned(body.redirect_url, decision)
    await untilStatus(service, merchant, body.payment_id, decision === 'approve' ? 'Settled' : 'Failed')
    const { html } = await getPage(`${service.url}/payments/return?state=${body.payment_state}`)
    t.ok(html.includes(`<a class="next main" href="${returnUrl.replace('&', '&amp;')}&amp;payment_id=`), decision)
    t.notMatch(html, /http-equiv="refresh"/)
    t.match(
      html,
      /If the shop is still open in another tab or on another device, continue there: you can close this page/,
    )
  }
})

t.test('a pending payment does not redirect the payer', async (t) => {
  const { body } = await startPayment(service, plainToken(service, merchant))
  const { html } = await getPage(`${service.url}/payments/return?state=${body.payment_state}`)
  t.notMatch(html, /Return to|close this page/)
})

/** What its tab shows of a payment that waits no more, when its payer approves it at the bank all the same. */
async function approvedInVain(redirectUrl: string): Promise<PageAnswer> {
  t.match(await getPage(redirectUrl), { status: 200, html: /Approve £50\.00/ }, 'the bank has books of its own')
  const back = await atBank(redirectUrl, 'approve')
  t.ok('code' in back)
  const first = await getPage(`${service.url}/payments/return?${new URLSearchParams(back)}`)
  t.equal(first.status, 303)
  return getPage(`${service.url}${first.location}`)
}

t.test('approving a payment that another tab replaced takes no money, and says so', async (t) => {
  const token = plainToken(service, merchant)
  const old = await startPayment(service, token, { debtor_bank_id: 'mock-albion' })
  const current = await startPayment(service, token, { debtor_bank_id: 'mock-fern' })
  const { html } = await approvedInVain(old.body.redirect_url)
  t.match(html, /<h1>Not paid<\/h1>/)
  t.match(html, /<p>Nothing was paid to Acme\.<\/p>/)
  t.match(html, /cancelled, or started again in another tab or window\. No money was taken\./)
  t.notMatch(html, /You cancelled|On its way|<h1>Paid/)
  const waiting = await getPage(`${service.url}/payments/return?state=${current.body.payment_state}`)
  t.match(waiting.html, /<h1>Waiting for your bank<\/h1>/, 'the other one is untouched')
  await returned(current.body.redirect_url)
  await untilStatus(service, merchant, current.body.payment_id, 'Settled')
  const after = await getPage(`${service.url}/payments/return?state=${old.body.payment_state}`)
  t.match(after.html, /Nothing was paid to Acme/, 'of this one, whatever became of the other')
})

t.test('approving a payment that its shop cancelled, or that ended, takes no money, and says so', async (t) => {
  const create = () => createPayment(service, merchant, { redirect_uri: `${service.url}/payments/return` })
  const cancelled = await create()
  await service.call('POST', `/api/v1/payments/${cancelled.body.payment_id}/cancel`, { merchant })
  const late = await create()
  await service.owner.query(
    `update payment_consents set expires_at = now() - interval '1 second' where id = (select consent_id from payment_intents where id = $1)`,
    [late.body.payment_id],
  )
  for (const [{ body }, words] of [
    [cancelled, /The shop cancelled the payment\./],
    [late, /It took too long to confirm the payment\./],
  ] as const) {
    const { html } = await approvedInVain(body.redirect_url)
    t.match(html, /<h1>Not paid<\/h1>/)
    t.match(html, /<p>Nothing was paid to Acme\.<\/p>/)
    t.match(html, words)
    await untilStatus(service, merchant, body.payment_id, 'Failed')
  }
})

t.test('a payer who cancels at the bank sees exactly that', async (t) => {
  const { body } = await createPayment(service, merchant, { redirect_uri: `${service.url}/payments/return` })
  const { html } = await returned(body.redirect_url, 'cancel')
  t.match(html, /You cancelled at your bank\./)
  t.notMatch(html, /another tab/)
})

t.test("a shop's name that is markup is text", async (t) => {
  const shop = await service.merchant()
  await service.owner.query('update merchants set trading_name = $2 where id = $1', [shop.id, '<img src=x>"&'])
  const { body } = await startPayment(service, plainToken(service, shop))
  const page = await returned(body.redirect_url, 'cancel')
  t.notMatch(page.html, /<img/)
  t.match(page.html, /Return to &lt;img src=x&gt;&quot;&amp;<\/a>/)
})

t.test('the short address leads to the bank while the payment waits, and to the receipt afterwards', async (t) => {
  const { body } = await createPayment(service, merchant, { redirect_uri: `${service.url}/payments/return` })
  const state = new URL(body.redirect_url).searchParams.get('state') ?? ''
  const short = `${service.url}/go?state=${state}`
  t.match(await getPage(short), { status: 303, location: body.redirect_url })
  t.ok(short.length < 100, 'a camera can read it')
  await returned(body.redirect_url)
  t.match(await getPage(short), { status: 303, location: `/payments/return?state=${state}` })
  for (const wrong of ['', `${state}x`, state.slice(1), '%00', 'https://evil.example']) {
    t.match(await getPage(`${service.url}/go?state=${wrong}`), { status: 404, location: undefined }, wrong)
  }
})
