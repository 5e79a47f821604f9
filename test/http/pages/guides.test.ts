import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import t from 'tap'
import { request } from 'undici'
import { testService } from '../../support/app.ts'
import type { Answer } from '../../support/app.ts'

/* The documentation as pages of the service, which widget/build/guides.ts renders. */
const service = await testService(t)

const targetsOf = (html: string): string[] =>
  [...html.matchAll(/<(?:a|link|img)[^>]* (?:href|src)="([^"]*)"/g)].map(([, target = '']) => target)
const anchorsOf = (html: string): string[] => [...html.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id)

/** Every page of the documentation that is reached from its list, by its path. */
async function readAll(): Promise<Map<string, Answer>> {
  const pages = new Map<string, Answer>()
  const open = ['/docs']
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const answer = await service.call('GET', path)
    pages.set(path, answer)
    for (const target of targetsOf(answer.text)) {
      const [next = ''] = target.split('#')
      if (next.startsWith('/docs') && !pages.has(next) && !open.includes(next)) open.push(next)
    }
  }
  return pages
}

t.test(
  'every page is reached from the list, and every link leads to a page and a section that are there',
  async (t) => {
    const pages = await readAll()
    t.ok(pages.size > 30, `${pages.size} pages`)
    for (const path of [
      '/docs/operators/runbook',
      '/docs/merchants/webhooks',
      '/docs/reference/errors',
      '/docs/changelog',
    ])
      t.ok(pages.has(path), path)
    const dead: string[] = []
    const others = new Set<string>()
    for (const [path, { status, text }] of pages) {
      t.equal(status, 200, path)
      for (const target of targetsOf(text)) {
        const [page = '', anchor] = target.split('#')
        const linked = pages.get(page === '' ? path : page)
        if (/^(https?|data):/.test(target)) continue
        if (linked === undefined) others.add(page)
        else if (anchor !== undefined && !anchorsOf(linked.text).includes(anchor)) dead.push(`${path}: ${target}`)
      }
    }
    t.same(dead, [])
    for (const other of others) t.equal((await service.call('GET', other)).status, 200, other)
  },
)

const ICON = '<link rel="icon" href="data:,">'

t.test('a page has no script, asks no other server, and can not be framed', async (t) => {
  for (const path of ['/docs', '/docs/operators/console', '/docs/reference/operations']) {
    const { headers, text } = await service.call('GET', path)
    t.equal(
      headers['content-security-policy'],
      "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    t.match(headers, {
      'content-type': 'text/html; charset=utf-8',
      'x-frame-options': 'DENY',
      'cache-control': /max-age/,
    })
    t.notMatch(text, /<(script|style|iframe|form)\b| style="| on\w+="|<!--(?! )/)
    t.equal(text.match(/<h1/g)?.length, 1, 'one heading of level 1')
    t.match(text, ICON, 'browsers ask for no other')
  }
})

t.test('a page is sent compressed, and not again to a browser that has it', async (t) => {
  const get = async (headers: Record<string, string> = {}) => {
    const { statusCode: status, headers: got, body } = await request(`${service.url}/docs/decisions`, { headers })
    return { status, headers: got, bytes: Buffer.from(await body.arrayBuffer()) }
  }
  const plain = await get()
  const compressed = {
    gzip: await get({ 'accept-encoding': 'gzip' }),
    br: await get({ 'accept-encoding': 'gzip, br' }),
  }
  t.ok(gunzipSync(compressed.gzip.bytes).equals(plain.bytes))
  t.ok(brotliDecompressSync(compressed.br.bytes).equals(plain.bytes))
  for (const [encoding, { headers }] of Object.entries(compressed)) {
    t.match(headers, { 'content-encoding': encoding, 'content-type': 'text/html; charset=utf-8', etag: String })
    t.not(headers['etag'], plain.headers['etag'])
  }
  t.equal(plain.headers['content-encoding'], undefined)
  t.equal(plain.headers['vary'], 'Accept-Encoding')
  const again = await get({ 'if-none-match': String(plain.headers['etag']) })
  t.match(again, { status: 304, bytes: { length: 0 } })
  t.equal(again.headers['content-security-policy'], plain.headers['content-security-policy'])
})

t.test('a placeholder of a command is on the page', async (t) => {
  const { text } = await service.call('GET', '/docs/reference/renamed-commands')
  t.match(text, 'svc checkout token --decode &lt;token&gt;')
})

t.test('names that are of no page are not found, and none leads out of the folder', async (t) => {
  for (const name of ['none', 'operators/none'])
    t.match(await service.call('GET', `/docs/${name}`), { status: 404, text: /href="\/docs"/ }, name)
  for (const name of [
    '%2e%2e%2freference',
    '..%2freference',
    'operators/../../index',
    'a/b/c',
    'Running',
    'running.md',
    '%00',
  ]) {
    const { statusCode, body } = await request(`${service.url}/docs/${name}`)
    await body.dump()
    t.equal(statusCode, 404, name)
  }
})

t.test('the page of an error and the API reference lead to it', async (t) => {
  const error = await service.call('GET', '/errors/payment-not-settled', { headers: { accept: 'text/html' } })
  t.match(error.text, /href="\/docs"/)
  t.match((await service.call('GET', '/reference')).text, /href="\/docs"/)
  for (const path of ['/docs', '/reference'])
    t.match((await service.call('GET', path)).text, /href="\/postman\.json"/, path)
})
