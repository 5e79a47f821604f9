import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { freePort } from '../support/free-port.ts'
import { packageRoot } from '../../src/lib/package-root.ts'
import { en } from '../../src/lib/locales/checkout/en.ts'
import { openBrowser, openPage } from '../support/browser.ts'
import { chooseBank, openWidgetShop, payAtBank, untilHeading } from '../support/widget-page.ts'
import { openSite } from './shop.ts'

const { service, merchant, token } = await openWidgetShop(t)
const browser = await openBrowser(t)
const FOLDER = join(packageRoot(), 'examples/checkout')

t.test('the plain page takes a payment with the snippet alone', async (t) => {
  const shop = await openSite(t)
  const html = readFileSync(join(FOLDER, 'shop.html'), 'utf8')
  t.equal(html.split('PASTE-THE-TOKEN-HERE').length, 3, 'in the comment, and in the one place where the token goes')
  // Another site than the service's, not only another port.
  const url = shop.url.replace('127.0.0.1', 'localhost')
  const own = token({ callbackOrigin: url, returnUrl: `${url}/shop.html`, amount: '12.50' })
  shop.pages['/shop.html'] = html
    .replace('"PASTE-THE-TOKEN-HERE"', `"${own}"`)
    .replace('http://127.0.0.1:8080', service.url)
  const { page, context, complaints } = await openPage(browser)
  await page.goto(`${url}/shop.html`)
  const widget = page.frameLocator('#svc-checkout iframe')
  await chooseBank(widget, 'Albion Bank')
  await payAtBank({ widget, context })
  await untilHeading({ page }, en.paidTitle)
  const thanks = await page.getByRole('status').last().textContent()
  t.match(thanks, /^Thank you\. Your reference is \w+\.$/)
  const { body } = await service.call('GET', '/api/v1/payments', { merchant })
  t.match(body.data[0], { status: 'Settled', gross_amount: '12.50' })
  t.match(thanks, body.data[0].end_to_end_id)
  t.same(complaints, [])
})

function contentOf(sent: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(sent.split('.')[0] ?? '', 'base64').toString('utf8'))
}

/** The order's, as its token says it. */
function numberIn(sent: string): unknown {
  return contentOf(sent)['jti']
}

t.test('the server signs a token for each order, under a policy of its own', async (t) => {
  const port = String(await freePort())
  const child = spawn(process.execPath, [join(FOLDER, 'shop-server.mjs')], {
    env: {
      SVC_URL: `${service.url}/`,
      SVC_CLIENT_ID: merchant.clientId,
      SVC_WEBHOOK_SECRET: merchant.secret,
      PORT: port,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill())
  await once(child.stdout, 'data')
  const url = `http://localhost:${port}`
  const { page, context, complaints } = await openPage(browser)
  await page.goto(url)
  const sent = (await page.locator('script').getAttribute('data-checkout-token')) ?? ''
  t.match(sent, /^[\w+/=]+\.[0-9a-f]{64}$/)
  t.equal(contentOf(sent)['apiUrl'], `${service.url}/api/v1`)
  await page.reload()
  const again = (await page.locator('script').getAttribute('data-checkout-token')) ?? ''
  t.equal(numberIn(again), numberIn(sent), 'however many tokens an order has, they name it alike')
  const checked = await service.call('GET', '/api/v1/checkout', { headers: { 'x-checkout-token': sent } })
  t.match(checked.body, { amount: '12.50', remittance_reference: 'MARMALADE 1' })
  const forged = await service.call('GET', '/api/v1/checkout', {
    headers: { 'x-checkout-token': `${sent.slice(0, -1)}${sent.endsWith('0') ? '1' : '0'}` },
  })
  t.equal(forged.body.code, 'CHECKOUT_TOKEN_INVALID')
  const widget = page.frameLocator('iframe')
  await chooseBank(widget, 'Fern')
  await payAtBank({ widget, context })
  await untilHeading({ page }, en.paidTitle)
  await widget.getByRole('link', { name: /^Return to/ }).click()
  await page.waitForURL(`${url}/thanks`)
  t.same(complaints, [])
  await page.goto(url)
  const next = (await page.locator('script').getAttribute('data-checkout-token')) ?? ''
  t.not(numberIn(next), numberIn(sent), 'the next order has its own number')
})
