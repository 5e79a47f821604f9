import t from 'tap'
import { chooseLocale } from '../../widget/locales/choose.ts'
import { makeLocalization } from '../../src/lib/localization.ts'

/** What systems pass on to browsers, and shops write, that is no language tag at all. */
const BROKEN = ['en-US@posix', 'en_GB', 'en-', 'cy@euro', 'cy-', 'en-x', 'ar-XB-', '', '*', 'C']

t.test('an invalid language tag is skipped', async (t) => {
  for (const tag of BROKEN) {
    t.equal((await chooseLocale([tag, undefined, 'en-IE'])).tag, 'en-IE', tag)
    const locale = await chooseLocale([tag])
    t.equal(locale.tag, 'en-GB', tag)
    t.equal(makeLocalization(locale).money('12.50', 'GBP'), '£12.50', tag)
  }
})

t.test('without data for a language, dates and amounts are British', async (t) => {
  const { texts } = await chooseLocale(['cy'])
  t.same(Intl.DateTimeFormat.supportedLocalesOf('zxx'), [])
  const l10n = makeLocalization({ tag: 'zxx', dir: 'ltr', texts })
  t.match(l10n.moment('2026-11-21T12:00:00.000Z'), /^21 November 2026/)
  t.same([l10n.money('12.50', 'GBP'), l10n.money('12.50', 'USD')], ['£12.50', 'US$12.50'])
})

t.test('amounts, times and counts can be formatted in every language', async (t) => {
  for (const [wish, tag] of [
    ['en', 'en-GB'],
    ['EN-us', 'en-US'],
    ['cy', 'cy'],
    ['cy-gb', 'cy-GB'],
    ['de-AT', 'de-AT'],
    ['fr', 'fr'],
    ['es-MX', 'es-MX'],
    ['ar-XB', 'ar-XB'],
    ['en-u-nu-thai', 'en-u-nu-thai'],
  ] as const) {
    const locale = await chooseLocale([wish])
    t.equal(locale.tag, tag)
    const l10n = makeLocalization(locale)
    for (const text of [l10n.money('1.5', 'GBP'), l10n.moment('2026-11-21T12:00:00.000Z'), l10n.found(2)])
      t.ok(text.length > 0, wish)
  }
})
