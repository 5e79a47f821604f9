import t from 'tap'
import { openBrowser } from '../../support/browser.ts'
import { obieService } from '../../support/obie.ts'
import { openClient } from '../../support/pages.ts'

t.test("from the hosted checkout page to the bank's own page and back, in a browser", async (t) => {
  const { service, bank, merchant } = await obieService(t)
  const shop = await openClient(t)
  const context = await (await openBrowser(t)).newContext({ ignoreHTTPSErrors: true })
  context.setDefaultTimeout(15_000)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  const query = {
    amount: '12.50',
    currency: 'GBP',
    merchant: merchant.clientId,
    return_url: `${shop.url}/basket?order=7`,
  }
  const decide = async (decision: 'approve' | 'reject' | 'cancel'): Promise<void> => {
    await page.goto(`${service.url}/checkout?${new URLSearchParams(query)}`)
    await page.getByLabel('Model Bank').check()
    await page.getByRole('button', { name: 'Pay £12.50 by bank' }).click()
    await page.getByRole('heading', { name: 'Model Bank' }).waitFor()
    t.equal(new URL(page.url()).origin, bank.issuer)
    await page.click(`button[value=${decision}]`)
  }

  await decide('approve')
  await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor()
  t.equal(new URL(page.url()).origin, service.url)
  t.notMatch(page.url(), /code=|id_token=/)
  t.match((await bank.books()).payments, [{ amount: '12.50' }])
  await page.getByRole('link', { name: /^Return to / }).click()
  await page.getByRole('heading', { name: 'Back at the client' }).waitFor()
  t.equal(`${shop.received.at(-1)?.pathname}${shop.received.at(-1)?.search}`, '/basket?order=7')

  await decide('reject')
  await page.getByRole('heading', { name: 'Not paid' }).waitFor()
  t.equal((await bank.books()).payments.length, 1, 'no money moved')
  t.same(complaints, [])
})
