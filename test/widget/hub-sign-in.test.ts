import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Page } from 'playwright-core'
import { hub as cy } from '../../src/lib/locales/hub/cy.ts'
import { mails } from '../../src/lib/locales/mails/cy.ts'
import { listMails } from '../../src/mail/list-mails.ts'
import { createPayment, until } from '../support/app.ts'
import { openBrowser, openPage } from '../support/browser.ts'
import { goTo, hubService, linkFor, PAYER, signedIn } from '../support/hub.ts'
import { isGood } from '../support/pages.ts'

/* Signing in to the hub with a link, and what must not be possible with one. */
const service = await hubService(t)
const browser = await openBrowser(t)
const acme = await service.merchant()
await createPayment(service, acme, { payer_email: PAYER })

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 }).waitFor()
const usedCount = async (): Promise<number> => {
  const { rows } = await service.owner.query('select 1 from payer_tokens where used_at is not null')
  return rows.length
}

t.test('loading a link does not use it; a click does, after the token has left the URL', async (t) => {
  const link = await linkFor(service, PAYER)
  const token = link.split('#token=')[1] ?? ''
  const usedBefore = await usedCount()
  for (let loads = 0; loads < 3; loads += 1) {
    const { page, context } = await openPage(browser)
    await page.goto(link)
    await heading(page, 'One click to go')
    t.equal(page.url(), `${service.url}/hub`, 'the address has no token')
    await context.close()
  }
  t.equal(await usedCount(), usedBefore, 'loaded three times, and not used')

  const { page, complaints } = await openPage(browser)
  const asked: string[] = []
  page.on('request', (request) => asked.push(`${request.url()} ${JSON.stringify(request.headers())}`))
  await page.goto(link)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await heading(page, 'Your payments')
  t.equal(await usedCount(), usedBefore + 1)
  t.notOk(
    asked.some((request) => request.includes(token)),
    'the token was in no address and no header',
  )
  await page.goBack()
  t.equal(page.url(), 'about:blank', 'the history has one entry of the hub')
  await page.goForward()
  await heading(page, 'Your payments')
  t.notMatch(page.url(), token, 'nor is it in the history')
  t.notMatch(await page.evaluate('JSON.stringify([history.state, localStorage, document.cookie])'), token)
  t.same(complaints, [])
})

t.test('a used, expired or incomplete link is rejected clearly, with the form', async (t) => {
  const watched = await openPage(browser)
  const { page } = watched
  const refused = async (link: string, click = true): Promise<void> => {
    await page.goto('about:blank')
    await page.goto(link)
    if (click) await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').filter({ hasText: 'This link does not work' }).waitFor()
    await page.getByLabel('E-mail address').waitFor()
    t.equal(await page.evaluate('sessionStorage.length'), 0)
  }
  const used = await linkFor(service, PAYER)
  const token = used.split('#token=')[1]
  t.equal((await service.call('POST', '/api/v1/payer/auth/verify', { body: { token } })).status, 200)
  await refused(used)
  await isGood(t, watched, 'hub-link-refused', false)
  const over = await linkFor(service, PAYER)
  await service.owner.query(
    `update payer_tokens set created_at = created_at - interval '11 minutes', expires_at = expires_at - interval '11 minutes'
     where used_at is null`,
  )
  await refused(over)
  await refused(`${service.url}/hub#token=${randomUUID()}`)
  await refused(`${service.url}/hub#token=%3Cscript%3E`, false)
  await refused(`${service.url}/hub#token=`, false)
  t.same(watched.complaints, [])
})

t.test('a link opened in a hub window is accepted there', async (t) => {
  const { page } = await openPage(browser)
  await page.goto(`${service.url}/hub`)
  await heading(page, 'See your payments')
  const link = await linkFor(service, PAYER)
  await goTo(page, link.split('#')[1] ?? '')
  await heading(page, 'One click to go')
  t.equal(page.url(), `${service.url}/hub`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await heading(page, 'Your payments')
})

t.test('the page does not reveal whether an address is known', async (t) => {
  const { page } = await openPage(browser)
  const answerTo = async (email: string): Promise<string> => {
    await page.goto('about:blank')
    await page.goto(`${service.url}/hub`)
    await page.getByLabel('E-mail address').fill(email)
    await page.getByRole('button', { name: 'Send me a link' }).click()
    await page.getByText(`npx svc sandbox mail show --recipient ${email}`).waitFor()
    return (await page.locator('main').innerText()).replaceAll(email, 'X')
  }
  t.equal(await answerTo(PAYER), await answerTo('nobody@nowhere.example'))
})

t.test("the link comes in the language of the page, which may not be the browser's", async (t) => {
  const email = 'carys@payer.example'
  await createPayment(service, acme, { payer_email: email })
  const { page, complaints } = await openPage(browser)
  await page.goto(`${service.url}/hub?lang=cy`)
  await page.locator('#contact').fill(email)
  await page.locator('#contact').press('Enter')
  const subject = await until(async () => (await listMails(service.app, { recipient: email }))[0]?.subject)
  t.equal(subject, mails.subject)
  t.same(complaints, [])
})

t.test('the language of a link stays, also after the page is loaded again', async (t) => {
  const link = await linkFor(service, PAYER)
  const { page, complaints } = await openPage(browser)
  await page.goto(link.replace('/hub', '/hub?lang=cy'))
  await heading(page, cy.arrival.title)
  t.equal(page.url(), `${service.url}/hub?lang=cy`, 'the address has no token')
  await page.getByRole('button', { name: cy.arrival.button }).click()
  await heading(page, cy.payments.title)
  await page.reload()
  await heading(page, cy.payments.title)
  t.same(complaints, [])
})

t.test('an invalid address or number is reported at its field', async (t) => {
  const { page, complaints } = await openPage(browser)
  await page.goto(`${service.url}/hub`)
  const send = page.getByRole('button', { name: 'Send me a link' })
  await send.click()
  await page.getByText('Enter an e-mail address, such as').waitFor()
  t.equal(await page.evaluate('document.activeElement.id'), 'contact')
  t.equal(await page.getByLabel('E-mail address').getAttribute('aria-invalid'), 'true')
  await page.getByLabel('E-mail address').fill('priya@home')
  await send.click()
  await page.getByText('Enter an e-mail address, such as').waitFor()
  await page.getByLabel('Text message').check()
  await page.getByText('are read as UK numbers', { exact: false }).waitFor()
  await page.getByLabel('Phone number').fill('12')
  await send.click()
  await page.getByText('Enter a phone number, such as').waitFor()
  await page.getByLabel('Phone number').fill('07700 900123')
  await send.click()
  await page.getByText('If we know this number, we have sent a link to it').waitFor()
  await heading(page, 'Check your text messages')
  t.same(complaints, [])
})

t.test('too many requests show when to retry, and an unreachable service offers a retry', async (t) => {
  const { page } = await openPage(browser)
  await page.goto(`${service.url}/hub`)
  await page.getByLabel('E-mail address').fill(PAYER)
  await page.route('**/auth/request-link', (route) =>
    route.fulfill({ status: 429, headers: { 'retry-after': '754' }, json: { code: 'RATE_LIMITED', error: 'slow' } }),
  )
  await page.getByRole('button', { name: 'Send me a link' }).click()
  await page.getByRole('alert').filter({ hasText: 'try again in 13 minutes' }).waitFor()

  const signed = await signedIn(service, browser)
  await signed.page.route('**/api/v1/payer/consents', (route) => route.abort())
  await goTo(signed.page, '#permissions')
  await signed.page.getByRole('alert').filter({ hasText: 'We can’t reach the service' }).waitFor()
  await isGood(t, { ...signed, complaints: [] }, 'hub-unreachable', false)
  await signed.page.unroute('**/api/v1/payer/consents')
  await signed.page.getByRole('button', { name: 'Try again' }).click()
  await signed.page.getByText('No merchant has your permission').first().waitFor()
  t.equal(await signed.page.evaluate('document.activeElement.tagName'), 'H1', 'the focus is not lost with the button')
})
