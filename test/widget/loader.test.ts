import t from 'tap'
import type { Test } from 'tap'
import { openBrowser, openPage } from '../support/browser.ts'
import { checkoutFrames, eventsOf, openFakeCheckout, openSite, shopPage, tag, tokenFor } from './shop.ts'

const browser = await openBrowser(t)

/** A shop with a container and the snippet, and a checkout whose frame the test plays. */
async function open(t: Test, { changes = {}, attributes = {}, body }: OpenOptions = {}) {
  const checkout = await openFakeCheckout(t)
  const shop = await openSite(t)
  const token = tokenFor(shop.url, checkout.url, changes)
  const snippet = tag(checkout.url, { 'data-checkout-token': token, 'data-container-id': 'pay', ...attributes })
  shop.pages['/'] = shopPage(body?.(snippet, checkout.url, token) ?? `<div id="pay"></div>${snippet}`)
  shop.pages['/back'] = '<title>Back</title>'
  const watched = await openPage(browser)
  await watched.page.goto(shop.url)
  return { ...watched, checkout, shop, token }
}

type OpenOptions = {
  changes?: Record<string, unknown>
  attributes?: Record<string, string>
  body?: (snippet: string, checkoutUrl: string, token: string) => string
}

t.test('the snippet shows the frame, and only the frame receives the token', async (t) => {
  const { page, checkout, shop, token, complaints } = await open(t, { attributes: { 'data-locale': 'cy' } })
  const [frame] = await checkoutFrames(page)
  const attributes: Record<string, string | null> = await page.evaluate(`(() => {
    const element = document.querySelector('#pay iframe')
    return Object.fromEntries(element.getAttributeNames().map((name) => [name, element.getAttribute(name)]))
  })()`)
  t.equal(attributes['title'], 'Pay Acme by bank')
  t.equal(
    attributes['sandbox'],
    'allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox ' +
      'allow-top-navigation-by-user-activation allow-top-navigation-to-custom-protocols',
  )
  t.equal(attributes['referrerpolicy'], 'origin')
  t.equal(attributes['allow'] ?? '', '')
  const src = new URL(attributes['src'] ?? '')
  t.equal(src.origin + src.pathname, `${checkout.url}/widget/index.html`)
  t.equal(src.search, '?client_id=m-1-server')
  t.notMatch(src.href, token, 'no address holds the token')
  t.match(await frame?.evaluate('heard'), [{ origin: shop.url, data: { svc: 'init', token, locale: 'cy' } }])
  t.same(await page.evaluate('messages'), [], 'no private message reaches the page')
  t.same(complaints, [])
})

t.test('an attribute without a value means true, and one with "false" does not', async (t) => {
  for (const [value, expected] of [
    ['', true],
    ['true', true],
    ['false', false],
  ] as const) {
    const { page } = await open(t, { attributes: { 'data-no-redirect': value, 'data-same-tab': value } })
    const [frame] = await checkoutFrames(page)
    t.match(await frame?.evaluate('heard'), [{ data: { noRedirect: expected, sameTab: expected } }], value)
  }
})

t.test('the page gets the events from the container, with their fields only', async (t) => {
  const { page } = await open(t)
  const [frame] = await checkoutFrames(page)
  const given = [
    ['SVC_WIDGET_READY', { version: '1', screen: 'ST-01', merchantName: 'Acme', amount: '12.50', currency: 'GBP' }],
    ['SVC_BANK_SELECTED', { bankId: 'mock-fern', bankName: 'Fern' }],
    ['SVC_PAYMENT_SUCCESS', { transactionId: 'p', endToExternalId: 'e', endToEndId: 'e' }],
    ['SVC_PAYMENT_FAILED', { errorCode: 'INSUFFICIENT_FUNDS' }],
    ['SVC_PAYMENT_CANCELLED', { transactionId: null, screen: 'ST-01', returnUrl: 'https://x.example/' }],
    ['SVC_RETURN', { transactionId: 'p', screen: 'ST-05', returnUrl: 'https://x.example/' }],
    ['SVC_RESIZE', { height: 500 }],
  ] as const
  for (const [type, payload] of given) {
    await frame?.evaluate(`tell('${type}', ${JSON.stringify({ ...payload, secret: 'not for shops' })})`)
  }
  await page.waitForFunction('events.length >= 7')
  t.same(
    await eventsOf(page),
    given.map(([type, detail]) => ({ at: 'pay', type, detail })),
  )
})

t.test('unknown and incomplete events are dropped by the loader', async (t) => {
  const { page } = await open(t)
  const [frame] = await checkoutFrames(page)
  const height = await page.locator('iframe').evaluate((element) => Reflect.get(element, 'clientHeight'))
  await frame?.evaluate(`
    tell('SVC_OTHER', {}); tell('constructor', {}); tell('__proto__', {}); tell(null, null); tell(['SVC_RESIZE'], { height: 700 })
    tell('SVC_RESIZE', { height: '700' }); tell('SVC_RESIZE', { height: NaN }); tell('SVC_RESIZE'); tell('SVC_PAYMENT_SUCCESS', {})
    tell('SVC_PAYMENT_SUCCESS', { transactionId: null, endToExternalId: 'e', endToEndId: 'e' })
    for (const data of [null, undefined, 1, 'SVC_RESIZE', [], { svc: 'hello', nonce: 'guessed' }]) parent.postMessage(data, '*')
    tell('SVC_PAYMENT_FAILED', { errorCode: 'LAST' })`)
  await page.waitForFunction('events.length > 0')
  t.same(await eventsOf(page), [{ at: 'pay', type: 'SVC_PAYMENT_FAILED', detail: { errorCode: 'LAST' } }])
  t.equal(await page.locator('iframe').evaluate((element) => Reflect.get(element, 'clientHeight')), height)
  t.equal(await frame?.evaluate('heard.length'), 1, 'a hello with another nonce gets no answer')
})

t.test('the frame grows with its content, and is never cut', async (t) => {
  const { page } = await open(t)
  const [frame] = await checkoutFrames(page)
  t.equal(
    await page.locator('iframe').evaluate((element) => Reflect.get(element, 'clientHeight')),
    560,
    'before it has said anything',
  )
  for (const [asked, given] of [
    [700, 700],
    [10, 320],
    [2_345, 2_345],
  ]) {
    await frame?.evaluate(`tell('SVC_RESIZE', { height: ${asked} })`)
    await page.waitForFunction(`document.querySelector('iframe').clientHeight === ${given}`)
  }
  const { width } = (await page.locator('iframe').boundingBox()) ?? {}
  t.equal(width, (await page.locator('#pay').boundingBox())?.width)
})

t.test('forged messages from the page and from another frame change nothing', async (t) => {
  const forger = await openSite(t)
  const { page, checkout } = await open(t, {
    body: (snippet) => `<div id="pay"></div>${snippet}<iframe id="evil" src="${forger.url}/evil"></iframe>`,
  })
  forger.pages['/evil'] = '<title>evil</title>'
  await page
    .locator('#evil')
    .evaluate((element, src) => Object.assign(element, { src }) && undefined, `${forger.url}/evil`)
  await page.locator('#pay iframe').waitFor()
  const frame = await (await page.locator('#pay iframe').elementHandle())?.contentFrame()
  await frame?.waitForFunction('port !== undefined')
  const evil = await (await page.locator('#evil').elementHandle())?.contentFrame()
  await evil?.waitForFunction('document.title === "evil"')
  const forge = `for (let round = 0; round < 200; round += 1) {
    for (const data of [
      { eventType: 'SVC_PAYMENT_SUCCESS', payload: { transactionId: 'p', endToExternalId: 'e', endToEndId: 'e' } },
      { eventType: 'SVC_RESIZE', payload: { height: 1000 } },
      { eventType: 'SVC_PAYMENT_CANCELLED', payload: { transactionId: null, screen: 'ST-01', returnUrl: 'https://evil.example/' } },
      { svc: 'hello', nonce: new URL(NONCE).hash.slice(1).split('=')[1] },
      { guard: true }, { leave: 'https://evil.example/' },
    ]) TARGET.postMessage(data, '*')
  }`
  const src = (await page.locator('#pay iframe').getAttribute('src')) ?? ''
  const written = (target: string): string => forge.replace('TARGET', target).replace('NONCE', JSON.stringify(src))
  await evil?.evaluate(written('parent'))
  await page.evaluate(written('window'))
  await page.waitForFunction('messages.length >= 2400')
  t.same(await eventsOf(page), [], 'no event')
  t.equal(
    await page.locator('#pay iframe').evaluate((element) => Reflect.get(element, 'clientHeight')),
    560,
    'no other size',
  )
  t.equal(await frame?.evaluate('heard.length'), 1, 'no second token for the frame')
  t.equal(await evil?.evaluate('typeof heard'), 'undefined')
  t.notMatch(page.url(), 'evil')
  t.ok(checkout)
})

t.test('several checkouts on a page get their own events; a repeated script adds none', async (t) => {
  const { page } = await open(t, {
    body: (snippet) =>
      `${snippet}${snippet}<div id="pay"></div><div id="two"></div>${snippet.replace('data-container-id="pay"', 'data-container-id="two"')}${snippet}`,
  })
  const [first, second] = await checkoutFrames(page, 2)
  await page.waitForLoadState('load')
  t.equal(await page.locator('iframe').count(), 2)
  await first?.evaluate(`tell('SVC_PAYMENT_FAILED', { errorCode: 'ONE' })`)
  await second?.evaluate(`tell('SVC_PAYMENT_FAILED', { errorCode: 'TWO' })`)
  await page.waitForFunction('events.length >= 2')
  t.same(
    (await eventsOf(page)).map(({ at, detail }) => ({ at, detail })).toSorted((a, b) => a.at.localeCompare(b.at)),
    [
      { at: 'pay', detail: { errorCode: 'ONE' } },
      { at: 'two', detail: { errorCode: 'TWO' } },
    ],
  )
})

t.test('a page can mount, listen and destroy', async (t) => {
  const { page, token } = await open(t, { body: (_snippet, url) => `<div id="pay"></div>${tag(url, {})}` })
  await page.waitForFunction('window.SvcCheckout !== undefined')
  t.equal(await page.locator('iframe, [role=alert]').count(), 0, 'without attributes the script only waits')
  await page.evaluate(`
    heard = []
    mounted = SvcCheckout.mount('pay', { token: '${token}' })
    off = mounted.on('SVC_BANK_SELECTED', (payload) => heard.push(payload))`)
  const [frame] = await checkoutFrames(page)
  t.equal(await page.evaluate(`SvcCheckout.mount(pay, { token: '${token}' }) === mounted`), true)
  await frame?.evaluate(`tell('SVC_BANK_SELECTED', { bankId: 'b', bankName: 'B' })`)
  await page.waitForFunction('heard.length === 1')
  await page.evaluate('off()')
  await frame?.evaluate(`tell('SVC_BANK_SELECTED', { bankId: 'c', bankName: 'C' })`)
  await page.waitForFunction('events.length === 2')
  t.same(await page.evaluate('heard'), [{ bankId: 'b', bankName: 'B' }])
  await page.evaluate('mounted.destroy()')
  t.equal(await page.locator('#pay *').count(), 0)
  await page.evaluate(`again = SvcCheckout.mount(pay, { token: '${token}' }); mounted.destroy()`)
  t.equal(await page.locator('#pay iframe').count(), 1, 'what was taken away once takes nothing else away')
  t.match(
    await page.evaluate(`try { SvcCheckout.mount('nowhere', { token: 'x' }) } catch (error) { error.message }`),
    /no element with the id "nowhere"/,
  )
})

t.test('a checkout that cannot start shows why', async (t) => {
  const cases: [string, OpenOptions, RegExp][] = [
    ['no token', { attributes: { 'data-checkout-token': '' } }, /token is missing/],
    ['no base64', { attributes: { 'data-checkout-token': '<img src=x onerror=alert(1)>' } }, /can’t be read/],
    ['no JSON', { attributes: { 'data-checkout-token': 'aGVsbG8=' } }, /can’t be read/],
    ['half a token', { changes: { callbackOrigin: undefined } }, /can’t be read/],
    ['numbers for text', { changes: { merchantName: 5 } }, /can’t be read/],
    ['no container', { attributes: { 'data-container-id': 'nowhere' } }, /no element with the id "nowhere"/],
    [
      'another page',
      { changes: { callbackOrigin: 'https://shop.example' } },
      /for https:\/\/shop\.example, and this page is/,
    ],
  ]
  for (const [name, options, text] of cases) {
    const { page, context, complaints } = await open(t, options)
    const alert = page.getByRole('alert')
    t.match(await alert.textContent(), text, name)
    t.equal(await page.locator('iframe').count(), 0, name)
    if (name !== 'no container') {
      await page.waitForFunction('events.length > 0')
      const errorCode = name === 'another page' ? 'ORIGIN_MISMATCH' : 'CHECKOUT_TOKEN_INVALID'
      t.match(
        await eventsOf(page),
        [{ at: 'pay', type: 'SVC_PAYMENT_FAILED', detail: { errorCode, message: text } }],
        name,
      )
      t.match(complaints, [text], 'the console says why')
      t.same(await page.evaluate('messages'), [], 'and nothing was posted anywhere')
    }
    await context.close()
  }
})

t.test('mounting an unusable token reports the failure', async (t) => {
  const { page } = await open(t, { body: (_snippet, url) => `<div id="pay"></div>${tag(url, {})}` })
  await page.waitForFunction('window.SvcCheckout !== undefined')
  const heard = `new Promise((done) => SvcCheckout.mount('pay', { token: 'x' }).on('SVC_PAYMENT_FAILED', done))`
  t.match(await page.evaluate(heard), { errorCode: 'CHECKOUT_TOKEN_INVALID', message: /missing or can’t be read/ })
  // One that was taken off at once says nothing: its place may hold another checkout by then.
  const left = `new Promise((done) => {
    const heard = []
    document.getElementById('pay').addEventListener('SVC_PAYMENT_FAILED', () => heard.push(1))
    SvcCheckout.mount('pay', { token: 'y' }).destroy()
    setTimeout(() => done(heard.length), 50)
  })`
  t.equal(await page.evaluate(left), 0)
})

t.test("the frame gets the theme: the shop's setting, or its container's color-scheme", async (t) => {
  const place = (style: string) => (snippet: string) => `<div id="pay" style="color-scheme: ${style}"></div>${snippet}`
  const cases: [OpenOptions, string][] = [
    [{}, 'normal'],
    [{ body: place('light dark') }, 'light dark'],
    [{ body: place('light dark'), attributes: { 'data-theme': 'dark' } }, 'dark'],
  ]
  for (const [options, theme] of cases) {
    const { page, context } = await open(t, options)
    const [frame] = await checkoutFrames(page)
    t.match(await frame?.evaluate('heard'), [{ data: { theme } }], theme)
    await context.close()
  }
})

t.test('the checkout is not shown on its own origin, where the sandbox would not isolate it', async (t) => {
  const checkout = await openFakeCheckout(t)
  const token = tokenFor(checkout.url, checkout.url)
  const snippet = tag(checkout.url, { 'data-checkout-token': token, 'data-container-id': 'pay' })
  checkout.pages['/'] = shopPage(`<div id="pay"></div>${snippet}`)
  const { page } = await openPage(browser)
  await page.goto(checkout.url)
  t.match(await page.getByRole('alert').textContent(), /needs another origin/)
  await page.waitForFunction('events.length > 0')
  t.match(await eventsOf(page), [{ detail: { errorCode: 'ORIGIN_MISMATCH' } }])
  t.equal(await page.locator('iframe').count(), 0)
})

t.test('a frame that does not load is reported, can be retried, and leads to the hosted page', async (t) => {
  const { page, checkout, token } = await open(t, {
    body: (_snippet, url, token) => `<div id="pay"></div><script>start = () => {
      const script = document.createElement('script')
      Object.assign(script.dataset, { checkoutToken: '${token}', containerId: 'pay' })
      script.src = '${url}/v1/checkout.js'
      document.body.append(script)
    }</script>`,
  })
  const frame = checkout.pages['/widget/index.html']
  delete checkout.pages['/widget/index.html']
  await page.evaluate('start()')
  t.match(await page.getByRole('alert').textContent(), /did not load/)
  t.match(await eventsOf(page), [
    { at: 'pay', type: 'SVC_PAYMENT_FAILED', detail: { errorCode: 'WIDGET_LOAD_FAILED' } },
  ])
  const link = new URL((await page.getByRole('link', { name: 'Pay on our page' }).getAttribute('href')) ?? '')
  t.same(
    [link.origin, link.pathname, link.searchParams.get('token')],
    [checkout.url, '/checkout', token],
    'or without it',
  )
  checkout.pages['/widget/index.html'] = frame ?? ''
  await page.getByRole('button', { name: 'Try again' }).click()
  const [loaded] = await checkoutFrames(page)
  t.ok(loaded)
  t.equal(await page.getByRole('alert').count(), 0)
})
