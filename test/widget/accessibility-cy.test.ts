import t from 'tap'
import { openBrowser } from '../support/browser.ts'
import { openWidgetShop } from '../support/widget-page.ts'
import { endedAndPhone, everyScreen, passingScreens } from '../support/widget-screens.ts'
import { cy } from '../../widget/locales/cy.ts'

const shop = await openWidgetShop(t)
const browser = await openBrowser(t)

t.test('every screen in Welsh', (t) => everyScreen(t, { shop, browser }, 'cy', cy))

t.test('the screens between in Welsh', (t) => passingScreens(t, { shop, browser }, 'cy', cy))

t.test('what can’t be used, and the link of a phone in Welsh', (t) => endedAndPhone(t, { shop, browser }, 'cy', cy))
