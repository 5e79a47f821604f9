import t from 'tap'
import { openBrowser, openPage } from '../support/browser.ts'
import { hubService, nextLink, paidBy, PAYER } from '../support/hub.ts'
import { isGood } from '../support/pages.ts'

/* The whole way through the payer hub, in a real browser. */
const service = await hubService(t)
const browser = await openBrowser(t)
const acme = await service.merchant()
const paid = await paidBy(service, acme, {
  amount: '71.25',
  remittance_reference: 'ORDER 1042',
  debtor_bank_id: 'mock-fern',
})

t.test('a payer requests a link, signs in, reads the receipt, disputes and sees the dispute', async (t) => {
  const watched = await openPage(browser)
  const { page } = watched
  await page.goto(`${service.url}/hub`)
  await isGood(t, watched, 'hub-sign-in')

  await page.getByLabel('E-mail address').fill(PAYER)
  await page.getByRole('button', { name: 'Send me a link' }).click()
  await page.getByText('If we know this address, we have sent a link to it').waitFor()
  await page.getByText('svc sandbox mail').waitFor()
  await isGood(t, watched, 'hub-sent', false)

  await page.goto(await nextLink(service, PAYER))
  await page.getByRole('heading', { name: 'One click to go' }).waitFor()
  await isGood(t, watched, 'hub-arrival', false)
  await page.getByRole('button', { name: 'Sign in' }).click()
  const row = page.getByRole('link', { name: /Acme £71\.25 .* Paid/ })
  await row.waitFor()
  t.match(await page.title(), 'Your payments')
  await isGood(t, watched, 'hub-payments')

  await row.click()
  await page.getByText('Fee, paid by the shop').waitFor()
  const text = await page.locator('main').innerText()
  for (const part of ['£71.25', '£0.9125', '£70.3375', 'ORDER 1042', 'Fern', 'Paid to the merchant', 'Approved'])
    t.match(text, part, `the receipt has ${part}`)
  t.match(text, /SVC[0-9a-f]{32}/i)
  await isGood(t, watched, 'hub-payment')

  await page.getByRole('link', { name: 'Dispute this payment' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('Choose what is wrong').waitFor()
  t.equal(await page.evaluate('document.activeElement.name'), 'reason', 'the focus is where something is missing')
  await page.getByLabel('I did not make this payment').check()
  await page.getByText('also tell your bank at once').waitFor()
  await page.getByLabel('I did not get what I paid for').check()
  await page.getByLabel('Tell us more').fill('It never came.\nI waited for weeks.')
  await page.getByText('4,966 characters left').waitFor()
  await isGood(t, watched, 'hub-dispute')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('heading', { name: 'Check and send' }).waitFor()
  await isGood(t, watched, 'hub-dispute-check', false)
  await page.getByRole('button', { name: 'Change' }).click()
  t.equal(await page.getByLabel('Tell us more').inputValue(), 'It never came.\nI waited for weeks.')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Send dispute' }).click()
  await page.getByText('Your dispute was sent.').first().waitFor()
  await page.getByText('The merchant has been asked to answer').waitFor()
  t.match(page.url(), `#payment=${paid}`)
  t.equal(await page.getByRole('link', { name: 'Dispute this payment' }).count(), 0, 'it is not offered twice')
  await isGood(t, watched, 'hub-disputed', false)

  const { body } = await service.call('GET', '/api/v1/portal/disputes', { merchant: acme })
  t.match(body.data, [
    { opened_by: 'PAYER', reason: 'ITEM_NOT_RECEIVED', payer_statement: 'It never came.\nI waited for weeks.' },
  ])
  await page.getByRole('link', { name: 'All payments' }).click()
  await page.getByRole('link', { name: /Disputed/ }).waitFor()
  t.equal(await page.evaluate('document.activeElement.hash'), `#payment=${paid}`, 'the list goes on where it was left')
  t.same(watched.complaints, [])
})
