import t from 'tap'
import type { Frame, Page } from 'playwright-core'
import { en } from '../../src/lib/locales/checkout/en.ts'
import { openBrowser, openPage } from '../support/browser.ts'
import { frameOf, openWidgetShop } from '../support/widget-page.ts'
import { openSite } from './shop.ts'

const shop = await openWidgetShop(t)
const browser = await openBrowser(t)

/** What has the focus, by its text. */
async function focusedIn(where: Page | Frame): Promise<string> {
  return String(await where.evaluate('document.activeElement.id || document.activeElement.innerText'))
}

/** Presses Tab until the focus is on what begins with these words, there and nowhere else. */
async function tabTo(page: Page, where: () => Page | Frame, words: string): Promise<void> {
  for (let step = 0; step < 40; step += 1) {
    if ((await focusedIn(where())).startsWith(words)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not lead to ${words}`)
}

t.test('from the shop\'s button to "paid" by the keyboard alone: checkout, bank and the way back', async (t) => {
  const site = await openSite(t, { '/thanks': '<!doctype html><title>Thanks</title><h1>Thank you</h1>' })
  const token = shop.token({ callbackOrigin: site.url, returnUrl: `${site.url}/thanks` })
  site.pages['/'] = `<!doctype html><html lang="en"><title>Shop</title><a href="/basket">Basket</a>
<button id="buy" onclick="SvcCheckout.mount('pay', { token: '${token}', sameTab: true })">Pay by bank</button>
<div id="pay"></div><a href="/help">Help</a><script src="${shop.service.url}/v1/checkout.js"></script></html>`
  const { page, complaints } = await openPage(browser)
  const inFrame = (): Frame => frameOf(page)
  await page.goto(site.url)
  await tabTo(page, () => page, 'buy')
  await page.keyboard.press('Enter')
  const widget = page.frameLocator('#pay iframe')
  await widget.getByRole('button', { name: en.continue }).waitFor()
  t.equal(await focusedIn(page), 'buy', 'the checkout takes no focus from the shop')
  await tabTo(page, inFrame, en.continue)
  await page.keyboard.press('Enter')
  await widget.getByRole('heading', { name: en.banksTitle }).waitFor()
  t.equal(await focusedIn(inFrame()), en.banksTitle, 'a new screen is read from its heading')
  await tabTo(page, inFrame, 'search')
  await page.keyboard.type('fern')
  await widget.getByText('1 bank found').waitFor()
  await page.keyboard.press('Enter')
  await widget.getByRole('link', { name: en.continue }).waitFor()
  t.equal(await focusedIn(inFrame()), en.consentTitle)
  await tabTo(page, inFrame, en.continue)
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/redirect-stub/)
  await page.getByRole('button', { name: /^Approve/ }).waitFor()
  await tabTo(page, () => page, 'Approve')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Thank you' }).waitFor()
  t.match(page.url(), /\/thanks\?payment_id=[\w-]+&payment_result=/)
  t.same(complaints, [])
})
