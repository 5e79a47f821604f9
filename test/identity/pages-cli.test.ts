import t from 'tap'
import { openBrowser, openPage } from '../support/browser.ts'
import { ask } from '../support/identity.ts'
import { authorization, ids, isGood, openClient, redeem, signIn, slug, withPassword } from '../support/pages.ts'

const browser = await openBrowser(t)

t.test('the command line gets consent on any loopback port', async (t) => {
  const shop = await withPassword(t)
  const terminal = await openClient(t)
  const watched = await openPage(browser)
  const { page } = watched
  const { url, verifier } = authorization(shop, ids.cli, `${terminal.url}/callback`)
  await page.goto(url)
  await signIn(page)
  await page.getByRole('heading', { name: 'Allow svc to act for you?' }).waitFor()
  await isGood(t, watched, 'consent')
  await page.getByRole('button', { name: 'Allow', exact: true }).click()
  await page.getByText('Back at the client').waitFor()
  const tokens = await redeem(shop, ids.cli, terminal, verifier)
  t.equal(tokens.status, 200)

  await page.goto(url)
  await page.getByRole('button', { name: "Don't allow" }).click()
  await page.getByText('Back at the client').waitFor()
  t.equal(terminal.received.at(-1)?.searchParams.get('error'), 'access_denied', 'asked each time, and may refuse')
  t.same(watched.complaints, [])
})

t.test('a device signs in with its code', async (t) => {
  const shop = await withPassword(t)
  const watched = await openPage(browser)
  const { page } = watched
  const device = await ask(shop.authUrl, slug, 'auth/device', { client_id: ids.cli, scope: 'openid' })
  t.equal(device.status, 200)
  await page.goto(device.body.verification_uri)
  t.equal(await page.locator(':focus').getAttribute('name'), 'user_code')
  await isGood(t, watched, 'device')

  await page.getByLabel('Code').fill('BCDF-BCDF')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('alert').waitFor()
  await isGood(t, watched, 'device-wrong')

  await page.getByLabel('Code').fill(device.body.user_code.toLowerCase())
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText(device.body.user_code).waitFor()
  await isGood(t, watched, 'device-confirm')
  await page.getByRole('button', { name: 'Continue' }).click()
  await signIn(page)
  await page.getByRole('button', { name: 'Allow', exact: true }).click()
  await page.getByRole('heading', { name: 'You are signed in' }).waitFor()
  await isGood(t, watched, 'device-done')
  const tokens = await ask(shop.authUrl, slug, 'token', {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    client_id: ids.cli,
    device_code: device.body.device_code,
  })
  t.equal(tokens.status, 200)

  const second = await ask(shop.authUrl, slug, 'auth/device', { client_id: ids.cli, scope: 'openid' })
  await page.goto(second.body.verification_uri_complete)
  await page.getByRole('button', { name: 'This is not my code' }).click()
  await page.getByRole('heading', { name: 'Sign-in cancelled' }).waitFor()
  await isGood(t, watched, 'device-refused')
})
