import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import type { Frame, Page } from 'playwright-core'
import type { Test } from 'tap'
import { ASSETS } from '../../src/http/asset-files.ts'
import { encodeCheckoutToken } from '../../src/lib/checkout-token.ts'

/** What a server of a test answers: HTML, also with headers, or with `js` a script. A path that is not there is 404. */
export type Pages = Record<string, string | { js: string } | { html: string; headers: Record<string, string> }>

/** A site of its own on a port of its own. Pages may be put in while it runs. */
export async function openSite(t: Test, pages: Pages = {}): Promise<{ url: string; pages: Pages }> {
  const server = createServer((req, res) => {
    const found = pages[(req.url ?? '/').split('?')[0] ?? '/']
    if (found === undefined) return void res.writeHead(404, { 'content-type': 'text/html' }).end('<p>not here')
    const { html, headers } = typeof found === 'object' && 'html' in found ? found : { html: found, headers: {} }
    const [type, body] = typeof html === 'string' ? ['text/html', html] : ['text/javascript', html.js]
    res.writeHead(200, { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-store', ...headers }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`, pages }
}

/** The frame's side, as little of it as the loader needs: the test speaks for it. */
const FRAME = `<!doctype html><title>frame</title><script>
const asked = new URLSearchParams(location.hash.slice(1))
const heard = []
let port
addEventListener('message', (event) => {
  heard.push({ origin: event.origin, data: event.data })
  if (event.data?.svc !== 'init') return
  port = event.ports[0]
  port.postMessage({})
})
const tell = (eventType, payload) => parent.postMessage({ eventType, payload }, asked.get('parent'))
</script>`

/** A checkout with the loader as it is built, and a frame that the test plays. */
export function openFakeCheckout(t: Test, frame: string | undefined = FRAME) {
  const js = readFileSync(join(ASSETS, 'checkout.js'), 'utf8')
  return openSite(t, { '/v1/checkout.js': { js }, ...(frame === undefined ? {} : { '/widget/index.html': frame }) })
}

export { FRAME }

/** A token's text, complete where the test says nothing else. */
export function tokenFor(shopUrl: string, checkoutUrl: string, changes: Record<string, unknown> = {}): string {
  return encodeCheckoutToken({
    amount: '12.50',
    currency: 'GBP',
    merchantName: 'Acme',
    apiUrl: checkoutUrl,
    returnUrl: `${shopUrl}/back`,
    merchantClientId: 'm-1-server',
    callbackOrigin: shopUrl,
    ...changes,
  })
}

/** The page of a shop: keeps every event of a checkout on it in `events`, and every message in `messages`. */
export function shopPage(body: string): string {
  return `<!doctype html><html lang="en"><title>Shop</title><script>
const events = [], messages = []
for (const type of ['SVC_WIDGET_READY', 'SVC_BANK_SELECTED', 'SVC_PAYMENT_SUCCESS', 'SVC_PAYMENT_FAILED',
  'SVC_PAYMENT_CANCELLED', 'SVC_RETURN', 'SVC_RESIZE', 'SVC_OTHER']) {
  document.addEventListener(type, (event) => events.push({ at: event.target.id, type, detail: event.detail }))
}
addEventListener('message', (event) => messages.push({ origin: event.origin, data: event.data }))
</script>${body}</html>`
}

/** The tag of the snippet. */
export function tag(checkoutUrl: string, attributes: Record<string, string>): string {
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${value}"`)
  return `<script async src="${checkoutUrl}/v1/checkout.js"${written.join('')}></script>`
}

/** The frames of checkouts on a page, in their order, once there are so many and each has heard what it is to do. */
export async function checkoutFrames(page: Page, count = 1): Promise<Frame[]> {
  for (let index = 0; index < count; index += 1) await page.locator('iframe').nth(index).waitFor()
  const frames: Frame[] = []
  for (const handle of await page.locator('iframe').elementHandles()) {
    const frame = await handle.contentFrame()
    if (frame === null) continue
    await frame.waitForFunction('typeof port !== "undefined" && port !== undefined')
    frames.push(frame)
  }
  return frames
}

// The pages' own variables, which TypeScript here knows nothing of, are asked for as text.
export const eventsOf = (page: Page): Promise<{ at: string; type: string; detail: unknown }[]> =>
  page.evaluate('events')
