import t from 'tap'
import { mailBodyContext } from '../../src/mail/seal-context.ts'
import { openBrowser, openPage } from '../support/browser.ts'
import { EMAIL, PASSWORD, authorization, ids, isGood, signIn, slug, withPassword, withRealm } from '../support/pages.ts'

const browser = await openBrowser(t)

t.test('an invitation is accepted in a browser, and the page shows the next step', async (t) => {
  const { service, portal, userId } = await withRealm(t)
  const watched = await openPage(browser)
  const { page } = watched
  const link = await service.app.identity.inviteUser(slug, userId, {
    clientId: ids.portal,
    redirectUri: `${portal.url}/callback`,
    lifespanSeconds: 600,
    deliver: 'link',
    merchantId: null,
  })
  await page.goto(link ?? '')
  t.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'Welcome: choose a password')
  t.equal(await page.getByLabel('E-mail address').inputValue(), EMAIL)
  await isGood(t, watched, 'invite')

  await page.getByLabel('Password', { exact: true }).fill('password1234')
  await page.getByLabel('Repeat password').fill('password1234')
  await page.getByRole('button', { name: 'Set password' }).click()
  t.match(await page.getByRole('alert').innerText(), /too easy to guess/)
  await isGood(t, watched, 'invite-wrong')

  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByLabel('Repeat password').fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Your account is ready' }).waitFor()
  t.equal(await page.locator('kbd').innerText(), `svc login --realm ${slug}`)
  t.equal(await page.getByRole('link', { name: 'Sign in' }).getAttribute('href'), `${portal.url}/callback`)
  await isGood(t, watched, 'invited')

  await page.goto(link ?? '')
  await page.getByRole('heading', { name: 'This link no longer works' }).waitFor()
  await isGood(t, watched, 'dead-link')
})

t.test('a forgotten password is replaced with the link of the mail, without scripts too', async (t) => {
  const shop = await withPassword(t)
  const { portal, service } = shop
  const watched = await openPage(browser)
  const { page } = watched
  const { url } = authorization(shop, ids.portal, `${portal.url}/callback`)
  await page.goto(url)
  await page.getByRole('link', { name: 'Forgot your password?' }).click()
  await isGood(t, watched, 'forgot')
  await page.getByLabel('E-mail address').fill(EMAIL)
  await page.getByRole('button', { name: 'Send the link' }).click()
  await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor()
  await isGood(t, watched, 'forgot-sent')
  await page.getByRole('link', { name: 'Back to sign-in' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()

  const { rows } = await service.owner.query(`select id, body from mails`)
  t.equal(rows.length, 1)
  const body = service.app.sealer.open(rows[0].body, mailBodyContext({ id: rows[0].id, merchantId: null }))
  const plain = await browser.newContext({ javaScriptEnabled: false })
  const other = await plain.newPage()
  await other.goto(/http\S+/.exec(body)?.[0] ?? '')
  await other.getByLabel('Password', { exact: true }).fill('the tide comes in twice')
  await other.getByLabel('Repeat password').fill('the tide comes in twice')
  await other.getByRole('button', { name: 'Set password' }).click()
  await other.getByRole('heading', { name: 'Your password is set' }).waitFor()
  await plain.close()

  await signIn(page, 'the tide comes in twice')
  await page.getByText('Back at the client').waitFor()
})
