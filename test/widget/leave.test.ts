import t from 'tap'
import type { Test } from 'tap'
import { openBrowser, openPage } from '../support/browser.ts'
import { checkoutFrames, openFakeCheckout, openSite, shopPage, tag, tokenFor } from './shop.ts'

const browser = await openBrowser(t)

/** A shop that the payer came to from another of its pages. */
async function open(t: Test, { attributes = {}, returnUrl }: OpenOptions = {}) {
  const checkout = await openFakeCheckout(t)
  const shop = await openSite(t)
  const back = returnUrl ?? `${shop.url}/back`
  const token = tokenFor(shop.url, checkout.url, { returnUrl: back })
  const snippet = tag(checkout.url, { 'data-checkout-token': token, 'data-container-id': 'pay', ...attributes })
  shop.pages['/basket'] = '<title>Basket</title>'
  shop.pages['/back'] = '<title>Back</title>'
  shop.pages['/pay'] = shopPage(`<button>Here</button><div id="pay"></div>${snippet}`)
  const watched = await openPage(browser)
  const { page } = watched
  await page.goto(`${shop.url}/basket`)
  await page.goto(`${shop.url}/pay`)
  const [frame] = await checkoutFrames(page)
  // Browsers ask only those who have done something on the page.
  await page.getByRole('button', { name: 'Here' }).click()
  const ask = (what: unknown): Promise<unknown> | undefined =>
    frame?.evaluate(`port.postMessage(${JSON.stringify(what)})`)
  return { ...watched, frame, ask, shop, back }
}

type OpenOptions = { attributes?: Record<string, string>; returnUrl?: string }

/** Whether the page would ask before it is left: it answers an event of the kind that browsers send. */
const WOULD_ASK = `(() => {
  const event = new Event('beforeunload', { cancelable: true })
  dispatchEvent(event)
  return event.defaultPrevented
})()`

t.test('with the guard the browser asks before closing, and Back leads nowhere', async (t) => {
  const { page, ask, shop } = await open(t)
  t.equal(await page.evaluate(WOULD_ASK), false, 'nothing is asked before')
  const before = await page.evaluate('history.length')
  await ask({ guard: true })
  await page.waitForFunction('history.state?.svc !== undefined')
  t.equal(await page.evaluate('history.length'), Number(before) + 1, 'one entry')
  t.equal(await page.evaluate(WOULD_ASK), true)
  for (let round = 0; round < 3; round += 1) {
    await page.evaluate(`new Promise((done) => {
      addEventListener('popstate', () => setTimeout(done), { once: true })
      history.back()
    })`)
    t.equal(page.url(), `${shop.url}/pay`, 'still here')
    t.equal(await page.locator('iframe').count(), 1)
    t.equal(await page.evaluate('history.length'), Number(before) + 1, 'and the history is no longer for it')
  }
  const asked = page.waitForEvent('dialog')
  const closing = page.close({ runBeforeUnload: true })
  const dialog = await asked
  t.equal(dialog.type(), 'beforeunload')
  await dialog.dismiss()
  await closing
  t.equal(page.isClosed(), false)
})

t.test('without the guard everything is as before', async (t) => {
  const { page, ask, shop } = await open(t)
  await page.evaluate(`history.replaceState({ router: 'kept' }, '')`)
  await ask({ guard: true })
  await page.waitForFunction('history.state?.svc !== undefined')
  t.equal(await page.evaluate('history.state.router'), 'kept', 'what a router keeps in the entry is in it')
  await ask({ guard: false })
  await page.waitForFunction('history.state?.svc === undefined')
  t.equal(await page.evaluate(WOULD_ASK), false)
  await page.goBack()
  t.equal(page.url(), `${shop.url}/basket`, 'Back leads back at once')
})

t.test('a removed checkout no longer guards the page', async (t) => {
  const { page, ask } = await open(t)
  await ask({ guard: true })
  await page.waitForFunction('history.state?.svc !== undefined')
  await page.evaluate(
    `SvcCheckout.mount('pay', { token: document.querySelector('script[data-checkout-token]').dataset.checkoutToken }).destroy()`,
  )
  await page.waitForFunction('history.state?.svc === undefined')
  t.equal(await page.evaluate(WOULD_ASK), false)
})

t.test("the page navigates to the token's address, guarded or not", async (t) => {
  for (const asks of [[], [{ guard: true }], [{ guard: true }, { guard: false }]]) {
    const { page, frame, back } = await open(t)
    const all = [...asks, { leave: back }].map((what) => `port.postMessage(${JSON.stringify(what)})`)
    await frame?.evaluate(all.join('\n')).catch(() => undefined)
    await page.waitForURL(back)
    t.equal(await page.title(), 'Back', JSON.stringify(asks))
    await page.context().close()
  }
})

t.test('it navigates nowhere else', async (t) => {
  const { page, ask, frame, shop } = await open(t)
  const wrong = [
    'https://evil.example/',
    `${shop.url}/back?more`,
    `${shop.url}/basket`,
    'javascript:document.title="evil"',
    '',
  ]
  for (const leave of wrong) await ask({ leave })
  for (const what of [null, 1, 'leave', [], {}, { leave: {} }, { guard: 'true' }, { guard: 1 }]) await ask(what)
  await frame?.evaluate(`tell('SVC_PAYMENT_FAILED', { errorCode: 'LAST' })`)
  await page.waitForFunction('events.length > 0')
  t.equal(page.url(), `${shop.url}/pay`)
  t.equal(await page.title(), 'Shop')
  t.equal(await page.evaluate(WOULD_ASK), false)
})

t.test('a script URL in the token is ignored', async (t) => {
  const returnUrl = 'javascript:document.title="evil"'
  const { page, ask, frame } = await open(t, { returnUrl })
  await ask({ leave: returnUrl })
  await frame?.evaluate(`tell('SVC_PAYMENT_FAILED', { errorCode: 'LAST' })`)
  await page.waitForFunction('events.length > 0')
  t.equal(await page.title(), 'Shop')
})

t.test('a page with noRedirect stays', async (t) => {
  const { page, ask, frame, back, shop } = await open(t, { attributes: { 'data-no-redirect': '' } })
  await ask({ leave: back })
  await frame?.evaluate(`tell('SVC_PAYMENT_CANCELLED', { transactionId: null, screen: 'ST-01', returnUrl: '${back}' })`)
  await page.waitForFunction('events.length > 0')
  t.equal(page.url(), `${shop.url}/pay`)
})
