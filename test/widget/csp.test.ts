import { randomUUID } from 'node:crypto'
import { request } from 'undici'
import t from 'tap'
import { putCheckoutOrigins } from '../../src/merchants/checkout-origins.ts'
import { testService, until } from '../support/app.ts'
import type { TestMerchant, TestService } from '../support/app.ts'
import { openBrowser, openPage } from '../support/browser.ts'
import { liveService } from '../support/live.ts'
import { openSite, shopPage, tag, tokenFor } from './shop.ts'

const live = await liveService(t)
const sandbox = await testService(t)

async function get({ url }: TestService, path: string) {
  const { statusCode: status, headers, body } = await request(url + path, { headers: { 'x-forwarded-proto': 'https' } })
  const policy = String(headers['content-security-policy'] ?? '').split('; ')
  return { status, headers, policy, text: await body.text() }
}

const framePath = (clientId: string): string => `/widget/index.html?client_id=${encodeURIComponent(clientId)}`

async function ancestors(service: TestService, clientId: string): Promise<string | undefined> {
  const { policy } = await get(service, framePath(clientId))
  return policy.find((rule) => rule.startsWith('frame-ancestors'))
}

const named = (service: TestService, { id: merchantId }: TestMerchant, origins: string[]): Promise<string[]> =>
  putCheckoutOrigins(service.app, { merchantId, origins, actor: { id: 'test', name: 'test', role: 'OWNER' } })

t.test('the frame runs its own scripts and styles, calls its own service, and keeps no trace', async (t) => {
  const { clientId } = await live.merchant()
  const { status, policy, headers, text } = await get(live, framePath(clientId))
  t.equal(status, 200)
  t.same(policy.toSorted(), [
    "base-uri 'none'",
    "connect-src 'self'",
    "default-src 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "img-src 'self' data: https:",
    "require-trusted-types-for 'script'",
    "script-src 'self'",
    "style-src 'self'",
    "trusted-types 'none'",
  ])
  t.match(text, '<link rel="icon" href="data:,">', 'browsers ask for no other icon')
  t.match(headers, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'permissions-policy': /camera=\(\)/,
  })
})

t.test("only a merchant's registered origins may embed its checkout", async (t) => {
  for (const [service, none] of [
    [live, "frame-ancestors 'none'"],
    [sandbox, 'frame-ancestors *'],
  ] as const) {
    const merchant = await service.merchant()
    t.equal(await ancestors(service, merchant.clientId), none, 'none named')
    await named(service, merchant, ['https://shop.example', 'https://www.shop.example:8443'])
    t.equal(
      await ancestors(service, merchant.clientId),
      'frame-ancestors https://shop.example https://www.shop.example:8443',
    )
    for (const unknown of [
      '',
      'nobody',
      'x'.repeat(10_000),
      'x; script-src *',
      'x\r\nset-cookie: a=b',
      '\u0000',
      randomUUID(),
    ]) {
      t.equal(await ancestors(service, unknown), "frame-ancestors 'none'", JSON.stringify(unknown.slice(0, 20)))
    }
    const { policy } = await get(service, '/widget/index.html')
    t.ok(policy.includes("frame-ancestors 'none'"), 'no client id at all')
    const twice = await get(service, `/widget/index.html?client_id=nobody&client_id=${merchant.clientId}`)
    t.ok(twice.policy.includes("frame-ancestors 'none'"), 'the first of two counts')
  }
})

t.test('the hub cannot be framed', async (t) => {
  for (const service of [live, sandbox]) {
    const { status, policy, headers } = await get(service, '/hub')
    t.equal(status, 200)
    t.ok(policy.includes("frame-ancestors 'none'"))
    t.ok(policy.includes("script-src 'self'"))
    t.ok(policy.includes("trusted-types 'none'"))
    t.ok(policy.includes("img-src 'self' data:"), 'nobody else is told who looks at it')
    t.match(headers, {
      'x-frame-options': 'DENY',
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-store',
    })
  }
})

t.test('the demo creates only the Trusted Types policy it needs', async (t) => {
  const { policy, text } = await get(sandbox, '/widget-demo.html')
  t.match(text, '<link rel="icon" href="data:,">', 'browsers ask for no other icon')
  t.ok(policy.includes('trusted-types svc-checkout'))
})

t.test('in live mode the demo does not exist', async (t) => {
  for (const path of ['/widget-demo.html', '/widget/demo.js', '/widget/demo.css', '/widget/Demo.js']) {
    const { status, text } = await get(live, path)
    t.equal(status, 404, path)
    t.same(JSON.parse(text), { message: `Route GET:${path} not found` })
  }
  t.equal((await get(live, '/v1/checkout.js')).status, 200)
  t.equal((await get(live, '/widget/widget.js')).status, 200)
})

t.test('a page that says who it is gets the frame of its problem, and only that', async (t) => {
  for (const service of [live, sandbox]) {
    const merchant = await service.merchant()
    await named(service, merchant, ['https://shop.example'])
    const from = async (clientId: string, referer: string) => {
      const { headers, body } = await request(service.url + framePath(clientId), {
        headers: { 'x-forwarded-proto': 'https', referer },
      })
      const policy = String(headers['content-security-policy']).split('; ')
      const code = /data-code="(\w+)"/.exec(await body.text())?.[1]
      return [policy.find((rule) => rule.startsWith('frame-ancestors')), code]
    }
    const open = 'frame-ancestors https://shop.example'
    t.same(await from(merchant.clientId, 'https://shop.example/'), [open, undefined])
    const code = 'CHECKOUT_ORIGIN_NOT_ALLOWED'
    t.same(await from(merchant.clientId, 'https://evil.example/'), ['frame-ancestors https://evil.example', code])
    const unknown = service === live ? code : 'CHECKOUT_TOKEN_INVALID'
    t.same(await from('nobody', 'https://evil.example/'), ['frame-ancestors https://evil.example', unknown])
    for (const nonsense of ['', 'x', 'null', 'https://a;script-src */', 'javascript:1', 'https://*.example/'])
      t.same(await from(merchant.clientId, nonsense), [open, undefined], nonsense)
  }
})

t.test('the browser enforces the policy: an unregistered page gets no checkout, a registered one does', async (t) => {
  const browser = await openBrowser(t)
  const merchant = await sandbox.merchant()
  const [good, evil] = [await openSite(t), await openSite(t)]
  await named(sandbox, merchant, [good.url])
  for (const shop of [good, evil]) {
    const token = tokenFor(shop.url, sandbox.url, { merchantClientId: merchant.clientId, jti: 'order-1' })
    const snippet = tag(sandbox.url, { 'data-checkout-token': token, 'data-container-id': 'pay' })
    shop.pages['/'] = shopPage(`<div id="pay"></div>${snippet}`)
  }
  const shown = await openPage(browser)
  await shown.page.goto(good.url)
  await shown.page.waitForFunction(`events.some(({ type }) => type === 'SVC_WIDGET_READY')`)
  t.same(shown.complaints, [])
  const refused = await openPage(browser)
  const asked: string[] = []
  refused.page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await refused.page.goto(evil.url)
  await refused.page.waitForFunction('events.some(({ type }) => type === "SVC_PAYMENT_FAILED")')
  t.match(await refused.page.evaluate('events.find(({ type }) => type === "SVC_PAYMENT_FAILED")'), {
    detail: { errorCode: 'CHECKOUT_ORIGIN_NOT_ALLOWED' },
  })
  t.equal(await refused.page.frameLocator('iframe').getByText('12.50').count(), 0, 'nothing of the checkout is shown')
  t.same(
    asked.filter((path) => path.startsWith('/api/')),
    [],
    'and nothing was asked for',
  )
  const hiding = await openPage(browser)
  const src = `${sandbox.url}${framePath(merchant.clientId)}`
  evil.pages['/hiding'] = `<iframe src="${src}" referrerpolicy="no-referrer"></iframe>`
  await hiding.page.goto(`${evil.url}/hiding`)
  await until(async () => hiding.complaints.length > 0)
  t.match(hiding.complaints.join('\n'), /frame-ancestors/, 'a page that hides is blocked by the browser')
})
