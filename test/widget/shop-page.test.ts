import t from 'tap'
import { openBrowser } from '../support/browser.ts'
import { chooseBank, frameOf, openWidget, openWidgetShop, payAtBank, untilHeading } from '../support/widget-page.ts'
import { en } from '../support/english.ts'

/* What the page around the checkout notices: events, its own focus, and that nothing jumps. */
const shop = await openWidgetShop(t)
const browser = await openBrowser(t)

t.test('a page that stays hears that the payer goes back, and the payer is not stuck', async (t) => {
  const token = shop.token()
  const opened = await openWidget(browser, shop, { tokens: [token], attributes: { noRedirect: true } })
  const { widget, page } = opened
  await chooseBank(widget, 'Fern')
  await payAtBank(opened)
  await untilHeading(opened, en.paidTitle)
  await widget.getByRole('link', { name: 'Return to Acme' }).click()
  await widget.getByRole('heading', { name: en.leftTitle }).waitFor()
  const [paid, returned] = (await opened.heard()).slice(-2)
  t.match(returned, {
    eventType: 'SVC_RETURN',
    payload: { transactionId: paid?.payload['transactionId'], screen: 'ST-05', returnUrl: `${shop.url}/thanks` },
  })
  await widget.locator('main:not([style*=pointer-events])').waitFor()
  await widget.getByRole('link', { name: 'Return to Acme' }).click()
  await page.waitForURL(`${shop.url}/thanks`)

  const again = await openWidget(browser, shop, { tokens: [token], attributes: { noRedirect: true } })
  await again.widget.getByRole('heading', { name: en.paidBeforeTitle }).waitFor()
  await again.page.waitForFunction(`heard.some(({ eventType }) => eventType === 'SVC_PAYMENT_SUCCESS')`)
  const [ready, success, ...more] = await again.heard()
  t.match(ready, { eventType: 'SVC_WIDGET_READY', payload: { screen: 'ST-05' } })
  t.same(success, paid, 'an order that was paid before succeeds, too')
  t.equal(more.length, 0)
})

t.test('an order whose payment is in progress succeeds once it is settled', async (t) => {
  const token = shop.token()
  const first = await openWidget(browser, shop, { tokens: [token] })
  await chooseBank(first.widget, 'Leisurely Bank')
  await payAtBank(first)
  await first.widget.locator('.screen').getByText('has approved the payment.').waitFor()
  const second = await openWidget(browser, shop, { tokens: [token] })
  await second.widget.getByRole('heading', { name: en.paidBeforeTitle }).waitFor()
  t.match(await second.heard(), [{ eventType: 'SVC_WIDGET_READY' }])
  t.equal((await second.heard()).length, 1)
  await shop.service.owner.query(`update payment_intents set settle_at = now() where status = 'Authorised'`)
  await second.page.waitForFunction(`heard.some(({ eventType }) => eventType === 'SVC_PAYMENT_SUCCESS')`)
  t.match((await second.heard()).at(-1), { payload: { endToEndId: /^SVC/ } })
})

t.test("the payer's typing in the shop's own field is not interrupted", async (t) => {
  const opened = await openWidget(browser, shop)
  const { widget, page, context } = opened
  await page.evaluate(
    `document.querySelector('main').insertAdjacentHTML('afterbegin', '<label>Note <input id=note></label>')`,
  )
  await chooseBank(widget, 'Fern')
  const address = await widget.getByLabel(en.linkLabel).inputValue()
  await widget.getByRole('button', { name: en.scanned }).click()
  await widget.getByRole('heading', { name: en.processingTitle }).waitFor()
  await page.locator('#note').click()
  await page.keyboard.type('leave it ')
  const bank = await context.newPage()
  await bank.goto(address)
  await bank.getByRole('button', { name: /^Approve/ }).click()
  await bank.waitForURL(/\/payments\/return/)
  await bank.close()
  await page.bringToFront()
  await untilHeading(opened, en.paidTitle)
  t.equal(await page.evaluate('document.activeElement.id'), 'note')
  await page.keyboard.type('with a neighbour')
  t.equal(await page.locator('#note').inputValue(), 'leave it with a neighbour')
  t.equal(
    await frameOf(page).evaluate(`document.querySelector('main > [role=status]').textContent`),
    en.paidTitle,
    'but it is announced',
  )
})

t.test('once the payment is complete, nothing says that it waits', async (t) => {
  const opened = await openWidget(browser, shop)
  const { widget, page } = opened
  await chooseBank(widget, 'Leisurely Bank')
  await payAtBank(opened)
  await widget.locator('.progress').getByText('has approved the payment.').waitFor()
  await shop.service.owner.query(`update payment_intents set settle_at = now() where status = 'Authorised'`)
  await untilHeading(opened, en.paidTitle)
  const said: string[] = await frameOf(page).evaluate(
    `[...document.querySelectorAll('[role=status]')].map((e) => e.textContent)`,
  )
  t.same(
    said.filter((text) => text !== '' && text !== en.paidTitle),
    [],
  )
  await widget.getByText(en.contactTitle).click()
  await widget.getByLabel(en.contactLabel).fill('priya@home.example')
  await widget.getByRole('button', { name: en.contactSend }).click()
  await widget.getByText(en.contactKept).waitFor()
  t.equal(
    await frameOf(page).evaluate('document.activeElement.getAttribute("role")'),
    'status',
    'the focus stays with the answer',
  )
})

t.test('payers see what they pay, and a fee with further digits is rounded', async (t) => {
  await shop.service.owner.query('update merchants set fee_percentage = 0.0065, fee_flat = 0 where id = $1', [
    shop.merchant.id,
  ])
  const opened = await openWidget(browser, shop)
  const { widget } = opened
  await chooseBank(widget, 'Fern')
  const bank = await payAtBank(opened)
  await untilHeading(opened, en.paidTitle)
  await bank.getByRole('heading', { name: 'Paid' }).waitFor()
  for (const [place, fee, summary] of [
    [widget.locator('.screen'), widget.getByText('£0.33'), widget.getByText(en.shares)],
    [bank.locator('main'), bank.getByText('£0.33'), bank.getByText(en.shares)],
  ] as const) {
    t.notMatch(await place.textContent(), /0\.325|49\.675/)
    t.match(await place.textContent(), /£49\.67/)
    t.equal(await fee.isVisible(), false)
    await summary.click()
    t.equal(await fee.isVisible(), true)
  }
})

t.test('a lost connection is reported to the payer, and so is its return', async (t) => {
  const opened = await openWidget(browser, shop)
  const { widget, context } = opened
  await chooseBank(widget, 'Fern')
  const address = await widget.getByLabel(en.linkLabel).inputValue()
  await widget.getByRole('button', { name: en.scanned }).click()
  await context.setOffline(true)
  await widget.locator('.progress').getByText(en.offlineText).waitFor()
  t.equal(await widget.locator('main > [role=status]').textContent(), en.offlineText)
  await context.setOffline(false)
  await widget.locator('.progress').getByText('Approve the payment at Fern.').waitFor()
  const bank = await context.newPage()
  await bank.goto(address)
  await bank.getByRole('button', { name: /^Approve/ }).click()
  await untilHeading(opened, en.paidTitle)
})

t.test('a code that was not scanned for ten minutes says so', async (t) => {
  const { widget, page } = await openWidget(browser, shop, { prepare: (page) => page.clock.install() })
  await chooseBank(widget, 'Fern')
  await widget.getByRole('heading', { name: en.qrTitle }).waitFor()
  await page.clock.runFor(601_000)
  await widget.getByRole('heading', { name: en.waitingTitle }).waitFor()
  await widget.getByRole('button', { name: en.checkAgain }).waitFor()
  t.ok(await widget.getByRole('link', { name: /^Open Fern again/ }).isVisible())
})

t.test('a logo of this machine is shown in the sandbox', async (t) => {
  const { widget } = await openWidget(browser, shop, {
    prepare: (page) =>
      page.route('**/api/v1/checkout', async (route) => {
        const response = await route.fetch()
        const json = await response.json()
        json.branding.logo_url = `${shop.service.url}/widget/banks/mock-fern.svg`
        await route.fulfill({ response, json })
      }),
  })
  await widget.locator('.logo').waitFor()
  t.equal(await widget.locator('.logo').evaluate((image) => Reflect.get(image, 'naturalWidth')), 64)
})

const TOUCH = { isMobile: true, hasTouch: true }
const DEVICES = [
  ['phone', { viewport: { width: 390, height: 800 }, screen: { width: 390, height: 800 } }, false],
  ['tablet', { viewport: { width: 820, height: 1_180 }, screen: { width: 820, height: 1_180 } }, true],
] as const

for (const [name, sizes, isOpen] of DEVICES) {
  t.test(`a ${name} leads to the bank's app, and offers another device`, async (t) => {
    const { widget, context } = await openWidget(browser, shop, { context: { ...sizes, ...TOUCH } })
    await chooseBank(widget, 'Fern')
    await widget.getByRole('link', { name: en.openApp }).waitFor()
    t.equal(await widget.getByText(en.qrTitle).count(), 0, 'nobody scans the screen with itself')
    t.equal(await widget.locator('canvas').count(), isOpen ? 1 : 0)
    if (!isOpen) await widget.getByText(en.otherDevice).click()
    await widget.locator('canvas[width]').waitFor()
    t.match(await widget.getByLabel(en.linkLabel).inputValue(), /\/go\?state=/)
    await context.close()
  })
}
