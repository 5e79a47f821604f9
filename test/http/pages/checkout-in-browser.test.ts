import t from 'tap'
import { testService, until } from '../../support/app.ts'
import { PATIENCE_MS, openBrowser, openPage } from '../../support/browser.ts'
import { plainToken } from '../../support/checkout.ts'
import { addCustomer } from '../../support/customers.ts'
import { isGood, openClient } from '../../support/pages.ts'

const service = await testService(t, { worker: true })
const merchant = await service.merchant()
await service.owner.query(`update merchants set trading_name = 'Corner Shop & Söhne' where id = $1`, [merchant.id])
await addCustomer(service, { name: 'Ada Payer' })
const browser = await openBrowser(t)
const shop = await openClient(t)

function checkout(origin = service.url): string {
  const query = {
    amount: '50.00',
    currency: 'GBP',
    merchant: merchant.clientId,
    return_url: `${shop.url}/basket?order=7`,
  }
  return `${origin}/checkout?${new URLSearchParams(query)}`
}

/** The words of the banks' names that are on two lines, without a hyphen. */
const CUT_WORDS = `[...document.querySelectorAll('.choice')].flatMap((choice) => {
  const text = [...choice.childNodes].find((node) => node.nodeType === 3 && node.data.trim() !== '')
  return [...text.data.matchAll(/[^\\s-]+/g)].filter(({ 0: word, index }) => {
    const range = document.createRange()
    range.setStart(text, index)
    range.setEnd(text, index + word.length)
    return new Set([...range.getClientRects()].map(({ top }) => top)).size > 1
  }).map(([word]) => word)
})`

const LOGO_LOOK = `(({ backgroundColor, objectFit }) => [backgroundColor, objectFit])(
  getComputedStyle(document.querySelector('.choice img')),
)`

t.test('from the choice of a bank to the receipt and back to the shop', async (t) => {
  const watched = await openPage(browser)
  const { page } = watched
  await page.goto(checkout())
  await page.locator('.choice img').first().waitFor()
  await page.waitForFunction(`document.querySelector('.choice img').naturalWidth > 0`)
  await isGood(t, watched, 'checkout')
  t.same(await page.evaluate(CUT_WORDS), [], 'no name of a bank is cut within a word')
  t.same(await page.evaluate(LOGO_LOOK), ['rgb(255, 255, 255)', 'contain'], 'a logo of any kind can be seen')
  await page.getByLabel('Search all banks').fill('bank')
  await page.keyboard.press('Enter')
  await page.getByText('Show all banks').waitFor()
  await isGood(t, watched, 'checkout-search', false)
  await page.getByLabel('Albion Bank').check()
  await page.getByRole('button', { name: 'Pay £50.00 by bank' }).click()
  await page.getByRole('button', { name: 'Approve £50.00' }).waitFor()
  await isGood(t, watched, 'redirect-stub')
  const state = new URL(page.url()).searchParams.get('state') ?? ''
  await page.getByRole('button', { name: 'Approve £50.00' }).click()
  await page.getByRole('heading', { name: 'Back at the client' }).waitFor()
  t.match(page.url(), /\/basket\?order=7&payment_id=[\w-]+&payment_result=[\w-]+\.[0-9a-f]{64}$/, 'by itself')
  await page.goto(`${service.url}/payments/return?${new URLSearchParams({ state })}`)
  await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor()
  await isGood(t, watched, 'return-paid')
  await page.getByRole('link', { name: 'Return to Corner Shop & Söhne' }).click()
  await page.getByRole('heading', { name: 'Back at the client' }).waitFor()
  t.match(shop.received.at(-1)?.search, /^\?order=7&payment_id=/)
})

t.test('by the keyboard alone', async (t) => {
  const { page, complaints } = await openPage(browser)
  await page.goto(checkout())
  const tabTo = async (selector: string): Promise<void> => {
    for (let count = 0; count < 12; count += 1) {
      await page.keyboard.press('Tab')
      if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return
    }
    t.fail(`no way to ${selector}`)
  }
  await tabTo('input[type=search]')
  await tabTo('input[type=radio]')
  await page.keyboard.press('Space')
  await page.keyboard.press('ArrowDown')
  t.equal(await page.evaluate(`document.querySelector(':checked').value`), 'mock-meridian')
  await page.keyboard.press('Enter')
  await page.waitForURL(/redirect-stub/)
  await tabTo('button[value=cancel]')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Not paid' }).waitFor()
  await tabTo('a.next')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Back at the client' }).waitFor()
  t.same(complaints, [])
})

t.test('the browser itself requires a bank', async (t) => {
  const { page } = await openPage(browser)
  await page.goto(checkout())
  await page.getByRole('button', { name: 'Pay £50.00 by bank' }).click()
  t.match(await page.evaluate(`document.querySelector('[name=bank]').validationMessage`), /./)
  t.match(page.url(), /\/checkout\?/)
})

t.test('the pages of rejected checkouts, and of a failed payment', async (t) => {
  const watched = await openPage(browser)
  const { page } = watched
  await page.goto(`${service.url}/checkout?token=broken`)
  await isGood(t, watched, 'checkout-refused')
  await page.goto(`${service.url}/redirect-stub`)
  await isGood(t, watched, 'redirect-stub-refused', false)
  await page.goto(`${service.url}/payments/return`)
  await isGood(t, watched, 'return-unknown', false)
  const token = plainToken(service, merchant, { returnUrl: `${shop.url}/`, callbackOrigin: shop.url })
  await page.goto(`${service.url}/checkout?${new URLSearchParams({ token })}`)
  await page.getByLabel('Empty Purse Bank').check()
  await page.getByRole('button', { name: /Pay/ }).click()
  await page.getByRole('button', { name: /Approve/ }).click()
  await page.getByRole('heading', { name: 'Not paid' }).waitFor()
  await isGood(t, watched, 'return-failed')
})

t.test('without scripts, and from another name of the same machine', async (t) => {
  const context = await browser.newContext({ javaScriptEnabled: false })
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  await page.goto(checkout(service.url.replace('127.0.0.1', 'localhost')))
  await page.getByLabel('Fern').check()
  await page.getByRole('button', { name: /Pay/ }).click()
  await page.getByRole('button', { name: /Approve/ }).click()
  // The page looks again by its script only; without one there is a link.
  const paid = page.getByRole('heading', { name: 'Back at the client' })
  await page.getByRole('heading', { name: /^(Back at the client|Waiting for your bank)$/ }).waitFor()
  await until(async () => {
    if ((await paid.count()) === 0) await page.getByRole('link', { name: 'Check again' }).click()
    return (await paid.count()) === 1
  })
  t.same(complaints, [])
  await context.close()
})
