import t from 'tap'
import { accessibilityProblems, openBrowser, openPage } from '../../support/browser.ts'
import { createPayment, testService, until } from '../../support/app.ts'

const service = await testService(t, { worker: true })
const merchant = await service.merchant()
const browser = await openBrowser(t)

/** A payment whose payer has approved it at a bank that takes its time. */
async function waiting() {
  const { body } = await createPayment(service, merchant, {
    redirect_uri: `${service.url}/payments/return`,
    scenario: 'success-slow-settle:600s',
  })
  return { id: body.payment_id, address: body.redirect_url }
}

t.test('the waiting page looks again in place, announces the end once, and keeps the focus', async (t) => {
  const { address } = await waiting()
  const { page, complaints } = await openPage(browser)
  let loads = 0
  page.on('load', () => (loads += 1))
  await page.goto(address)
  await page.getByRole('button', { name: /^Approve/ }).click()
  await page.getByRole('heading', { name: 'Waiting for your bank' }).waitFor()
  const before = loads
  t.same(await accessibilityProblems(page), [], 'axe')
  await page.getByText('How the shop is paid').click()
  await page.evaluate(`window.said = []; new MutationObserver(() => said.push(document.querySelector('[role=status]').textContent))
    .observe(document.querySelector('[role=status]'), { childList: true })`)
  await page.waitForResponse(/\/payments\/return/)
  t.ok(await page.locator('details[open]').isVisible(), 'a look without news changes nothing')
  await service.owner.query(`update payment_intents set settle_at = now() where status = 'Authorised'`)
  await page.getByRole('heading', { name: 'Paid' }).waitFor()
  t.same(await page.evaluate('said'), ['Paid'])
  t.equal(await page.title(), 'Paid')
  t.equal(loads, before, 'the page was not loaded again')
  t.same(complaints, [])
  const looks: string[] = []
  page.on('request', (request) => looks.push(request.url()))
  await page.waitForTimeout(2_500)
  t.same(looks, [], 'and it has ended')
})

t.test('a busy service and a lost connection are waited for', async (t) => {
  const { address } = await waiting()
  const { page } = await openPage(browser)
  await page.goto(address)
  await page.getByRole('button', { name: /^Approve/ }).click()
  await page.getByRole('heading', { name: 'Waiting for your bank' }).waitFor()
  let failed = 0
  await page.route('**/payments/return*', async (route) => {
    failed += 1
    await (failed % 2 === 0 ? route.abort() : route.fulfill({ status: 503, body: 'busy' }))
  })
  await until(async () => failed >= 2)
  t.ok(await page.getByRole('heading', { name: 'Waiting for your bank' }).isVisible())
  await page.unroute('**/payments/return*')
  await service.owner.query(`update payment_intents set settle_at = now() where status = 'Authorised'`)
  await page.getByRole('heading', { name: 'Paid' }).waitFor()
})

t.test('without scripts there is a link', async (t) => {
  const { address } = await waiting()
  const context = await browser.newContext({ javaScriptEnabled: false })
  const page = await context.newPage()
  await page.goto(address)
  await page.getByRole('button', { name: /^Approve/ }).click()
  await page.getByRole('heading', { name: 'Waiting for your bank' }).waitFor()
  await service.owner.query(`update payment_intents set settle_at = now() where status = 'Authorised'`)
  await until(async () => {
    await page.getByRole('link', { name: 'Check again' }).click()
    return (await page.getByRole('heading', { name: 'Paid' }).count()) === 1
  })
  t.equal(await page.getByRole('link', { name: 'Check again' }).count(), 0)
})
