import type { Page } from 'playwright-core'
import t from 'tap'
import type { Test } from 'tap'
import { en } from '../../src/lib/locales/checkout/en.ts'
import { until } from '../support/app.ts'
import { openBrowser, openPage } from '../support/browser.ts'
import { bundlerOf, installCheckoutPackage } from '../support/checkout-package.ts'
import { openWidgetShop } from '../support/widget-page.ts'
import { openSite } from './shop.ts'

/*
 * What shops do wrong most, and what the console says then: docs/merchants/checkout.md lists it. What keeps the checkout
 * from starting is in loader.test.ts and embedding.test.ts; here it starts, and would do something else than expected.
 */
const shop = await openWidgetShop(t)
const browser = await openBrowser(t)
const { folder } = installCheckoutPackage(t, ['react', 'react-dom', 'vue'])
const bundle = bundlerOf(folder)

/** A site whose page has this body, or what a function makes of its address. */
async function openBody(t: Test, bodyOf: (site: string) => string) {
  const site = await openSite(t)
  site.pages['/'] = `<!doctype html><html lang="en"><title>Shop</title>${bodyOf(site.url)}</html>`
  const watched = await openPage(browser)
  const warnings = (): string[] => watched.complaints.filter((each) => each.startsWith('svc checkout: '))
  return { ...watched, site, warnings }
}

const tokenFor = (url: string, changes: Record<string, unknown> = {}): string =>
  shop.token({ callbackOrigin: url, returnUrl: `${url}/thanks`, ...changes })

/** Waits until each checkout on the page has been looked at: what there is to say is said then. */
async function untilLookedAt(page: Page): Promise<void> {
  for (const element of await page.locator('iframe').elementHandles()) {
    const frame = await element.contentFrame()
    // Asked from outside each time: a function that waits inside is evaluated against the frame's policy.
    await until(async () => (await frame?.evaluate('"svcOrder" in window')) === true)
  }
}

/** What the console says once it has said something. */
async function saidOn(page: Page, url: string, warnings: () => string[], count = 1): Promise<string[]> {
  await page.goto(url)
  await until(async () => warnings().length >= count)
  return warnings()
}

/** A page that mounts once with these options, as JavaScript. */
const mounting =
  (options: string, changes: Record<string, unknown> = {}) =>
  (url: string): string =>
    `<div id="pay"></div><script src="${shop.service.url}/v1/checkout.js"></script>
<script>SvcCheckout.mount('pay', { token: '${tokenFor(url, changes)}', ${options} })</script>`

const MISUSES: readonly (readonly [string, (url: string) => string, RegExp])[] = [
  [
    'a function among the options',
    mounting('onSuccess() {}'),
    /"onSuccess" is not an option .*on\("SVC_PAYMENT_SUCCESS"/,
  ],
  ['an option of another name', mounting("language: 'cy'"), /"language" is not an option .*use locale/],
  ['what belongs in the token', mounting("amount: '5.00'"), /"amount" is not an option .* belongs in the token/],
  ['an unknown language', mounting("locale: 'pt-BR'"), /no locale "pt-BR".*choose en, cy, de, fr or es/],
  ['an unknown theme', mounting("theme: 'night'"), /"night" is not a theme.*"light", "dark" or "auto"/],
  [
    'a text in place of true',
    mounting("sameTab: 'true'"),
    /sameTab is "true", which counts as false: use true or false/,
  ],
  [
    'a text in place of false',
    mounting("noRedirect: 'no'"),
    /noRedirect is "no", which counts as true: use true or false/,
  ],
  ['a look that is not valid', mounting("appearance: { primary: 'red' }"), /appearance "primary": red is ignored/],
  ['a token without an order', mounting('', { jti: undefined }), /the token has no jti, and live mode rejects it/],
  [
    'an attribute of another name',
    (url) => `<div id="pay"></div><script async src="${shop.service.url}/v1/checkout.js" data-container-id="pay"
      data-checkout-token="${tokenFor(url)}" data-lang="cy"></script>`,
    /"lang" is not an option .*data-locale/,
  ],
  [
    'an element that is too narrow',
    (url) => `<style>#pay { width: 200px }</style>${mounting('')(url)}`,
    /its element is 200 pixels wide: give it 260 or more/,
  ],
]

for (const [name, bodyOf, expected] of MISUSES)
  t.test(`the console says what to do about ${name}`, async (t) => {
    const { page, site, warnings } = await openBody(t, bodyOf)
    t.match(await saidOn(page, site.url, warnings), [expected])
    await page.frameLocator('#pay iframe').getByRole('heading', { name: en.consentTitle }).waitFor()
    await untilLookedAt(page)
    t.equal(warnings().length, 1, 'once, and the payer can pay all the same')
  })

t.test('a script that is loaded as a module, or copied into another, says how to load it', async (t) => {
  const address = `${shop.service.url}/v1/checkout.js`
  const copy = await (await fetch(address)).text()
  for (const [how, tag] of [
    ['as a module', `<script type="module" src="${address}"></script>`],
    ["in the shop's bundle, whose origin it would take", '<script src="/assets/app.js"></script>'],
    ['in the page', `<script>${copy}</script>`],
  ] as const) {
    const { page, site, complaints } = await openBody(t, () => tag)
    site.pages['/assets/app.js'] = `"the shop's own";${copy}`
    await page.goto(site.url)
    await until(async () => complaints.length > 0)
    t.same(complaints, ['svc checkout: load the <script> of the service'], how)
    t.equal(await page.evaluate('window.SvcCheckout'), undefined, how)
  }
})

t.test('an order that is on the page twice is reported, and two orders are not', async (t) => {
  const twoOf = (first: string, second: string): string =>
    `<div id="a"></div><div id="b"></div><script src="${shop.service.url}/v1/checkout.js"></script>
<script>SvcCheckout.mount('a', { token: '${first}' }); SvcCheckout.mount('b', { token: '${second}' })</script>`
  const twice = await openBody(t, (url) => twoOf(tokenFor(url, { jti: 'one' }), tokenFor(url, { jti: 'one' })))
  t.match(await saidOn(twice.page, twice.site.url, twice.warnings), [/the order is on this page twice.*mount it once/])
  const two = await openBody(t, (url) => twoOf(tokenFor(url), tokenFor(url)))
  await two.page.goto(two.site.url)
  await untilLookedAt(two.page)
  t.same(two.complaints, [])
})

t.test('attributes of other scripts, and every correct option, are not reported', async (t) => {
  const body = (url: string): string => `<div id="pay"></div>
<script async src="${shop.service.url}/v1/checkout.js" data-cfasync="false" data-nscript="afterInteractive"
  data-wpfc-original-src="a.js" data-prevent-x data-container-id="pay" data-checkout-token="${tokenFor(url)}"
  data-locale="en-IE" data-theme="auto" data-no-redirect data-same-tab data-appearance='{"radius":4}'></script>`
  const { page, site, complaints } = await openBody(t, body)
  await page.goto(site.url)
  await page.frameLocator('#pay iframe').getByRole('heading', { name: en.consentTitle }).waitFor()
  await untilLookedAt(page)
  t.same(complaints, [])
})

t.test('a token that holds no object is left to the service', async (t) => {
  // By its address, because it is typed for browsers.
  const address = new URL('../../widget/package/misuse.ts', import.meta.url).href
  const { makeTokenWatch }: { makeTokenWatch(): { began(token: string): void } } = await import(address)
  const watch = makeTokenWatch()
  for (const text of ['null', '{}', 'null', '[]', '5', '"one"', '{}'])
    t.doesNotThrow(() => watch.began(btoa(text)), text)
})

t.test('an option that is null is one that is not given', async (t) => {
  const nulls = 'locale: null, theme: null, noRedirect: null, sameTab: null, appearance: null, onSuccess: null'
  const { page, site, complaints } = await openBody(t, mounting(nulls))
  await page.goto(site.url)
  await page.frameLocator('#pay iframe').getByRole('heading', { name: en.consentTitle }).waitFor()
  await untilLookedAt(page)
  t.same(complaints, [])
})

/** Kept between renders, so that it is one token that never is a text. */
const PROMISE = 'const token = window.later ??= Promise.resolve("")'

/** A shop's page of React and of Vue, with the attributes of the component as each writes them. */
const COMPONENTS = {
  React: (setUp: string, props: string) => `
import { useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { SvcCheckout } from '@svc/checkout/react'
const origin = '${shop.service.url}'
function App() {
  const [count, setCount] = useState(0)
  const [, setChosen] = useState()
  useEffect(() => { if (count < 5) setCount(count + 1) }, [count])
  ${setUp}
  return <SvcCheckout origin={origin} ${props} />
}
createRoot(document.getElementById('app')).render(<App />)`,
  Vue: (setUp: string, props: string) => `
import { createApp, h, nextTick, ref } from 'vue'
import { SvcCheckout } from '@svc/checkout/vue'
const origin = '${shop.service.url}'
createApp({
  setup() {
    const now = ref(0)
    const chosen = ref()
    const setChosen = (bank) => { chosen.value = bank }
    const next = () => nextTick(() => { if (now.value < 5) { now.value += 1; next() } })
    next()
    return () => {
      const count = now.value
      void chosen.value
      ${setUp}
      return h(SvcCheckout, { origin, ${props.replaceAll(/(\w+)=\{(.*?)\}(?= |$)/g, '$1: $2,')} })
    }
  },
}).mount('#app')`,
}

for (const [name, pageOf] of Object.entries(COMPONENTS)) {
  const openComponent = async (
    t: Test,
    setUp: (url: string) => string,
    props: string,
    { policy = '', mode }: { policy?: string; mode?: 'production' } = {},
  ) => {
    const opened = await openBody(t, () => `${policy}<div id="app"></div><script src="/app.js"></script>`)
    opened.site.pages['/app.js'] = await bundle(pageOf(setUp(opened.site.url), props), mode)
    return opened
  }

  /** A token for each render, in turn. */
  const eachRender = (tokens: readonly string[]): string =>
    `const token = ${JSON.stringify(tokens)}[window.rendered = (window.rendered ?? -1) + 1]`
  const renders = Array.from({ length: 12 }, (_, index) => index)

  t.test(
    `${name}: a token that is made in the render is reported, and one that is renewed or of another order is not`,
    async (t) => {
      const later = Math.floor(Date.now() / 1_000) + 3_600
      const remade = (url: string): string =>
        eachRender(renders.map((at) => tokenFor(url, { exp: later + at, jti: 'one' })))
      const { page, site, warnings } = await openComponent(t, remade, 'token={token}')
      t.match(await saidOn(page, site.url, warnings), [
        /a token that says the same replaced another.*make the token once/,
      ])
      await page.waitForFunction('window.rendered >= 5')
      await page.frameLocator('#app iframe').getByRole('heading', { name: en.consentTitle }).waitFor()
      t.equal(warnings().length, 1, 'once for a page')

      const soon = Math.floor(Date.now() / 1_000) + 45
      const renewed = (url: string): string =>
        eachRender(renders.map((at) => tokenFor(url, { exp: soon + at, jti: 'one' })))
      const expiring = await openComponent(t, renewed, 'token={token}')
      await expiring.page.goto(expiring.site.url)
      await expiring.page.waitForFunction('window.rendered >= 5')
      t.same(expiring.warnings(), [], 'a token is renewed before it expires')

      const orders = (url: string): string => eachRender(renders.map((at) => tokenFor(url, { jti: `order ${at}` })))
      const another = await openComponent(t, orders, 'token={token}')
      await another.page.goto(another.site.url)
      await another.page.waitForFunction('window.rendered >= 5')
      t.same(another.warnings(), [], 'the next order may say the same')
    },
  )

  t.test(`${name}: a token that is replaced is reported once it costs the payer their bank`, async (t) => {
    const tokens = (url: string): string => eachRender(renders.map((at) => tokenFor(url, { amount: `${at + 1}.00` })))
    const { page, site, warnings } = await openComponent(t, tokens, 'token={token} onBankSelected={setChosen}')
    await page.goto(site.url)
    await page.waitForFunction('window.rendered >= 5')
    const widget = page.frameLocator('#app iframe')
    await widget.getByRole('heading', { name: en.consentTitle }).waitFor()
    t.same(warnings(), [], 'before the payer has chosen, a basket may change')
    for (const round of ['the first time', 'the second time']) {
      await widget.getByRole('button', { name: en.continue }).click()
      await widget.getByRole('option', { name: 'Fern' }).click()
      await widget.getByRole('heading', { name: en.consentTitle }).waitFor()
      await until(async () => warnings().length > 0)
      t.match(warnings(), [/another token replaced that of a payer who had chosen a bank.*make the token once/], round)
    }
    t.equal(warnings().length, 1, 'once for a page')
  })

  t.test(`${name}: a token that is a promise is reported, but not in production`, async (t) => {
    const { page, site, warnings } = await openComponent(t, () => PROMISE, 'token={token}')
    t.match(await saidOn(page, site.url, warnings), [/the token must be a string, not a Promise: await it first/])
    await page.getByRole('alert').waitFor()
    t.equal(warnings().length, 1, 'once for a page')
    const live = await openComponent(t, () => PROMISE, 'token={token}', { mode: 'production' })
    await live.page.goto(live.site.url)
    await live.page.getByRole('alert').waitFor()
    t.same(live.warnings(), [])
  })

  t.test(`${name}: a policy that blocks the frame is reported with its line, in production too`, async (t) => {
    const policy = `<meta http-equiv="content-security-policy" content="frame-src 'self'">`
    const token = (url: string): string => `const token = '${tokenFor(url)}'`
    const options = { policy, mode: 'production' } as const
    const { page, site, warnings } = await openComponent(t, token, 'token={token}', options)
    t.match(await saidOn(page, site.url, warnings), [`add frame-src ${shop.service.url}.`])
  })

  t.test(`${name}: a policy that only reports the frame is not reported`, async (t) => {
    const token = (url: string): string => `const token = '${tokenFor(url)}'`
    const { page, site, warnings } = await openComponent(t, token, 'token={token}')
    await page.addInitScript(`document.addEventListener('securitypolicyviolation', ({ disposition }) => {
      window.disposition = disposition
    })`)
    site.pages['/'] = {
      html: String(site.pages['/']),
      headers: { 'content-security-policy-report-only': "frame-src 'self'" },
    }
    await page.goto(site.url)
    await page.frameLocator('#app iframe').getByRole('heading', { name: en.consentTitle }).waitFor()
    await page.waitForFunction("window.disposition === 'report'")
    t.same(warnings(), [])
  })
}
