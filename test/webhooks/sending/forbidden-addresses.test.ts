import { createServer } from 'node:net'
import t from 'tap'
import { isPublicAddress, makeResolve, resolveLocally } from '../../../src/webhooks/sending/addresses.ts'
import { webhookUrlProblem } from '../../../src/lib/webhook-url.ts'
import { checkWebhookUrl } from '../../../src/webhooks/sending/check-url.ts'
import { UnreachableError, makeConnector } from '../../../src/webhooks/sending/connect.ts'
import { makePost } from '../../../src/webhooks/sending/post.ts'

type Test = { teardown(handler: () => unknown): unknown }

/** Listens on every loopback address and counts who comes. */
async function canary(t: Test): Promise<{ port: number; connections: () => number }> {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
  })
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '::', ipv6Only: false }, resolve))
  t.teardown(() => server.close())
  const address = server.address()
  return { port: typeof address === 'object' && address !== null ? address.port : 0, connections: () => connections }
}

// Ways to write addresses that lead to this machine, its network, or nowhere public.
const hosts = [
  'localhost',
  'LOCALHOST',
  'localhost.',
  'LocalHost.localdomain',
  'a.localhost',
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0x7F.0.0.0x1',
  '017700000001',
  '0177.0.0.1',
  '0177.1',
  '127.0.0.1.',
  '%31%32%37.0.0.1',
  '１２７.0.0.1',
  '127。0。0。1',
  '①②⑦.⓪.⓪.①',
  '0',
  '0.0.0.0',
  '0.0.0.1',
  '00',
  '0x0',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2002:a00:1::]',
  '[2002:c0a8:101::1]',
  '[2001:0:7f00:1::]',
  '[fe80::1]',
  '[fec0::1]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[ff02::1]',
  '[100::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[5f00::1]',
  '[2001:20::1]',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '169.254.169.254',
  '2852039166',
  '0xA9FEA9FE',
  '[::ffff:169.254.169.254]',
  '100.64.0.1',
  '100.127.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
]

t.test('no form of a private address is reached in live mode', async (t) => {
  t.ok(hosts.length >= 60, `${hosts.length} forms`)
  const { port, connections } = await canary(t)
  const post = makePost({ allowPrivate: false, timeoutMs: 3_000 })
  t.teardown(() => post.close())
  for (const host of hosts) {
    for (const url of [
      `https://${host}/`,
      `https://${host}:8443/`,
      `https://${host}:${port}/`,
      `http://${host}:${port}/`,
    ]) {
      const { outcome } = await post.post({ url, headers: {}, body: Buffer.from('{}') })
      t.equal(outcome, 'blocked', url)
      t.throws(
        () => checkWebhookUrl(url, { allowPrivate: false }),
        { code: 'VALIDATION_FAILED' },
        `${url} can't be set`,
      )
    }
  }
  t.equal(connections(), 0)
})

t.test('the connection itself rejects them, whatever was checked before', async (t) => {
  const { port, connections } = await canary(t)
  const connect = makeConnector({ allowPrivate: false, resolve: resolveLocally })
  for (const host of hosts) {
    const { hostname } = new URL(`http://${host}/`)
    for (const protocol of ['http:', 'https:']) {
      const error = await new Promise((resolve) => {
        connect({ hostname, host: hostname, protocol, port: String(port) }, (...[error, socket]) => {
          socket?.destroy()
          resolve(error)
        })
      })
      t.type(error, UnreachableError, `${protocol}//${host} (${hostname})`)
    }
  }
  t.equal(connections(), 0)
})

t.test('a name whose address changed after it was set is rejected when the connection is made', async (t) => {
  const { connections } = await canary(t)
  const url = 'https://shop.example/hook'
  t.equal(webhookUrlProblem(url, { allowPrivate: false }), undefined, 'it could be set')
  for (const answers of [
    ['127.0.0.1'],
    ['::1'],
    ['10.1.2.3'],
    ['93.184.215.14', '127.0.0.1'],
    ['::ffff:127.0.0.1'],
    ['fe80::1%lo'],
    ['not an address'],
  ]) {
    const post = makePost({ allowPrivate: false, resolve: async () => answers })
    t.teardown(() => post.close())
    t.match(await post.post({ url, headers: {}, body: Buffer.from('{}') }), { outcome: 'blocked' }, answers.join(', '))
  }
  t.equal(connections(), 0)
})

t.test('public addresses are allowed, also inside IPv6', async (t) => {
  for (const address of [
    '93.184.215.14',
    '8.8.8.8',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    '2002:808:808::1',
  ]) {
    t.equal(isPublicAddress(address), true, address)
  }
})

t.test('a name without an answer is looked up for a bounded time', async (t) => {
  const begun = performance.now()
  t.strictSame(await makeResolve()('no-such-host.invalid'), [])
  t.ok(performance.now() - begun < 15_000)
})

t.test('the allowed endpoints depend on the mode', async (t) => {
  const rows: [string, string | undefined, string | undefined][] = [
    // address, the rule it breaks in live mode, the rule it breaks in the sandbox
    ['https://shop.example/webhooks?shop=1', undefined, undefined],
    ['https://shop.example:8443/', undefined, undefined],
    ['https://shop.example:443/', undefined, undefined],
    ['https://shop.example:8080/', 'PORT_NOT_ALLOWED', undefined],
    ['http://shop.example/', 'HTTPS_REQUIRED', undefined],
    ['http://localhost:9000/hook', 'HTTPS_REQUIRED', undefined],
    ['https://localhost/', 'HOST_NOT_PUBLIC', undefined],
    ['https://127.0.0.1/', 'IP_NOT_ALLOWED', undefined],
    ['https://[::1]/', 'IP_NOT_ALLOWED', undefined],
    ['https://printer.local/', 'HOST_NOT_PUBLIC', undefined],
    ['https://api.internal/', 'HOST_NOT_PUBLIC', undefined],
    ['https://intranet/', 'HOST_NOT_PUBLIC', undefined],
    ['https://user:pass@shop.example/', 'HAS_USERINFO', 'HAS_USERINFO'],
    ['https://shop.example/#part', 'HAS_FRAGMENT', 'HAS_FRAGMENT'],
    ['https://shop.example/#', 'HAS_FRAGMENT', 'HAS_FRAGMENT'],
    ['ftp://shop.example/', 'INVALID_SCHEME', 'INVALID_SCHEME'],
    ['javascript:alert(1)', 'INVALID_SCHEME', 'INVALID_SCHEME'],
    ['shop.example/hook', 'INVALID_URL', 'INVALID_URL'],
    ['', 'INVALID_URL', 'INVALID_URL'],
    [`https://shop.example/${'a'.repeat(2_048)}`, 'TOO_LONG', 'TOO_LONG'],
  ]
  for (const [url, live, sandbox] of rows) {
    t.equal(webhookUrlProblem(url, { allowPrivate: false })?.code, live, `live: ${url.slice(0, 60)}`)
    t.equal(webhookUrlProblem(url, { allowPrivate: true })?.code, sandbox, `sandbox: ${url.slice(0, 60)}`)
  }
})
