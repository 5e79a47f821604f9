import { mkdirSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import type { Test } from 'tap'
import type { Texts } from '../../widget/locales/en.ts'
import { CONTRAST, accessibilityProblems } from './browser.ts'
import type { AxeRules } from './axe.ts'
import { frameOf, openWidget, untilHeading } from './widget-page.ts'
import type { OpenWidget, WidgetShop } from './widget-page.ts'

/** A folder for pictures of every screen, for looking at them. */
const SCREENSHOT_FOLDER = process.env['SVC_TEST_SCREENSHOTS']

/** A telephone, which is given a link into its bank's app. */
export const PHONE = { viewport: { width: 390, height: 800 }, isMobile: true, hasTouch: true }

type WidgetSetup = { shop: WidgetShop; browser: Browser }

/** A language other than English shows the same colours, so all rules but the one about these are asked there. */
const rulesIn = (locale: string): AxeRules => (locale === 'en' ? {} : { without: [CONTRAST] })

/** A screen as it should be: usable by everyone, in the dark too, with no line wider than a small phone. */
export async function isGoodScreen(
  t: Test,
  { page }: Pick<OpenWidget, 'page'>,
  name: string,
  inTheDark = true,
  rules: AxeRules = {},
): Promise<void> {
  t.same(await accessibilityProblems(page, rules), [], `${name}: nothing that keeps anyone from using it`)
  await screenshot({ page }, name)
  const before = page.viewportSize() ?? { width: 1_280, height: 1_000 }
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize({ width: 320 + 16, height: 700 })
  if (inTheDark) t.same(await accessibilityProblems(page, { only: [CONTRAST] }), [], `${name}: readable in the dark`)
  const tooWide = await frameOf(page).evaluate('document.documentElement.scrollWidth - innerWidth')
  t.equal(tooWide, 0, `${name}: fits 320 pixels`)
  const small = await frameOf(page).evaluate(
    "[...document.querySelectorAll('a, button, input, summary, [role=option]')].filter((e) => e.getClientRects().length > 0 && e.getBoundingClientRect().height < 44).map((e) => e.outerHTML)",
  )
  t.same(small, [], `${name}: nothing smaller than a finger`)
  await screenshot({ page }, `${name}-dark-320`)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(before)
}

export async function screenshot({ page }: Pick<OpenWidget, 'page'>, name: string): Promise<void> {
  if (SCREENSHOT_FOLDER === undefined) return
  mkdirSync(SCREENSHOT_FOLDER, { recursive: true })
  await page.screenshot({ path: `${SCREENSHOT_FOLDER}/${name}.png`, fullPage: true })
}

/** Takes one widget over every screen. The second attempt waits until its looks are used up, and is paid then. */
export async function everyScreen(
  t: Test,
  { shop, browser }: WidgetSetup,
  locale: string,
  texts: Texts,
): Promise<void> {
  const opened = await openWidget(browser, shop, {
    attributes: { locale },
    prepare: (page) => page.clock.install(),
    context: { reducedMotion: 'reduce' },
  })
  const { page, widget, context } = opened
  const look = (name: string): Promise<void> =>
    isGoodScreen(t, opened, `${locale}-${name}`, locale === 'en', rulesIn(locale))
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
  await look('1-consent')
  await widget.locator('.screen .main').click()
  await widget.getByRole('option').first().waitFor()
  await look('2-banks')
  await toCode('Modest Bank')
  await look('3-code')
  await decide()
  await untilHeading(opened, texts.failedTitle)
  t.ok(await widget.getByText(texts.failures.LIMIT_EXCEEDED).isVisible())
  await look('5-failed')
  await widget.locator('.screen .main').click()
  await toCode('Fern')
  const address = await widget.locator('#link').inputValue()
  await widget.getByRole('button', { name: texts.scanned }).click()
  await widget.locator('.spinner').waitFor()
  t.equal(await frameOf(page).evaluate("getComputedStyle(document.querySelector('.spinner')).animationName"), 'none')
  await look('4-processing')
  await page.clock.runFor(121_000)
  await widget.getByRole('heading', { name: texts.waitingTitle }).waitFor()
  await look('4-waiting')
  const bank = await context.newPage()
  await bank.goto(address)
  await bank.getByRole('button', { name: /^Approve/ }).click()
  await bank.waitForURL(/\/payments\/return/)
  await untilHeading(opened, texts.paidTitle)
  await widget.locator('.contact summary').click()
  await look('5-paid')
  if (locale === 'cy') t.match(await widget.locator('dl').innerText(), /\d{1,2} \p{L}+ \d{4}/u, 'a British date')
  const [lang, dir] = (await frameOf(page).evaluate(
    '[document.documentElement.lang, document.documentElement.dir]',
  )) as string[]
  t.same([lang, dir], [locale === 'en' ? 'en-GB' : locale, locale === 'ar-XB' ? 'rtl' : 'ltr'])
  await page.reload()
  await widget.getByRole('heading', { name: texts.paidBeforeTitle }).waitFor()
  await look('5-paid-before')
  t.same(opened.complaints, [])
  await context.close()
}

/** Takes a widget over the screens that are there for a moment only, and those of who can't or won't pay. */
export async function passingScreens(
  t: Test,
  { shop, browser }: WidgetSetup,
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
  const look = (name: string): Promise<void> => isGoodScreen(t, opened, `${locale}-${name}`, false, rulesIn(locale))
  await widget.getByRole('heading', { name: texts.loading }).waitFor()
  await look('0-loading')
  toConsent?.()
  await widget.locator('.screen .main').click()
  await widget.getByRole('option', { name: 'Fern' }).click()
  await widget.locator('.spinner').waitFor()
  await look('3-creating')
  toCode?.()
  await widget.locator('canvas[width]').waitFor()
  await widget.locator('.screen .back').click()
  await widget.getByRole('heading', { name: texts.cancellingTitle }).waitFor()
  await look('3-cancelling')
  toEnd?.()
  await widget.getByRole('heading', { name: texts.leftTitle }).waitFor()
  await look('6-left')
  t.same(opened.complaints, [])
  await context.close()
}

/** What is shown of a token that has ended, and a telephone's way to the bank. */
export async function endedAndPhone(
  t: Test,
  { shop, browser }: WidgetSetup,
  locale: string,
  texts: Texts,
): Promise<void> {
  const ended = await openWidget(browser, shop, { attributes: { locale }, tokens: [shop.token({ exp: 1 })] })
  await ended.widget.getByRole('heading', { name: texts.unusableTitle }).waitFor()
  await ended.widget.getByText(texts.developer).click()
  await isGoodScreen(t, ended, `${locale}-0-unusable`, locale === 'en', rulesIn(locale))
  await ended.context.close()
  const phone = await openWidget(browser, shop, { context: PHONE, attributes: { locale } })
  await phone.widget.locator('.screen .main').click()
  await screenshot(phone, `${locale}-phone-2-banks`)
  await phone.widget.getByRole('option', { name: 'Fern' }).click()
  await phone.widget.getByRole('link', { name: texts.openApp }).waitFor()
  await isGoodScreen(t, phone, `${locale}-phone-3-link`, locale === 'en', rulesIn(locale))
  await phone.context.close()
  t.same([...phone.complaints, ...ended.complaints], [])
}
