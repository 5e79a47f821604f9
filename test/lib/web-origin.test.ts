import t from 'tap'
import { readWebOrigin } from '../../src/lib/web-origin.ts'

const sandbox = { allowLoopbackHttp: true }
const live = { allowLoopbackHttp: false }

t.test('an origin comes back as browsers send it', async (t) => {
  for (const [text, origin] of [
    ['https://shop.example', 'https://shop.example'],
    ['HTTPS://Shop.EXAMPLE', 'https://shop.example'],
    ['https://shop.example:443', 'https://shop.example'],
    ['https://shop.example:', 'https://shop.example'],
    ['https://shop.example:8443', 'https://shop.example:8443'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['https://xn--bcher-kva.example', 'https://xn--bcher-kva.example'],
    ['https://%73hop.example', 'https://shop.example'],
    ['https://s\u200bhop.example', 'https://shop.example'],
  ] as const)
    for (const rules of [sandbox, live]) t.same(readWebOrigin(text, rules), { origin }, text)
})

t.test('http is for this machine, and this machine for the sandbox', async (t) => {
  for (const [text, origin] of [
    ['http://localhost:5173', 'http://localhost:5173'],
    ['http://LOCALHOST:80', 'http://localhost'],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['http://0x7f.1', 'http://127.0.0.1'],
    ['https://localhost', 'https://localhost'],
  ] as const) {
    t.same(readWebOrigin(text, sandbox), { origin }, text)
    t.ok('code' in readWebOrigin(text, live), `${text} in live mode`)
  }
  t.match(readWebOrigin('http://shop.example', sandbox), { code: 'HTTPS_REQUIRED' })
  t.match(readWebOrigin('http://localhost.shop.example', sandbox), { code: 'HTTPS_REQUIRED' })
  t.match(readWebOrigin('http://127.0.0.2', sandbox), { code: 'HTTPS_REQUIRED' })
})

t.test('anything more or less than an origin is rejected', async (t) => {
  for (const text of [
    '',
    '*',
    'null',
    'shop.example',
    '//shop.example',
    'https:shop.example',
    'https:///shop.example',
    'https://',
    'https://shop.example/',
    'https://shop.example/checkout',
    'https://shop.example?a',
    'https://shop.example#a',
    'https://shop.example\\a',
    'https://ada@shop.example',
    'https://ada:pw@shop.example',
    ' https://shop.example',
    'https://shop.example ',
    'https://shop .example',
    'https://shop.example\n',
    'https://shop.example:99999',
    'https://shop.example https://evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
  ])
    for (const rules of [sandbox, live]) t.match(readWebOrigin(text, rules), { code: 'INVALID_ORIGIN' }, text)
  for (const [text, code] of [
    ['ftp://shop.example', 'HTTPS_REQUIRED'],
    ['https://10.0.0.1', 'IP_NOT_ALLOWED'],
    ['https://[2001:db8::1]', 'IP_NOT_ALLOWED'],
    ['https://[::1]', 'IP_NOT_ALLOWED'],
    ['https://167772161', 'IP_NOT_ALLOWED'],
    ['https://*.shop.example', 'INVALID_HOST'],
    ['https://shop.example.', 'INVALID_HOST'],
    ['https://my_shop.example', 'INVALID_HOST'],
    [`https://shop.example;script-src`, 'INVALID_HOST'],
    [`https://shop.example'`, 'INVALID_HOST'],
    ['https://-shop.example', 'INVALID_HOST'],
    [`https://${'a'.repeat(64)}.example`, 'INVALID_HOST'],
  ] as const)
    t.match(readWebOrigin(text, sandbox), { code }, text)
})
