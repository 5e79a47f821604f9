import { readFileSync } from 'node:fs'
import t from 'tap'
import { getMail } from '../../src/mail/get-mail.ts'
import { listMails } from '../../src/mail/list-mails.ts'
import { atBank, createPayment, untilStatus } from '../support/app.ts'
import { hub as cy } from '../../src/lib/locales/hub/cy.ts'
import { hub as de } from '../../src/lib/locales/hub/de.ts'
import { hub as en } from '../../src/lib/locales/hub/en.ts'
import { openBrowser, openPage } from '../support/browser.ts'
import { englishIn } from '../support/english.ts'
import { goTo, hubService, linkFor, nextLink, paidBy, PAYER, signedIn } from '../support/hub.ts'
import { isGood } from '../support/pages.ts'
import { refund } from '../support/payments.ts'

/* Payments and their receipts in the hub, and the ways between them. */
const service = await hubService(t)
const browser = await openBrowser(t)
const acme = await service.merchant()
const paid = await paidBy(service, acme, { amount: '71.25' })

t.test('a receipt can be saved and printed', async (t) => {
  const { page, complaints } = await signedIn(service, browser)
  await goTo(page, `#payment=${paid}`)
  await page.getByText('Fee, paid by the shop').waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save as a text file' }).click(),
  ])
  t.match(download.suggestedFilename(), /^receipt-SVC\w+\.txt$/)
  const saved = readFileSync(await download.path(), 'utf8')
  t.match(saved, 'To: Acme\r\n')
  t.match(saved, 'You paid: £71.25\r\n')
  t.match(saved, 'Fee, paid by the shop: £0.9125\r\n')
  t.match(saved, /Payment number \(end-to-end ID\): SVC\w{32}\r\n/)
  await page.emulateMedia({ media: 'print' })
  t.equal(await page.getByRole('button', { name: 'Print' }).isVisible(), false, 'paper has no buttons')
  t.equal(await page.getByRole('button', { name: 'Sign out' }).isVisible(), false)
  t.equal(await page.getByText('Printed on').isVisible(), true)
  t.same(complaints, [])
})

t.test('a receipt is mailed to the address of the session, once, in the language of the page', async (t) => {
  const email = 'rhys@home.example'
  const id = await paidBy(service, acme, { amount: '12.40', payer_email: email })
  const watched = await openPage(browser, undefined, 'cy')
  const { page, complaints } = watched
  await page.goto(await linkFor(service, email))
  await page.getByRole('button', { name: cy.arrival.button }).click()
  await page.getByRole('heading', { name: cy.payments.title }).waitFor()
  await goTo(page, `#payment=${id}`)
  const send = page.getByRole('button', { name: cy.payment.receiptMail })
  const sent = cy.payment.receiptReady('r…@home.example')
  await send.click()
  await page.locator('.box.good').getByText(sent).waitFor()
  await page.locator('#live').getByText(sent).waitFor({ state: 'attached' })
  await page.getByText('svc sandbox mail show').waitFor()
  t.equal(await page.evaluate('document.activeElement.textContent'), cy.payment.receiptMail, 'the focus stays')
  await isGood(t, watched, 'hub-receipt-mailed')
  const receipts = async () =>
    (await listMails(service.app, { recipient: email })).filter(({ kind }) => kind === 'payer-receipt')
  const [mail] = await receipts()
  t.equal(mail?.subject, 'Eich derbynneb')
  t.match((await getMail(service.app, mail?.id ?? '')).body, '£12.40')
  t.same(complaints, [])
  await send.click()
  await page.getByRole('alert').getByText(cy.payment.receiptMailedBefore('').slice(0, 30)).waitFor()
  t.equal((await receipts()).length, 1)
})

t.test('outside of the sandbox the page says to expect the mail', async (t) => {
  const email = 'sian@home.example'
  const id = await paidBy(service, acme, { amount: '8.20', payer_email: email })
  const { page, complaints } = await signedIn(service, browser, email)
  await page.route('**/api/v1/service', (route) => route.fulfill({ json: { mode: 'live' } }))
  await goTo(page, `#payment=${id}`)
  await page.getByRole('button', { name: en.payment.receiptMail }).click()
  await page.locator('.box.good').getByText(en.payment.receiptMailed('s…@home.example')).waitFor()
  t.equal(await page.getByText('svc sandbox mail show').count(), 0)
  t.same(complaints, [])
})

t.test('a payer who has signed in by text message, or has not paid yet, is offered no mail', async (t) => {
  const phone = '+447700900345'
  const id = await paidBy(service, acme, { payer_email: 'tess@home.example', payer_phone: phone })
  const { body } = await createPayment(service, acme, { payer_phone: phone, payer_email: 'uma@home.example' })
  await service.call('POST', '/api/v1/payer/auth/request-link', { body: { phone } })
  const { page, complaints } = await openPage(browser)
  await page.goto(await nextLink(service, phone))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Your payments' }).waitFor()
  await goTo(page, `#payment=${id}`)
  await page.getByRole('button', { name: 'Save as a text file' }).waitFor()
  t.equal(await page.getByRole('button', { name: en.payment.receiptMail }).count(), 0)
  t.same(complaints, [])
  const waiting = await signedIn(service, browser, 'uma@home.example')
  await goTo(waiting.page, `#payment=${body.payment_id}`)
  await waiting.page.getByRole('button', { name: 'Save as a text file' }).waitFor()
  t.equal(await waiting.page.getByRole('button', { name: en.payment.receiptMail }).count(), 0)
  t.same(waiting.complaints, [])
})

t.test('a failed payment shows the reason and what happened to the money', async (t) => {
  const { body } = await createPayment(service, acme, { payer_email: PAYER, debtor_bank_id: 'mock-empty' })
  const back = await atBank(body.redirect_url, 'cancel')
  await service.call('POST', `/api/v1/payments/${body.payment_id}/sca-complete`, { body: back })
  await untilStatus(service, acme, body.payment_id, 'Failed')
  const watched = await signedIn(service, browser)
  const { page } = watched
  await page.getByRole('link', { name: /Did not go through/ }).click()
  await page.getByText('You cancelled at your bank. No money was taken.').waitFor()
  t.equal(await page.getByText('Fee, paid by the shop').count(), 0, 'nothing was paid, and no fee')
  t.equal(await page.getByRole('link', { name: 'Dispute this payment' }).count(), 0)
  await isGood(t, watched, 'hub-failed')
})

t.test('full and partial refunds are shown', async (t) => {
  const id = await paidBy(service, acme, { amount: '20.00' })
  const giveBack = (amount: string) => refund(service, acme, { id, key: amount, body: { amount } })
  t.equal((await giveBack('5.00')).status, 200)
  const { page } = await signedIn(service, browser)
  await page.getByRole('link', { name: /£20\.00 .* Partly refunded/ }).click()
  await page.getByText('Refunded to you: £5.00').waitFor()
  t.equal((await giveBack('15.00')).status, 200)
  await page.getByRole('link', { name: 'All payments' }).click()
  await page.getByRole('link', { name: /£20\.00 .* Refunded/ }).click()
  await page.getByText('Refunded in full').waitFor()
})

t.test('URLs lead to views, and back and forward work', async (t) => {
  const { page, complaints } = await signedIn(service, browser)
  const title = (name: string) => page.getByRole('heading', { name, level: 1, exact: true }).waitFor()
  await page.getByRole('link', { name: /£71\.25/ }).click()
  await title('Your payment')
  t.equal(await page.evaluate('document.activeElement.tagName'), 'H1', 'a new view has the focus on its heading')
  await page.getByRole('link', { name: 'Permissions' }).click()
  await title('Your permissions')
  t.match(await page.title(), 'Your permissions')
  await page.goBack()
  await title('Your payment')
  await page.goBack()
  await title('Your payments')
  await page.goForward()
  await title('Your payment')
  await page.reload()
  await page.getByText('Fee, paid by the shop').waitFor()
  await goTo(page, '#payment=00000000-0000-0000-0000-000000000000')
  await page.getByText('We could not find this payment.').waitFor()
  await goTo(page, '#constructor=1')
  await title('Your payments')
  t.same(complaints, [])
})

t.test("the hub is in the language of the payer's browser, with its dates and amounts", async (t) => {
  for (const { tag, words, amount } of [
    { tag: 'de-AT', words: de, amount: /£\s?71,25/ },
    { tag: 'cy', words: cy, amount: /£71\.25/ },
  ]) {
    const { page, complaints } = await openPage(browser, undefined, tag)
    const isTranslated = async (title: string): Promise<void> => {
      await page.getByRole('heading', { name: title, level: 1, exact: true }).waitFor()
      t.same(englishIn(await page.content()), [], `${tag} ${title}`)
    }
    await page.goto(`${service.url}/hub`)
    await isTranslated(words.signIn.title)
    t.equal(await page.evaluate('document.documentElement.lang'), tag)
    await page.goto(await linkFor(service, PAYER))
    await isTranslated(words.arrival.title)
    await page.getByRole('button', { name: words.arrival.button }).click()
    await isTranslated(words.payments.title)
    await page.getByRole('link', { name: amount }).click()
    await page.getByText(words.happened.Settled).waitFor()
    await isTranslated(words.payment.title)
    await page.getByRole('link', { name: words.dispute.button }).click()
    await isTranslated(words.dispute.title)
    await goTo(page, '#permissions')
    await isTranslated(words.permissions.title)
    t.same(complaints, [])
  }
})
