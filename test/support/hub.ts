import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { listMails } from '../../src/mail/list-mails.ts'
import { getMail } from '../../src/mail/get-mail.ts'
import { authorisedPayment, testService, until, untilStatus } from './app.ts'
import type { TestMerchant, TestService } from './app.ts'
import { openPage } from './browser.ts'
import type { Watched } from './browser.ts'
import type { Browser } from 'playwright-core'

export const PAYER = 'priya@home.example'

/** The service with its worker, for the links are sent by a job. */
export function hubService(t: Test): Promise<TestService> {
  return testService(t, { worker: true })
}

/** Asks for a link as anyone can, and takes it from the sandbox's outbox. */
export async function linkFor(service: TestService, email: string): Promise<string> {
  const seen = new Set((await listMails(service.app, { recipient: email })).map(({ id }) => id))
  await service.call('POST', '/api/v1/payer/auth/request-link', { body: { email } })
  return nextLink(service, email, seen)
}

/** The link of the next mail to an address. */
export async function nextLink(
  service: TestService,
  email: string,
  seen: ReadonlySet<string> = new Set(),
): Promise<string> {
  const mail = await until(async () => {
    const mails = await listMails(service.app, { recipient: email })
    return mails.find(({ id, kind }) => kind === 'payer-link' && !seen.has(id))
  })
  const { links } = await getMail(service.app, mail.id)
  const link = links.find((one) => one.includes('#token='))
  if (link === undefined) throw new Error('the mail has no link')
  return link
}

/** A window that is signed in, at the list of payments. */
export async function signedIn(service: TestService, browser: Browser, email = PAYER): Promise<Watched> {
  const watched = await openPage(browser)
  await watched.page.goto(await linkFor(service, email))
  await watched.page.getByRole('button', { name: 'Sign in' }).click()
  await watched.page.getByRole('heading', { name: 'Your payments' }).waitFor()
  return watched
}

/** A payment of a payer that has arrived. */
export async function paidBy(
  service: TestService,
  merchant: TestMerchant,
  changes: Record<string, unknown> = {},
): Promise<string> {
  const { id } = await authorisedPayment(service, merchant, { payer_email: PAYER, ...changes })
  await untilStatus(service, merchant, id, 'Settled')
  return id
}

/** Has the page at an address of the hub, by its hash alone, as a link on it would. */
export async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
}
