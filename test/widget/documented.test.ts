import t from 'tap'
import { en } from '../../src/lib/locales/checkout/en.ts'
import { openBrowser, openPage } from '../support/browser.ts'
import { blocksOf, isForBrowser, readPages } from '../support/markdown.ts'
import { openWidgetShop } from '../support/widget-page.ts'
import { openSite, tag } from './shop.ts'

/* The blocks of the documentation that need a browser: lines of HTML, and scripts for a page that has a token. */
const DOCUMENTED = 'https://pay.example'

t.test('the lines and scripts that pages copy from the documentation work', async (t) => {
  const shop = await openWidgetShop(t)
  const browser = await openBrowser(t)
  const site = await openSite(t)
  const token = shop.token({ callbackOrigin: site.url, returnUrl: `${site.url}/thanks` })
  const blocks = readPages().flatMap((page) => blocksOf(page).filter(isForBrowser))
  t.same(blocks.map(({ language }) => language).toSorted(), ['html', 'js'])
  for (const { language, text } of blocks) {
    const { page, complaints } = await openPage(browser)
    const place = '<!doctype html><html lang="en"><title>Shop</title>'
    if (language === 'html') {
      const lines = text.replaceAll(DOCUMENTED, shop.service.url).replaceAll('TOKEN', token)
      site.pages['/'] = `${place}${lines}`
      await page.goto(site.url)
      await page.frameLocator('#svc-checkout iframe').getByRole('button', { name: en.continue }).waitFor()
    } else {
      site.pages['/'] = `${place}<div id="svc-checkout"></div>${tag(shop.service.url, {})}`
      await page.goto(site.url)
      await page.waitForFunction('window.SvcCheckout !== undefined')
      // The payer chooses a bank before the last line, which removes the checkout.
      const [last = '', ...others] = text.trimEnd().split('\n').toReversed()
      const content = `const token = ${JSON.stringify(token)}\n${others.toReversed().join('\n')}`
      await page.addScriptTag({ content })
      const widget = page.frameLocator('#svc-checkout iframe')
      const said = page.waitForEvent('console', (message) => message.text() === 'Fern')
      await widget.getByRole('button', { name: en.continue }).click()
      await widget.getByRole('option', { name: 'Fern' }).click()
      await said
      await page.addScriptTag({ content: last })
      await page.locator('iframe').waitFor({ state: 'detached' })
    }
    t.same(complaints, [], language)
  }
})
