import t from 'tap'
import type { FieldError } from '../../src/lib/errors.ts'
import { parseToken } from '../../src/checkout/token-rules.ts'
import { testService } from '../support/app.ts'
import { plainToken, readCheckout } from '../support/checkout.ts'

const service = await testService(t)
const merchant = await service.merchant()
const { port } = new URL(service.app.publicUrl)

/** Text that must not be accepted as a shop's address, however browsers parse it. */
const HOSTILE = [
  '',
  ' ',
  'x',
  'shop.example',
  '//shop.example',
  '/return',
  '#top',
  'javascript:alert(1)',
  'JavaScript:alert(1)',
  'java\tscript:alert(1)',
  'javascript://shop.example/%0aalert(1)',
  'data:text/html,<script>alert(1)</script>',
  'blob:https://shop.example/1',
  'vbscript:x',
  'file:///etc/passwd',
  'ftp://shop.example/',
  'ws://shop.example/',
  'intent://shop.example#Intent;end',
  'about:blank',
  'http://shop.example/',
  'http://shop.example@localhost/',
  'http://localhost.evil.example/',
  'http://127.0.0.1.evil.example/',
  'http://127.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0.0.0.0/',
  'https://10.0.0.1/',
  'https://169.254.169.254/latest/meta-data',
  'https://[::ffff:7f00:1]/',
  'https://[fd00::1]/',
  'https:/shop.example/',
  'https:shop.example/',
  'https:///shop.example/',
  'https://',
  'https://?x',
  'https://user@shop.example/',
  'https://user:password@shop.example/',
  'https://shop.example@evil.example/',
  'https://shop.example%40evil.example/',
  'https://:@shop.example/',
  'https://shop.example\\@evil.example/',
  'https:\\\\shop.example\\',
  'https://shop.example\\.evil.example/',
  ' https://shop.example/',
  'https://shop.example/ ',
  'https://shop.example/a b',
  'https://shop.example/\n',
  'https://shop.example\r\nSet-Cookie: a=b',
  'https://shop\t.example/',
  'https://shop.example/\u0000',
  'https://shop.example/\u007f',
  'https://shop。example/',
  'https://shop%2eexample/',
  'https://shоp.example/',
  'https://shop.example:99999/',
  'https://shop.example:x/',
  'https://sh op.example/',
  'https://*.example/',
  "https://shop.example'; script-src *; x='/",
  'https://shop.example;script-src/',
  'https://shop.example,evil.example/',
  `https://shop.example/${'x'.repeat(2_100)}`,
]

function problemsOf(changes: Record<string, unknown>, mode: 'sandbox' | 'live' = 'sandbox'): string[] {
  const fields = {
    amount: '1.00',
    currency: 'GBP',
    merchantName: 'Acme',
    apiUrl: 'https://pay.example/api/v1',
    returnUrl: 'https://shop.example/return',
    merchantClientId: merchant.clientId,
    callbackOrigin: 'https://shop.example',
    ...changes,
  }
  const read: FieldError[] | object = parseToken(
    { config: { ...service.app.config, mode }, publicUrl: 'https://pay.example' },
    fields,
  )
  return Array.isArray(read) ? read.map(({ path }) => path) : []
}

t.test('no hostile text is accepted as a return URL, in either mode', async (t) => {
  for (const mode of ['sandbox', 'live'] as const)
    for (const returnUrl of HOSTILE) t.same(problemsOf({ returnUrl }, mode), ['returnUrl'], `${mode}: ${returnUrl}`)
})

t.test("no hostile text is accepted as a shop's origin, in either mode", async (t) => {
  const alike = [
    'https://shop.example/',
    'https://shop.example?',
    'https://shop.example#',
    'https://shop.example/x',
    '*',
    'null',
  ]
  for (const mode of ['sandbox', 'live'] as const) {
    for (const callbackOrigin of [...HOSTILE, ...HOSTILE.map((text) => text.replace(/\/$/, '')), ...alike]) {
      t.same(problemsOf({ callbackOrigin }, mode), ['callbackOrigin'], `${mode}: ${callbackOrigin}`)
    }
  }
})

t.test("only this service's URL is accepted as the API, in either mode", async (t) => {
  const near = [
    'https://pay.example/api/v2',
    'https://pay.example/api/v1?x=1',
    'https://pay.example/api/v1#x',
    'https://pay.example//evil.example',
    'https://pay.example/../api/v1',
    'https://pay.example.evil.example/api/v1',
    'https://evil.example/https://pay.example',
    'http://pay.example/api/v1',
    'https://pay.example:8443/api/v1',
    'https://user@pay.example/api/v1',
    'https://localhost/api/v1',
    'http://localhost:8080/api/v1',
  ]
  for (const mode of ['sandbox', 'live'] as const)
    for (const apiUrl of [...HOSTILE, ...near]) t.same(problemsOf({ apiUrl }, mode), ['apiUrl'], `${mode}: ${apiUrl}`)
  for (const apiUrl of ['https://pay.example', 'https://pay.example/', 'https://pay.example/api/v1'])
    t.same(problemsOf({ apiUrl }, 'live'), [], apiUrl)
})

t.test('in the sandbox all local host names are accepted for this service, at its own port', async (t) => {
  for (const host of ['localhost', '127.0.0.1', '[::1]']) {
    for (const path of ['', '/', '/api/v1']) {
      const token = plainToken(service, merchant, { apiUrl: `http://${host}:${port}${path}` })
      t.match(await readCheckout(service, token), { status: 200 })
    }
    const other = plainToken(service, merchant, { apiUrl: `http://${host}:1/api/v1` })
    t.match(await readCheckout(service, other), { status: 401, body: { errors: [{ path: 'apiUrl' }] } })
  }
})

t.test('a shop on the local machine is accepted in the sandbox only', async (t) => {
  for (const origin of ['http://localhost:3000', 'http://127.0.0.1:3000', 'https://localhost']) {
    const changes = { callbackOrigin: origin, returnUrl: `${origin}/thanks` }
    t.same(problemsOf(changes), [], origin)
    t.same(problemsOf(changes, 'live').toSorted(), ['callbackOrigin', 'returnUrl'], origin)
  }
})

t.test('an origin is returned as browsers send it', async (t) => {
  const token = plainToken(service, merchant, { callbackOrigin: 'HTTPS://Shop.Example:443' })
  t.match(await readCheckout(service, token), { status: 200, body: { callback_origin: 'https://shop.example' } })
})
