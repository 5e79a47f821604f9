import { createHash } from 'node:crypto'
import t from 'tap'
import { MOCK_BANKS, logoPath } from '../../../src/banks/catalogue.ts'
import { ENGLISH } from '../../../src/http/pages/payer-language.ts'
import { rejectedCheckoutPage } from '../../../src/http/pages/rejected-checkout-page.ts'
import { encodeCheckoutToken, signCheckoutToken } from '../../../src/lib/checkout-token.ts'
import { DomainError } from '../../../src/lib/errors.ts'
import { atBank, testService, untilStatus } from '../../support/app.ts'
import type { TestMerchant } from '../../support/app.ts'
import { getPage, hiddenFields, postForm } from '../../support/forms.ts'
import type { PageAnswer } from '../../support/forms.ts'

const service = await testService(t, { worker: true })
const merchant = await service.merchant()
const RETURN_URL = 'https://shop.example/basket?order=7'

/** Where a shop without the widget sends its payers; a part that is null is left out. */
function address(changes: Record<string, string | null> = {}): string {
  const url = new URL('/checkout', service.url)
  const all = { amount: '50.00', currency: 'GBP', merchant: merchant.clientId, return_url: RETURN_URL, ...changes }
  for (const [name, value] of Object.entries(all)) if (value !== null) url.searchParams.set(name, value)
  return url.href
}

function token(changes: Record<string, unknown> = {}, { clientId }: TestMerchant = merchant): string {
  return encodeCheckoutToken({
    amount: '12.30',
    currency: 'GBP',
    merchantName: 'Someone else',
    apiUrl: `${service.url}/api/v1`,
    returnUrl: RETURN_URL,
    merchantClientId: clientId,
    callbackOrigin: 'https://shop.example',
    ...changes,
  })
}

function withToken(text: string, more: Record<string, string> = {}): string {
  return `${service.url}/checkout?${new URLSearchParams({ token: text, ...more })}`
}

/** Chooses a bank on a page. */
function choose({ html }: PageAnswer, bank = 'mock-albion'): Promise<PageAnswer> {
  return postForm(`${service.url}/checkout`, { ...hiddenFields(html), bank })
}

function stateOf({ location }: PageAnswer): string {
  return new URL(location ?? '').searchParams.get('state') ?? ''
}

async function paymentCount(): Promise<number> {
  const { rows } = await service.owner.query('select count(*)::int as count from payment_intents')
  return rows[0].count
}

function banksOn(html: string): string[] {
  return [...html.matchAll(/<input type="radio" name="bank" value="([^"]+)" required/g)].map(([, id = '']) => id)
}

t.test('it shows payee, amount, consent and sixteen banks, the popular ones first', async (t) => {
  const { status, html } = await getPage(address())
  t.equal(status, 200)
  for (const shown of [
    '<h1>Pay Acme</h1>',
    '<p class="amount">£50.00</p>',
    'authorise this service to route a one-off payment of £50.00 from your bank to Acme',
    'Severn &amp; Wye',
    '>Cancel and return to Acme</a>',
    `href="${RETURN_URL}"`,
    '<html lang="en-GB">',
  ])
    t.ok(html.includes(shown), shown)
  const expected = [...MOCK_BANKS]
    .toSorted((a, b) => (a.popular === b.popular ? 0 : a.popular ? -1 : 1))
    .map(({ id }) => id)
  t.same(banksOn(html), expected)
  t.notMatch(html, /<script|\son\w+=/i, 'it needs no script')
})

t.test("the payee is the merchant's trading name, not the name in the token", async (t) => {
  const { status, html } = await getPage(withToken(token()))
  t.equal(status, 200)
  t.match(html, /<h1>Pay Acme<\/h1>/)
  t.match(html, /£12\.30/)
  t.notMatch(html, /Someone else/)
})

t.test('nothing of the address leaves by Referer, cache, frame or script', async (t) => {
  const { headers, html } = await getPage(address())
  t.match(headers, {
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  })
  t.match(html, /<link rel="icon" href="data:,">/, 'browsers ask for no icon, which the policy would forbid')
  const style = /<style>([^]*)<\/style>/.exec(html)?.[1] ?? ''
  const hash = createHash('sha256').update(style).digest('base64')
  t.equal(
    headers['content-security-policy'],
    `default-src 'none'; style-src 'sha256-${hash}'; img-src 'self' data:; form-action 'self' ${service.url}; base-uri 'none'; frame-ancestors 'none'`,
  )
})

t.test('every bank has its image, which screen readers skip', async (t) => {
  const { html } = await getPage(address())
  const images = [...html.matchAll(/<img src="([^"]+)" alt="" width="32" height="32" loading="lazy">/g)]
  t.same(images.map(([, src]) => src).toSorted(), MOCK_BANKS.map((bank) => logoPath(bank)).toSorted())
  const refused = await getPage(withToken('broken'))
  t.match(refused.headers['content-security-policy'], /img-src data:;/, 'no other page has any')
})

t.test('an order with too many attempts has its own page', async (t) => {
  const failure = new DomainError('CHECKOUT_ATTEMPTS_USED', 'this order was tried too many times')
  const shop = { name: 'Acme', returnUrl: RETURN_URL }
  const { status, body } = rejectedCheckoutPage(
    { config: { ...service.app.config, mode: 'live' } },
    { failure, shop, language: ENGLISH },
  )
  t.equal(status, 409)
  t.match(body, /<h1>This order was tried too many times<\/h1>/)
  t.match(body, /Return to Acme/)
})

t.test('the search finds banks however they are written, and keeps the same checkout', async (t) => {
  const page = await getPage(address())
  const { token: made = '' } = hiddenFields(page.html, 'get')
  const found = async (q: string): Promise<string[]> => banksOn((await getPage(withToken(made, { q }))).html)
  t.same(await found('albion'), ['mock-albion'])
  t.same(await found('  BANK empty '), ['mock-empty'])
  t.same(await found('ddraíg'), ['mock-ddraig'])
  t.same(await found('&'), ['mock-severn'])
  t.equal((await found('')).length, 16)
  const none = await getPage(withToken(made, { q: '<img src=x onerror=alert(1)>"' }))
  t.equal(none.status, 200)
  t.match(none.html, /No bank has that name\./)
  t.match(none.html, /value="&lt;img src=x onerror=alert\(1\)&gt;&quot;"/)
  t.match(none.html, /Show all banks/)
  t.notMatch(none.html, /<img/)
  t.equal(hiddenFields(none.html, 'get')['token'], made)
  t.same(await found('x'.repeat(5_000)), [])
})

t.test('choosing a bank starts the payment there, and the receipt has a link to the shop', async (t) => {
  const answer = await choose(await getPage(address()), 'mock-meridian')
  t.equal(answer.status, 303)
  t.match(answer.location, `${service.url}/redirect-stub?`)
  const state = stateOf(answer)
  const { rows } = await service.owner.query(
    `select p.id, p.amount::text, p.currency, p.return_url, p.redirect_uri, c.debtor_bank_id
     from payment_intents p join payment_consents c on c.id = p.consent_id where p.bank_consent_id = $1`,
    [state],
  )
  t.match(rows, [
    {
      amount: '50.0000',
      currency: 'GBP',
      return_url: RETURN_URL,
      redirect_uri: `${service.url}/payments/return?to=shop`,
      debtor_bank_id: 'mock-meridian',
    },
  ])
  const back = await atBank(answer.location ?? '', 'approve')
  const first = await getPage(`${service.url}/payments/return?to=shop&${new URLSearchParams(back)}`)
  t.equal(first.location, `/payments/return?state=${state}&to=shop`)
  await untilStatus(service, merchant, rows[0].id, 'Settled')
  const receipt = await getPage(service.url + first.location)
  t.match(receipt.html, /<h1>Paid<\/h1>/)
  t.match(receipt.html, /you can close this page/)
  const [, on = ''] = /<meta http-equiv="refresh" content="0;url=([^"]+)">/.exec(receipt.html) ?? []
  t.ok(receipt.html.includes(`<a class="next main" href="${on}">Return to Acme</a>`))
  t.ok(on.startsWith(`${RETURN_URL}&amp;payment_id=${rows[0].id}&amp;payment_result=`))
  const told = await getPage(`${service.url}/payments/return?state=${state}&to=elsewhere`)
  t.notMatch(told.html, /http-equiv="refresh"/, 'nothing else leads on by itself')
})

t.test('a double click, and many, make one payment', async (t) => {
  const page = await getPage(address())
  const before = await paymentCount()
  const answers = await Promise.all(Array.from({ length: 6 }, () => choose(page)))
  for (const { status } of answers) t.equal(status, 303)
  t.equal(new Set(answers.map(({ location }) => location)).size, 1)
  t.equal(await paymentCount(), before + 1)
})

t.test('another bank replaces the first choice', async (t) => {
  const page = await getPage(address())
  const first = await choose(page, 'mock-albion')
  const second = await choose(page, 'mock-fern')
  t.equal(second.status, 303)
  t.not(stateOf(first), stateOf(second))
  const { rows } = await service.owner.query(
    'select status, failure_code from payment_intents where bank_consent_id = any ($1) order by created_at',
    [[stateOf(first), stateOf(second)]],
  )
  t.match(rows, [{ status: 'Failed', failure_code: 'ACCESS_DENIED' }, { status: 'AwaitingAuthorisation' }])
})

t.test('without a bank, with an unknown one or an invalid key the page asks again, and creates nothing', async (t) => {
  const fields = hiddenFields((await getPage(address())).html)
  const before = await paymentCount()
  for (const form of [fields, { ...fields, bank: 'x' }, { ...fields, bank: 'mock-albion', key: '' }]) {
    const answer = await postForm(`${service.url}/checkout`, form)
    t.equal(answer.status, 400)
    t.match(answer.html, /role="alert">Choose your bank\./)
    t.equal(banksOn(answer.html).length, 16)
  }
  t.equal(await paymentCount(), before)
})

t.test('an order that was paid is not paid again', async (t) => {
  const shop = await service.merchant()
  await service.owner.query('update merchants set branding_config = $2 where id = $1', [
    shop.id,
    JSON.stringify({ colors: { primary: '#003B2F', background: '#FFFFFF', text: '#111111' }, logo_url: null }),
  ])
  const text = token({ jti: 'paid-once' }, shop)
  const page = await getPage(withToken(text))
  const other = await getPage(withToken(text))
  const { location } = await choose(page)
  const back = await atBank(location ?? '', 'approve')
  await getPage(`${service.url}/payments/return?${new URLSearchParams(back)}`)
  const again = await choose(other)
  t.match(again, { status: 409, html: /<h1>Already paid<\/h1>\n<p>This order is already paid/ })
  t.match(again.html, /Return to Acme/)
  const opened = await getPage(withToken(text, { q: 'fern' }))
  t.match(opened, { status: 200, html: /<h1>Already paid<\/h1>\n<p>This order is already paid/ })
  t.match(opened.html, /Return to Acme/)
  t.notMatch(opened.html, /<form|name="bank"|£12/, 'no bank is offered for it')
  t.match(opened.html, 'a.main { background: #003B2F;', "the way back is in the shop's colour")
})

t.test('a forged, malformed or expired token is rejected on a page', async (t) => {
  const text = token()
  const signed = signCheckoutToken(text, merchant.secret)
  t.equal((await getPage(withToken(signed))).status, 200, 'the genuine one opens')
  const changed = token({ amount: '0.01' })
  const bad: [string, number, RegExp][] = [
    [`${changed}.${signed.split('.')[1]}`, 401, /This checkout can&#39;t be used/],
    [`${text}.${'0'.repeat(64)}`, 401, /This checkout can&#39;t be used/],
    ['', 401, /This checkout can&#39;t be used/],
    ['<script>alert(1)</script>', 401, /This checkout can&#39;t be used/],
    ['x'.repeat(8_000), 401, /This checkout can&#39;t be used/],
    [token({ exp: 1 }), 401, /This checkout has ended/],
    [token({ merchantClientId: 'nobody' }), 401, /This checkout can&#39;t be used/],
    [token({ returnUrl: 'javascript:alert(1)' }), 401, /This checkout can&#39;t be used/],
  ]
  for (const [each, status, heading] of bad) {
    for (const answer of [
      await getPage(withToken(each)),
      await postForm(`${service.url}/checkout`, { token: each, bank: 'mock-albion', key: 'x' }),
    ]) {
      t.equal(answer.status, status, each.slice(0, 40))
      t.match(answer.html, heading)
      t.notMatch(answer.html, /<script|href="javascript|\bat \S+\.ts/)
    }
  }
})

t.test('addresses with missing, repeated or invalid parameters are rejected with the problem', async (t) => {
  const bad: [string, RegExp][] = [
    [`${service.url}/checkout`, /lacks amount, currency, merchant, return_url/],
    [address({ amount: null }), /lacks amount/],
    [address({ amount: '-1' }), /amount must be 1 to 13 digits/],
    [address({ amount: '1e3' }), /amount must be/],
    [address({ amount: '<b>1</b>' }), /amount must be/],
    [address({ amount: '9'.repeat(3_000) }), /amount in the address is too long/],
    [address({ amount: '9'.repeat(300) }), /amount must be/],
    [address({ currency: 'gbp' }), /currency must be 3 upper-case letters/],
    [address({ currency: '<i>' }), /currency must be/],
    [address({ merchant: 'nobody' }), /merchant is not the client id of a merchant/],
    [address({ return_url: 'javascript:alert(1)' }), /return_url must start with https/],
    [address({ return_url: '//evil.example' }), /return_url must be a complete address/],
    [address({ return_url: 'https://shop.example@evil.example/' }), /must not contain a user name/],
    [address({ return_url: 'https:\\\\evil.example' }), /must not contain spaces, control characters or backslashes/],
    [address({ return_url: 'java\nscript:alert(1)' }), /must not contain spaces, control/],
    [address({ return_url: 'data:text/html,<script>alert(1)</script>' }), /return_url must start with https/],
    [address({ return_url: `https://shop.example/${'x'.repeat(3_000)}` }), /return_url in the address is too long/],
    [`${address()}&amount=1.00`, /amount more than once/],
    [`${withToken(token())}&token=x`, /token more than once/],
  ]
  for (const [url, words] of bad) {
    const { status, html } = await getPage(url)
    t.equal(status, 401, url.slice(0, 120))
    t.match(html, words)
    t.notMatch(html, /<script|<b>1|<i>|href="(?!https:\/\/shop|data:,")|callbackOrigin|merchantClientId/)
  }
})

t.test('a form without its token starts nothing', async (t) => {
  const before = await paymentCount()
  const parts = Object.fromEntries(new URL(address()).searchParams)
  const key = hiddenFields((await getPage(address())).html)['key'] ?? ''
  const answer = await postForm(`${service.url}/checkout`, { ...parts, bank: 'mock-albion', key })
  t.match(answer, { status: 401, html: /This checkout can&#39;t be used/ })
  t.equal(await paymentCount(), before)
})

t.test('markup in the values of a shop stays text', async (t) => {
  const hostile = '</title><script>alert(1)</script>"\'&'
  const shop = await service.merchant()
  await service.owner.query('update merchants set trading_name = $2 where id = $1', [shop.id, hostile])
  const returnUrl = 'https://shop.example/?a="><script>alert(1)</script>'.replaceAll(' ', '%20')
  const { status, html } = await getPage(withToken(token({ returnUrl, payerName: hostile }, shop)))
  t.equal(status, 200)
  t.notMatch(html, /<script/)
  t.ok(html.includes('&lt;/title&gt;&lt;script&gt;'))
})

t.test("the button has the shop's colour, and no other style of the shop", async (t) => {
  const shop = await service.merchant()
  const look = (primary: string) =>
    service.owner.query('update merchants set branding_config = $2 where id = $1', [
      shop.id,
      JSON.stringify({ colors: { primary, background: '#FFFFFF', text: '#111111' }, logo_url: null, font: 'serif' }),
    ])
  await look('#FFEE00')
  const { html } = await getPage(withToken(token({}, shop)))
  t.match(
    html,
    'button.main, a.main { background: #FFEE00; border-color: var(--text); color: #000000; }',
    'with an edge to be seen by',
  )
  t.match(html, '{ button.main, a.main { border-color: #FFEE00; } }', 'which the dark needs none of')
  await look('#0B5FFF')
  t.notMatch(
    (await getPage(withToken(token({}, shop)))).html,
    /#0B5FFF;/,
    "the service's own colour differs in the dark",
  )
})

t.test('a shop that may not take payments: a page says so, with a link to the shop', async (t) => {
  const pending = await service.merchant({ kybStatus: 'PENDING' })
  const answer = await getPage(withToken(token({}, pending)))
  t.equal(answer.status, 403)
  t.match(answer.html, /This shop can&#39;t take payments by bank at the moment/)
  t.match(answer.html, /Return to Acme/)
  const closed = await service.merchant()
  await service.owner.query('update merchants set is_active = false where id = $1', [closed.id])
  t.match(await getPage(withToken(token({}, closed))), { status: 403, html: /You have paid nothing/ })
})

t.test('the checkout returns only to pages that the shop has listed', async (t) => {
  const shop = await service.merchant()
  await service.owner.query(`update merchants set checkout_origins = '{https://other.example}' where id = $1`, [
    shop.id,
  ])
  const answer = await getPage(withToken(token({}, shop)))
  t.equal(answer.status, 403)
  t.match(answer.html, /not opened from a page of the shop/)
  t.notMatch(answer.html, /<a\b/)
})

t.test('an oversized form is rejected as elsewhere', async (t) => {
  const answer = await postForm(`${service.url}/checkout`, { token: 'x'.repeat(200_000) })
  t.equal(answer.status, 413)
})
