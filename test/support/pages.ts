import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { mkdirSync } from 'node:fs'
import type { Test } from 'tap'
import type { Page } from 'playwright-core'
import { MERCHANT_ROLES } from '../../src/lib/permissions.ts'
import { clientIdsOf, issuerOf } from '../../src/lib/realms.ts'
import { testService } from './app.ts'
import type { TestService } from './app.ts'
import { CONTRAST, accessibilityProblems } from './browser.ts'
import type { Watched } from './browser.ts'
import { authorizationUrl, exchange } from './identity.ts'

export const EMAIL = 'ada@acme.example'
export const PASSWORD = 'a quiet harbour at noon'
/** A folder for pictures of every page, for looking at them. */
const LOOKED_AT = process.env['SVC_TEST_SCREENSHOTS']

export const slug = 'acme-coffee'
export const ids = clientIdsOf(slug)

export type Client = { url: string; received: URL[] }

/** The target of redirects to a shop: it accepts any request and keeps it. */
export async function openClient(t: Test): Promise<Client> {
  const received: URL[] = []
  const server = createServer((req, res) => {
    const url = new URL(req.url ?? '/', 'http://127.0.0.1')
    if (url.pathname !== '/favicon.ico') received.push(url)
    res.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    res.end('<!doctype html><html lang="en"><title>Back</title><h1>Back at the client</h1></html>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return { url: `http://127.0.0.1:${port}`, received }
}

export type Shop = { service: TestService; authUrl: string; issuer: string; userId: string; portal: Client }

/** A merchant's realm whose portal is a server of the test; its administrator has yet to choose a password. */
export async function withRealm(t: Test, env: Record<string, string> = {}): Promise<Shop> {
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded', ...env } })
  const portal = await openClient(t)
  const made = await service.app.identity.createRealm({
    slug,
    kind: 'merchant',
    displayName: 'Acme Coffee & Söhne',
    registrationId: randomUUID(),
    portal: {
      clientId: ids.portal,
      redirectUris: [`${portal.url}/callback`],
      postLogoutRedirectUris: [`${portal.url}/bye`],
      webOrigins: [portal.url],
    },
    cli: { clientId: ids.cli },
    roles: MERCHANT_ROLES,
    admin: { email: EMAIL, roles: ['ADMIN'] },
  })
  const authUrl = service.app.publicUrl
  return { service, authUrl, issuer: issuerOf(authUrl, slug), userId: made.adminUserId ?? '', portal }
}

export async function withPassword(t: Test, env: Record<string, string> = {}): Promise<Shop> {
  const shop = await withRealm(t, env)
  await shop.service.app.identity.setPassword(slug, shop.userId, PASSWORD)
  return shop
}

/** Where a browser begins to sign in for a client, and the secret of the challenge. */
export function authorization({ authUrl }: Shop, clientId: string, redirectUri: string) {
  const { url, verifier } = authorizationUrl({ authUrl, realm: slug, clientId, redirectUri })
  return { url: url.href, state: url.searchParams.get('state'), verifier }
}

/** Exchanges the code that a client was sent last. */
export function redeem({ authUrl }: Shop, clientId: string, client: Client, verifier: string) {
  const back = client.received.at(-1)
  const wish = { authUrl, realm: slug, clientId, email: EMAIL, redirectUri: `${client.url}/callback` }
  return exchange(wish, { code: back?.searchParams.get('code') ?? '', verifier })
}

/**
 * A page as it should be: usable by everyone, no complaint of the browser, and no wider than a telephone.
 * @param inTheDark whether its colours are looked at in the dark too: once for each kind of page is enough
 */
export async function isGood(t: Test, { page, complaints }: Watched, name: string, inTheDark = true): Promise<void> {
  t.same(await accessibilityProblems(page), [], `${name}: nothing that keeps anyone from using it`)
  t.same(complaints, [], `${name}: no complaint of the browser`)
  if (inTheDark || LOOKED_AT !== undefined) await page.emulateMedia({ colorScheme: 'dark' })
  if (inTheDark) t.same(await accessibilityProblems(page, { only: [CONTRAST] }), [], `${name}: readable in the dark`)
  if (LOOKED_AT !== undefined) await shoot(page, `${name}-dark`)
  await page.emulateMedia({ colorScheme: 'light' })
  if (LOOKED_AT !== undefined) await shoot(page, name)
  const before = page.viewportSize() ?? { width: 1_280, height: 800 }
  await page.setViewportSize({ width: 360, height: 740 })
  const tooWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
  t.equal(tooWide, false, `${name}: fits a telephone`)
  if (LOOKED_AT !== undefined) await shoot(page, `${name}-360`)
  await page.setViewportSize({ width: 320, height: 568 })
  t.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false, `${name}: and a small one`)
  await page.setViewportSize(before)
}

async function shoot(page: Page, name: string): Promise<void> {
  mkdirSync(LOOKED_AT ?? '', { recursive: true })
  await page.screenshot({ path: `${LOOKED_AT}/${name}.png` })
}

export async function signIn(page: Page, password = PASSWORD): Promise<void> {
  await page.getByLabel('E-mail address').fill(EMAIL)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}
