import { mkdirSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import type { Test } from 'tap'
import type { AllTexts as Texts } from '../../src/lib/locales/checkout/en.ts'
import { CONTRAST, accessibilityProblems } from './browser.ts'
import { frameOf, openWidget, untilHeading } from './widget-page.ts'
import type { OpenWidget, WidgetShop } from './widget-page.ts'

/** A folder for screenshots of every screen. */
const SCREENSHOT_FOLDER = process.env['SVC_TEST_SCREENSHOTS']

/** A phone, which gets a link to the bank's app. */
export const PHONE = { viewport: { width: 390, height: 800 }, isMobile: true, hasTouch: true }

type WidgetSetup = { shop: WidgetShop; browser: Browser; skeletons: Skeletons; trees: Trees }

/** The DOM structure of each screen in English, by the screen's name: tags, roles and references without texts. */
export type Skeletons = Map<string, unknown>

/** What a screen reader gets of each screen in English, by the screen's name. */
export type Trees = Map<string, string>

/** The accessibility tree of a screen, without what differs from one payment to the next, and without the last news. */
async function treeOf({ page }: Pick<OpenWidget, 'page'>): Promise<string> {
  const tree = await frameOf(page).locator('main').ariaSnapshot()
  return tree
    .replace(/- status: .*$/, '- status')
    .replaceAll(/SVC[0-9a-f]{32}/g, 'SVC…')
    .replaceAll(/http:\/\/[\d.]+:\d+\/go\?state=[\w-]+/g, 'https://…')
    .replaceAll(/(\/payments\/return\?state=)[\w-]+/g, '$1…')
    .replaceAll(/http:\/\/(?:localhost|127\.0\.0\.1):\d+\/(redirect-stub\?)?\S*/g, 'https://…')
    .replaceAll(/\d{1,2} \w+ \d{4} at \d\d:\d\d/g, '28 November 2026 at 12:00')
}

const SKELETON = `(() => {
  const KEPT = ['role', 'type', 'id', 'for', 'class', 'lang', 'dir', 'tabindex', 'target', 'rel', 'autocomplete', 'aria-hidden', 'aria-controls', 'aria-labelledby', 'aria-describedby']
  const skeletonOf = (element) => [
    element.tagName,
    [...element.attributes].map(({ name, value }) => (KEPT.includes(name) ? name + '=' + value : name)).sort().join(' '),
    ...[...element.children].map(skeletonOf),
  ]
  return skeletonOf(document.body)
})()`

const OVERFLOW = 'document.documentElement.scrollWidth - innerWidth'

const SMALL_TARGETS =
  "[...document.querySelectorAll('a, button, input, summary, [role=option]')].filter((e) => e.getClientRects().length > 0 && e.getBoundingClientRect().height < 44).map((e) => e.outerHTML)"

const NAMELESS = `[...document.querySelectorAll('a, button, input, summary, h1, h2, main, [role=option], [role=listbox], [role=img]')]
  .filter((e) => !(e.getAttribute('aria-label') || [...(e.labels || [])].map((l) => l.textContent).join('') || (e.matches('main, input') ? '' : e.textContent)).trim())
  .map((e) => e.outerHTML)`

/** What differs between languages and axe would look at: names, structure, language and direction. */
export async function languageFindings({ page }: Pick<OpenWidget, 'page'>): Promise<{
  skeleton: unknown
  nameless: unknown
  document: unknown
}> {
  const frame = frameOf(page)
  return {
    skeleton: await frame.evaluate(SKELETON),
    nameless: await frame.evaluate(NAMELESS),
    document: await frame.evaluate(
      '[document.documentElement.lang, document.documentElement.dir, document.title === document.querySelector("h1").textContent]',
    ),
  }
}

type ScreenOptions = { locale: string; isDarkChecked?: boolean; skeletons: Skeletons; trees?: Trees }

/**
 * Checks a screen for accessibility, at 320 pixels and for small targets. axe runs once for each screen, in English: in the
 * other languages the DOM must have the same structure, so that only names, language, direction and layout can differ,
 * and these are checked directly.
 */
export async function checkScreen(
  t: Test,
  { page }: Pick<OpenWidget, 'page'>,
  name: string,
  { locale, isDarkChecked = false, skeletons, trees }: ScreenOptions,
): Promise<void> {
  const isEnglish = locale === 'en'
  const { skeleton, nameless, document } = await languageFindings({ page })
  if (isEnglish) skeletons.set(name, skeleton)
  if (isEnglish) trees?.set(name, await treeOf({ page }))
  const axe = isEnglish ? await accessibilityProblems(page) : []
  await screenshot({ page }, `${locale}-${name}`)
  const before = page.viewportSize() ?? { width: 1_280, height: 1_000 }
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize({ width: 320 + 16, height: 700 })
  const dark = isEnglish && isDarkChecked ? await accessibilityProblems(page, { only: [CONTRAST] }) : []
  const overflow = await frameOf(page).evaluate(OVERFLOW)
  const small = await frameOf(page).evaluate(SMALL_TARGETS)
  await screenshot({ page }, `${locale}-${name}-dark-320`)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(before)
  const language = [isEnglish ? 'en-GB' : locale, locale === 'ar-XB' ? 'rtl' : 'ltr', true]
  t.same(
    { axe, dark, overflow, small, nameless, document, skeleton },
    { axe: [], dark: [], overflow: 0, small: [], nameless: [], document: language, skeleton: skeletons.get(name) },
    `${locale}-${name}`,
  )
}

export async function screenshot({ page }: Pick<OpenWidget, 'page'>, name: string): Promise<void> {
  if (SCREENSHOT_FOLDER === undefined) return
  mkdirSync(SCREENSHOT_FOLDER, { recursive: true })
  await page.screenshot({ path: `${SCREENSHOT_FOLDER}/${name}.png`, fullPage: true })
}

/** Leads one widget through every screen. The second attempt waits until polling ends, and is paid then. */
export async function everyScreen(
  t: Test,
  { shop, browser, skeletons, trees }: WidgetSetup,
  locale: string,
  texts: Texts,
): Promise<void> {
  const opened = await openWidget(browser, shop, {
    attributes: { locale },
    prepare: (page) => page.clock.install(),
    context: { reducedMotion: 'reduce' },
  })
  const { page, widget, context } = opened
  const check = (name: string): Promise<void> =>
    checkScreen(t, opened, name, { locale, isDarkChecked: true, skeletons, trees })
  const toCode = async (bank: string): Promise<void> => {
    await widget.getByRole('option', { name: bank }).click()
    await widget.locator('canvas[width]').waitFor()
  }
  const decide = async (): Promise<void> => {
    const bank = await context.newPage()
    await bank.goto(await widget.locator('#link').inputValue())
    await widget.getByRole('button', { name: texts.scanned }).click()
    await widget.locator('.spinner').waitFor()
    await bank.getByRole('button', { name: /^Approve/ }).click()
    await bank.waitForURL(/\/payments\/return/)
    await bank.close()
  }
  await widget.locator('.screen .main').waitFor()
  await check('1-consent')
  await widget.locator('.screen .main').click()
  await widget.getByRole('option').first().waitFor()
  await check('2-banks')
  await toCode('Modest Bank')
  await check('3-code')
  await decide()
  await untilHeading(opened, texts.failedTitle)
  await widget.getByText(texts.failures.LIMIT_EXCEEDED).waitFor()
  await check('5-failed')
  await widget.locator('.screen .main').click()
  await toCode('Fern')
  const address = await widget.locator('#link').inputValue()
  await widget.getByRole('button', { name: texts.scanned }).click()
  await widget.locator('.spinner').waitFor()
  t.equal(await frameOf(page).evaluate("getComputedStyle(document.querySelector('.spinner')).animationName"), 'none')
  await check('4-processing')
  await page.clock.runFor(121_000)
  await widget.getByRole('heading', { name: texts.waitingTitle }).waitFor()
  // The clock has outrun the last answer on a slow machine, which then counts as none: it is asked for once more.
  await frameOf(page).evaluate("window.dispatchEvent(new Event('online'))")
  await widget.locator('p:not([role])', { hasText: texts.offlineText }).waitFor({ state: 'detached' })
  await check('4-waiting')
  const bank = await context.newPage()
  await bank.goto(address)
  await bank.getByRole('button', { name: /^Approve/ }).click()
  await bank.waitForURL(/\/payments\/return/)
  await untilHeading(opened, texts.paidTitle)
  await widget.locator('.contact summary').click()
  await check('5-paid')
  await widget.getByText(texts.shares).click()
  if (locale === 'cy')
    t.match(await widget.locator('dl').first().innerText(), /\d{1,2} \p{L}+ \d{4}/u, 'a British date')
  await page.reload()
  await widget.getByRole('heading', { name: texts.paidBeforeTitle }).waitFor()
  await check('5-paid-before')
  t.same(opened.complaints, [])
  await context.close()
}

/** Leads a widget through the short-lived screens, and to the one after leaving. */
export async function passingScreens(
  t: Test,
  { shop, browser, skeletons, trees }: WidgetSetup,
  locale: string,
  texts: Texts,
): Promise<void> {
  const release: (() => void)[] = []
  const hold = async (page: Page, address: string): Promise<void> => {
    const held = new Promise<void>((resolve) => release.push(resolve))
    await page.route(address, async (route) => {
      await held
      await route.continue()
    })
  }
  const opened = await openWidget(browser, shop, {
    attributes: { locale, noRedirect: true },
    prepare: async (page) => {
      for (const address of ['checkout', 'payments', 'payments/*/cancel']) await hold(page, `**/api/v1/${address}`)
    },
  })
  const { widget, context } = opened
  const [toConsent, toCode, toEnd] = release
  const check = (name: string): Promise<void> => checkScreen(t, opened, name, { locale, skeletons, trees })
  await widget.getByRole('heading', { name: texts.loading }).waitFor()
  await check('0-loading')
  toConsent?.()
  await widget.locator('.screen .main').click()
  await widget.getByRole('option', { name: 'Fern' }).click()
  await widget.locator('.spinner').waitFor()
  await check('3-creating')
  toCode?.()
  await widget.locator('canvas[width]').waitFor()
  await widget.locator('.screen .back').click()
  await widget.getByRole('heading', { name: texts.cancellingTitle }).waitFor()
  await check('3-cancelling')
  toEnd?.()
  await widget.getByRole('heading', { name: texts.leftTitle }).waitFor()
  await check('6-left')
  t.same(opened.complaints, [])
  await context.close()
}

/** The screen for an expired token, and the link to the bank on a phone. */
export async function endedAndPhone(
  t: Test,
  { shop, browser, skeletons, trees }: WidgetSetup,
  locale: string,
  texts: Texts,
): Promise<void> {
  const ended = await openWidget(browser, shop, { attributes: { locale }, tokens: [shop.token({ exp: 1 })] })
  await ended.widget.getByRole('heading', { name: texts.unusableTitle }).waitFor()
  await ended.widget.getByText(texts.developer).click()
  await checkScreen(t, ended, '0-unusable', { locale, isDarkChecked: true, skeletons, trees })
  await ended.context.close()
  const phone = await openWidget(browser, shop, { context: PHONE, attributes: { locale } })
  await phone.widget.locator('.screen .main').click()
  await screenshot(phone, `${locale}-phone-2-banks`)
  await phone.widget.getByRole('option', { name: 'Fern' }).click()
  await phone.widget.getByRole('link', { name: texts.openApp }).waitFor()
  await checkScreen(t, phone, 'phone-3-link', { locale, isDarkChecked: true, skeletons, trees })
  await phone.context.close()
  t.match([phone.complaints, ended.complaints], [[], [/^svc checkout: CHECKOUT_TOKEN_EXPIRED/]])
}
