import t from 'tap'
import { openBrowser, openPage } from '../support/browser.ts'
import { EMAIL, PASSWORD, authorization, ids, isGood, redeem, signIn, withPassword } from '../support/pages.ts'

const browser = await openBrowser(t)

t.test('a user signs in to the portal with PKCE, gets tokens, and signs out', async (t) => {
  const shop = await withPassword(t)
  const { issuer, portal } = shop
  const watched = await openPage(browser)
  const { page } = watched
  const { url, state, verifier } = authorization(shop, ids.portal, `${portal.url}/callback`)
  await page.goto(url)
  t.equal(await page.title(), 'Sign in - Acme Coffee & Söhne')
  t.equal(await page.locator(':focus').getAttribute('name'), 'email', 'the keyboard is where typing begins')
  await isGood(t, watched, 'login')

  await signIn(page, 'not the password')
  await page.getByRole('alert').waitFor()
  t.match(await page.title(), /^Error: Sign in/)
  t.equal(await page.locator(':focus').getAttribute('name'), 'password', 'what has to be typed again has the keyboard')
  t.equal(await page.getByLabel('E-mail address').inputValue(), EMAIL)
  await isGood(t, watched, 'login-wrong')

  await page.getByLabel('Password').fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByText('Back at the client').waitFor()
  const back = portal.received.at(-1)
  t.equal(back?.searchParams.get('state'), state)
  const tokens = await redeem(shop, ids.portal, portal, verifier)
  t.equal(tokens.status, 200)

  await page.goto(url)
  await page.getByText('Back at the client').waitFor()
  t.pass('who is signed in is not asked again')

  const out = new URL(`${issuer}/protocol/openid-connect/logout`)
  out.search = new URLSearchParams({
    id_token_hint: tokens.body.id_token,
    post_logout_redirect_uri: `${portal.url}/bye`,
    state: 'bye',
  }).toString()
  await page.goto(out.href)
  await page.waitForURL(`${portal.url}/bye?state=bye`)
  t.same(watched.complaints, [], 'signing out sends itself, and leads back')
  await page.goto(url)
  t.equal(await page.title(), 'Sign in - Acme Coffee & Söhne', 'who signed out is asked again')
})

t.test('signing out without a token asks for confirmation', async (t) => {
  const shop = await withPassword(t)
  const { issuer, portal } = shop
  const watched = await openPage(browser)
  const { page } = watched
  await page.goto(authorization(shop, ids.portal, `${portal.url}/callback`).url)
  await signIn(page)
  await page.getByText('Back at the client').waitFor()
  await page.goto(`${issuer}/protocol/openid-connect/logout`)
  t.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'Sign out?')
  await isGood(t, watched, 'logout')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor()
  await isGood(t, watched, 'signed-out')
})

t.test('cancelling leads back to the client with access_denied', async (t) => {
  const shop = await withPassword(t)
  const { portal } = shop
  const { page, complaints } = await openPage(browser)
  await page.goto(authorization(shop, ids.portal, `${portal.url}/callback`).url)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('Back at the client').waitFor()
  t.equal(portal.received.at(-1)?.searchParams.get('error'), 'access_denied')
  t.same(complaints, [])
})

t.test('errors are shown without internal details', async (t) => {
  const shop = await withPassword(t)
  const { portal } = shop
  const watched = await openPage(browser)
  const { page } = watched
  await page.goto(authorization(shop, ids.portal, 'https://elsewhere.example/').url)
  await page.getByRole('heading', { name: 'Invalid request' }).waitFor()
  await isGood(t, watched, 'error')
  await page.goto(authorization(shop, ids.portal, `${portal.url}/callback`).url)
  const signInUrl = page.url()
  await page.context().clearCookies()
  await page.goto(signInUrl)
  await page.getByRole('heading', { name: 'This sign-in has ended' }).waitFor()
  await isGood(t, watched, 'lost')
  t.notMatch(await page.content(), /node_modules|\.ts\b|at Object|stack|select /i)
})
