import { once } from 'node:events'
import { createServer } from 'node:http'
import t from 'tap'
import { accessibilityProblems, openBrowser } from '../support/browser.ts'
import { startTestBank } from '../support/model-bank.ts'
import { authoriseAddress, makeRegisteredClient, paymentConsent, stage } from './client.ts'

t.test('a payer without a certificate approves in a real browser, and comes back in the fragment', async (t) => {
  const shop = createServer((_req, res) => res.end('back at the shop')).listen(0, '127.0.0.1')
  t.teardown(() => shop.close())
  await once(shop, 'listening')
  const address = shop.address()
  const redirectUri = `http://127.0.0.1:${typeof address === 'object' ? String(address?.port) : ''}/bank/return`
  const bank = await startTestBank(t, { redirectUris: [redirectUri] })
  const client = await makeRegisteredClient(bank, { redirect_uris: [redirectUri] })
  const browser = await openBrowser(t)
  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  const page = await context.newPage()

  const name = '<b>A & Co</b>'
  const creditor = { SchemeName: 'UK.OBIE.SortCodeAccountNumber', Identification: '20000055779911', Name: name }
  const consentId = await stage(client, paymentConsent({ CreditorAccount: creditor }))
  await page.goto(await authoriseAddress(client, consentId, { redirect_uri: redirectUri }))
  t.match(await page.textContent('main'), `Pay GBP 12.50 to ${name}, account 20000055779911.`)
  t.equal(await page.locator('link[rel=icon]').getAttribute('href'), 'data:,', 'no icon is asked for')
  t.same(await accessibilityProblems(page), [])
  await page.selectOption('select', '20000033334444')
  await page.click('button[value=approve]')
  await page.waitForURL(`${redirectUri}*`)
  t.match(new URL(page.url()).hash, /^#code=.+&id_token=.+&state=state-of-the-payment/)
  t.match((await bank.books()).consents, [{ status: 'authorised', account: { Identification: '20000033334444' } }])

  const next = await stage(client)
  await page.goto(await authoriseAddress(client, next, { redirect_uri: redirectUri }))
  t.match(await page.textContent('h1'), 'Model Bank', 'the same browser decides on each payment by itself')
  await page.click('button[value=reject]')
  await page.waitForURL(`${redirectUri}*`)
  t.match(new URL(page.url()).hash, /^#error=access_denied/)
})
