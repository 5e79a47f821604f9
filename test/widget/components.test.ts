import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { compileScript, parse } from 'vue/compiler-sfc'
import { reactOf, vueOf } from '../../cli/checkout/snippet.ts'
import { ASSETS } from '../../src/http/asset-files.ts'
import { en } from '../../src/lib/locales/checkout/en.ts'
import { accessibilityProblems, openBrowser, openPage } from '../support/browser.ts'
import { bundlerOf, installCheckoutPackage } from '../support/checkout-package.ts'
import { openWidgetShop } from '../support/widget-page.ts'
import { openSite } from './shop.ts'

/* The packed package in pages of the real React and Vue, and the components that `svc checkout snippet` prints. */
const shop = await openWidgetShop(t)
const browser = await openBrowser(t)
const { folder } = installCheckoutPackage(t, ['react', 'react-dom', 'vue'])
const bundle = bundlerOf(folder)

/** A page that renders again on each press, with other functions and options, and can show another order, or none. */
const PAGES = {
  React: (origin: string, tokens: readonly string[]) => `
import { StrictMode, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { SvcCheckout } from '@svc/checkout/react'
const tokens = ${JSON.stringify(tokens)}
window.chosen = []
function App() {
  const [count, setCount] = useState(0)
  const [order, setOrder] = useState(0)
  return <main>
    <h1>The shop</h1>
    <button onClick={() => setCount(count + 1)}>Rendered {count}</button>
    <button onClick={() => setOrder(order + 1)}>Next order</button>
    <SvcCheckout origin="${origin}" token={tokens[order]} style={{ border: '1px solid' }} className="pay"
      appearance={{ radius: count % 2 ? 4 : 0 }} theme={count % 2 ? 'dark' : 'light'} locale={count ? 'de' : 'en'}
      noRedirect={count % 2 > 0} sameTab={count % 2 > 0} onReturn={() => undefined}
      onBankSelected={({ bankName }) => chosen.push([bankName, count])} />
  </main>
}
createRoot(document.getElementById('app')).render(<StrictMode><App /></StrictMode>)`,
  Vue: (origin: string, tokens: readonly string[]) => `
import { createApp, h, ref } from 'vue'
import { SvcCheckout } from '@svc/checkout/vue'
const tokens = ${JSON.stringify(tokens)}
window.chosen = []
createApp({
  setup() {
    const count = ref(0)
    const order = ref(0)
    return () => h('main', [
      h('h1', 'The shop'),
      h('button', { onClick: () => (count.value += 1) }, 'Rendered ' + count.value),
      h('button', { onClick: () => (order.value += 1) }, 'Next order'),
      h(SvcCheckout, {
        origin: '${origin}', token: tokens[order.value], style: { border: '1px solid' }, class: 'pay',
        appearance: { radius: count.value % 2 ? 4 : 0 }, theme: count.value % 2 ? 'dark' : 'light',
        locale: count.value ? 'de' : 'en', noRedirect: count.value % 2 > 0, sameTab: count.value % 2 > 0,
        onBankSelected: ({ bankName }) => chosen.push([bankName, count.value]), onReturn: () => undefined,
      }),
    ])
  },
}).mount('#app')`,
}

/** A shop's site with this script, and its tokens. */
async function siteOf(t: Test, script: (tokens: string[]) => string) {
  const site = await openSite(t, {
    '/': '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Shop</title><div id="app"></div><script src="/app.js"></script>',
  })
  const order = (amount: string): string =>
    shop.token({ amount, callbackOrigin: site.url, returnUrl: `${site.url}/thanks` })
  site.pages['/app.js'] = await bundle(script([order('10.00'), order('20.00')]))
  return site
}

for (const [name, script] of Object.entries(PAGES)) {
  t.test(`${name}: a render leaves the payer where they are, and another order begins again`, async (t) => {
    const site = await siteOf(t, (tokens) => script(shop.service.url, tokens))
    const { page, complaints } = await openPage(browser)
    await page.goto(site.url)
    const widget = page.frameLocator('.pay iframe')
    await widget.getByText('payment of £10.00').waitFor()
    t.same(await accessibilityProblems(page), [])
    // By the keyboard alone, from the shop's buttons into the frame.
    await page.getByRole('button', { name: 'Next order' }).focus()
    await page.keyboard.press('Tab')
    t.equal(await page.evaluate('document.activeElement.tagName'), 'IFRAME')
    await widget.getByRole('button', { name: en.continue }).press('Enter')
    await widget.getByRole('heading', { name: en.banksTitle }).waitFor()
    for (const count of [0, 1, 2]) await page.getByRole('button', { name: `Rendered ${count}` }).click()
    await page.getByRole('button', { name: 'Rendered 3' }).waitFor()
    await widget.getByRole('option', { name: 'Fern' }).click()
    await widget.getByRole('heading', { name: en.qrTitle }).waitFor()
    t.same(await page.evaluate('chosen'), [['Fern', 3]], 'the latest function is called, once')
    t.equal(await page.locator('iframe').count(), 1)
    await page.getByRole('button', { name: 'Next order' }).click()
    await widget.getByText('einmaligen Zahlung von 20,00').waitFor()
    t.equal(await page.locator('iframe').count(), 1, 'the next order has the options of now')
    await page.getByRole('button', { name: 'Next order' }).click()
    await page.locator('iframe').waitFor({ state: 'detached' })
    t.equal(await page.locator('.pay').innerHTML(), '', 'without a token the place is kept')
    t.equal(await page.evaluate("getComputedStyle(document.querySelector('.pay')).minHeight"), '560px')
    t.match(complaints, [/another token replaced that of a payer/], 'the first order was being paid')
    t.equal(complaints.length, 1)
  })

  t.test(`${name}: where the script does not load, a link leads to the service's page`, async (t) => {
    const nowhere = 'http://127.0.0.1:1'
    const site = await siteOf(t, (tokens) => script(nowhere, tokens))
    const { page, complaints } = await openPage(browser)
    await page.goto(site.url)
    const link = page.getByRole('link', { name: 'Pay by bank on our page' })
    await link.waitFor()
    t.match(await link.getAttribute('href'), /^http:\/\/127\.0\.0\.1:1\/checkout\?token=\w/)
    const reasons = (): string[] => complaints.filter((each) => each.startsWith("The checkout can't start"))
    while (reasons().length === 0) await page.waitForEvent('console')
    t.match(reasons()[0], `${nowhere}/v1/checkout.js did not load`)
    t.equal(await link.count(), 1, 'it stays')
    t.same(await accessibilityProblems(page), [])
  })
}

t.test('the components that svc checkout snippet prints show the checkout', async (t) => {
  const site = await openSite(t)
  const token = shop.token({ callbackOrigin: site.url, returnUrl: `${site.url}/thanks` })
  const parts = { origin: shop.service.url, page: site.url }
  const { descriptor, errors } = parse(vueOf(parts))
  t.same(errors, [])
  const { content } = compileScript(descriptor, { id: 'checkout', inlineTemplate: true })
  writeFileSync(join(folder, 'vue-checkout.js'), content)
  const scripts = {
    '/react.js': `${reactOf(parts)}
import { createRoot } from 'react-dom/client'
createRoot(document.getElementById('app')).render(<Checkout token="${token}" />)`,
    '/vue.js': `import Checkout from './vue-checkout.js'
import { createApp } from 'vue'
createApp(Checkout, { token: '${token}' }).mount('#app')`,
  }
  for (const [path, script] of Object.entries(scripts)) {
    site.pages['/'] = `<!doctype html><title>Shop</title><div id="app"></div><script src="${path}"></script>`
    site.pages[path] = await bundle(script)
    const { page, complaints } = await openPage(browser)
    await page.goto(site.url)
    await page.frameLocator('#app iframe').getByRole('button', { name: en.continue }).waitFor()
    t.same(complaints, [], path)
  }
})

t.test('the script is loaded once for many callers, again after a failure, and of one service only', async (t) => {
  const site = await openSite(t)
  const service = await openSite(t)
  site.pages['/'] = '<!doctype html><title>Shop</title><div id="app"></div><script src="/app.js"></script>'
  site.pages['/app.js'] = await bundle(`import { loadCheckout } from '@svc/checkout'
window.load = (url) => loadCheckout(url).then((checkout) => Object.keys(checkout).join(), (error) => error.message)`)
  const { page } = await openPage(browser)
  const asked: string[] = []
  page.on('request', (request) => request.url().endsWith('/v1/checkout.js') && asked.push(request.url()))
  const load = (...urls: string[]): Promise<string[]> => page.evaluate(`Promise.all(${JSON.stringify(urls)}.map(load))`)
  await page.goto(site.url)
  t.same(await load('pay.example', 'https://pay.example/api/v1', 'javascript:alert(1)'), [
    '"pay.example" is not the address of a service: use its origin, such as https://pay.example.',
    '"https://pay.example/api/v1" is not the address of a service: use its origin, such as https://pay.example.',
    '"javascript:alert(1)" is not the address of a service: use its origin, such as https://pay.example.',
  ])
  t.same(asked, [])
  service.pages['/v1/checkout.js'] = { js: 'window.other = 1' }
  t.same(await load(service.url), [
    `${service.url}/v1/checkout.js is not the checkout's script: check the address of the service.`,
  ])
  delete service.pages['/v1/checkout.js']
  asked.length = 0
  t.match(await load(service.url), [/did not load: .* Content-Security-Policy lacks script-src http/])
  t.equal(asked.length, 2, 'a script that failed is asked for once more')
  service.pages['/v1/checkout.js'] = { js: readFileSync(join(ASSETS, 'checkout.js'), 'utf8') }
  asked.length = 0
  t.same(await load(service.url, `${service.url}/`, service.url), ['origin,mount', 'origin,mount', 'origin,mount'])
  t.equal(asked.length, 1)
  t.match(await load('https://other.example'), [/has the checkout of http.* already/])
  // By a tag of the page, without the package.
  site.pages['/'] += `<script src="${service.url}/v1/checkout.js"></script>`
  await page.goto(site.url)
  t.same(await load('https://other.example'), [
    `The page has the checkout of ${service.url} already: one page can't have that of https://other.example too.`,
  ])
  asked.length = 0
  t.same(await load(service.url), ['origin,mount'])
  t.same(asked, [], 'that of the same service is used')
})

t.test('a page that requires Trusted Types allows the policy of the package', async (t) => {
  const service = await openSite(t, { '/v1/checkout.js': { js: readFileSync(join(ASSETS, 'checkout.js'), 'utf8') } })
  const site = await openSite(t)
  site.pages['/app.js'] = await bundle(`import { loadCheckout } from '@svc/checkout'
loadCheckout('${service.url}').then(() => (document.title = 'loaded'), (error) => (document.title = error.message))`)
  const titleWith = async (policies: string): Promise<string> => {
    site.pages['/'] =
      `<!doctype html><meta http-equiv="content-security-policy" content="require-trusted-types-for 'script'; trusted-types ${policies}"><title></title><script src="/app.js"></script>`
    const { page } = await openPage(browser)
    await page.goto(site.url)
    await page.waitForFunction('document.title !== ""')
    return page.title()
  }
  t.equal(await titleWith('svc-checkout'), 'loaded')
  t.match(await titleWith("'none'"), /TrustedScriptURL/)
})
