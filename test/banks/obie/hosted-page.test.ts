import t from 'tap'
import { until } from '../../support/app.ts'
import { PATIENCE_MS, openBrowser } from '../../support/browser.ts'
import { bothVersions, obieService } from '../../support/obie.ts'
import { openClient } from '../../support/pages.ts'

t.test("from the hosted checkout page to the bank's own page and back, in a browser, in both versions", async (t) => {
  const { service, bank, merchant } = await obieService(t, bothVersions)
  const shop = await openClient(t)
  const context = await (await openBrowser(t)).newContext({ ignoreHTTPSErrors: true })
  context.setDefaultTimeout(PATIENCE_MS)
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
  for (const [version, name] of [
    ['4.0', 'Model Bank'],
    ['3.1', 'Bank of 3.1'],
  ] as const) {
    const decide = async (decision: 'approve' | 'reject' | 'cancel'): Promise<void> => {
      await page.goto(`${service.url}/checkout?${new URLSearchParams(query)}`)
      await page.getByLabel(name).check()
      await page.getByRole('button', { name: 'Pay £12.50 by bank' }).click()
      await page.getByRole('heading', { name: 'Model Bank' }).waitFor()
      t.equal(new URL(page.url()).origin, bank.issuer)
      await page.click(`button[value=${decision}]`)
    }
    const ordered = async (): Promise<number> => (await bank.books()).payments.length
    const before = await ordered()
    const seen = bank.exchanges.length

    await decide('approve')
    await page.getByRole('heading', { name: 'Back at the client' }).waitFor()
    t.notMatch(page.url(), /code=|id_token=/)
    // The worker orders it, whatever the payer looks at.
    await until(async () => (await ordered()) > before)
    t.equal(await ordered(), before + 1)
    t.same([...new Set(bank.exchanges.slice(seen).map((each) => each.version))], [version])
    const { pathname, search } = shop.received.at(-1) ?? {}
    t.match(`${pathname}${search}`, /^\/basket\?order=7&payment_id=[\w-]+&payment_result=[\w-]+\.[0-9a-f]{64}$/)

    await decide('reject')
    await page.getByRole('heading', { name: 'Not paid' }).waitFor()
    t.equal(await ordered(), before + 1, 'no money moved')
  }
  t.same(complaints, [])
})
