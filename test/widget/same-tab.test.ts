import t from 'tap'
import type { Page } from 'playwright-core'
import { atBank } from '../support/app.ts'
import { openBrowser } from '../support/browser.ts'
import { documentedResult } from '../support/documented-result.ts'
import { openWidget, openWidgetShop, untilHeading } from '../support/widget-page.ts'
import type { OpenWidget } from '../support/widget-page.ts'
import { en } from '../support/english.ts'

/* The payer goes to the bank in the shop's own tab, and comes back to the shop by itself. */
const shop = await openWidgetShop(t)
const browser = await openBrowser(t)
const { readResult } = await documentedResult()
const SAME = { attributes: { sameTab: true } }

/** A browser inside an app of Android. */
const IN_APP = {
  userAgent:
    'Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/130.0 Mobile Safari/537.36',
  viewport: { width: 390, height: 800 },
  isMobile: true,
  hasTouch: true,
}

/** Counts the payer's clicks on every page of a tab. */
async function countClicks({ context }: Pick<OpenWidget, 'context'>): Promise<() => number> {
  let count = 0
  await context.exposeFunction('clicked', () => (count += 1))
  await context.addInitScript("addEventListener('click', (event) => event.isTrusted && window.clicked(), true)")
  return () => count
}

async function backAtShop(page: Page): Promise<string> {
  await page.waitForURL(/\/thanks/)
  await page.getByRole('heading', { name: 'Back at the shop' }).waitFor()
  return page.url()
}

t.test('a payer pays in one tab, and a returning payer with three clicks', async (t) => {
  const first = await openWidget(browser, shop, { ...SAME, tokens: [shop.token({ jti: 'order-1' })] })
  const { page, widget, context } = first
  await widget.getByRole('button', { name: en.continue }).click()
  await widget.getByRole('option', { name: 'Fern' }).click()
  await widget.getByRole('link', { name: en.continue }).waitFor()
  t.equal(await widget.locator('canvas').count(), 0, 'the code for another device is behind its own heading')
  await widget.getByRole('link', { name: en.continue }).click()
  await page.getByRole('button', { name: /^Approve/ }).click()
  const address = await backAtShop(page)
  t.equal(context.pages().length, 1)
  const result = readResult(address, shop.merchant.secret)
  t.match(result, { status: 'Settled', order: 'order-1', amount: '50.00', currency: 'GBP', failure_code: null })
  t.equal(result?.['payment_id'], new URL(address).searchParams.get('payment_id'))
  t.equal(readResult(address, 'another secret'), undefined)

  const clicks = await countClicks(first)
  const again = await openWidget(browser, shop, { ...SAME, sameWindow: context })
  await again.widget.getByRole('button', { name: 'Pay with Fern' }).click()
  await again.widget.getByRole('link', { name: en.continue }).click()
  await again.page.getByRole('button', { name: /^Approve/ }).click()
  await backAtShop(again.page)
  t.equal(clicks(), 3)
  t.same([...first.complaints, ...again.complaints], [])
})

t.test('a payment that takes its time comes back when it is complete', async (t) => {
  const { page, widget, complaints } = await openWidget(browser, shop, SAME)
  await widget.getByRole('button', { name: en.continue }).click()
  await widget.getByRole('option', { name: 'Leisurely Bank' }).click()
  await widget.getByRole('link', { name: en.continue }).click()
  await page.getByRole('button', { name: /^Approve/ }).click()
  await page.getByRole('heading', { name: 'Waiting for your bank' }).waitFor()
  await shop.service.owner.query(`update payment_intents set settle_at = now() where status = 'Authorised'`)
  t.match(readResult(await backAtShop(page), shop.merchant.secret), { status: 'Settled' })
  t.same(complaints, [])
})

t.test('a payer who was not paid for reads why, and goes back with the result', async (t) => {
  const { page, widget } = await openWidget(browser, shop, SAME)
  await widget.getByRole('button', { name: en.continue }).click()
  await widget.getByRole('option', { name: 'Fern' }).click()
  await widget.getByRole('link', { name: en.continue }).click()
  await page.getByRole('button', { name: /^Cancel/ }).click()
  await page.getByText('You cancelled at your bank.').waitFor()
  await page.getByRole('link', { name: 'Return to Acme' }).click()
  t.match(readResult(await backAtShop(page), shop.merchant.secret), { status: 'Failed', failure_code: 'ACCESS_DENIED' })
})

t.test('a browser inside an app, which opens no new tab, stays in its tab by itself', async (t) => {
  const { page, widget, complaints } = await openWidget(browser, shop, { context: IN_APP })
  await widget.getByRole('button', { name: en.continue }).click()
  await widget.getByRole('option', { name: 'Fern' }).click()
  const link = widget.getByRole('link', { name: en.openApp })
  t.equal(await link.getAttribute('target'), '_top')
  await link.click()
  await page.getByRole('button', { name: /^Approve/ }).click()
  await backAtShop(page)
  t.same(complaints, [])
})

t.test('in a browser inside an app the receipt opens in the same tab, and does not say otherwise', async (t) => {
  const opened = await openWidget(browser, shop, { context: IN_APP })
  const { page, widget, context, complaints } = opened
  await widget.getByRole('button', { name: en.continue }).click()
  await widget.getByRole('option', { name: 'Fern' }).click()
  const href = await widget.getByRole('link', { name: en.openApp }).getAttribute('href')
  // The bank's app opens instead of the link, so the shop's page stays.
  const { state, ...answer } = await atBank(href ?? '', 'approve')
  await fetch(`${shop.service.url}/payments/return?${new URLSearchParams({ state, ...answer })}`)
  await untilHeading(opened, en.paidTitle)
  const receipt = widget.getByRole('link', { name: en.print, exact: true })
  t.equal(await receipt.getAttribute('target'), '_top')
  await receipt.click()
  await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor()
  t.equal(context.pages().length, 1)
  t.same(complaints, [])
})
