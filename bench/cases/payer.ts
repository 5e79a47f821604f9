import { once } from 'node:events'
import { createServer } from 'node:http'
import { randomUUID } from 'node:crypto'
import type { Browser, BrowserContext, Frame, Locator, Page } from 'playwright-core'
import { encodeCheckoutToken } from '../../src/lib/checkout-token.ts'
import { en } from '../../src/lib/locales/checkout/en.ts'
import { freePort } from '../../test/support/free-port.ts'
import { launchBrowser } from '../../test/support/browser.ts'
import { BUDGETS, weigh } from '../../widget/build/budget.ts'
import { bundleAll } from '../../widget/build/bundle.ts'
import { startService } from '../support/context.ts'
import type { BenchOptions } from '../support/context.ts'
import { insertMerchant } from '../support/database.ts'
import { median } from '../support/numbers.ts'
import { printTable } from '../support/report.ts'
import type { RatioTarget } from '../support/report.ts'
import { FIRST_PAINT } from './first-paint.ts'

/** A phone of the middle class on a slow connection, by the settings that Lighthouse has for it. */
const SLOW = { cpu: 4, latency: 150, downloadThroughput: (1.6 * 1024 * 1024) / 8, uploadThroughput: (750 * 1024) / 8 }

/**
 * What layouts moved on a page, and in its frames each for itself. Also what moved just after a click, which Cumulative
 * Layout Shift leaves out: nearly all that a checkout moves would be left out so.
 */
const SHIFTS = `(() => {
  window.shift = 0
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) window.shift += value
  }).observe({ type: 'layout-shift', buffered: true })
})()`

/** A payer's way of paying: in two tabs or one, for the first time or again. */
type Way = { name: string; isSameTab: boolean; isReturning: boolean }

const WAYS: readonly Way[] = [
  { name: 'first time, the bank in a tab of its own', isSameTab: false, isReturning: false },
  { name: 'again, the bank in a tab of its own', isSameTab: false, isReturning: true },
  { name: 'first time, in the same tab', isSameTab: true, isReturning: false },
  { name: 'again, in the same tab', isSameTab: true, isReturning: true },
]

/** Clicks are counted after the shop's button: TrueLayer, whose figure this is beside, counts so too. */
type Paid = { clicks: number; seconds: number; shift: number }

type Shop = { url: string; close(): void }

/** What a payer does and waits for, from the shop's button to "paid", with what it loads and how it moves. */
export async function benchPayer(bench: BenchOptions): Promise<RatioTarget[]> {
  const database = await bench.server.database('bench_payer')
  const merchant = await insertMerchant(database, 'bench-payer', 'https://shop.example/webhooks')
  const service = await startService(bench, database, ['api', 'worker'], {
    allJobs: true,
    sandboxPort: await freePort(),
  })
  const serviceUrl = `http://127.0.0.1:${service.ready['port']}`
  const shop = await openShop(serviceUrl, merchant.clientId)
  const browser = await launchBrowser()
  const paid = new Map(WAYS.map((way): [string, Paid[]] => [way.name, []]))
  for (let round = 0; round < (bench.quick ? 2 : 10); round += 1)
    for (const isSameTab of [false, true]) {
      const context = await browser.newContext()
      // The second payment of a context is that of a returning payer.
      for (const way of WAYS.filter((each) => each.isSameTab === isSameTab))
        paid.get(way.name)?.push(await pay(context, shop, way))
      await context.close()
    }
  const slow = await benchSlow(browser, shop, bench.quick ? 3 : 15)
  await browser.close()
  shop.close()
  await service.stop()
  const { loader, checkout } = weigh(await bundleAll())
  const bytesOf = (weights: readonly { gzip: number }[]): number => weights.reduce((sum, { gzip }) => sum + gzip, 0)
  const of = (name: string, pick: (each: Paid) => number): number => median((paid.get(name) ?? []).map(pick))

  printTable('From the shop’s button to "paid"', [
    ['a payer who pays', 'clicks', 'seconds, median', 'layout shift'],
    ...WAYS.map(({ name }) => [
      name,
      of(name, ({ clicks }) => clicks).toFixed(0),
      of(name, ({ seconds }) => seconds).toFixed(1),
      of(name, ({ shift }) => shift).toFixed(3),
    ]),
  ])
  printTable('Processor four times slower, slow 4G, cold cache', [
    ['', 'ms, median'],
    ['first paint of an empty page of the same server', median(slow.emptyPaint).toFixed(0)],
    ['first paint of the widget', median(slow.paint).toFixed(0)],
    ['an empty page of the same server is there', median(slow.empty).toFixed(0)],
    ['ST-01 is shown', median(slow.ready).toFixed(0)],
  ])
  const ratio = (values: readonly number[], bases: readonly number[]): number =>
    median(values.map((ms, round) => ms / (bases[round] ?? Number.NaN)))
  const shifts = [...paid.values()].flat().map(({ shift }) => shift)
  const again = WAYS.at(-1)?.name ?? ''
  return [
    { what: 'clicks of a returning payer in one tab', ratio: of(again, ({ clicks }) => clicks), most: 3 },
    { what: 'layout shift until ST-01 is shown, the largest', ratio: Math.max(...slow.shift), most: 0.05 },
    {
      what: 'layout shift until "paid" or the bank in the same tab, the largest',
      ratio: Math.max(...shifts),
      most: 0.05,
    },
    { what: 'slow phone: first paint, widget : an empty page', ratio: ratio(slow.paint, slow.emptyPaint), most: 3 },
    { what: 'slow phone: ST-01 is shown : an empty page', ratio: ratio(slow.ready, slow.empty), most: 4 },
    { what: 'the loader of its budget', ratio: bytesOf(loader) / BUDGETS.loader, most: 1 },
    { what: 'loader and widget up to the bank of their budget', ratio: bytesOf(checkout) / BUDGETS.checkout, most: 1 },
  ]
}

/** The shop's pages: a button that shows the checkout of a new order, and one that shows it at once. */
async function openShop(serviceUrl: string, merchantClientId: string): Promise<Shop> {
  const server = createServer((req, res) => {
    const url = new URL(req.url ?? '/', 'http://shop')
    const body = url.pathname === '/thanks' ? '<h1>Thank you</h1>' : pageOf(url)
    res.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    res.end(`<!doctype html><html lang="en"><title>Shop</title><script>${SHIFTS}</script>${body}</html>`)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const shopUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const token = (): string =>
    encodeCheckoutToken({
      amount: '12.50',
      currency: 'GBP',
      merchantName: 'Bench',
      apiUrl: `${serviceUrl}/api/v1`,
      returnUrl: `${shopUrl}/thanks`,
      merchantClientId,
      callbackOrigin: shopUrl,
      jti: randomUUID(),
    })
  const place = '<div id="pay" style="min-height: 560px"></div><p>What comes after the checkout.</p>'
  function pageOf({ pathname, searchParams }: URL): string {
    if (pathname === '/empty')
      return `<iframe src="${serviceUrl}/healthz" onload="window.ready = performance.now()"></iframe>`
    if (pathname === '/shown')
      return `${place}<script>document.addEventListener('SVC_WIDGET_READY', () => (window.ready = performance.now()))</script>
<script async src="${serviceUrl}/v1/checkout.js" data-container-id="pay" data-checkout-token="${token()}"></script>`
    const options = JSON.stringify({ token: token(), sameTab: searchParams.has('same-tab') })
    return `<script src="${serviceUrl}/v1/checkout.js"></script>
<button onclick='SvcCheckout.mount("pay", ${options})'>Pay by bank</button>${place}`
  }
  return {
    url: shopUrl,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** One payment, by the clicks of a payer who does not hesitate. */
async function pay(context: BrowserContext, shop: Shop, { isSameTab, isReturning }: Way): Promise<Paid> {
  const page = await context.newPage()
  let clicks = 0
  const click = async (target: Locator): Promise<void> => {
    clicks += 1
    await target.click()
  }
  await page.goto(`${shop.url}/?${isSameTab ? 'same-tab' : ''}`)
  const start = performance.now()
  await page.getByRole('button', { name: 'Pay by bank' }).click()
  const widget = page.frameLocator('#pay iframe')
  if (isReturning) await click(widget.getByRole('button', { name: 'Pay with Fern' }))
  else {
    await click(widget.getByRole('button', { name: en.continue }))
    await click(widget.getByRole('option', { name: 'Fern' }))
  }
  const link = widget.getByRole('link', { name: isSameTab ? en.continue : en.thisBrowser })
  await link.waitFor()
  let shift = 0
  if (isSameTab) {
    shift = await shiftOf(page)
    await click(link)
    await click(page.getByRole('button', { name: /^Approve/ }))
    await page.getByRole('heading', { name: 'Thank you' }).waitFor()
  } else {
    const opened = context.waitForEvent('page')
    await click(link)
    const bank = await opened
    await click(bank.getByRole('button', { name: /^Approve/ }))
    await bank.waitForURL(/\/payments\/return/)
    await widget.getByRole('heading', { name: en.paidTitle }).waitFor()
    await bank.close()
  }
  const seconds = (performance.now() - start) / 1_000
  if (!isSameTab) shift = await shiftOf(page)
  await page.close()
  return { clicks, seconds, shift }
}

/** Of the shop's page and of the frame: whichever moved more. */
async function shiftOf(page: Page): Promise<number> {
  const inFrame = page.frames().find((each) => each.url().includes('/widget/index.html'))
  await inFrame?.evaluate(SHIFTS)
  return Math.max(...(await Promise.all([page, inFrame].map((each) => shiftIn(each)))))
}

/** The observer of a frame is new, and gets what was before it a moment later. */
async function shiftIn(where: Page | Frame | undefined): Promise<number> {
  return (await where?.evaluate<number>('new Promise((done) => setTimeout(() => done(window.shift), 50))')) ?? 0
}

type Slow = Record<'empty' | 'ready' | 'emptyPaint' | 'paint' | 'shift', number[]>

/** Loads, in turns, an empty page of the service and a page with the checkout. */
async function benchSlow(browser: Browser, shop: Shop, rounds: number): Promise<Slow> {
  const slow: Slow = { empty: [], ready: [], emptyPaint: [], paint: [], shift: [] }
  for (let round = 0; round < rounds; round += 1) {
    const empty = await loadSlowly(browser, `${shop.url}/empty`)
    const shown = await loadSlowly(browser, `${shop.url}/shown`)
    slow.empty.push(empty.ready)
    slow.emptyPaint.push(empty.paint)
    slow.ready.push(shown.ready)
    slow.paint.push(shown.paint)
    slow.shift.push(shown.shift)
  }
  return slow
}

/** In a window of its own, whose cache is empty; the frame is of the same site, so that it has the same limits. */
async function loadSlowly(browser: Browser, url: string): Promise<Record<'ready' | 'paint' | 'shift', number>> {
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    const devtools = await context.newCDPSession(page)
    const { cpu, ...network } = SLOW
    await devtools.send('Network.enable')
    await devtools.send('Network.emulateNetworkConditions', { offline: false, ...network })
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: cpu })
    await page.goto(url, { waitUntil: 'commit' })
    await page.waitForFunction('window.ready > 0')
    const frame = await (await page.waitForSelector('iframe')).contentFrame()
    if (frame === null) throw new Error('there is no frame')
    return {
      ready: await page.evaluate<number>('window.ready'),
      paint: await frame.evaluate<number>(FIRST_PAINT),
      shift: await shiftOf(page),
    }
  } finally {
    await context.close()
  }
}
