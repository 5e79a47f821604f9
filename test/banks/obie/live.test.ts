import t from 'tap'
import { request } from 'undici'
import { paymentBody, serviceToken, testService, until } from '../../support/app.ts'
import { liveEnv } from '../../support/live.ts'
import { decideAtBank, startTestBank } from '../../support/model-bank.ts'

const PUBLIC_URL = 'https://pay.example'
const SHOP = 'https://shop.example/back?basket=7'

t.test('live mode: from registration at the bank to the money, and the refund that a file takes back', async (t) => {
  const bank = await startTestBank(t, { redirectUris: [`${PUBLIC_URL}/bank/return`] })
  const live = await testService(t, {
    worker: true,
    env: {
      ...(await liveEnv()),
      SVC_BANK_PROFILES: bank.profiles,
      SVC_BANK_SOFTWARE_STATEMENT: bank.softwareStatement,
      SVC_COLLECTION_ACCOUNT: 'UK.OBIE.SortCodeAccountNumber:20000055779911:Collections Ltd',
    },
  })
  t.match((await live.call('GET', '/api/v1/banks')).body, {
    data: [{ id: 'model', name: 'Model Bank', available: false }],
  })
  t.match((await live.call('GET', '/readyz')).body, { banks: 'configured' })
  const { realm, clientId, clientSecret } = await live.merchant()
  const token = await serviceToken(live.url, { realm, clientId, secret: clientSecret })
  const authorization = `Bearer ${token}`
  const pay = (key: string) =>
    live.call('POST', '/api/v1/payments', {
      headers: { authorization, 'x-idempotency-key': key },
      body: { ...paymentBody(), redirect_uri: SHOP },
    })
  t.match(await pay('before'), {
    status: 503,
    body: {
      code: 'BANK_NOT_CONFIGURED',
      error: /not registered with the bank model/,
      next: /svc banks connect model$/,
    },
  })

  const headers = await live.operator('OWNER')
  const registered = await live.call('POST', '/api/v1/admin/banks/model/registration', {
    headers,
    body: { reason: 'live' },
  })
  t.ok(registered.status < 300, registered.text)
  const tested = await live.call('POST', '/api/v1/admin/banks/model/test', { headers, body: {} })
  t.match(tested, { status: 200, body: { passed: true } }, tested.text)

  await until(async () => (await live.call('GET', '/api/v1/banks')).body.data[0].available === true)
  const { status, body, text } = await pay('order-1')
  t.equal(status, 201, text)
  t.match(body.redirect_url, /^https:\/\/pay\.example\/bank\/authorise\?state=/)
  const here = (address: string): string => address.replace(PUBLIC_URL, live.url)
  const visit = await request(here(body.redirect_url), { headers: { 'x-forwarded-proto': 'https' } })
  const cookie = String(visit.headers['set-cookie'])
  t.match(cookie, /^__Secure-svc-bank=[\w-]{43}; Path=\/bank; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/)
  const back = await decideAtBank(bank, String(visit.headers['location']))
  t.equal(`${back.origin}${back.pathname}`, `${PUBLIC_URL}/bank/return`)
  const returned = await request(`${live.url}/bank/return`, {
    method: 'POST',
    headers: {
      'x-forwarded-proto': 'https',
      'content-type': 'application/x-www-form-urlencoded',
      origin: PUBLIC_URL,
      cookie: cookie.split(';')[0] ?? '',
    },
    body: new URLSearchParams({ answer: back.hash.slice(1) }).toString(),
  })
  const html = await returned.body.text()
  const [, address = ''] = /content="0;url=([^"]+)"/.exec(html) ?? []
  const next = new URL(address.replaceAll('&amp;', '&'))
  t.equal(`${next.origin}${next.pathname}`, 'https://shop.example/back')
  t.equal(next.searchParams.get('basket'), '7')
  const { state, code } = Object.fromEntries(next.searchParams)
  const path = `/api/v1/payments/${body.payment_id}`
  t.match(await live.call('POST', `${path}/sca-complete`, { body: { state, code } }), {
    body: { status: 'Authorised' },
  })
  const read = () => live.call('GET', path, { headers: { authorization } })
  await until(async () => (await read()).body.status === 'Settled')
  t.match((await bank.books()).payments, [{ amount: '50.00', status: 'ACSC' }])

  const refund = await live.call('POST', `${path}/refund`, {
    headers: { authorization, 'x-idempotency-key': 'refund-1' },
    body: { amount: '20.00' },
  })
  t.ok(refund.status < 300, refund.text)
  t.match(refund.body, { refund_status: 'PENDING', refunded_amount: '0.00' })
  const { rows } = await live.owner.query(`select status, end_to_end_id is not null as by_file from payment_refunds`)
  t.same(rows, [{ status: 'PENDING', by_file: true }], "it goes to the payer's account, which the bank has named")
})
