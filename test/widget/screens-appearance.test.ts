import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { packageRoot } from '../../src/lib/package-root.ts'
import { CONTRAST, accessibilityProblems, openBrowser, openPage } from '../support/browser.ts'
import { frameOf, openWidget, openWidgetShop } from '../support/widget-page.ts'
import { screenshot } from '../support/widget-screens.ts'
import { en } from '../../src/lib/locales/checkout/en.ts'
import { openSite } from './shop.ts'

const shop = await openWidgetShop(t)
const browser = await openBrowser(t)
const GUIDE = join(packageRoot(), 'docs/merchants/checkout.md')

/** Adds up how much moved on a page without its reader's doing, as the browser measures it. */
const SHIFTS = `window.shifts = 0
new PerformanceObserver((list) => {
  for (const { value } of list.getEntries()) shifts += value
}).observe({ type: 'layout-shift', buffered: true })`

/** Below this, Web Vitals call a page's layout stable; their limit is 0.1. */
const SHIFT_MAX = 0.05

/** The lines of the guide, as a shop copies them, between a heading and a page full of text. */
function documentedPage(token: string): string {
  const [, lines = ''] = /```html\n(<div id="svc-checkout"[^]*?)```/.exec(readFileSync(GUIDE, 'utf8')) ?? []
  const embed = lines.replaceAll('https://pay.example', shop.service.url).replaceAll('TOKEN', token)
  return `<!doctype html><html lang="en"><title>Shop</title><h1>The shop</h1>${embed}${'<p>And a word about it.</p>'.repeat(40)}`
}

t.test('the documented lines let nothing jump, and hold a link until the checkout is there', async (t) => {
  const site = await openSite(t)
  const token = shop.token({ callbackOrigin: site.url, returnUrl: `${site.url}/thanks` })
  // As base64url it stands in an address and in an attribute alike.
  site.pages['/'] = documentedPage(Buffer.from(token, 'base64').toString('base64url'))
  const { page } = await openPage(browser)
  await page.addInitScript(SHIFTS)
  // As over a slow line: the page stands before the script comes.
  await page.route('**/v1/checkout.js', async (route) => {
    await page.waitForTimeout(300)
    await route.continue()
  })
  await page.goto(site.url, { waitUntil: 'commit' })
  await page.getByRole('link', { name: 'Pay by bank on our page' }).waitFor()
  const widget = page.frameLocator('#svc-checkout iframe')
  await widget.getByRole('button', { name: en.continue }).click()
  await widget.getByRole('option', { name: 'Fern' }).click()
  await widget.locator('canvas[width]').waitFor()
  const shifts = Number(await page.evaluate('shifts'))
  t.ok(shifts < SHIFT_MAX, `${shifts} from the empty page to the bank's code`)
  t.comment(`layout shift: ${shifts}`)
  const context = await browser.newContext({ javaScriptEnabled: false })
  const without = await context.newPage()
  await without.goto(site.url)
  await without.getByRole('link', { name: 'Pay by bank on our page' }).click()
  await without.getByRole('heading', { name: 'Pay Acme' }).waitFor()
})

t.test('markup in names is text, and branding sets only colours', async (t) => {
  const name = `<img src=x onerror=alert(1)><script>alert(2)</script>"'&amp; Ltd`
  await shop.service.owner.query('update merchants set trading_name = $1 where id = $2', [name, shop.merchant.id])
  const hostile = await openWidget(browser, shop, {
    tokens: [shop.token({ merchantName: name })],
    prepare: (page) =>
      page.route('**/api/v1/checkout', async (route) => {
        const response = await route.fetch()
        const json = await response.json()
        json.branding.logo_url = 'javascript:alert(3)'
        json.branding.colors = { primary: 'red;}*{display:none', background: 'url(https://evil.example)', text: '<b>' }
        json.branding.font = 'x; background: url(https://evil.example)'
        await route.fulfill({ response, json })
      }),
  })
  const { widget, complaints } = hostile
  await widget.locator('.payee').getByText(name).waitFor()
  await widget.getByText(`from your bank to ${name}.`).waitFor()
  t.equal(await widget.locator('.order img, .order script').count(), 0)
  t.equal(await frameOf(hostile.page).evaluate('document.documentElement.getAttribute("style")'), null)
  await widget.getByRole('button', { name: en.continue }).click()
  await widget.getByLabel(en.search).fill('<img src=x onerror=alert(4)>')
  await widget.getByText(en.noneFound).waitFor()
  await screenshot(hostile, 'en-markup')
  t.same(complaints, [])
})

t.test('branding is applied, and readable even with badly chosen colours', async (t) => {
  await shop.service.owner.query("update merchants set trading_name = 'Bean & Leaf' where id = $1", [shop.merchant.id])
  const colors = { primary: '#F5C518', background: '#1B2A1F', text: '#223322' }
  const branded = await openWidget(browser, shop, {
    prepare: (page) =>
      page.route('**/api/v1/checkout', async (route) => {
        const response = await route.fetch()
        const json = await response.json()
        json.branding = { ...json.branding, colors, font: 'Georgia', logo_url: 'https://127.0.0.1:1/logo.png' }
        await route.fulfill({ response, json })
      }),
  })
  const { widget, page } = branded
  await widget.getByRole('button', { name: en.continue }).waitFor()
  const style = String(await frameOf(page).evaluate('document.documentElement.getAttribute("style")'))
  t.match(style, /--svc-primary: #F5C518; --svc-on-primary: #000000;/)
  t.match(style, /--svc-text: #FFFFFF;/)
  t.equal(await widget.locator('.logo').isVisible(), false, 'a logo that does not load leaves no hole')
  t.same(await accessibilityProblems(page), [])
  await screenshot(branded, 'en-branded')
  await page.emulateMedia({ colorScheme: 'dark' })
  t.same(await accessibilityProblems(page, { only: [CONTRAST] }), [], 'the same in the dark')
})

t.test('a long name has room beside a logo, and a large amount stays on one line, on a narrow phone', async (t) => {
  const name = 'Worshipful Company of Merchant Adventurers and Wholesale Stationers of Llanfairpwllgwyngyll'
  const icon = `<svg xmlns="http://www.w3.org/2000/svg" width="96" height="32"><rect width="96" height="32"/></svg>`
  for (const [amount, logo] of [
    ['999999.99', undefined],
    ['999999.99', `data:image/svg+xml;base64,${Buffer.from(icon).toString('base64')}`],
    ['5.00', undefined],
  ] as const) {
    const opened = await openWidget(browser, shop, {
      tokens: [shop.token({ amount })],
      context: { viewport: { width: 320, height: 700 } },
      prepare: (page) =>
        page.route('**/api/v1/checkout', async (route) => {
          const response = await route.fetch()
          const json = await response.json()
          await route.fulfill({ response, json: { ...json, merchant_name: name } })
        }),
    })
    const { widget, page, context } = opened
    await widget.getByRole('button', { name: en.continue }).waitFor()
    const frame = frameOf(page)
    const size = async (selector: string) => {
      const box = await widget.locator(selector).boundingBox()
      return box ?? { width: 0, height: Infinity }
    }
    const what = `${amount} ${logo === undefined ? 'without' : 'with'} a logo`
    if (logo !== undefined) {
      await frame.evaluate(
        `document.querySelector('.order').prepend(Object.assign(new Image(), { className: 'logo', src: '${logo}' }))`,
      )
      await frame.evaluate(`document.querySelector('.order > .logo').decode()`)
      t.ok((await size('.order > .logo')).width > 0, `${what}: it is there`)
    }
    t.ok((await size('.payee')).width >= 140, `${what}: the name has room`)
    t.ok((await size('.amount')).height < 40, `${what}: the amount is on one line`)
    t.equal(await frame.evaluate('document.documentElement.scrollWidth - innerWidth'), 0, `${what}: nothing is cut`)
    await screenshot(opened, `en-long-${amount}${logo === undefined ? '' : '-logo'}`)
    await context.close()
  }
})

t.test('with the colours that a reader chooses, what can be pressed or filled in keeps its edge', async (t) => {
  const opened = await openWidget(browser, shop, { context: { forcedColors: 'active' } })
  const { widget, page } = opened
  await widget.getByRole('button', { name: en.continue }).waitFor()
  const canvas: string = await frameOf(page).evaluate(`(() => {
    const probe = document.body.appendChild(document.createElement('i'))
    probe.style.color = 'Canvas'
    const { color } = getComputedStyle(probe)
    probe.remove()
    return color
  })()`)
  t.match(canvas, /^rgb\(/)
  const hasEdge = async (selector: string): Promise<void> => {
    const styles: string[][] = await frameOf(page).evaluate(
      `[...document.querySelectorAll('${selector}')].map(getComputedStyle).map((s) => [s.borderTopStyle, s.borderTopWidth, s.borderTopColor])`,
    )
    t.ok(styles.length > 0, selector)
    for (const [style, width, color] of styles)
      t.ok(
        // The browser draws what the pointer is over in a colour of its own, that can let some of the page through.
        style === 'solid' && width !== '0px' && !/^rgba.*, 0\)$/.test(String(color)) && color !== canvas,
        `${selector}: ${style} ${width} ${color} on ${canvas}`,
      )
  }
  await hasEdge('.main')
  t.same(await accessibilityProblems(page), [])
  await screenshot(opened, 'en-forced-consent')
  await widget.getByRole('button', { name: en.continue }).click()
  await widget.getByRole('heading', { name: en.popular }).waitFor()
  for (const each of ['.tile', 'input', '.list']) await hasEdge(each)
  await widget.locator('.tile').first().hover()
  await hasEdge('.tile')
  t.same(await accessibilityProblems(page), [])
  await screenshot(opened, 'en-forced-banks')
})

/** The colour scheme, and every element's colours. */
const COLORS = `[
  getComputedStyle(document.documentElement).colorScheme,
  [...document.querySelectorAll('*')].map(getComputedStyle).map((s) => [s.color, s.backgroundColor, s.borderColor, s.opacity].join()).join(';'),
]`

t.test("the theme follows the page, and the payer's system only if the page does", async (t) => {
  const cases = [
    [{ scheme: 'normal' }, 'light'],
    [{ scheme: 'light' }, 'light'],
    [{ scheme: 'light dark' }, 'dark'],
    [{ scheme: 'dark' }, 'dark'],
    [{ scheme: 'normal', theme: 'dark' }, 'dark'],
    [{ scheme: 'light dark', theme: 'light' }, 'light'],
    [{ scheme: 'light dark', theme: 'nonsense' }, 'light'],
  ] as const
  const seen: Record<string, string> = {}
  const found = []
  for (const [attributes, look] of cases) {
    const { widget, page, context } = await openWidget(browser, shop, { attributes, context: { colorScheme: 'dark' } })
    await widget.getByRole('button', { name: en.continue }).waitFor()
    const [scheme, colors] = (await frameOf(page).evaluate(COLORS)) as [string, string]
    // The same colours have the same contrast: axe looks at the first page of each look.
    const problems = colors === seen[look] ? [] : await accessibilityProblems(page, { only: [CONTRAST] })
    seen[look] ??= colors
    found.push({ attributes, look: scheme, isSame: colors === seen[look], problems })
    await context.close()
  }
  t.same(
    found,
    cases.map(([attributes, look]) => ({ attributes, look, isSame: true, problems: [] })),
  )
})

/** A logo that is wide, has a transparent ground, and would be stretched without `object-fit`. */
const WIDE_LOGO = '<svg xmlns="http://www.w3.org/2000/svg" width="96" height="16"><path d="M4 4h8v8H4z"/></svg>'

t.test("a bank's wide and transparent logo keeps its shape and hides the letter, in light and dark", async (t) => {
  for (const theme of ['light', 'dark']) {
    const { widget, page, context } = await openWidget(browser, shop, {
      attributes: { theme },
      prepare: (page) =>
        page.route('**/widget/banks/*.svg', (route) =>
          route.fulfill({ contentType: 'image/svg+xml', body: WIDE_LOGO }),
        ),
    })
    await widget.getByRole('button', { name: en.continue }).click()
    const mark = widget.locator('.mark').first()
    await mark.waitFor()
    const frame = frameOf(page)
    await frame.waitForFunction("document.querySelector('.mark > img').naturalWidth === 96")
    t.equal(await frame.evaluate("getComputedStyle(document.querySelector('.mark > img')).objectFit"), 'contain')
    /** What the mark looks like with another letter. */
    const picture = async (letter: string): Promise<string> => {
      await frame.evaluate(`document.querySelector('.mark').firstChild.data = '${letter}'`)
      return (await mark.screenshot()).toString('base64')
    }
    t.equal(await picture('W'), await picture('I'), `${theme}: the letter is not seen`)
    await frame.evaluate("document.querySelector('.mark > img').remove()")
    t.not(await picture('W'), await picture('I'), `${theme}: without the logo it is`)
    await context.close()
  }
})

t.test('the frame keeps its height while a payment is created and cancelled', async (t) => {
  const { widget, page } = await openWidget(browser, shop, { attributes: { noRedirect: true } })
  const height = (): Promise<number> =>
    frameOf(page).evaluate('Math.ceil(document.body.getBoundingClientRect().height)')
  const release: (() => void)[] = []
  for (const address of ['payments', 'payments/*/cancel']) {
    const held = new Promise<void>((resolve) => release.push(resolve))
    await page.route(`**/api/v1/${address}`, async (route) => {
      await held
      await route.continue()
    })
  }
  await widget.getByRole('button', { name: en.continue }).click()
  await widget.getByRole('option', { name: 'Fern' }).waitFor()
  const banks = await height()
  t.ok(banks > 600)
  await widget.getByRole('option', { name: 'Fern' }).click()
  await widget.locator('.spinner').waitFor()
  t.equal(await height(), banks, 'while the payment is made')
  release[0]?.()
  await widget.locator('canvas[width]').waitFor()
  const code = await height()
  await widget.getByRole('link', { name: /^Cancel/ }).click()
  await widget.locator('.spinner').waitFor()
  t.equal(await height(), code, 'while it is cancelled')
  release[1]?.()
  await widget.getByRole('heading', { name: en.leftTitle }).waitFor()
  t.ok((await height()) < code, 'and it is given back afterwards')
})

t.test("if a phone can't reach the sandbox, the link for this browser comes first", async (t) => {
  for (const mode of ['sandbox', 'live']) {
    const { widget, page } = await openWidget(browser, shop, {
      attributes: { locale: mode === 'live' ? 'ar-XB' : 'en' },
      prepare: (page) =>
        page.route('**/api/v1/checkout', async (route) => {
          const response = await route.fetch()
          await route.fulfill({ response, json: { ...(await response.json()), mode } })
        }),
    })
    await widget.locator('.screen .main').click()
    await widget.getByRole('option', { name: 'Fern' }).click()
    await widget.locator('canvas[width]').waitFor()
    const isLink = await frameOf(page).evaluate(
      `document.querySelector('.screen .main').matches('a.main:has(~ canvas)')`,
    )
    t.equal(isLink, mode === 'sandbox', mode)
    t.equal(await widget.getByText(en.qrLocal).count(), mode === 'sandbox' ? 1 : 0)
    t.equal(await frameOf(page).evaluate('getComputedStyle(link).direction'), 'ltr', 'an address')
  }
})

t.test("accessibility problems inside the shop's frame are found", async (t) => {
  const { widget, page, context } = await openWidget(browser, shop)
  await widget.locator('.screen .main').waitFor()
  t.same(await accessibilityProblems(page), [])
  await frameOf(page).evaluate("document.querySelector('.screen').append(document.createElement('img'))")
  await frameOf(page).evaluate(
    "document.querySelector('.screen .main').style.cssText = 'color: #888; background: #777'",
  )
  const found = await accessibilityProblems(page)
  t.ok(found.some((each) => each.startsWith('critical image-alt')))
  t.ok(found.some((each) => each.startsWith('serious color-contrast')))
  t.match(await accessibilityProblems(page, { without: [CONTRAST] }), [/image-alt/])
  t.match(await accessibilityProblems(page, { only: [CONTRAST] }), [/color-contrast/])
  await context.close()
})
