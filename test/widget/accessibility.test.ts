import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { packageRoot } from '../../src/lib/package-root.ts'
import { openBrowser } from '../support/browser.ts'
import { frameOf, openWidget, openWidgetShop } from '../support/widget-page.ts'
import { endedAndPhone, everyScreen, languageFindings, passingScreens } from '../support/widget-screens.ts'
import type { Skeletons, Trees } from '../support/widget-screens.ts'
import { pseudo } from '../../widget/locales/ar-xb.ts'
import { texts as cy } from '../../src/lib/locales/checkout/cy.ts'
import { texts as de } from '../../src/lib/locales/checkout/de.ts'
import { en } from '../support/english.ts'

/* English comes first: axe checks its screens, and the structure of the other languages is compared with it. */
const shop = await openWidgetShop(t)
const browser = await openBrowser(t)
const skeletons: Skeletons = new Map()
const trees: Trees = new Map()
const setup = { shop, browser, skeletons, trees }

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

/* Reviewed as text: what is read of each screen, in order. SVC_TEST_SCREENSHOTS has what it is now, to take over. */
t.test('what screen readers get of each screen is as it was reviewed', async (t) => {
  const name = 'screen-reader.txt'
  const now = [...trees].map(([screen, tree]) => `## ${screen}\n\n${tree}\n`).join('\n')
  const folder = process.env['SVC_TEST_SCREENSHOTS']
  if (folder !== undefined) writeFileSync(`${folder}/${name}`, now)
  t.equal(now, readFileSync(`${packageRoot()}/test/widget/${name}`, 'utf8'))
})
