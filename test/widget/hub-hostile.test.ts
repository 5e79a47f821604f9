import t from 'tap'
import type { Page } from 'playwright-core'
import { createPayment } from '../support/app.ts'
import { openBrowser } from '../support/browser.ts'
import type { Watched } from '../support/browser.ts'
import { goTo, hubService, linkFor, paidBy, PAYER, signedIn } from '../support/hub.ts'
import { isGood } from '../support/pages.ts'

/* What merchants and strangers might try on a payer in the hub. */
const service = await hubService(t)
const browser = await openBrowser(t)
const acme = await service.merchant()
const paid = await paidBy(service, acme)

/** Keeps what must never happen: dialogs, and anything that the policy had to stop. */
async function trap({ page }: Watched): Promise<string[]> {
  const sprung: string[] = []
  page.on('dialog', (dialog) => {
    sprung.push(dialog.message())
    void dialog.dismiss()
  })
  await page.exposeFunction('__sprung', (what: string) => sprung.push(what))
  await page.evaluate(
    "document.addEventListener('securitypolicyviolation', (e) => __sprung(e.violatedDirective + e.blockedURI))",
  )
  return sprung
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 }).waitFor()

t.test('another payer sees nothing, whatever the URL', async (t) => {
  const stranger = 'stranger@elsewhere.example'
  await createPayment(service, acme, { payer_email: stranger, amount: '3.33' })
  const { page } = await signedIn(service, browser, stranger)
  await page.getByRole('link', { name: /£3\.33/ }).waitFor()
  t.equal(await page.getByText('£50.00').count(), 0)
  for (const hash of [`#payment=${paid}`, `#dispute=${paid}`]) {
    await goTo(page, hash)
    await page.getByText('We could not find this payment.').waitFor()
  }
  t.equal((await page.locator('main').innerText()).includes('50.00'), false)
})

t.test('markup in names, references and notes is shown as text', async (t) => {
  const markup = '"><img src=x onerror=alert(1)><script>alert(2)</script>'
  const mallory = await service.merchant()
  await service.owner.query('update merchants set trading_name = $1 where id = $2', [markup, mallory.id])
  const id = await paidBy(service, mallory, { remittance_reference: '<b onclick=x>&amp' })
  const watched = await signedIn(service, browser)
  const sprung = await trap(watched)
  const { page } = watched
  await page.getByText(markup).waitFor()
  await goTo(page, `#payment=${id}`)
  await page.getByText(markup).waitFor()
  await page.getByText('<b onclick=x>&amp').waitFor()
  await isGood(t, watched, 'hub-markup', false)
  await goTo(page, `#dispute=${id}`)
  await page.getByLabel('Something else').check()
  await page.getByLabel('Tell us more').fill(markup)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText(markup).waitFor()
  for (const hash of [
    '#payment=<img>',
    '#<script>alert(3)</script>',
    '#payment=javascript:alert(4)',
    '#cancel=../../x',
  ]) {
    await goTo(page, hash)
    await heading(page, 'Your payments')
  }
  t.equal(await page.locator('main img, main script, main b').count(), 0)
  t.same(sprung, [])
  t.same(watched.complaints, [])
})

t.test('the page runs only its own code', async (t) => {
  const { page } = await signedIn(service, browser)
  const tried = await page.evaluate(`(() => {
    try { document.body.innerHTML = '<img src=x onerror=alert(1)>'; return 'set' } catch (error) { return error.name }
  })()`)
  t.equal(tried, 'TypeError', 'text becomes no markup (Trusted Types)')
  const { headers } = await service.call('GET', '/hub')
  const policy = String(headers['content-security-policy'])
  for (const rule of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
  ])
    t.match(policy, rule)
  t.notMatch(policy, 'unsafe')
  t.equal(headers['referrer-policy'], 'no-referrer')
})

t.test('link and session tokens never appear in URLs, the history or the console', async (t) => {
  const link = await linkFor(service, PAYER)
  const watched = await signedIn(service, browser)
  const { page } = watched
  const said: string[] = []
  page.on('console', (message) => said.push(message.text()))
  page.on('framenavigated', (frame) => said.push(frame.url()))
  page.on('request', (request) => said.push(request.url()))
  const { token } = JSON.parse(await page.evaluate("sessionStorage.getItem('svc_payer_session')"))
  await goTo(page, `#payment=${paid}`)
  await page.getByText('What happened').waitFor()
  await goTo(page, '#permissions')
  await heading(page, 'Your permissions')
  await goTo(page, link.split('#')[1] ?? '')
  await heading(page, 'One click to go')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await heading(page, 'Your payments')
  const text = said.join('\n')
  t.notMatch(
    text.replace(/#token=[\w-]+/, ''),
    link.split('#token=')[1] ?? '-',
    'but for the one address that was opened',
  )
  t.notMatch(text, token)
  t.notMatch(await page.evaluate('JSON.stringify(history.state) + location.href + document.title'), token)
})

t.test('everything can be done with the keyboard alone', async (t) => {
  const watched = await signedIn(service, browser)
  const { page } = watched
  /** Goes on by Tab until an element with this text has the focus. */
  const tabTo = async (text: string): Promise<void> => {
    for (let steps = 0; steps < 40; steps += 1) {
      await page.keyboard.press('Tab')
      if (String(await page.evaluate('document.activeElement.textContent')).includes(text)) return
    }
    throw new Error(`no way to ${text} by Tab`)
  }
  await page
    .getByRole('link', { name: /£50\.00/ })
    .first()
    .waitFor()
  await tabTo('£50.00')
  await page.keyboard.press('Enter')
  await page.getByText('What happened').waitFor()
  await tabTo('Dispute this payment')
  await page.keyboard.press('Enter')
  await page.getByRole('radio').first().waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Tab')
  await page.keyboard.type('Twice!')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await heading(page, 'Check and send')
  t.match(await page.locator('main').innerText(), /I was charged twice[\s\S]*Twice!/)
  await tabTo('Send dispute')
  await page.keyboard.press('Enter')
  await page.getByText('Your dispute was sent.').first().waitFor()
  t.equal(await page.evaluate('document.activeElement.tagName'), 'H1')
  await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' })
  t.equal(await page.evaluate("getComputedStyle(document.querySelector('button')).transitionDuration"), '0s')
})
