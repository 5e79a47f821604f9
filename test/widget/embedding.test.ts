import t from 'tap'
import { until } from '../support/app.ts'
import { openBrowser } from '../support/browser.ts'
import { frameOf, openWidget, openWidgetShop } from '../support/widget-page.ts'
import type { OpenWidget, OpenWidgetOptions } from '../support/widget-page.ts'
import { en } from '../../src/lib/locales/checkout/en.ts'

/* Pages that may not show a checkout: the developer reads why, the payer what to do. */
const shop = await openWidgetShop(t)
const browser = await openBrowser(t)

/** Every message that the page heard, and the detail of its element's events. */
const LISTENING = `window.all = []; window.failures = []
addEventListener('message', ({ data }) => all.push(data))
addEventListener('SVC_PAYMENT_FAILED', ({ detail }) => failures.push(detail))`

async function open(options: OpenWidgetOptions = {}): Promise<OpenWidget> {
  return openWidget(browser, shop, {
    ...options,
    prepare: (page) => page.addInitScript(LISTENING),
  })
}

async function explains({ page, widget, complaints }: OpenWidget, code: string, reason: RegExp): Promise<void> {
  await widget.getByRole('heading', { name: en.unusableTitle }).waitFor()
  await page.waitForFunction('failures.length > 0 && heard.some((each) => each.eventType === "SVC_PAYMENT_FAILED")')
  const detail = await page.evaluate('failures[0]')
  t.match(detail, { errorCode: code, message: reason }, "the element's event")
  t.match(await page.evaluate('heard.find((each) => each.eventType === "SVC_PAYMENT_FAILED")'), { payload: detail })
  await until(async () => complaints.length > 0)
  t.match(complaints, [reason], 'the console')
  const kinds: string[] = await page.evaluate('[...new Set(all.map((each) => each.eventType))]')
  t.same(kinds.toSorted(), ['SVC_PAYMENT_FAILED', 'SVC_RESIZE'], 'no private message reaches the page')
  t.equal(await page.getByRole('alert').count(), 0, 'it did load')
  t.equal(await widget.getByRole('alert').textContent(), en.unusableText)
}

t.test('a page that the merchant has not allowed gets the reason at once, and the command that allows it', async () => {
  await shop.service.owner.query(`update merchants set checkout_origins = '{https://shop.example}' where id = $1`, [
    shop.merchant.id,
  ])
  await explains(
    await open(),
    'CHECKOUT_ORIGIN_NOT_ALLOWED',
    new RegExp(`not allowed its checkout on ${shop.url}.*svc checkout origins add ${shop.url}`),
  )
  await shop.service.owner.query(`update merchants set checkout_origins = '{}' where id = $1`, [shop.merchant.id])
})

t.test('a mistyped client id is named', async () => {
  const tokens = [shop.token({ merchantClientId: 'acme-sevrer' })]
  await explains(await open({ tokens }), 'CHECKOUT_TOKEN_INVALID', /merchantClientId.*svc checkout token/)
})

t.test('an error of the service comes with the command that fixes it', async (t) => {
  const opened = await open({ tokens: [shop.token({ exp: 1 })] })
  await explains(opened, 'CHECKOUT_TOKEN_EXPIRED', /has expired\. Go back to the shop/)
  t.equal(await frameOf(opened.page).evaluate('document.querySelector("main").dataset.code ?? ""'), '')
})

t.test('an amount, a merchant and a hold that no bank can pay with are reported before a bank is chosen', async (t) => {
  const cases = [
    [{ amount: '2000000.00' }, 'VALIDATION_FAILED', /is above 1000000/],
    [{ amount: '0.05' }, 'AMOUNT_BELOW_FEE', /fee/],
  ] as const
  for (const [changes, code, reason] of cases)
    await explains(await open({ tokens: [shop.token(changes)] }), code, reason)
  const states = [
    [
      `payout_held = true, payout_held_at = now(), payout_held_by = 'ops'`,
      'payout_held = false, payout_held_at = null, payout_held_by = null',
      'PAYOUT_HELD',
    ],
    [`kyb_status = 'SUSPENDED'`, `kyb_status = 'APPROVED'`, 'MERCHANT_NOT_APPROVED'],
  ] as const
  for (const [set, reset, code] of states) {
    await shop.service.owner.query(`update merchants set ${set} where id = $1`, [shop.merchant.id])
    const opened = await open()
    await explains(opened, code, /can't take payments/)
    t.equal(await opened.widget.getByRole('option').count(), 0)
    await shop.service.owner.query(`update merchants set ${reset} where id = $1`, [shop.merchant.id])
  }
})
