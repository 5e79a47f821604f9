import t from 'tap'
import type { Page } from 'playwright-core'
import { createPayment } from '../support/app.ts'
import { openBrowser, openPage } from '../support/browser.ts'
import { goTo, hubService, linkFor, paidBy, PAYER, signedIn } from '../support/hub.ts'
import { isGood } from '../support/pages.ts'

/* The fifteen minutes of a session in the hub, and how it ends. */
const service = await hubService(t)
const browser = await openBrowser(t)
const acme = await service.merchant()
const paid = await paidBy(service, acme)

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 }).waitFor()

/** Lets time pass until so much of the session is left: the page's clock goes on while a slow machine looks at it. */
async function leave(page: Page, seconds: number): Promise<void> {
  const leftMs: number = await page.evaluate(
    "JSON.parse(sessionStorage.getItem('svc_payer_session')).endsAtMs - Date.now()",
  )
  await page.clock.fastForward(leftMs - seconds * 1_000)
}

t.test('the remaining time is shown, its end announced, and then the sign-in appears', async (t) => {
  const watched = await openPage(browser)
  const { page } = watched
  await page.clock.install()
  await page.goto(await linkFor(service, PAYER))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('15 minutes left').waitFor()
  await goTo(page, `#dispute=${paid}`)
  await page.getByLabel('Tell us more').fill('It was brok')
  await leave(page, 295)
  await page.getByText('5 minutes left', { exact: true }).waitFor()
  t.equal(await page.getByText('You will be signed out').count(), 0)
  await leave(page, 150)
  await page.getByText('You will be signed out in 3 minutes').first().waitFor()
  t.match(await page.locator('#live').textContent(), 'You will be signed out in 3 minutes', 'and is read out')
  await page.getByRole('link', { name: 'Get a new link' }).waitFor()
  await isGood(t, watched, 'hub-warning')
  await leave(page, 30)
  await page.getByText('You will be signed out in less than a minute').first().waitFor()
  await page.clock.fastForward('01:00')
  await page.getByText('Your session has ended after 15 minutes').first().waitFor()
  await heading(page, 'See your payments')
  t.equal(await page.getByRole('button', { name: 'Sign out' }).count(), 0)
  t.equal(await page.evaluate('sessionStorage.length'), 0, 'nothing is kept')
  await isGood(t, watched, 'hub-ended', false)

  const link = await linkFor(service, PAYER)
  await goTo(page, link.split('#')[1] ?? '')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await heading(page, 'Your payments')
  await goTo(page, `#dispute=${paid}`)
  t.equal(await page.getByLabel('Tell us more').inputValue(), 'It was brok', 'what was written is still there')
  t.same(watched.complaints, [])
})

t.test("requesting a new link is not interrupted by the session's end", async (t) => {
  const { page } = await openPage(browser)
  await page.clock.install()
  await page.goto(await linkFor(service, PAYER))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('15 minutes left').waitFor()
  await leave(page, 60)
  await page.getByRole('link', { name: 'Get a new link' }).click()
  await heading(page, 'Get a new link')
  await page.getByLabel('E-mail address').fill('priya@')
  await page.clock.fastForward('02:00')
  await page.getByRole('button', { name: 'Sign out' }).waitFor({ state: 'detached' })
  t.equal(await page.getByLabel('E-mail address').inputValue(), 'priya@')
})

t.test('a session unknown to the service ends on the page too', async (t) => {
  const { page } = await signedIn(service, browser)
  await page.evaluate(
    `sessionStorage.setItem('svc_payer_session', JSON.stringify({ token: 'forged', contact: 'x', endsAtMs: Date.now() + 1e6 }))`,
  )
  await page.reload()
  await page.getByText('Your session has ended').first().waitFor()
  t.equal(await page.evaluate('sessionStorage.length'), 0)
  for (const stored of ['nonsense', '{"token":7}', '{"token":"t","endsAtMs":9e15}', 'null', '[]']) {
    await page.evaluate(`sessionStorage.setItem('svc_payer_session', ${JSON.stringify(stored)})`)
    await page.reload()
    await heading(page, 'See your payments')
  }
})

t.test('signing out ends the session at the service for good', async (t) => {
  const { page, complaints } = await signedIn(service, browser)
  const { token } = JSON.parse(await page.evaluate("sessionStorage.getItem('svc_payer_session')"))
  const headers = { authorization: `Bearer ${token}` }
  t.equal((await service.call('GET', '/api/v1/payer/payments', { headers })).status, 200)
  await goTo(page, `#payment=${paid}`)
  await page.getByText('What happened').waitFor()
  const ended = page.waitForResponse('**/auth/sign-out')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('You are signed out.').first().waitFor()
  await ended
  t.equal((await service.call('GET', '/api/v1/payer/payments', { headers })).status, 401)
  t.equal(await page.evaluate('sessionStorage.length'), 0)
  await page.goBack()
  await heading(page, 'See your payments')
  t.equal(await page.getByText('Acme').count(), 0)
  t.same(complaints, [])
})

t.test('the page shows whose session it is, and a link that replaces an open session says so', async (t) => {
  const other = 'olwen@elsewhere.example'
  await createPayment(service, acme, { payer_email: other })
  const watched = await signedIn(service, browser)
  const { page } = watched
  await page.getByText('Signed in as p…@home.example').waitFor()
  await page.reload()
  await page.getByText('Signed in as p…@home.example').waitFor()
  t.notMatch(
    await page.evaluate("sessionStorage.getItem('svc_payer_session')"),
    PAYER,
    'nothing keeps the whole address',
  )

  const link = await linkFor(service, other)
  await goTo(page, link.split('#')[1] ?? '')
  await page.getByText('You are signed in as p…@home.example. This link will replace that session.').waitFor()
  await isGood(t, watched, 'hub-replaces', false)
  await page.getByRole('link', { name: 'Keep my current session' }).click()
  await heading(page, 'Your payments')
  await page.getByText('Signed in as p…@home.example').waitFor()

  await goTo(page, link.split('#')[1] ?? '')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Signed in as o…@elsewhere.example').waitFor()
  t.equal(await page.getByText('p…@home.example').count(), 0)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await goTo(page, (await linkFor(service, PAYER)).split('#')[1] ?? '')
  await heading(page, 'One click to go')
  t.equal(await page.getByText('You are signed in as').count(), 0, 'where none is open nothing is replaced')
  t.same(watched.complaints, [])
})

t.test('a session exists in its tab only', async (t) => {
  const { page, context } = await signedIn(service, browser)
  await page.reload()
  await heading(page, 'Your payments')
  t.same(await page.evaluate('[localStorage.length, document.cookie]'), [0, ''])
  const other = await context.newPage()
  await other.goto(`${service.url}/hub`)
  await heading(other, 'See your payments')
})

t.test('with blocked storage a session works until the next load', async (t) => {
  await createPayment(service, acme, { payer_email: PAYER })
  const { page, complaints } = await openPage(browser)
  await page.addInitScript(
    `Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('blocked', 'SecurityError') } })`,
  )
  await page.goto(await linkFor(service, PAYER))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: /Waiting for your approval/ }).click()
  await page.getByText('What happened').waitFor()
  await page.reload()
  await heading(page, 'See your payments')
  t.same(complaints, [])
})
