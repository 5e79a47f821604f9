import t from 'tap'
import { openBrowser } from '../support/browser.ts'
import { openWidgetShop } from '../support/widget-page.ts'
import { endedAndPhone, everyScreen, passingScreens } from '../support/widget-screens.ts'
import { en } from '../../widget/locales/en.ts'

const shop = await openWidgetShop(t)
const browser = await openBrowser(t)

t.test('every screen: accessible, light and dark, at 320 pixels, without motion', (t) =>
  everyScreen(t, { shop, browser }, 'en', en),
)

t.test('the screens between', (t) => passingScreens(t, { shop, browser }, 'en', en))

t.test('what can’t be used, and the link of a phone', (t) => endedAndPhone(t, { shop, browser }, 'en', en))
