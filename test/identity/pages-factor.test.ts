import { decodeJwt } from 'jose'
import type { CDPSession, Page } from 'playwright-core'
import t from 'tap'
import { freePort } from '../support/free-port.ts'
import { totpCode, totpStep } from '../../src/lib/totp.ts'
import { openBrowser, openPage } from '../support/browser.ts'
import { authorization, ids, isGood, redeem, signIn, withPassword } from '../support/pages.ts'
import { afterLinks, unbase32 } from '../support/second-factor.ts'

const browser = await openBrowser(t)
const port = await freePort()
const shop = await withPassword(t, {
  SVC_SECOND_FACTOR: 'ADMIN',
  SVC_PORT: String(port),
  SVC_PUBLIC_URL: `http://localhost:${port}`,
})
await afterLinks(shop.service)

/** A device that asks for a fingerprint, as the browser sees it. */
async function plugIn(cdp: CDPSession, isUserVerified = true): Promise<string> {
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified,
      automaticPresenceSimulation: true,
    },
  })
  return authenticatorId
}

async function afterPassword(page: Page): Promise<string> {
  const { url, verifier } = authorization(shop, ids.portal, `${shop.portal.url}/callback`)
  await page.context().clearCookies()
  await page.goto(url)
  await signIn(page)
  return verifier
}

const h1 = (page: Page): Promise<string> => page.getByRole('heading', { level: 1 }).innerText()

t.test('a passkey of the browser is created, signs in, and has company', async (t) => {
  const watched = await openPage(browser)
  const { page, context } = watched
  const cdp = await context.newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const device = await plugIn(cdp)

  await afterPassword(page)
  t.equal(await h1(page), 'Set up a second factor')
  await isGood(t, watched, 'factor-set-up')
  await page.getByRole('button', { name: 'Create a passkey' }).click()
  await page.getByRole('heading', { name: 'Store your recovery codes' }).waitFor()
  await isGood(t, watched, 'factor-codes', false)
  await page.reload()
  t.equal(await page.locator('.codes li').count(), 10, 'they stay until the person continues')
  await page.getByRole('button', { name: 'I have stored them' }).click()
  await page.getByText('Back at the client').waitFor()

  const verifier = await afterPassword(page)
  await isGood(t, watched, 'factor-passkey', false)
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await page.getByText('Back at the client').waitFor()
  const { body } = await redeem(shop, ids.portal, shop.portal, verifier)
  t.match(decodeJwt(body.access_token), { acr: '2', amr: ['pwd', 'hwk', 'user', 'mfa'] })
  const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId: device })
  t.equal(credentials.length, 1)
  t.equal(credentials[0]?.rpId, 'localhost')

  await afterPassword(page)
  await page.getByRole('button', { name: 'Continue, and change' }).first().click()
  await page.getByRole('heading', { name: 'Another passkey' }).waitFor()
  await page.getByRole('button', { name: 'Create a passkey' }).click()
  await page.getByText('This device has a passkey for this account already.').waitFor()
  await cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId: device })
  await plugIn(cdp)
  await page.getByLabel('Name').fill('Security key')
  await page.getByRole('button', { name: 'Create a passkey' }).click()
  await page.getByRole('heading', { name: 'Security key' }).waitFor()
  await page.getByRole('button', { name: 'Set up an app' }).click()
  const key = (await page.locator('kbd').innerText()).replaceAll(' ', '')
  await page.getByRole('textbox', { name: 'Code' }).fill(totpCode(unbase32(key), totpStep(Date.now())))
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
  await page.getByRole('button', { name: 'add or remove others' }).click()
  await isGood(t, watched, 'factor-manage')
  await page.getByRole('button', { name: 'Remove Passkey 1' }).click()
  await page.getByRole('heading', { name: 'Passkey 1' }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
  await page.getByText('Back at the client').waitFor()
  t.same(watched.complaints, [])
})

t.test('a device that does not verify the person is of no use, and the page says what else is', async (t) => {
  const watched = await openPage(browser)
  const { page, context } = watched
  const cdp = await context.newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  await plugIn(cdp, false)
  await afterPassword(page)
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await page.getByText('No passkey was used').waitFor()
  await isGood(t, watched, 'factor-passkey-failed', false)
  await page.getByRole('textbox', { name: 'Code' }).fill('000000')
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
  await page.getByText('The code is wrong').waitFor()
  await isGood(t, watched, 'factor-wrong', false)
})

t.test('without scripts the app and recovery codes work', async (t) => {
  const context = await browser.newContext({ javaScriptEnabled: false })
  const page = await context.newPage()
  await afterPassword(page)
  t.equal(await page.getByRole('button', { name: 'Use a passkey' }).isVisible(), false)
  t.ok(await page.getByRole('textbox', { name: 'Code' }).isVisible())
})
