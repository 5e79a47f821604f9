import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import t from 'tap'
import { makeResponseExcerpt } from '../../../src/webhooks/sending/response-excerpt.ts'
import { makePost } from '../../../src/webhooks/sending/post.ts'
import { until } from '../../support/until.ts'
import { makeOutbox, plantDeliveries, plantMerchant, startDeliveries } from '../../support/webhooks.ts'

type Test = { teardown(handler: () => unknown): unknown }

function textOf(...chunks: (string | number[])[]): string | null {
  const beginning = makeResponseExcerpt()
  for (const chunk of chunks) beginning.add(typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk))
  return beginning.text()
}

const BAD = '\uFFFD'

t.test('a short response is kept unchanged, in however many chunks it arrives', async (t) => {
  t.equal(textOf(), null)
  t.equal(textOf(''), null)
  t.equal(textOf('ok'), 'ok')
  t.equal(textOf('{"a":', '"é€😀"}'), '{"a":"é€😀"}')
  const [smile = ''] = ['😀']
  t.equal(textOf(...[...Buffer.from(smile)].map((byte) => [byte])), smile, 'a character in four pieces')
  t.equal(textOf('x'.repeat(1_024)), 'x'.repeat(1_024))
  t.equal(textOf(`${'x'.repeat(1_020)}😀`), `${'x'.repeat(1_020)}😀`, 'one that just fits')
})

t.test('a long response is truncated between two characters', async (t) => {
  t.equal(textOf('x'.repeat(1_025)), 'x'.repeat(1_024))
  t.equal(textOf('x'.repeat(700), 'y'.repeat(70_000)), 'x'.repeat(700) + 'y'.repeat(324))
  for (const character of ['é', '€', '😀', 'ß', '中']) {
    const size = Buffer.byteLength(character)
    for (let before = 1_024 - size - 1; before <= 1_024; before += 1) {
      const text = textOf(`${'x'.repeat(before)}${character}${'z'.repeat(50)}`)
      const room = 1_024 - before
      const expected = 'x'.repeat(before) + (room >= size ? character + 'z'.repeat(room - size) : '')
      t.equal(text, expected, `${character} behind ${before} bytes`)
      t.ok(Buffer.byteLength(text ?? '') <= 1_024)
    }
  }
})

t.test('bytes that are not text become text that can be stored', async (t) => {
  t.equal(textOf('a\u0000b'), `a${BAD}b`)
  t.equal(textOf([0, 0, 0]), BAD.repeat(3))
  t.equal(textOf([0xff, 0x41, 0xfe]), `${BAD}A${BAD}`)
  t.equal(textOf([0xf0, 0x9f]), BAD, 'a character that the endpoint itself has cut')
  t.equal(textOf([0xed, 0xa0, 0x80]), BAD.repeat(3), 'half of a pair')
  const noise = Uint8Array.from({ length: 5_000 }, (_, index) => (index * 7_919) % 256)
  const text = textOf([...noise]) ?? ''
  t.ok([...text].length <= 1_024 && text.length <= 1_024, `${text.length} characters`)
  t.equal(text.includes('\u0000'), false)
  t.equal(text.isWellFormed(), true)
  t.ok(
    (textOf(Array.from({ length: 5_000 }, () => 0x80)) ?? '').length <= 1_024,
    'nothing but the middle of characters',
  )
})

async function answering(t: Test, answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => answer(response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`
}

t.test('the client returns the beginning of every response, and null without one', async (t) => {
  const post = makePost({ allowPrivate: true, timeoutMs: 4_000 })
  t.teardown(() => post.close())
  const send = (url: string) => post.post({ url, headers: {}, body: Buffer.from('{}') })
  t.match(await send(await answering(t, (response) => response.writeHead(500).end('database is down'))), {
    outcome: 'http_500',
    responseBody: 'database is down',
  })
  t.match(await send(await answering(t, (response) => response.writeHead(200).end())), {
    outcome: 'delivered',
    responseBody: null,
  })
  t.match(await send(await answering(t, (response) => response.writeHead(200).end('x'.repeat(100_000)))), {
    outcome: 'delivered',
    responseBody: 'x'.repeat(1_024),
  })
  const endless = await answering(t, (response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('drip '), 10)
    response.on('close', () => clearInterval(timer))
  })
  t.match(await send(endless), { outcome: 'delivered', responseBody: /^drip drip / })
  t.match(await send(await answering(t, () => undefined)), { outcome: 'timeout', responseBody: null })
  t.match(await send('http://127.0.0.1:1/'), { outcome: 'connect', responseBody: null })
})

t.test('nothing is kept from an address that is not allowed', async (t) => {
  const url = await answering(t, (response) => response.end('internal secrets'))
  const post = makePost({ allowPrivate: false, resolve: async () => ['127.0.0.1'] })
  t.teardown(() => post.close())
  for (const blocked of [url, 'https://shop.example/'])
    t.match(await post.post({ url: blocked, headers: {}, body: Buffer.from('{}') }), {
      outcome: 'blocked',
      httpStatus: null,
      responseBody: null,
    })
})

t.test('every kind of response can be recorded', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const deliveries = startDeliveries(t, app)
  const bodies = [
    Buffer.from(`a\u0000b"\\{},NULL`),
    Buffer.from([0xff, 0xfe, 0x00, 0x80]),
    Buffer.from(`${'x'.repeat(1_023)}😀 and more`),
    Buffer.alloc(30_000, 0xe2),
    Buffer.alloc(0),
  ]
  const expected = [`a${BAD}b"\\{},NULL`, BAD.repeat(4), 'x'.repeat(1_023), BAD.repeat(1_023), null]
  for (const [index, body] of bodies.entries()) {
    const url = await answering(t, (response) => response.writeHead(400).end(body))
    const merchantId = await plantMerchant({ owner, app, webhookUrl: url })
    await plantDeliveries(owner, merchantId)
    deliveries.wake()
    await until('it is recorded', async () => {
      const { rows } = await owner.query('select response_body from webhook_attempts where merchant_id = $1', [
        merchantId,
      ])
      if (rows.length === 0) return false
      t.equal(rows[0].response_body, expected[index])
      return true
    })
  }
})
