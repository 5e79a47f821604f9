import t from 'tap'
import { testService } from '../support/app.ts'
import { openBrowser, openPage } from '../support/browser.ts'
import { openSite, shopPage, tag, tokenFor } from './shop.ts'

const service = await testService(t)
const browser = await openBrowser(t)
const { clientId } = await service.merchant()

/** The widget as the service serves it, in a page that does what it likes with it. */
async function embed(t: Parameters<typeof openSite>[0], { parent }: { parent?: string } = {}) {
  const shop = await openSite(t)
  const fragment = new URLSearchParams({ nonce: 'n', parent: parent ?? shop.url })
  const src = `${service.url}/widget/index.html?client_id=${clientId}#${fragment}`
  shop.pages['/'] = shopPage(`<iframe id="frame" src="${src}"></iframe>`)
  const watched = await openPage(browser)
  const { page } = watched
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/api/')) asked.push(request.url())
  })
  await page.goto(shop.url)
  const frame = page.frameLocator('#frame')
  const init = (token: string, nonce = 'n'): Promise<unknown> =>
    page.evaluate(`document.getElementById('frame').contentWindow.postMessage(
      { svc: 'init', nonce: '${nonce}', token: '${token}' }, '*', [new MessageChannel().port2])`)
  return { ...watched, shop, frame, init, asked }
}

t.test('outside a frame it says that it only works inside a shop', async (t) => {
  const { page } = await openPage(browser)
  await page.goto(`${service.url}/widget/index.html?client_id=${clientId}`)
  t.equal(await page.getByRole('alert').textContent(), 'Go back to the shop and try again.')
  await page.getByText('For the shop’s developer').click()
  await page.getByText('only works inside a shop’s checkout').waitFor()
})

t.test('the parent page must be the one in its URL', async (t) => {
  const { page, frame, init, asked, shop } = await embed(t, { parent: 'https://shop.example' })
  await page.waitForLoadState('load')
  await init(tokenFor('https://shop.example', service.url, { merchantClientId: clientId }))
  await frame.getByRole('alert').waitFor()
  t.match(await frame.locator('details').textContent(), new RegExp(`${shop.url}, not https://shop.example`))
  t.same(await page.evaluate('messages'), [], 'the page around it has heard nothing')
  t.same(asked, [], 'and nothing was asked of the service')
})

t.test("another shop's token is rejected, even by a page that frames it", async (t) => {
  const { page, frame, init, asked } = await embed(t)
  await page.waitForLoadState('load')
  await init(tokenFor('https://shop.example', service.url, { merchantClientId: clientId }))
  await frame.getByRole('alert').waitFor()
  t.match(await frame.locator('details').textContent(), /checkout is for https:\/\/shop\.example/)
  t.same(await page.evaluate('messages'), [], 'no event')
  t.same(asked, [])
})

t.test('a thousand forged messages of every kind change nothing', async (t) => {
  const shop = await openSite(t)
  const forger = await openSite(t, { '/': '<title>forger</title>' })
  const token = tokenFor(shop.url, service.url, { merchantClientId: clientId, jti: 'order-7' })
  const other = tokenFor(shop.url, service.url, { merchantClientId: clientId, amount: '9999.00' })
  const snippet = tag(service.url, { 'data-checkout-token': token, 'data-container-id': 'pay' })
  shop.pages['/'] = shopPage(`<div id="pay"></div>${snippet}<iframe id="forger" src="${forger.url}"></iframe>`)
  const { page, complaints } = await openPage(browser)
  await page.goto(shop.url)
  await page.waitForFunction(`events.some(({ type }) => type === 'SVC_WIDGET_READY')`)
  const frame = page.frameLocator('#pay iframe')
  const before = await frame.locator('main').innerText()
  t.match(before, /12\.50/)
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  const heard = await page.evaluate('messages.length')
  const src = (await page.locator('#pay iframe').getAttribute('src')) ?? ''
  const nonce = new URLSearchParams(new URL(src).hash.slice(1)).get('nonce')
  const forge = (target: string): string => `for (let round = 0; round < 100; round += 1) {
    for (const data of [
      { svc: 'init', nonce: '${nonce}', token: '${other}' }, { svc: 'init', nonce: 'x', token: '${other}' },
      { svc: 'hello', nonce: '${nonce}' }, { guard: true }, { leave: 'https://evil.example/' },
      { eventType: 'SVC_PAYMENT_SUCCESS', payload: { transactionId: 'p', endToExternalId: 'e', endToEndId: 'e' } },
      { eventType: 'SVC_RESIZE', payload: { height: 1 } }, null, 'text', [{ __proto__: null }],
    ]) ${target}.postMessage(data, '*', [new MessageChannel().port2])
  }`
  await page.evaluate(forge(`document.querySelector('#pay iframe').contentWindow`))
  const inside = await (await page.locator('#forger').elementHandle())?.contentFrame()
  await inside?.evaluate(forge('parent.frames[0]'))
  // What comes after them in the frame's queue shows that all of them were heard.
  const widget = await (await page.locator('#pay iframe').elementHandle())?.contentFrame()
  await widget?.evaluate(`new Promise((done) => {
    const { port1, port2 } = new MessageChannel()
    port2.onmessage = done
    port1.postMessage(1)
  })`)
  t.equal(await frame.locator('main').innerText(), before)
  t.equal(await page.evaluate('messages.length'), heard, 'nothing was answered')
  t.same(
    asked.filter((url) => url.includes('/api/')),
    [],
  )
  await frame.getByRole('button', { name: 'Continue' }).click()
  await frame.getByRole('option', { name: 'Fern' }).waitFor()
  t.same(complaints, [], 'and it works on')
})

t.test("the widget's events go to the shop's page only", async (t) => {
  const shop = await openSite(t)
  const listener = await openSite(t, {
    '/': `<script>heard = []; addEventListener('message', ({ data }) => heard.push(data))</script>`,
  })
  const token = tokenFor(shop.url, service.url, { merchantClientId: clientId })
  const snippet = tag(service.url, { 'data-checkout-token': token, 'data-container-id': 'pay' })
  shop.pages['/'] = shopPage(`<iframe id="listener" src="${listener.url}"></iframe><div id="pay"></div>${snippet}`)
  // A page around the shop's page is an ancestor of the frame too, but not the one that it speaks to.
  const around = await openSite(t)
  around.pages['/'] = `<script>heard = []; addEventListener('message', ({ data }) => heard.push(data))</script>
<iframe id="shop" src="${shop.url}"></iframe>`
  const { page } = await openPage(browser)
  await page.goto(around.url)
  const inner = await (await page.locator('#shop').elementHandle())?.contentFrame()
  await inner?.waitForFunction(`events.some(({ type }) => type === 'SVC_WIDGET_READY')`)
  const beside = await (await inner?.locator('#listener').elementHandle())?.contentFrame()
  t.same(await page.evaluate('heard'), [])
  t.same(await beside?.evaluate('heard'), [])
})
