import t from 'tap'
import { openBrowser, openPage } from '../support/browser.ts'
import { checkoutFrames, openFakeCheckout, openSite, shopPage, tag, tokenFor } from './shop.ts'

/* Elements of the shop's page, such as those of a comment that somebody wrote, that take names which the loader reads. */
const browser = await openBrowser(t)

const NAMED: readonly (readonly [string, (evilUrl: string, token: string) => string])[] = [
  [
    'an image for the script',
    (evil, token) =>
      `<img name="currentScript" src="${evil}/x" data-checkout-token="${token}" data-container-id="pay" alt="">`,
  ],
  ['two of them', (evil) => `<img name="currentScript" src="${evil}/x"><img name="currentScript" src="${evil}/y">`],
  [
    'a form with a name and a source',
    (evil) => `<form name="currentScript"><input name="src" value="${evil}/x"><input name="dataset"></form>`,
  ],
  ['a link for the checkout', () => '<a id="SvcCheckout"></a>'],
  ['a form for the checkout', () => '<form id="SvcCheckout"><input name="mount"></form>'],
  ['a frame of another site for it', (evil) => `<iframe name="SvcCheckout" src="${evil}/x"></iframe>`],
  [
    'what the language brings',
    () => ['Document', 'Object', 'Reflect', 'HTMLScriptElement', 'URL'].map((id) => `<a id="${id}"></a>`).join(''),
  ],
]

t.test("the token goes only to the script's own origin, whatever the page names its elements", async (t) => {
  const checkout = await openFakeCheckout(t)
  const evil = await openSite(t, { '/x': '<title>evil</title>' })
  const shop = await openSite(t)
  const token = tokenFor(shop.url, checkout.url)
  const snippet = tag(checkout.url, { 'data-checkout-token': token, 'data-container-id': 'pay' })
  for (const [name, elements] of NAMED) {
    shop.pages['/'] = shopPage(`${elements(evil.url, token)}<div id="pay"></div>${snippet}`)
    const { page, context } = await openPage(browser)
    await page.goto(shop.url)
    await page.locator('#pay iframe').waitFor()
    const src = new URL((await page.locator('#pay iframe').getAttribute('src')) ?? '')
    t.equal(src.origin, checkout.url, name)
    t.equal(await page.getByRole('alert').count(), 0, name)
    t.equal(await page.evaluate('typeof SvcCheckout.mount'), 'function', name)
    if (!elements(evil.url, token).includes('<iframe')) {
      const [frame] = await checkoutFrames(page)
      t.match(await frame?.evaluate('heard'), [{ data: { svc: 'init', token } }], name)
    }
    await context.close()
  }
})

t.test("a tag next to such elements shares the page's checkout", async (t) => {
  const checkout = await openFakeCheckout(t)
  const shop = await openSite(t)
  const token = tokenFor(shop.url, checkout.url)
  const one = tag(checkout.url, { 'data-checkout-token': token, 'data-container-id': 'pay' })
  shop.pages['/'] = shopPage(`<a id="SvcCheckout"></a><div id="pay"></div>${one}${one}`)
  const { page } = await openPage(browser)
  await page.goto(shop.url)
  await checkoutFrames(page)
  await page.waitForLoadState('load')
  t.equal(await page.locator('#pay iframe').count(), 1)
})
