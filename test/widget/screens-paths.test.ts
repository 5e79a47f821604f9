import t from 'tap'
import { openBrowser } from '../support/browser.ts'
import { chooseBank, frameOf, openWidget, openWidgetShop, payAtBank, untilHeading } from '../support/widget-page.ts'
import { en } from '../../src/lib/locales/checkout/en.ts'

const shop = await openWidgetShop(t)
const browser = await openBrowser(t)

const PHONE = { viewport: { width: 390, height: 800 }, isMobile: true, hasTouch: true }
const FAST = { debtorAccountScheme: 'UK.OBIE.SortCodeAccountNumber', debtorIdentification: '20000055779911' }
/** An account whose sort code names no bank. */
const UNKNOWN = { ...FAST, debtorIdentification: '99000055779911' }
const PREFERENCE = 'service_bank_preference'

t.test('a phone gets a link to the bank, and no cancel afterwards', async (t) => {
  const opened = await openWidget(browser, shop, { context: PHONE })
  const { widget, complaints } = opened
  await chooseBank(widget, 'Fern')
  await widget.getByText('Approve £50.00 to Acme with Fern.').waitFor()
  t.equal(await widget.locator('canvas').count(), 0)
  const link = widget.getByRole('link', { name: en.openApp })
  t.same([await link.getAttribute('target'), await link.getAttribute('rel')], ['_blank', 'noopener'])
  const bank = await payAtBank(opened, 'Approve', en.openApp)
  t.equal(await bank.evaluate('window.opener'), null)
  t.equal(await widget.getByText(/^Cancel/).count(), 0)
  await untilHeading(opened, en.paidTitle)
  t.same(complaints, [])
})

t.test("the fast path starts at the bank: the one of the account's sort code, or the last one used", async (t) => {
  const first = await openWidget(browser, shop, { tokens: [shop.token(FAST)] })
  await first.widget.getByText('approve £50.00 to Acme with Albion Bank.').waitFor()
  t.match(await first.heard(), [{ eventType: 'SVC_WIDGET_READY', payload: { screen: 'ST-03' } }])
  await first.widget.getByRole('link', { name: 'Cancel and return to Acme' }).waitFor()

  const usual = await openWidget(browser, shop)
  await chooseBank(usual.widget, 'Banc y Ddraig')
  await payAtBank(usual)
  await untilHeading(usual, en.paidTitle)
  const known = await openWidget(browser, shop, { tokens: [shop.token(FAST)], sameWindow: usual.context })
  await known.widget.getByText('approve £50.00 to Acme with Albion Bank.').waitFor()
  const again = await openWidget(browser, shop, { tokens: [shop.token(UNKNOWN)], sameWindow: usual.context })
  await again.widget.getByText('approve £50.00 to Acme with Banc y Ddraig.').waitFor()

  const kept = await frameOf(again.page).evaluate(`Promise.resolve({ ...localStorage })`)
  const preference = JSON.parse((kept as Record<string, string>)[PREFERENCE] ?? '{}')
  t.same(Object.keys(preference), ['lastUsedBankId', 'lastUsedTimestamp', 'payerFingerprint'])
  t.match(preference, { lastUsedBankId: 'mock-ddraig', lastUsedTimestamp: /Z$/, payerFingerprint: /^[0-9a-f]{64}$/ })

  const quick = await openWidget(browser, shop, { sameWindow: usual.context })
  await quick.widget.getByRole('button', { name: en.otherBank }).click()
  await quick.widget.getByRole('heading', { name: en.banksTitle }).waitFor()
  await quick.widget.getByRole('button', { name: 'Pay with Banc y Ddraig' }).click()
  await quick.widget.getByText('with Banc y Ddraig.').waitFor()
})

t.test('the fast path asks for the bank where neither the sort code nor this browser knows it', async (t) => {
  const { widget, ...opened } = await openWidget(browser, shop, { tokens: [shop.token(UNKNOWN)] })
  await widget.getByRole('heading', { name: en.banksTitle }).waitFor()
  t.match(await opened.heard(), [{ eventType: 'SVC_WIDGET_READY', payload: { screen: 'ST-02' } }])
  await widget.getByRole('option', { name: 'Fern' }).click()
  await widget.getByText('approve £50.00 to Acme with Fern.').waitFor()
})

t.test('another bank can be chosen at ST-03 and ST-04, and the first payment can no longer be paid', async (t) => {
  const opened = await openWidget(browser, shop, { tokens: [shop.token(FAST)] })
  const { widget, context, complaints } = opened
  const first = await widget.getByLabel(en.linkLabel).inputValue()
  await widget.getByRole('button', { name: en.otherBank }).click()
  await widget.getByRole('heading', { name: en.banksTitle }).waitFor()
  await widget.getByRole('option', { name: 'Meridian' }).click()
  await widget.getByText('with Meridian.').waitFor()
  await widget.getByRole('button', { name: en.scanned }).click()
  await widget.getByRole('button', { name: en.otherBank }).click()
  await widget.getByRole('option', { name: 'Fern' }).click()
  await payAtBank(opened)
  await untilHeading(opened, en.paidTitle)
  const chosen = (await opened.heard()).filter(({ eventType }) => eventType === 'SVC_BANK_SELECTED')
  t.same(
    chosen.map(({ payload }) => payload['bankName']),
    ['Meridian', 'Fern'],
  )
  const late = await context.newPage()
  await late.goto(first)
  t.equal(await late.getByRole('button', { name: /^Approve/ }).count(), 0)
  t.same(complaints, [])
})

t.test('a payer who has approved can no longer choose another bank', async (t) => {
  const opened = await openWidget(browser, shop)
  const { widget, page, context } = opened
  await chooseBank(widget, 'Leisurely Bank')
  const address = await widget.getByLabel(en.linkLabel).inputValue()
  await widget.getByRole('button', { name: en.scanned }).click()
  // The widget does not know yet that the payer has approved.
  await page.route('**/api/v1/payments/*', (route) => route.abort())
  const bank = await context.newPage()
  await bank.goto(address)
  await bank.getByRole('button', { name: /^Approve/ }).click()
  await bank.waitForURL(/\/payments\/return/)
  await widget.getByRole('button', { name: en.otherBank }).click()
  await widget.getByRole('heading', { name: en.processingTitle }).waitFor()
  await page.unroute('**/api/v1/payments/*')
  await widget.locator('.progress').getByText('has approved the payment.').waitFor()
  t.equal(await widget.getByRole('button', { name: en.otherBank }).count(), 0)
})

t.test('without storage, or with invalid data in it, everything works and no bank is suggested', async (t) => {
  const blocked =
    "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError') } })"
  const { widget, page, context, complaints } = await openWidget(browser, shop, {
    prepare: (_page, context) => context.addInitScript(blocked),
  })
  await chooseBank(widget, 'Fern')
  await payAtBank({ widget, context })
  await untilHeading({ page }, en.paidTitle)
  t.same(complaints, [])

  const nonsense = ['{', '"text"', 'null', '{"lastUsedBankId":{}}', '{"lastUsedBankId":"no-bank"}']
  const other = await openWidget(browser, shop)
  for (const text of nonsense) {
    await frameOf(other.page).evaluate(`localStorage.setItem('${PREFERENCE}', ${JSON.stringify(text)})`)
    await other.page.reload()
    await other.widget.getByRole('button', { name: en.continue }).click()
    await other.widget.getByRole('option', { name: 'Fern' }).waitFor()
    t.equal(await other.widget.locator('.quick').count(), 0, text)
  }
  t.same(other.complaints, [])
})

t.test('with partitioned storage each shop remembers its own bank', async (t) => {
  // Playwright switches the parting off; of two such flags the last one counts.
  const parting = await openBrowser(t, ['--disable-features=HttpsUpgrades,OptimizationHints'])
  const { widget, page, context, complaints } = await openWidget(parting, shop)
  await chooseBank(widget, 'Fern')
  await payAtBank({ widget, context })
  await untilHeading({ page }, en.paidTitle)

  const quickOf = async (url: string): Promise<number> => {
    const token = shop.token({ callbackOrigin: url, returnUrl: `${url}/thanks` })
    const opened = await openWidget(parting, { ...shop, url }, { tokens: [token], sameWindow: context })
    await opened.widget.getByRole('heading', { name: en.consentTitle }).waitFor()
    t.same(opened.complaints, [])
    return opened.widget.getByRole('button', { name: 'Pay with Fern' }).count()
  }
  t.equal(await quickOf(shop.url), 1, 'the shop where the bank was used')
  t.equal(await quickOf(shop.url.replace('localhost', '127.0.0.1')), 0, 'another site')
  t.same(complaints, [])
})

t.test('everything works with the keyboard only', async (t) => {
  const opened = await openWidget(browser, shop)
  const { page, widget, context, complaints } = opened
  const focused = async (): Promise<string> =>
    String(await frameOf(page).evaluate('document.activeElement.id || document.activeElement.innerText'))
  const tabTo = async (name: string): Promise<void> => {
    for (let step = 0; step < 40; step += 1) {
      if ((await focused()).startsWith(name)) return
      await page.keyboard.press('Tab')
    }
    throw new Error(`Tab does not lead to ${name}`)
  }
  await widget.getByRole('button', { name: en.continue }).waitFor()
  t.equal(await page.evaluate('document.activeElement === document.body'), true, 'the shop keeps the focus at first')
  await tabTo(en.continue)
  await page.keyboard.press('Enter')
  await widget.getByRole('heading', { name: en.banksTitle }).waitFor()
  t.equal(await focused(), en.banksTitle, 'a new screen is read from its heading')
  await tabTo('search')
  await page.keyboard.type('BÂNK')
  await widget.getByText('9 banks found').waitFor()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type('<b>')
  await widget.getByText(en.noneFound).waitFor()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.press('Backspace')
  await page.keyboard.press('ArrowDown')
  const walked = []
  for (const key of ['End', 'ArrowDown', 'ArrowUp', 'Home', 'ArrowUp', 'ArrowDown', 's', 'e']) {
    await page.keyboard.press(key)
    walked.push((await focused()).split('\n').at(-1)?.split(' ')[0])
  }
  const [tortoise, sleepy] = ['Tortoise', 'Sleepy']
  t.same(walked, [tortoise, tortoise, sleepy, 'Albion', 'Albion', 'Meridian', 'Severn', 'Severn'])
  await page.keyboard.press('Enter')
  await widget.getByRole('heading', { name: en.qrTitle }).waitFor()
  await tabTo(en.thisBrowser)
  const tab = context.waitForEvent('page')
  await page.keyboard.press('Enter')
  const bank = await tab
  await bank.getByRole('button', { name: /^Approve/ }).press('Enter')
  await bank.waitForURL(/\/payments\/return/)
  await untilHeading(opened, en.paidTitle)
  await tabTo('Return to Acme')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${shop.url}/thanks`)
  t.same(complaints, [])
})

t.test('two checkouts on a page are independent', async (t) => {
  const tokens = [shop.token({ amount: '10.00' }), shop.token({ amount: '20.00' })]
  const { page, widget, context, complaints } = await openWidget(browser, shop, { tokens })
  const second = page.frameLocator('#pay-1 iframe')
  await widget.getByText('payment of £10.00').waitFor()
  await second.getByText('payment of £20.00').waitFor()
  await chooseBank(second, 'Fern')
  await payAtBank({ widget: second, context })
  await second.getByRole('heading', { name: en.paidTitle }).waitFor()
  t.ok(await widget.getByRole('heading', { name: en.consentTitle }).isVisible())
  t.same(complaints, [])
})

t.test('ST-04 polls for two minutes and then waits', async (t) => {
  const opened = await openWidget(browser, shop, { prepare: (page) => page.clock.install() })
  const { page, widget, context } = opened
  await chooseBank(widget, 'Fern')
  const address = await widget.getByLabel(en.linkLabel).inputValue()
  await widget.getByRole('button', { name: en.scanned }).click()
  await widget.getByRole('heading', { name: en.processingTitle }).waitFor()
  t.equal(await widget.getByText(/^Cancel/).count(), 0)
  const held = page.waitForEvent('dialog')
  await page.close({ runBeforeUnload: true })
  t.equal((await held).type(), 'beforeunload', 'the browser asks before the page is closed')

  let looks = 0
  page.on('request', (request) => (looks += /\/payments\/[^/]+$/.test(request.url()) ? 1 : 0))
  await page.clock.runFor(121_000)
  await widget.getByRole('heading', { name: en.waitingTitle }).waitFor()
  t.ok(looks > 0 && looks <= 48, `${looks} looks`)
  const before = looks
  await page.clock.runFor(60_000)
  t.ok(looks <= before + 1, 'nothing is asked any more, after one look at the end')

  const bank = await context.newPage()
  await bank.goto(address)
  await bank.getByRole('button', { name: /^Approve/ }).click()
  await bank.waitForURL(/\/payments\/return/)
  await widget.getByRole('button', { name: en.checkAgain }).click()
  await untilHeading(opened, en.paidTitle)
})

t.test('an authorised payment is not shown as success: the bank may still reject it', async (t) => {
  const opened = await openWidget(browser, shop)
  const { widget } = opened
  await chooseBank(widget, 'Leisurely Bank')
  await payAtBank(opened)
  await widget.locator('.screen').getByText('has approved the payment.').waitFor()
  t.equal(await widget.getByRole('link', { name: /^Open/ }).count(), 0)
  t.match((await opened.heard()).at(-1), { eventType: 'SVC_BANK_SELECTED' })
  t.match(await widget.getByRole('status').textContent(), /has approved the payment/, 'and it is read out')
})

t.test('scanning the code elsewhere advances the screen', async (t) => {
  const { widget, context, complaints } = await openWidget(browser, shop)
  await chooseBank(widget, 'Fern')
  const address = await widget.getByLabel(en.linkLabel).inputValue()
  const phone = await context.newPage()
  await phone.goto(address)
  await phone.getByRole('button', { name: /^Approve/ }).click()
  await widget.getByRole('heading', { name: en.paidTitle }).waitFor()
  t.same(complaints, [])
})
