import t from 'tap'
import { until } from '../support/app.ts'
import { openBrowser } from '../support/browser.ts'
import { chooseBank, openWidget, openWidgetShop, payAtBank, untilHeading } from '../support/widget-page.ts'
import type { HeardEvent } from '../support/widget-page.ts'
import { en } from '../support/english.ts'

const shop = await openWidgetShop(t)
const browser = await openBrowser(t)

function namesOf(heard: HeardEvent[]): string[] {
  return heard.map(({ eventType }) => eventType)
}

t.test('from consent to receipt, with the bank in its own tab', async (t) => {
  const opened = await openWidget(browser, shop)
  const { widget, page, complaints } = opened
  await widget.getByText('one-off payment of £50.00 from your bank to Acme.').waitFor()
  await chooseBank(widget, 'Albion Bank')
  await widget.getByText(en.safe).first().waitFor()
  await widget.getByRole('button', { name: en.copy }).click()
  await widget.getByRole('button', { name: en.copied }).waitFor()
  await payAtBank(opened)
  await untilHeading(opened, en.paidTitle)
  const [ready, chosen, paid, ...more] = await opened.heard()
  t.match(ready, {
    eventType: 'SVC_WIDGET_READY',
    payload: { screen: 'ST-01', merchantName: 'Acme', amount: '50.00', currency: 'GBP' },
  })
  t.same(chosen, { eventType: 'SVC_BANK_SELECTED', payload: { bankId: 'mock-albion', bankName: 'Albion Bank' } })
  const { transactionId, endToEndId, endToExternalId } = paid?.payload ?? {}
  t.same([paid?.eventType, endToExternalId, more.length], ['SVC_PAYMENT_SUCCESS', endToEndId, 0])
  const { body } = await shop.service.call('GET', `/api/v1/payments/${String(transactionId)}`, {
    merchant: shop.merchant,
  })
  t.match(body, { status: 'Settled', end_to_end_id: endToEndId, debtor_bank_id: 'mock-albion' })
  await widget.getByText(en.shares).click()
  for (const text of [body.end_to_end_id, '£0.70', '£49.30']) t.ok(await widget.getByText(text).isVisible(), text)

  const opening = opened.context.waitForEvent('page')
  await widget.getByRole('link', { name: en.print }).click()
  const receipt = await opening
  await receipt.getByRole('heading', { name: 'Paid', exact: true }).waitFor()
  await receipt.emulateMedia({ media: 'print' })
  for (const text of [body.end_to_end_id, 'To Acme.'])
    t.ok(await receipt.getByText(text).isVisible(), `on paper: ${text}`)
  t.same([await receipt.getByRole('link').count(), await receipt.getByText('print this page').isVisible()], [0, false])
  await receipt.close()

  await widget.getByText(en.contactTitle).click()
  await widget.getByLabel(en.contactLabel).fill('not an address')
  await widget.getByRole('button', { name: en.contactSend }).click()
  await widget.getByText(en.contactWrong).waitFor()
  await widget.getByLabel(en.contactLabel).fill('priya@home.example')
  await widget.getByRole('button', { name: en.contactSend }).click()
  await widget.getByText(en.contactKept).waitFor()

  await widget.getByRole('link', { name: 'Return to Acme' }).click()
  await page.waitForURL(`${shop.url}/thanks`)
  t.same(complaints, [])
})

t.test('cancelling on each screen notifies the shop and leads back to it', async (t) => {
  for (const screen of ['ST-01', 'ST-02', 'ST-03', 'ST-05']) {
    const opened = await openWidget(browser, shop, { attributes: { noRedirect: true } })
    const { widget, page } = opened
    if (screen === 'ST-02') await widget.getByRole('button', { name: en.continue }).click()
    if (screen === 'ST-03') {
      await chooseBank(widget, 'Fern')
      await widget.getByRole('heading', { name: en.qrTitle }).waitFor()
    }
    if (screen === 'ST-05') {
      await chooseBank(widget, 'Empty Purse Bank')
      await payAtBank(opened)
      await untilHeading(opened, en.failedTitle)
    }
    await widget.getByRole('link', { name: 'Cancel and return to Acme' }).click()
    await widget.getByRole('heading', { name: en.leftTitle }).waitFor()
    const last = (await opened.heard()).at(-1)
    const payload = last?.payload ?? {}
    t.match([last?.eventType, payload], ['SVC_PAYMENT_CANCELLED', { screen, returnUrl: `${shop.url}/thanks` }])
    t.equal(typeof payload['transactionId'], screen === 'ST-03' || screen === 'ST-05' ? 'string' : 'object')
    if (screen === 'ST-03' || screen === 'ST-05') {
      const path = `/api/v1/payments/${String(payload['transactionId'])}`
      const { body } = await shop.service.call('GET', path, { merchant: shop.merchant })
      const failure = screen === 'ST-03' ? { code: 'ACCESS_DENIED', source: 'PAYER' } : { code: 'INSUFFICIENT_FUNDS' }
      t.match(body, { status: 'Failed', failure }, screen)
    }
    await page.close()
  }
  const { widget, page } = await openWidget(browser, shop)
  await widget.getByRole('link', { name: 'Cancel and return to Acme' }).click()
  await page.waitForURL(`${shop.url}/thanks`)
})

t.test('a cancel slower than the bank leads to the receipt', async (t) => {
  const opened = await openWidget(browser, shop)
  const { widget, context } = opened
  await chooseBank(widget, 'Fern')
  const address = await widget.getByLabel(en.linkLabel).inputValue()
  // The bank page's answer is held against the widget's own looks: the payer presses cancel first.
  await opened.page.route('**/api/v1/payments/*', (route) => route.abort())
  const bank = await context.newPage()
  await bank.goto(address)
  await bank.getByRole('button', { name: /^Approve/ }).click()
  await bank.waitForURL(/\/payments\/return/)
  await widget.getByRole('link', { name: 'Cancel and return to Acme' }).click()
  await widget.getByRole('heading', { name: en.processingTitle }).waitFor()
  await opened.page.unroute('**/api/v1/payments/*')
  await untilHeading(opened, en.paidTitle)
  t.notOk(namesOf(await opened.heard()).includes('SVC_PAYMENT_CANCELLED'))
})

t.test('each failure shows its reason, and a retry with another bank succeeds', async (t) => {
  const opened = await openWidget(browser, shop)
  const { widget, complaints } = opened
  await widget.getByRole('button', { name: en.continue }).click()
  const failing = [
    ['Doubtful Bank', 'AUTHORISATION_FAILED', en.again],
    ['Empty Purse Bank', 'INSUFFICIENT_FUNDS', en.otherBank],
    ['Modest Bank', 'LIMIT_EXCEEDED', en.again],
    ['Watchful Bank', 'FRAUD_SUSPECTED', en.otherBank],
  ] as const
  for (const [bank, code, retry] of failing) {
    await widget.getByRole('option', { name: bank }).click()
    await (await payAtBank(opened)).close()
    await untilHeading(opened, en.failedTitle)
    await widget.getByText(en.failures[code]).waitFor()
    t.ok(await widget.getByText(en.nothingTaken).isVisible())
    t.same((await opened.heard()).at(-1), { eventType: 'SVC_PAYMENT_FAILED', payload: { errorCode: code } })
    await widget.getByRole('button', { name: retry }).click()
    await widget.getByRole('heading', { name: en.banksTitle }).waitFor()
  }
  await widget.getByRole('option', { name: 'Meridian' }).click()
  await (await payAtBank(opened, 'Cancel')).close()
  await untilHeading(opened, en.failedTitle)
  await widget.getByText(en.failures.ACCESS_DENIED).waitFor()
  await widget.getByRole('button', { name: en.again }).click()
  await widget.getByRole('option', { name: 'Meridian' }).click()
  await payAtBank(opened)
  await untilHeading(opened, en.paidTitle)
  t.same(complaints, [])
})

t.test('an unavailable and an unresponsive bank: no claim about the money', async (t) => {
  const opened = await openWidget(browser, shop)
  const { widget } = opened
  await widget.getByRole('button', { name: en.continue }).click()
  const silent = [
    ['Sleepy Bank', 'BANK_UNAVAILABLE', 1],
    ['Tortoise Bank', 'BANK_TIMEOUT', 0],
  ] as const
  for (const [bank, code, claims] of silent) {
    await widget.getByRole('option', { name: bank }).click()
    await payAtBank(opened)
    // The service gives the bank time between its questions, which nobody here needs.
    const hurry = setInterval(() => {
      void shop.service.owner.query(`update payment_intents set settle_at = now() where status = 'Authorised'`)
    }, 200)
    await untilHeading(opened, en.failedTitle).finally(() => clearInterval(hurry))
    // The screen may be shown again, with what the service says of the failure.
    await widget.getByText(en.failures[code]).waitFor()
    t.equal(await widget.getByText(en.nothingTaken).count(), claims, code)
    await widget.getByRole('button', { name: en.again }).click()
    await widget.getByRole('heading', { name: en.banksTitle }).waitFor()
  }
})

t.test('a paid order is not paid again', async (t) => {
  const token = shop.token()
  const first = await openWidget(browser, shop, { tokens: [token] })
  await chooseBank(first.widget, 'Fern')
  await payAtBank(first)
  await untilHeading(first, en.paidTitle)
  const second = await openWidget(browser, shop, { tokens: [token] })
  // Asked before it was paid, the service would have said so: a page that was open since then.
  const stale = await openWidget(browser, shop, {
    tokens: [token],
    prepare: (page) =>
      page.route('**/api/v1/checkout', async (route) => {
        const response = await route.fetch()
        await route.fulfill({ response, json: { ...(await response.json()), is_paid: false } })
      }),
  })
  await chooseBank(stale.widget, 'Fern')
  for (const opened of [second, stale]) {
    const { widget } = opened
    await widget.getByRole('heading', { name: en.paidBeforeTitle }).waitFor()
    await widget.getByText(en.paidBeforeText).waitFor()
    t.equal(await widget.locator('.bad').count(), 0, 'it does not look like a failure')
    t.equal(await widget.locator('.screen button').count(), 0)
    t.equal(await widget.getByText(en.nothingTaken).count(), 0)
    await widget.getByRole('link', { name: 'Return to Acme' }).click()
    await opened.page.waitForURL(`${shop.url}/thanks`)
  }
})

t.test('a paid order is no failure for the shop', async (t) => {
  const opened = await openWidget(browser, shop, {
    prepare: (page) =>
      page.route('**/api/v1/checkout', async (route) => {
        const response = await route.fetch()
        await route.fulfill({ response, json: { ...(await response.json()), is_paid: true } })
      }),
    attributes: { noRedirect: true },
  })
  await opened.widget.getByRole('link', { name: 'Return to Acme' }).click()
  await opened.widget.getByRole('heading', { name: en.leftTitle }).waitFor()
  t.match(await opened.heard(), [{ payload: { screen: 'ST-05' } }, { eventType: 'SVC_RETURN' }])
  t.same(namesOf(await opened.heard()), ['SVC_WIDGET_READY', 'SVC_RETURN'], 'neither a failure nor a cancel')
})

t.test('too many attempts are for the shop to resolve', async (t) => {
  const opened = await openWidget(browser, shop, {
    prepare: (page) =>
      page.route('**/api/v1/payments', (route) =>
        route.fulfill({ status: 409, json: { error: 'tried too many times', code: 'CHECKOUT_ATTEMPTS_USED' } }),
      ),
  })
  await chooseBank(opened.widget, 'Fern')
  await opened.widget.getByText(en.failures.CHECKOUT_ATTEMPTS_USED).waitFor()
  t.equal(await opened.widget.getByRole('button', { name: en.again }).count(), 0)
  t.match((await opened.heard()).at(-1), { payload: { errorCode: 'CHECKOUT_ATTEMPTS_USED' } })
})

t.test('a checkout restarted in another window does not blame the bank', async (t) => {
  const tokens = [shop.token()]
  const first = await openWidget(browser, shop, { tokens })
  await chooseBank(first.widget, 'Fern')
  await first.widget.getByRole('heading', { name: en.qrTitle }).waitFor()
  const second = await openWidget(browser, shop, { tokens })
  await chooseBank(second.widget, 'Fern')
  await second.widget.getByRole('heading', { name: en.qrTitle }).waitFor()
  await untilHeading(first, en.failedTitle)
  await first.widget.getByText(en.failures.PAYER_CANCELLED).waitFor()
  t.ok(await first.widget.getByText(en.nothingTaken).isVisible())
  t.equal(await first.widget.getByText(en.failures.ACCESS_DENIED).count(), 0)
  await payAtBank(second)
  await untilHeading(second, en.paidTitle)
})

t.test('an expired and an altered token are rejected with an explanation', async (t) => {
  const ended = await openWidget(browser, shop, { tokens: [shop.token({ exp: 1 })] })
  await ended.widget.getByRole('heading', { name: en.unusableTitle }).waitFor()
  t.match(await ended.widget.locator('details').textContent(), /expired\..* CHECKOUT_TOKEN_EXPIRED/)
  const changed = await openWidget(browser, shop, { tokens: [`${shop.token()}.${'0'.repeat(64)}`] })
  await changed.widget.getByRole('heading', { name: en.unusableTitle }).waitFor()
  t.match(await changed.widget.locator('details').textContent(), /signature.* CHECKOUT_TOKEN_INVALID/i)
  for (const [opened, errorCode] of [
    [ended, 'CHECKOUT_TOKEN_EXPIRED'],
    [changed, 'CHECKOUT_TOKEN_INVALID'],
  ] as const) {
    t.equal(await opened.widget.getByRole('alert').textContent(), en.unusableText, 'the payer comes first')
    await until(async () => (await opened.heard()).length > 0)
    t.match(await opened.heard(), [
      { eventType: 'SVC_PAYMENT_FAILED', payload: { errorCode, message: /^The checkout/ } },
    ])
  }
})

t.test('an unreachable service can be retried', async (t) => {
  const opened = await openWidget(browser, shop, {
    prepare: (page) => page.route('**/api/v1/**', (route) => route.abort()),
  })
  const { widget, page } = opened
  await widget.getByText(en.failures.NETWORK).waitFor()
  await page.unroute('**/api/v1/**')
  await widget.getByRole('button', { name: en.again }).click()
  await widget.getByRole('button', { name: en.continue }).click()
  await page.route('**/api/v1/payments', (route) => route.abort())
  await widget.getByRole('option', { name: 'Fern' }).click()
  await widget.getByText(en.failures.NETWORK).waitFor()
  t.same((await opened.heard()).at(-1), { eventType: 'SVC_PAYMENT_FAILED', payload: { errorCode: 'NETWORK' } })
  await page.unroute('**/api/v1/payments')
  await widget.getByRole('button', { name: en.again }).click()
  await widget.getByRole('option', { name: 'Fern' }).click()
  await widget.getByRole('heading', { name: en.qrTitle }).waitFor()
})

t.test('a contact that does not reach the service is not called wrong, and can be sent again', async (t) => {
  const opened = await openWidget(browser, shop)
  const { widget, page } = opened
  await chooseBank(widget, 'Fern')
  await payAtBank(opened)
  await untilHeading(opened, en.paidTitle)
  await widget.getByText(en.contactTitle).click()
  const field = widget.getByLabel(en.contactLabel)
  await field.fill('priya@home.example')
  await page.route('**/contact', (route) => route.abort())
  await widget.getByRole('button', { name: en.contactSend }).click()
  await widget.getByText(en.failures.NETWORK).waitFor()
  t.equal(await field.getAttribute('aria-invalid'), 'false')
  await page.unroute('**/contact')
  await widget.getByRole('button', { name: en.contactSend }).click()
  await widget.getByText(en.contactKept).waitFor()
})
