import t from 'tap'
import { openBrowser } from '../support/browser.ts'
import { openWidgetShop } from '../support/widget-page.ts'
import { endedAndPhone, everyScreen, passingScreens } from '../support/widget-screens.ts'
import { pseudo } from '../../widget/locales/ar-xb.ts'
import { en } from '../../widget/locales/en.ts'

const shop = await openWidgetShop(t)
const browser = await openBrowser(t)

t.test('every screen from right to left', (t) => everyScreen(t, { shop, browser }, 'ar-XB', pseudo(en)))

t.test('the screens between from right to left', (t) => passingScreens(t, { shop, browser }, 'ar-XB', pseudo(en)))

t.test('what can’t be used, and the link of a phone from right to left', (t) =>
  endedAndPhone(t, { shop, browser }, 'ar-XB', pseudo(en)),
)
