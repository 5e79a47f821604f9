import { createServer } from 'node:http'
import type { Browser, BrowserContext, BrowserContextOptions, Frame, FrameLocator, Page } from 'playwright-core'
import type { Test } from 'tap'
import { testService, until } from './app.ts'
import type { ServiceOptions, TestMerchant, TestService } from './app.ts'
import { PATIENCE_MS } from './browser.ts'
import { plainToken } from './checkout.ts'

/** A shop of another site than the service, whose pages show the checkout. */
export type WidgetShop = {
  service: TestService
  merchant: TestMerchant
  url: string
  /** A token for this shop; `changes` as for `tokenFields`. */
  token(changes?: Record<string, unknown>): string
}

/** `scheme` is the page's own CSS color-scheme: light and dark where nothing else is said. */
type Attributes = {
  locale?: string
  theme?: string
  scheme?: string
  appearance?: string
  noRedirect?: boolean
  sameTab?: boolean
}

/** The service with its worker, and a shop at `localhost`, which is another site than the service's 127.0.0.1. */
export async function openWidgetShop(t: Test, options: ServiceOptions = {}): Promise<WidgetShop> {
  const service = await testService(t, { worker: true, ...options })
  return openShopOf(t, service, await service.merchant())
}

/** Such a shop of a service that runs. */
export async function openShopOf(t: Test, service: TestService, merchant: TestMerchant): Promise<WidgetShop> {
  const server = createServer((req, res) => {
    const url = new URL(req.url ?? '/', 'http://localhost')
    const body = url.pathname === '/' ? shopPage(service.url, url.searchParams) : '<h1>Back at the shop</h1>'
    res.writeHead(url.pathname === '/favicon.ico' ? 204 : 200, { 'content-type': 'text/html; charset=utf-8' })
    res.end(
      `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Shop</title>${body}`,
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const address = server.address()
  const url = `http://localhost:${typeof address === 'object' && address !== null ? address.port : 0}`
  const token = (changes: Record<string, unknown> = {}): string =>
    plainToken(service, merchant, { callbackOrigin: url, returnUrl: `${url}/thanks`, ...changes })
  return { service, merchant, url, token }
}

/** One container and one script for each token; the events of the widgets are kept in `window.heard`. */
function shopPage(serviceUrl: string, query: URLSearchParams): string {
  const extra = ['locale', 'theme', 'no-redirect', 'same-tab', 'appearance'].flatMap((name) => {
    const value = query.get(name)
    return value === null ? [] : [`data-${name}="${value.replaceAll('"', '&quot;')}"`]
  })
  const widgets = query.getAll('token').map(
    (token, index) => `<div id="pay-${index}"></div>
<script async src="${serviceUrl}/v1/checkout.js" data-checkout-token="${token}" data-container-id="pay-${index}" ${extra.join(' ')}></script>`,
  )
  return `<style>:root { color-scheme: ${query.get('scheme') ?? 'light dark'} }</style><main><h1>The shop</h1>
<script>
window.heard = []
addEventListener('message', ({ origin, data }) => { if (origin === '${serviceUrl}' && data && data.eventType) heard.push(data) })
</script>
${widgets.join('\n')}
<p>What comes after the checkout.</p></main>`
}

export type HeardEvent = { eventType: string; payload: Record<string, unknown> }

export type OpenWidget = {
  page: Page
  context: BrowserContext
  widget: FrameLocator
  /** The browser's error messages, and every dialog. */
  complaints: string[]
  /** The events that the shop's page heard, without those of the height. */
  heard(): Promise<HeardEvent[]>
}

export type OpenWidgetOptions = {
  /** The tokens; two of them show two widgets. */
  tokens?: string[]
  attributes?: Attributes
  context?: BrowserContextOptions
  /** Called before the page is loaded. */
  prepare?(page: Page, context: BrowserContext): Promise<unknown>
  /** Another page of the same browser context, with the storage of the first. */
  sameWindow?: BrowserContext
}

/** Opens a shop's page in a window of its own, and has the widget of its first token. */
export async function openWidget(
  browser: Browser,
  shop: WidgetShop,
  {
    tokens = [shop.token()],
    attributes = {},
    context: contextOptions = {},
    prepare,
    sameWindow,
  }: OpenWidgetOptions = {},
): Promise<OpenWidget> {
  const context =
    sameWindow ?? (await browser.newContext({ viewport: { width: 1_280, height: 1_000 }, ...contextOptions }))
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    const isStatus = message.text().startsWith('Failed to load resource: the server responded with a status of 4')
    if ((message.type() === 'error' || message.type() === 'warning') && !isStatus) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await prepare?.(page, context)
  const query = new URLSearchParams(tokens.map((token): [string, string] => ['token', token]))
  const { noRedirect = false, sameTab = false, ...written } = attributes
  for (const [name, value] of Object.entries(written)) query.set(name, value)
  if (noRedirect) query.set('no-redirect', '')
  if (sameTab) query.set('same-tab', '')
  await page.goto(`${shop.url}/?${query}`)
  return {
    page,
    context,
    widget: page.frameLocator('#pay-0 iframe'),
    complaints,
    heard: async () => {
      await letArrive(page)
      const all: HeardEvent[] = await page.evaluate('window.heard')
      return all.filter(({ eventType }) => eventType !== 'SVC_RESIZE' && eventType !== LAST_MARKER)
    },
  }
}

/** A message of a test itself through the frames: not an event of the checkout. */
const LAST_MARKER = 'TEST_LAST'
let counted = 0

/** Waits until the page has got what the frames have said so far: messages from one window to another keep their order. */
async function letArrive(page: Page): Promise<void> {
  for (const frame of page.frames().filter((each) => each.url().includes('/widget/index.html'))) {
    counted += 1
    await frame.evaluate(`parent.postMessage({ eventType: '${LAST_MARKER}', payload: ${counted} }, '*')`)
    await page.waitForFunction(
      `heard.some((each) => each.eventType === '${LAST_MARKER}' && each.payload === ${counted})`,
    )
  }
}

/** Goes from the first screen to the bank's code or link. */
export async function chooseBank(widget: FrameLocator, bank: string): Promise<void> {
  await widget.getByRole('button', { name: 'Continue' }).click()
  await widget.getByRole('option', { name: bank }).click()
}

/** Opens the bank's page in a tab of its own and presses a button there, as the payer does. */
export async function payAtBank(
  { widget, context }: Pick<OpenWidget, 'widget' | 'context'>,
  decision: 'Approve' | 'Cancel' = 'Approve',
  link = 'Continue in this browser',
): Promise<Page> {
  const opened = context.waitForEvent('page')
  await widget.getByRole('link', { name: link }).click()
  const bank = await opened
  await bank.getByRole('button', { name: new RegExp(`^${decision}`) }).click()
  await bank.waitForURL(/\/payments\/return/)
  return bank
}

/**
 * Waits for a screen by its heading. The widget looks at the payment every 2.5 seconds, and when the payer comes back to
 * its tab: the test comes back until there is something to see.
 */
export async function untilHeading({ page }: Pick<OpenWidget, 'page'>, name: string): Promise<void> {
  const frame = frameOf(page)
  const heading = frame.getByRole('heading', { name, exact: true })
  await until(async () => {
    await frame.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    return heading.waitFor({ timeout: 250 }).then(
      () => true,
      () => false,
    )
  })
}

/** The widget's own document, for looking into it. */
export function frameOf(page: Page): Frame {
  const frame = page.frames().find((each) => each.url().includes('/widget/index.html'))
  if (frame === undefined) throw new Error('the page shows no widget')
  return frame
}
