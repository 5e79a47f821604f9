import t from 'tap'
import { request } from 'undici'
import { testService } from '../support/app.ts'
import { openBrowser, openPage } from '../support/browser.ts'

const service = await testService(t)
const browser = await openBrowser(t)

t.test('the API reference shows operations and webhooks, and asks no other server', async (t) => {
  const { page, complaints } = await openPage(browser)
  const others: string[] = []
  page.on('request', (each) => {
    if (!each.url().startsWith(service.url) && !each.url().startsWith('data:')) others.push(each.url())
  })
  await page.goto(`${service.url}/reference`)
  await page.getByRole('heading', { name: /svc payment acquiring API/ }).waitFor()
  await page.locator('#operations-tag-Payments').click()
  await page.getByText('Create a payment', { exact: true }).first().click()
  await page.getByText('IDEMPOTENCY_KEY_MISSING').first().waitFor()
  t.equal(await page.getByRole('button', { name: 'Try it out' }).count(), 0, 'it sends nothing')
  await page.goto(`${service.url}/reference?surface=a`)
  await page.getByRole('heading', { name: /svc Open Banking API/ }).waitFor()
  await page.locator('.opblock-tag').filter({ hasText: 'Payment orders' }).waitFor()
  t.same(others, [])
  t.same(complaints, [], 'the policy of the page allows what it needs')
  await page.context().close()
})

t.test('the page reaches its own service alone, and no page may frame it', async (t) => {
  const { headers, body } = await request(`${service.url}/reference`)
  t.match(await body.text(), '<link rel="icon" href="data:,">', 'browsers ask for no other')
  t.match(headers['content-security-policy'], /default-src 'none'.*connect-src 'self'.*frame-ancestors 'none'/)
  t.equal(headers['x-frame-options'], 'DENY')
  for (const [file, type] of [
    ['viewer.js', 'text/javascript; charset=utf-8'],
    ['viewer.css', 'text/css'],
  ] as const) {
    const answer = await request(`${service.url}/widget/reference/${file}`, { headers: { 'accept-encoding': 'gzip' } })
    await answer.body.dump()
    t.match(answer, { statusCode: 200, headers: { 'content-type': type, 'content-encoding': 'gzip' } }, file)
  }
  t.equal((await request(`${service.url}/widget/reference/../../main.js`)).statusCode, 404)
})
