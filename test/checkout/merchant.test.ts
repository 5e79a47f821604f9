import t from 'tap'
import { MOCK_BANKS } from '../../src/banks/catalogue.ts'
import { testService } from '../support/app.ts'
import { capturedLog } from '../support/captured-log.ts'
import { plainToken, readCheckout, signedToken, startPayment } from '../support/checkout.ts'

const { log, lines } = capturedLog()
const service = await testService(t, { overrides: { log } })
const merchant = await service.merchant()

t.test("only allowed origins can embed a merchant's checkout and be returned to", async (t) => {
  const shop = await service.merchant()
  const body = { origins: ['https://shop.example', 'http://localhost:3000'] }
  await service.call('PUT', '/api/v1/portal/checkout-origins', { merchant: shop, body })
  t.match(await readCheckout(service, plainToken(service, shop)), { status: 200 })
  const local = { callbackOrigin: 'http://localhost:3000', returnUrl: 'https://shop.example/thanks?order=1#top' }
  t.match(await readCheckout(service, plainToken(service, shop, local)), { status: 200 })
  const cases: [Record<string, unknown>, string[], string][] = [
    [{ callbackOrigin: 'https://evil.example' }, ['callbackOrigin'], 'https://evil.example'],
    [{ returnUrl: 'https://evil.example/x' }, ['returnUrl'], 'https://evil.example'],
    [{ returnUrl: 'https://shop.example.evil.example/' }, ['returnUrl'], 'https://shop.example.evil.example'],
    [{ returnUrl: 'https://shop.example:8443/' }, ['returnUrl'], 'https://shop.example:8443'],
    [{ callbackOrigin: 'http://localhost:3001' }, ['callbackOrigin'], 'http://localhost:3001'],
    [
      { callbackOrigin: 'https://a.example', returnUrl: 'https://a.example/' },
      ['callbackOrigin', 'returnUrl'],
      'https://a.example',
    ],
  ]
  for (const [changes, paths, origin] of cases) {
    const answer = await readCheckout(service, plainToken(service, shop, changes))
    t.match(answer, { status: 403, body: { code: 'CHECKOUT_ORIGIN_NOT_ALLOWED' } }, JSON.stringify(changes))
    t.ok(answer.body.error.includes(origin))
    t.ok(answer.body.next.endsWith(`svc checkout origins add ${origin}`), answer.body.next)
    t.same(
      answer.body.errors.map((error: { path: string }) => error.path),
      paths,
    )
    t.match(await startPayment(service, plainToken(service, shop, changes)), { status: 403 })
  }
})

t.test("a token reads its own merchant's branding", async (t) => {
  const shop = await service.merchant()
  const look = {
    colors: { primary: '#123456', background: '#FFFFFF', text: '#111111' },
    logo_url: null,
    font: 'system-ui',
  }
  const set = await service.call('PUT', '/api/v1/portal/branding', { merchant: shop, body: look })
  t.equal(set.status, 200)
  const headers = { 'x-checkout-token': plainToken(service, shop) }
  const seen = await service.call('GET', '/api/v1/portal/branding', { headers })
  t.match(seen, { status: 200, body: { colors: { primary: '#123456' } } })
  t.match((await readCheckout(service, plainToken(service, shop))).body.branding, { colors: { primary: '#123456' } })
  const put = await service.call('PUT', '/api/v1/portal/branding', { headers, body: look })
  t.match(put, { status: 401, body: { code: 'UNAUTHENTICATED' } }, 'and not changed with it')
  const bad = await service.call('GET', '/api/v1/portal/branding', { headers: { 'x-checkout-token': 'x' } })
  t.match(bad, { status: 401, body: { code: 'CHECKOUT_TOKEN_INVALID' } })
})

t.test('the checkout of a disabled merchant is closed', async (t) => {
  const shop = await service.merchant()
  await service.owner.query('update merchants set is_active = false where id = $1', [shop.id])
  for (const answer of [
    await readCheckout(service, plainToken(service, shop)),
    await startPayment(service, plainToken(service, shop), { debtor_bank_id: MOCK_BANKS[0]?.id }),
  ])
    t.match(answer, { status: 403, body: { code: 'MERCHANT_INACTIVE', error: /^this shop can't take payments/ } })
})

t.test('neither tokens nor secrets are logged', async (t) => {
  const token = signedToken(service, merchant, { merchantName: 'Very Visible Ltd' })
  await readCheckout(service, token)
  await readCheckout(service, `${token}0`)
  await startPayment(service, token)
  const [text = '', signature = ''] = token.split('.')
  const all = lines().join('\n')
  t.match(all, /getCheckout/)
  for (const secret of [text.slice(0, 40), signature, merchant.secret, 'Very Visible Ltd'])
    t.notOk(all.includes(secret))
})

t.test('a checkout that no bank can pay is rejected when it is read, and a paid one is not', async (t) => {
  const shop = await service.merchant()
  await service.owner.query(`update merchants set currencies = '{GBP}' where id = $1`, [shop.id])
  const cases = [
    [{ amount: '2000000.00' }, 400, 'VALIDATION_FAILED'],
    [{ amount: '0.05' }, 400, 'AMOUNT_BELOW_FEE'],
    [{ currency: 'EUR' }, 400, 'UNSUPPORTED_CURRENCY'],
  ] as const
  for (const [changes, status, code] of cases) {
    const token = plainToken(service, shop, changes)
    for (const answer of [await readCheckout(service, token), await startPayment(service, token)])
      t.match(answer, { status, body: { code } }, `${code}, the same when it is paid`)
  }
  const token = plainToken(service, shop)
  const { body } = await startPayment(service, token)
  await service.owner.query(`update payment_intents set status = 'Authorised' where id = $1`, [body.payment_id])
  await service.owner.query(`update merchants set kyb_status = 'SUSPENDED' where id = $1`, [shop.id])
  t.match(await readCheckout(service, token), {
    status: 200,
    body: { paid_by: { payment_id: body.payment_id, status: 'Authorised' } },
  })
  t.match(await readCheckout(service, plainToken(service, shop)), {
    status: 403,
    body: { code: 'MERCHANT_NOT_APPROVED' },
  })
})

t.test("either half of the payer's account is taken, and only both make the fast path", async (t) => {
  const shop = await service.merchant()
  const both = { debtorAccountScheme: 'UK.OBIE.SortCodeAccountNumber', debtorIdentification: '20000055779911' }
  const halves = [
    { debtorAccountScheme: both.debtorAccountScheme },
    { debtorIdentification: both.debtorIdentification },
  ]
  for (const [fields, isFast] of [
    [halves[0], false],
    [halves[1], false],
    [both, true],
  ] as const) {
    const token = plainToken(service, shop, fields)
    t.match(await readCheckout(service, token), { status: 200, body: { is_fast_path: isFast } })
    const { body } = await startPayment(service, token, { debtor_bank_id: 'mock-fern' })
    const { rows } = await service.owner.query(
      'select debtor_account_scheme, debtor_identification from payment_consents where id = $1',
      [body.consent_id],
    )
    const { debtorAccountScheme = null, debtorIdentification } = { ...fields } as Partial<typeof both>
    const sealed = debtorIdentification === undefined ? null : /^v1\./
    t.match(rows, [{ debtor_account_scheme: debtorAccountScheme, debtor_identification: sealed }])
  }
  const wrong = plainToken(service, shop, { ...both, debtorIdentification: '123' })
  t.match(
    await readCheckout(service, wrong),
    { status: 401, body: { code: 'CHECKOUT_TOKEN_INVALID' } },
    'both are checked',
  )
})
