import t from 'tap'
import { openBrowser } from '../support/browser.ts'
import { frameOf, openWidget, openWidgetShop } from '../support/widget-page.ts'
import { endedAndPhone, everyScreen, languageFindings, passingScreens } from '../support/widget-screens.ts'
import type { Skeletons } from '../support/widget-screens.ts'
import { pseudo } from '../../widget/locales/ar-xb.ts'
import { texts as cy } from '../../src/lib/locales/checkout/cy.ts'
import { texts as de } from '../../src/lib/locales/checkout/de.ts'
import { en } from '../support/english.ts'

/* English comes first: axe checks its screens, and the structure of the other languages is compared with it. */
const shop = await openWidgetShop(t)
const browser = await openBrowser(t)
const skeletons: Skeletons = new Map()
const setup = { shop, browser, skeletons }

const LANGUAGES = [
  ['English', 'en', en],
  ['Welsh', 'cy', cy],
  ['the right-to-left pseudo-locale', 'ar-XB', pseudo(en)],
] as const

for (const [language, locale, texts] of LANGUAGES) {
  t.test(`every screen is accessible at 320 pixels, without motion: ${language}`, (t) =>
    everyScreen(t, setup, locale, texts),
  )
  t.test(`every short-lived screen is accessible: ${language}`, (t) => passingScreens(t, setup, locale, texts))
  t.test(`an expired token and a phone's link are accessible: ${language}`, (t) =>
    endedAndPhone(t, setup, locale, texts),
  )
}

t.test('every screen is accessible at 320 pixels, without motion: German, whose words are the longest', (t) =>
  everyScreen(t, setup, 'de', de),
)

t.test('a missing name, a missing reference and another element in a translation are found', async (t) => {
  const opened = await openWidget(browser, shop, { attributes: { locale: 'cy' } })
  await opened.widget.locator('.screen .main').waitFor()
  const good = await languageFindings(opened)
  t.same(good.nameless, [])
  await frameOf(opened.page).evaluate("document.querySelector('.screen .main').textContent = ' '")
  const nameless = await languageFindings(opened)
  t.match(nameless.nameless, [/class="main"/])
  t.same(nameless.skeleton, good.skeleton, 'the structure ignores texts')
  await frameOf(opened.page).evaluate("document.querySelector('.screen').append(document.createElement('img'))")
  t.notSame((await languageFindings(opened)).skeleton, good.skeleton)
  await frameOf(opened.page).evaluate("document.querySelector('.screen img').remove()")
  await frameOf(opened.page).evaluate("document.querySelector('.screen .main').setAttribute('aria-labelledby', 'gone')")
  t.notSame((await languageFindings(opened)).skeleton, good.skeleton)
  await opened.context.close()
})
