import t from 'tap'
import type { Test } from 'tap'
import { makeResponseReader } from '../../../src/webhooks/sending/response.ts'

type Read = {
  status: number | null
  invalid: boolean
  unasked: boolean
  done: boolean
  reusable: boolean
  body: string | null
}

/** Reads the text in two pieces, cut at `cut`, or byte by byte. */
function read(text: string, cut: number | 'bytes', isHead = false): Read {
  const reader = makeResponseReader()
  // What was read before leaves nothing behind.
  reader.begin({ isHead: false })
  reader.read(Buffer.from('HTTP/1.1 500 No\r\ncontent-length: 9\r\n\r\nxyz'))
  reader.begin({ isHead })
  const bytes = Buffer.from(text, 'latin1')
  const pieces =
    cut === 'bytes' ? [...bytes].map((byte) => Buffer.from([byte])) : [bytes.subarray(0, cut), bytes.subarray(cut)]
  let done = false
  for (const piece of pieces.filter(({ length }) => length > 0)) {
    if (done) return { ...result(), reusable: false }
    done = reader.read(piece)
  }
  return result()

  function result(): Read {
    const reusable = done && reader.reusableSeconds() > 0
    const [status, invalid, unasked] = [reader.status(), reader.isInvalid(), reader.mayBeUnasked()]
    return { status, invalid, unasked, done, reusable, body: reader.excerpt() }
  }
}

/** The same in every division of the text into two pieces, and byte by byte. */
function readEverywhere(t: Test, text: string, expected: Partial<Read>, isHead = false): void {
  for (let cut = 0; cut < text.length; cut += 1)
    t.match(read(text, cut, isHead), expected, `${JSON.stringify(text)} cut at ${cut}`)
  t.match(read(text, 'bytes', isHead), expected, `${JSON.stringify(text)} byte by byte`)
}

const OK = 'HTTP/1.1 200 OK\r\n'

t.test('a complete response leaves a connection that can be used again', (t) => {
  const complete = { status: 200, invalid: false, done: true, reusable: true }
  readEverywhere(t, `${OK}content-length: 0\r\n\r\n`, { ...complete, body: null })
  readEverywhere(t, `${OK}Content-Length:5\r\nServer: x\r\n\r\nhello`, { ...complete, body: 'hello' })
  readEverywhere(t, `${OK}transfer-encoding: chunked\r\n\r\n0\r\n\r\n`, { ...complete, body: null })
  readEverywhere(
    t,
    `${OK}Transfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\nA;x=1\r\n0123456789\r\n0\r\nTrailer: y\r\n\r\n`,
    {
      ...complete,
      body: 'hello0123456789',
    },
  )
  readEverywhere(t, `HTTP/1.1 204\r\nx: y\r\n\r\n`, { ...complete, status: 204, body: null })
  readEverywhere(t, `HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n`, { ...complete, status: 204, body: null })
  readEverywhere(t, `HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n`, { ...complete, status: 304 })
  readEverywhere(
    t,
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${OK}content-length: 1\r\n\r\na`,
    {
      ...complete,
      body: 'a',
    },
  )
  readEverywhere(t, `${OK}content-length: 5\r\n\r\n`, { ...complete, body: null }, true)
  t.end()
})

t.test('without its end a response is not done, and its status counts', (t) => {
  const open = { status: 200, done: false, invalid: false, reusable: false }
  readEverywhere(t, `${OK}content-length: 6\r\n\r\nhello`, { ...open, body: 'hello' })
  readEverywhere(t, `${OK}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n`, { ...open, body: 'hello' })
  readEverywhere(t, `${OK}\r\nuntil it closes`, { ...open, body: 'until it closes' })
  readEverywhere(t, `${OK}transfer-encoding: gzip\r\n\r\nabc`, { ...open, body: 'abc' })
  readEverywhere(t, `HTTP/1.1 200 OK\r\ncontent-length: 0\r\n`, { status: null, done: false, invalid: false })
  readEverywhere(t, `HTTP/1.1 102 Processing\r\n\r\n`, { status: null, done: false, invalid: false })
  t.end()
})

t.test('a connection is not used again when it closes, or when it is unclear where the response ends', (t) => {
  const once = { status: 200, invalid: false, done: true, reusable: false }
  for (const head of [
    `${OK}connection: close\r\ncontent-length: 1\r\n\r\na`,
    `${OK}connection: x, Close\r\ncontent-length: 1\r\n\r\na`,
    `${OK}keep-alive: timeout=1\r\ncontent-length: 1\r\n\r\na`,
    `HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\na`,
    `${OK}content-length: 1\r\ncontent-length: 2\r\n\r\na`,
    `${OK}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    `${OK}content-length: -1\r\n\r\na`,
    `${OK}content-length: 1, 1\r\n\r\na`,
    `${OK}content-length : 1\r\n\r\na`,
    `${OK}x: y\r\n content-length: 1\r\n\r\na`,
    `${OK}transfer-encoding: chunked\r\n\r\nnonsense\r\n`,
    `${OK}transfer-encoding: chunked\r\n\r\n-1\r\n`,
    `${OK}transfer-encoding: chunked\r\n\r\n100000000000\r\n`,
    `${OK}transfer-encoding: chunked\r\n\r\n1\n`,
    `${OK}transfer-encoding: chunked\r\n\r\n1\r\nabc\r\n`,
    `${OK}transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n${OK}`,
    `${OK}transfer-encoding: chunked\r\n\r\n${'1'.repeat(2_000)}`,
    `${OK}content-length: 1\r\n\r\n${'ab'}`,
    `${OK}content-length: 0\r\n\r\n${OK}`,
    `${OK}content-length: 99999\r\n\r\n${'x'.repeat(16 * 1024 + 1)}`,
    `${OK}transfer-encoding: chunked\r\n\r\nffffff\r\n${'x'.repeat(16 * 1024 + 1)}`,
  ]) {
    for (const cut of [0, 20, head.indexOf('\r\n\r\n') + 4, 'bytes'] as const)
      t.match(read(head, cut), once, `${JSON.stringify(head.slice(0, 90))} cut at ${cut}`)
  }
  t.end()
})

t.test('a connection is not used again when a response without a body announces one, which may follow', (t) => {
  for (const head of [
    'HTTP/1.1 204 No Content\r\ntransfer-encoding: chunked\r\n\r\n',
    'HTTP/1.1 204 No Content\r\ntransfer-encoding: gzip\r\n\r\n',
    'HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n',
    'HTTP/1.1 304 Not Modified\r\ntransfer-encoding: chunked\r\n\r\n',
    'HTTP/1.1 304 Not Modified\r\ntransfer-encoding: gzip\r\n\r\n',
  ])
    readEverywhere(t, head, {
      status: Number(head.slice(9, 12)),
      done: true,
      invalid: false,
      reusable: false,
      body: null,
    })
  t.end()
})

t.test('what precedes the response may have as many bytes as its head, and they count together', (t) => {
  const hint = (bytes: number) => `HTTP/1.1 103 x\r\na: ${'b'.repeat(bytes - 23)}\r\n\r\n`
  t.equal(hint(100).length, 100)
  const head = `${OK}content-length: 0\r\n\r\n`
  const ended = { status: 200, done: true, invalid: false, reusable: true }
  for (const cut of [0, 5_000, 'bytes'] as const) {
    const most = 16 * 1024 - head.length
    t.match(read(`${hint(6_000)}${hint(most - 6_000)}${head}`, cut), ended, 'the most')
    const refused = { status: null, done: true, invalid: true, unasked: false }
    t.match(read(`${hint(6_000)}${hint(most - 5_999)}${head}`, cut), refused, 'one more')
    t.match(read('HTTP/1.1 103 x\r\n\r\n'.repeat(2_000) + head, cut), refused, 'many')
    t.match(read('HTTP/1.1 103 x\r\n\r\n'.repeat(2_000), cut), refused, 'without an end')
  }
  const reader = makeResponseReader()
  for (const _ of [1, 2, 3]) {
    reader.begin({ isHead: false })
    t.equal(reader.read(Buffer.from(hint(10_000) + head)), true)
    t.equal(reader.status(), 200, 'each response has as many')
  }
  t.end()
})

t.test('what may have been sent before the request is recognised', (t) => {
  for (const text of [
    'HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 4\r\n\r\nlate',
    'HTTP/1.0 408 Request Time-out\r\ncontent-length: 0\r\n\r\n',
    'HTTP/1.0 408 Request Time-out\r\n\r\nuntil it closes',
    `0\r\n\r\n${OK}content-length: 0\r\n\r\n`,
    `\r\n${OK}content-length: 0\r\n\r\n`,
    `the rest of a page${OK}content-length: 0\r\n\r\n`,
    'x'.repeat(70_000),
  ])
    for (const cut of [0, 1, 'bytes'] as const) t.match(read(text, cut), { unasked: true }, text.slice(0, 60))
  for (const text of [
    'HTTP/1.1 408 Request Timeout\r\ncontent-length: 4\r\n\r\nlate',
    'HTTP/1.1 500 No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n',
    `${OK}connection: close\r\ncontent-length: 0\r\n\r\n`,
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n',
    'HTTP/1.1 20\r\n\r\n',
    `${OK}x: ${'y'.repeat(17 * 1024)}\r\n\r\n`,
    `${OK}x: ${'y'.repeat(17 * 1024)}`,
    'HTTP/1.1 2',
  ])
    for (const cut of [0, 9, 'bytes'] as const) t.match(read(text, cut), { unasked: false }, text.slice(0, 60))
  t.end()
})

t.test('what is not HTTP is invalid as soon as that is certain', (t) => {
  for (const text of [
    'SSH-2.0-OpenSSH\r\n',
    '\r\nHTTP/1.1 200 OK\r\n\r\n',
    'HTTP/2 200\r\n',
    'http/1.1 200 OK\r\n',
    `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(16 * 1024)}`,
    `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(17 * 1024)}\r\n\r\n`,
    'HTTP/1.1 20\r\n\r\n',
    'HTTP/1.1 2000 OK\r\n\r\n',
    'HTTP/1.1 000 OK\r\n\r\n',
    'HTTP/1.1  200 OK\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n',
  ]) {
    t.match(read(text, 0), { status: null, invalid: true, done: true }, JSON.stringify(text.slice(0, 60)))
    t.match(read(text, 'bytes'), { status: null, invalid: true, done: true }, 'byte by byte')
  }
  t.end()
})
