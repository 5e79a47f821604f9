import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { request } from 'undici'
import t from 'tap'
import { ASSETS } from '../../src/http/asset-files.ts'
import { MOCK_BANKS, logoPath } from '../../src/banks/catalogue.ts'
import { testService } from '../support/app.ts'

const service = await testService(t)

async function get(path: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') {
  const { statusCode: status, headers: got, body } = await request(service.url + path, { method, headers })
  return { status, headers: got, bytes: Buffer.from(await body.arrayBuffer()) }
}

t.test('the loader is cached for minutes and usable from any page', async (t) => {
  const { status, headers, bytes } = await get('/v1/checkout.js')
  t.equal(status, 200)
  t.match(headers, {
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=300',
    'cross-origin-resource-policy': 'cross-origin',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
    vary: 'Accept-Encoding',
  })
  t.equal(headers['content-length'], String(bytes.length))
  t.equal(headers['set-cookie'], undefined)
})

t.test('files are compressed if the browser accepts it, with the same content', async (t) => {
  const plain = await get('/widget/widget.js')
  const gzip = await get('/widget/widget.js', { 'accept-encoding': 'gzip, deflate' })
  const brotli = await get('/widget/widget.js', { 'accept-encoding': 'gzip, deflate, br, zstd' })
  t.equal(plain.headers['content-encoding'], undefined)
  t.equal(gzip.headers['content-encoding'], 'gzip')
  t.equal(brotli.headers['content-encoding'], 'br')
  t.ok(gunzipSync(gzip.bytes).equals(plain.bytes))
  t.ok(brotliDecompressSync(brotli.bytes).equals(plain.bytes))
  t.equal(new Set([plain, gzip, brotli].map(({ headers }) => headers['etag'])).size, 3, 'each has a tag of its own')
})

t.test('a cached file is not sent again', async (t) => {
  for (const path of ['/v1/checkout.js', '/widget/styles.css']) {
    const { headers } = await get(path)
    const again = await get(path, { 'if-none-match': String(headers['etag']) })
    t.equal(again.status, 304)
    t.equal(again.bytes.length, 0)
    t.equal((await get(path, { 'if-none-match': '"other"' })).status, 200)
  }
})

t.test('HEAD returns the headers of GET without a body', async (t) => {
  for (const path of [
    '/v1/checkout.js',
    '/widget/widget.js',
    '/widget/index.html?client_id=x',
    '/hub',
    '/widget-demo.html',
  ]) {
    const [head, whole] = [await get(path, {}, 'HEAD'), await get(path)]
    t.equal(head.status, 200, path)
    t.equal(head.bytes.length, 0, path)
    t.equal(head.headers['content-type'], whole.headers['content-type'], path)
    t.equal(head.headers['content-security-policy'], whole.headers['content-security-policy'], path)
  }
})

t.test('files named by their content are cached for ever; scripts are for our own pages only', async (t) => {
  const part = readdirSync(`${ASSETS}/chunks`).find((name) => name.endsWith('.js')) ?? ''
  const { headers } = await get(`/widget/chunks/${part}`)
  t.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
  t.equal(headers['cross-origin-resource-policy'], 'same-origin')
  t.equal((await get('/widget/widget.js')).headers['cache-control'], 'public, max-age=300')
})

t.test('every bank has a logo without active content', async (t) => {
  for (const bank of MOCK_BANKS) {
    const { status, headers, bytes } = await get(logoPath(bank))
    t.equal(status, 200, bank.id)
    t.match(headers, {
      'content-type': 'image/svg+xml',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
    })
    t.notMatch(bytes.toString(), /<script|on\w+=|href/i)
  }
})

t.test('a picture of the documentation may have styles, and nothing else', async (t) => {
  const { status, headers, bytes } = await get('/widget/docs/checkout.svg')
  t.equal(status, 200)
  t.equal(headers['content-security-policy'], "default-src 'none'; style-src 'unsafe-inline'; sandbox")
  t.match(bytes.toString(), '<style>')
})

/** A request as no well-behaved client would send it: the path goes as it is written. */
function raw(path: string): Promise<string> {
  const { hostname, port } = new URL(service.url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nconnection: close\r\n\r\n`),
    )
    let text = ''
    socket.on('data', (data) => (text += data.toString('latin1')))
    socket.on('end', () => resolve(text))
    socket.on('error', reject)
  })
}

t.test('only built files are served', async (t) => {
  const paths = [
    '/widget/../package.json',
    '/widget/..%2fpackage.json',
    '/widget/%2e%2e/%2e%2e/package.json',
    '/widget/%2e%2e%2f%2e%2e%2fpackage.json',
    '/widget/..\\..\\package.json',
    '/widget/banks/../../../package.json',
    '/widget/chunks/../widget.js',
    '/widget//etc/passwd',
    '/widget/%00.js',
    '/widget/widget.js%00.svg',
    '/widget/%',
    '/widget/widget.js/',
    '/widget/widget.js.br',
    '/widget/pages/index.html',
    '/widget/hub.html',
    '/widget/demo.html',
    '/widget/index.html/x.js',
    '/widget/',
    '/widget/index',
    '/widget/constructor.js',
    '/v1/../widget/pages/hub.html',
    '/v1/checkout.js.gz',
    '/v2/checkout.js',
  ]
  for (const path of paths) {
    const answer = await raw(path)
    t.match(answer, /^HTTP\/1\.1 404 /, path)
    t.match(answer, /\{"message":"Route GET:[^"]* not found"\}/, path)
  }
  t.equal((await get('/widget/widget.js?v=1')).status, 200, 'a query changes nothing')
})
