import t from 'tap'
import { accessibilityProblems, openBrowser, openPage } from '../support/browser.ts'
import { frameOf, openWidget, openWidgetShop } from '../support/widget-page.ts'
import { checkScreen } from '../support/widget-screens.ts'
import { texts as cy } from '../../src/lib/locales/checkout/cy.ts'
import { en } from '../../src/lib/locales/checkout/en.ts'

/* What a payer has to know before going to the bank. */
const shop = await openWidgetShop(t, {
  env: {
    SVC_COLLECTION_ACCOUNT: 'UK.OBIE.SortCodeAccountNumber:20000055779911:Acme Client Money',
    SVC_PROVIDER_NAME: 'Harbour Payments Ltd',
    SVC_TERMS_URL: 'https://harbour.example/terms',
    SVC_PRIVACY_URL: 'https://harbour.example/privacy',
  },
})
const browser = await openBrowser(t)
const REFERENCE = { remittanceReference: 'ORDER 1047' }
const FAST = { debtorAccountScheme: 'UK.OBIE.SortCodeAccountNumber', debtorIdentification: '20000055779911' }

for (const [locale, texts] of [
  ['en', en],
  ['cy', cy],
] as const) {
  t.test(`ST-01 has payee and account, amount, reference and provider: ${locale}`, async (t) => {
    const tokens = [shop.token({ ...REFERENCE, merchantName: 'Acme Books' })]
    const opened = await openWidget(browser, shop, { tokens, attributes: { locale } })
    const { widget, page } = opened
    await widget.getByRole('button', { name: texts.continue }).waitFor()
    const facts = await frameOf(page).evaluate(
      `Object.fromEntries([...document.querySelectorAll('dl div')].map((row) => [...row.children].map((e) => e.textContent)))`,
    )
    t.same(facts, {
      [texts.payee]: `Acme Client Money, ${texts.accountEnd.replace('{end}', '9911')}`,
      [texts.amount]: '£50.00',
      [texts.reference]: 'ORDER 1047',
    })
    t.match(await widget.locator('.payee').textContent(), /AcmeAcme Books$/, 'and the shop of the token')
    await widget.getByText(texts.provider.replace('{provider}', 'Harbour Payments Ltd')).waitFor()
    for (const [name, path] of [
      [texts.terms, 'terms'],
      [texts.privacy, 'privacy'],
    ] as const) {
      const link = widget.getByRole('link', { name: new RegExp(`^${name}`) })
      t.equal(await link.getAttribute('href'), `https://harbour.example/${path}`)
      t.same([await link.getAttribute('target'), await link.getAttribute('rel')], ['_blank', 'noopener'])
    }
    if (locale === 'en')
      await checkScreen(t, opened, '1-consent-facts', { locale, isDarkChecked: true, skeletons: new Map() })
    t.same(opened.complaints, [])
  })
}

t.test('the fast path, which has no ST-01, has them before the handover', async (t) => {
  const { widget } = await openWidget(browser, shop, { tokens: [shop.token({ ...REFERENCE, ...FAST })] })
  await widget.getByRole('heading', { name: en.qrTitle }).waitFor()
  for (const text of ['Acme Client Money, account ending 9911', 'ORDER 1047', 'Harbour Payments Ltd'])
    t.ok(await widget.locator('.screen').getByText(text).isVisible(), text)
})

t.test('no more of the account is sent to the browser', async (t) => {
  const { body } = await shop.service.call('GET', '/api/v1/checkout', {
    headers: { 'x-checkout-token': shop.token(REFERENCE) },
  })
  t.match(body, { payee_name: 'Acme Client Money', payee_account_end: '9911', remittance_reference: 'ORDER 1047' })
  t.notMatch(JSON.stringify(body), /20000055779911|55779911/)
})

t.test("the service's own page has them too", async (t) => {
  const query = new URLSearchParams({ token: shop.token(REFERENCE), lang: 'en' })
  const { page, complaints } = await openPage(browser)
  await page.goto(`${shop.service.url}/checkout?${query}`)
  for (const text of [
    'Acme Client Money, account ending 9911',
    'ORDER 1047',
    'Payment service by Harbour Payments Ltd.',
  ])
    t.ok(await page.getByText(text).isVisible(), text)
  for (const [name, path] of [
    [en.terms, 'terms'],
    [en.privacy, 'privacy'],
  ] as const) {
    const link = page.getByRole('link', { name: `${name} ${en.newTab}` })
    t.equal(await link.getAttribute('href'), `https://harbour.example/${path}`)
  }
  t.same([await accessibilityProblems(page), complaints], [[], []])
})

t.test("a large amount stays on one line on the service's own page", async (t) => {
  const query = new URLSearchParams({ token: shop.token({ amount: '999999.99' }), lang: 'en' })
  const { page } = await openPage(browser, { width: 320, height: 700 })
  await page.goto(`${shop.service.url}/checkout?${query}`)
  const amount = page.locator('.amount')
  t.match(await amount.textContent(), /£999,999\.99/)
  const lines =
    'e => { const all = document.createRange(); all.selectNodeContents(e); return all.getClientRects().length }'
  t.equal(await amount.evaluate(`(${lines})(document.querySelector('.amount'))`), 1)
})
