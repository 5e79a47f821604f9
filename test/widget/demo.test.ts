import { mkdirSync } from 'node:fs'
import t from 'tap'
import { ensureDemoMerchant } from '../../src/sandbox/seed-merchant.ts'
import { testService } from '../support/app.ts'
import { openBrowser, openPage } from '../support/browser.ts'
import { isGood } from '../support/pages.ts'

const service = await testService(t)
await ensureDemoMerchant(service.app)
const browser = await openBrowser(t)
const { port } = new URL(service.url)
const LOOKED_AT = process.env['SVC_TEST_SCREENSHOTS']

for (const [name, twin] of [
  ['127.0.0.1', 'localhost'],
  ['localhost', '127.0.0.1'],
]) {
  t.test(`the demo at ${name} shows the checkout of ${twin}`, async (t) => {
    const watched = await openPage(browser)
    const { page } = watched
    await page.goto(`http://${name}:${port}/widget-demo.html`)
    const events = page.locator('#events li')
    await events.filter({ hasText: 'SVC_WIDGET_READY' }).waitFor()
    t.match(await page.locator('iframe').getAttribute('src'), `http://${twin}:${port}/widget/index.html`)
    t.match(await page.frameLocator('iframe').locator('main').innerText(), /12\.50/)
    const theme = page.frameLocator('iframe').locator('html')
    t.equal(await theme.getAttribute('data-theme'), 'auto', 'the demo is light and dark')
    const snippet = await page.locator('#snippet').textContent()
    t.match(snippet, `src="http://${twin}:${port}/v1/checkout.js"`)
    t.match(snippet, 'data-container-id="checkout-container"')
    const [, token = ''] = /data-checkout-token="(.+?)"/.exec(snippet ?? '') ?? []
    t.match(JSON.parse(Buffer.from(token, 'base64').toString('utf8')), { apiUrl: `http://${twin}:${port}/api/v1` })
    if (LOOKED_AT !== undefined) {
      mkdirSync(LOOKED_AT, { recursive: true })
      await page.screenshot({ path: `${LOOKED_AT}/demo-whole.png`, fullPage: true })
    }
    await isGood(t, watched, `demo-${name}`)
    await page.context().close()
  })
}

t.test("the form creates a new order, and the log shows the payer's events", async (t) => {
  const { page, complaints } = await openPage(browser)
  await page.goto(`http://127.0.0.1:${port}/widget-demo.html`)
  const frame = page.frameLocator('iframe')
  await frame.getByRole('button', { name: 'Continue' }).waitFor()
  await page.getByLabel('Amount').fill('77.40')
  await page.getByLabel('Language').selectOption('en')
  await page.getByLabel('Stay on this page').check()
  const before = await page.locator('#snippet').textContent()
  await page.getByRole('button', { name: 'Show the checkout' }).click()
  await frame.getByText('77.40').first().waitFor()
  t.not(await page.locator('#snippet').textContent(), before)
  t.match(await page.locator('#snippet').textContent(), /data-locale="en"\n {2}data-no-redirect\n/)
  await frame.getByRole('button', { name: 'Continue' }).click()
  await frame.getByRole('option', { name: 'Fern' }).click()
  await page.locator('#events li').filter({ hasText: '{"bankId":"mock-fern","bankName":"Fern"}' }).waitFor()
  await page.getByLabel('fast path').check()
  await page.getByRole('button', { name: 'Show the checkout' }).click()
  await page.locator('#events li').filter({ hasText: '"screen":"ST-03"' }).waitFor()
  t.same(complaints, [])
})

t.test('the snippet can be copied', async (t) => {
  const { page, context } = await openPage(browser)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.goto(`http://127.0.0.1:${port}/widget-demo.html`)
  await page.locator('#snippet').filter({ hasText: 'script' }).waitFor()
  await page.getByRole('button', { name: 'Copy', exact: true }).click()
  await page.getByText('Copied.').waitFor()
  t.equal(await page.evaluate('navigator.clipboard.readText()'), await page.locator('#snippet').textContent())
})
