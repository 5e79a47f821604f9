import t from 'tap'
import { webAddressProblem } from '../../src/lib/web-address.ts'

const live = { allowLoopbackHttp: false }
const sandbox = { allowLoopbackHttp: true }

t.test('an https address of a host is right', async (t) => {
  const right = [
    'https://shop.example',
    'https://shop.example/',
    'https://shop.example/return?order=17&x=%20#part',
    'https://shop.example:8443/return',
    'https://a.b.c.shop.example/é',
    'HTTPS://Shop.Example/Return',
    'https://xn--bcher-kva.example/',
  ]
  for (const address of right)
    for (const rules of [live, sandbox]) t.equal(webAddressProblem(address, rules), undefined, address)
})

t.test('plain http is right only to this machine, and only in the sandbox', async (t) => {
  for (const address of ['http://localhost:3000/return', 'http://127.0.0.1/', 'http://[::1]:8080/']) {
    t.equal(webAddressProblem(address, sandbox), undefined, address)
    t.ok(webAddressProblem(address, live), address)
  }
  for (const address of ['http://shop.example/', 'http://127.0.0.2/', 'http://localhost.example/', 'http://10.0.0.1/'])
    t.match(webAddressProblem(address, sandbox), /https:\/\//, address)
  t.match(webAddressProblem('https://localhost/', live), /this machine/)
})

t.test('addresses that browsers read differently, or that hide their target, are rejected', async (t) => {
  const wrong = [
    '',
    'shop.example',
    '/return',
    '//shop.example/return',
    'javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'ftp://shop.example/',
    'https:shop.example',
    'https:/shop.example',
    'https:///shop.example',
    String.raw`https:\\shop.example`,
    String.raw`https://shop.example\@evil.example/`,
    'https://good.example@evil.example/',
    'https://user:password@shop.example/',
    'https://:@shop.example/',
    ' https://shop.example/',
    'https://shop.example/ ',
    'https://shop.example/\t',
    'https://shop.exa\nmple/',
    'https://shop.example/\u0000',
    'https://',
    'https://?x',
    'https://#x',
    'https://[::ffff:10.0.0.1]/',
    'https://10.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://127.1/',
    'https://shop．example/',
    'https://shop%2eexample/',
    'https://shop.example:99999/',
    'https://sh op.example/',
    'wss://shop.example/',
    'https://１２７.0.0.1/',
  ]
  for (const address of wrong) t.type(webAddressProblem(address, live), 'string', JSON.stringify(address))
  for (const address of wrong)
    t.type(webAddressProblem(address, sandbox), 'string', `sandbox: ${JSON.stringify(address)}`)
})

t.test('an address has at most 2048 characters', async (t) => {
  const address = (length: number) => 'https://shop.example/'.padEnd(length, 'x')
  t.equal(webAddressProblem(address(2_048), live), undefined)
  t.match(webAddressProblem(address(2_049), live), /2048/)
})
