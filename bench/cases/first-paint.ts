import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Browser } from 'playwright-core'
import { encodeCheckoutToken } from '../../src/lib/checkout-token.ts'
import { launchBrowser } from '../../test/support/browser.ts'
import { startService } from '../support/context.ts'
import type { BenchOptions } from '../support/context.ts'
import { insertMerchant } from '../support/database.ts'
import { median } from '../support/numbers.ts'
import { printTable } from '../support/report.ts'
import type { RatioTarget } from '../support/report.ts'

/** Resolves to the first contentful paint of the page in the frame, counted from the start of its own loading. */
export const FIRST_PAINT = `new Promise((done) => new PerformanceObserver((list) => {
  const [paint] = list.getEntriesByName('first-contentful-paint')
  if (paint) done(paint.startTime)
}).observe({ type: 'paint', buffered: true }))`

/** From the frame's loading to the first content that the payer sees, with an empty browser cache. */
export async function benchFirstPaint(bench: BenchOptions): Promise<RatioTarget[]> {
  const database = await bench.server.database('bench_first_paint')
  const merchant = await insertMerchant(database, 'bench-first-paint', 'https://shop.example/webhooks')
  const service = await startService(bench, database, ['api'])
  const serviceUrl = `http://127.0.0.1:${service.ready['port']}`
  const shop = createServer((req, res) => {
    res.writeHead(200, { 'content-type': 'text/html' }).end(pages[req.url ?? '/'] ?? '')
  }).listen(0, '127.0.0.1')
  await once(shop, 'listening')
  const address = shop.address()
  const shopUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  // Bench services run in live mode: only configured pages may embed the checkout.
  await database.owner.query('update merchants set checkout_origins = array[$1] where id = $2', [shopUrl, merchant.id])
  const pages: Record<string, string> = {
    '/widget': widgetPage(serviceUrl, shopUrl, merchant.clientId),
    '/empty': `<!doctype html><title>Shop</title><iframe src="${serviceUrl}/healthz"></iframe>`,
  }
  const browser = await launchBrowser()
  const empty: number[] = []
  const widget: number[] = []
  for (let round = 0; round < (bench.quick ? 5 : 25); round += 1) {
    empty.push(await firstPaint(browser, `${shopUrl}/empty`))
    widget.push(await firstPaint(browser, `${shopUrl}/widget`))
  }
  await browser.close()
  await service.stop()
  shop.closeAllConnections()
  shop.close()
  printTable('First paint, cold cache', [
    ['', 'ms, median'],
    ['an empty page of the same server', median(empty).toFixed(0)],
    ['the widget', median(widget).toFixed(0)],
  ])
  const ratio = median(widget.map((ms, round) => ms / (empty[round] ?? Number.NaN)))
  return [{ what: 'first paint, widget : an empty page', ratio, most: 3 }]
}

/** The token has no signature: the first paint comes before the service verifies it. */
function widgetPage(serviceUrl: string, shopUrl: string, merchantClientId: string): string {
  const token = encodeCheckoutToken({
    amount: '12.50',
    currency: 'GBP',
    merchantName: 'Bench',
    apiUrl: serviceUrl,
    returnUrl: `${shopUrl}/`,
    merchantClientId,
    callbackOrigin: shopUrl,
  })
  return `<!doctype html><title>Shop</title><div id="pay"></div>
<script async src="${serviceUrl}/v1/checkout.js" data-container-id="pay" data-checkout-token="${token}"></script>`
}

/** In milliseconds, in a window of its own, whose cache is empty. */
async function firstPaint(browser: Browser, url: string): Promise<number> {
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    await page.goto(url)
    const frame = await (await page.waitForSelector('iframe')).contentFrame()
    if (frame === null) throw new Error('there is no frame')
    await frame.waitForLoadState('load')
    return await frame.evaluate<number>(FIRST_PAINT)
  } finally {
    await context.close()
  }
}
