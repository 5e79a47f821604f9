import { build } from 'esbuild'
import t from 'tap'
import { reactOf } from '../../cli/checkout/snippet.ts'
import { packageRoot } from '../../src/lib/package-root.ts'
import { openBrowser, openPage } from '../support/browser.ts'
import { openWidgetShop } from '../support/widget-page.ts'
import { openSite } from './shop.ts'
import { en } from '../../src/lib/locales/checkout/en.ts'

/* The component that `svc checkout snippet --lang react` prints, in a page of the real React. */
const shop = await openWidgetShop(t)
const browser = await openBrowser(t)

/** A page that renders again on each press, with new functions each time, and can show another order. */
async function appOf(tokens: readonly string[]): Promise<string> {
  const component = reactOf({ token: tokens[0] ?? '', origin: shop.service.url, page: shop.url })
  const app = `${component}
import { StrictMode, useState } from 'react'
import { createRoot } from 'react-dom/client'
const tokens = ${JSON.stringify(tokens)}
window.chosen = []
function App() {
  const [count, setCount] = useState(0)
  const [order, setOrder] = useState(0)
  return <>
    <button onClick={() => setCount(count + 1)}>Rendered {count}</button>
    <button onClick={() => setOrder(1)}>Another order</button>
    <Checkout token={tokens[order]} onError={() => {}} on={{ SVC_BANK_SELECTED: ({ bankName }) => chosen.push([bankName, count]) }} />
  </>
}
createRoot(document.getElementById('app')).render(<StrictMode><App /></StrictMode>)`
  const { outputFiles } = await build({
    stdin: { contents: app, loader: 'jsx', resolveDir: packageRoot() },
    bundle: true,
    write: false,
    jsx: 'automatic',
    format: 'iife',
    define: { 'process.env.NODE_ENV': '"development"' },
  })
  return outputFiles[0]?.text ?? ''
}

t.test('a render with new functions leaves the payer where they are, and another order begins again', async (t) => {
  const site = await openSite(t, {
    '/': '<!doctype html><title>Shop</title><div id="app"></div><script src="/app.js"></script>',
  })
  const order = (amount: string): string =>
    shop.token({ amount, callbackOrigin: site.url, returnUrl: `${site.url}/thanks` })
  site.pages['/app.js'] = { js: await appOf([order('10.00'), order('20.00')]) }
  const { page, complaints } = await openPage(browser)
  await page.goto(site.url)
  const widget = page.frameLocator('iframe')
  await widget.getByText('payment of £10.00').waitFor()
  await widget.getByRole('button', { name: en.continue }).click()
  await widget.getByRole('heading', { name: en.banksTitle }).waitFor()
  for (const count of [0, 1, 2]) await page.getByRole('button', { name: `Rendered ${count}` }).click()
  await page.getByRole('button', { name: 'Rendered 3' }).waitFor()
  await widget.getByRole('option', { name: 'Fern' }).click()
  await widget.getByRole('heading', { name: en.qrTitle }).waitFor()
  t.same(await page.evaluate('chosen'), [['Fern', 3]], 'the latest function is called')
  t.equal(await page.locator('iframe').count(), 1)
  await page.getByRole('button', { name: 'Another order' }).click()
  await widget.getByText('payment of £20.00').waitFor()
  t.equal(await page.locator('iframe').count(), 1)
  t.same(complaints, [])
})
