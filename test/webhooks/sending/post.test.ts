import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer as createHttpsServer } from 'node:https'
import { createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { makePost } from '../../../src/webhooks/sending/post.ts'
import type { PostOptions } from '../../../src/webhooks/sending/post.ts'
import { startReceiver } from '../../support/receiver.ts'
import { until } from '../../support/until.ts'

const body = Buffer.from('{"eventId":"evt_1"}')

type Test = { teardown(handler: () => unknown): unknown }

function client(t: Test, options: Partial<PostOptions> = {}) {
  const post = makePost({ allowPrivate: true, ...options })
  t.teardown(() => post.close())
  return (url: string) => post.post({ url, headers: { 'content-type': 'application/json' }, body })
}

async function listen(t: Test, server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** A server that answers every request with these bytes, in pieces. */
async function rawServer(t: Test, answer: (socket: Socket, requests: number) => void): Promise<string> {
  let requests = 0
  const port = await listen(
    t,
    createServer((socket) => socket.on('data', () => answer(socket, (requests += 1)))),
  )
  return `http://127.0.0.1:${port}/`
}

t.test('every status but 2xx is a failure with a reason of the closed list', async (t) => {
  const receiver = await startReceiver(t, ({ receipt, response }) =>
    response.writeHead(Number(receipt.path.slice(1)), { location: '/200' }).end(),
  )
  const send = client(t)
  const expected: [number, string][] = [
    [200, 'delivered'],
    [201, 'delivered'],
    [204, 'delivered'],
    [299, 'delivered'],
    [301, 'redirect'],
    [302, 'redirect'],
    [304, 'redirect'],
    [307, 'redirect'],
    [308, 'redirect'],
    [400, 'http_400'],
    [401, 'http_401'],
    [410, 'http_410'],
    [429, 'http_429'],
    [500, 'http_500'],
    [503, 'http_503'],
  ]
  for (const [status, outcome] of expected) {
    t.match(await send(`http://127.0.0.1:${receiver.port}/${status}`), { outcome, httpStatus: status })
  }
  t.equal(receiver.receipts.length, expected.length, 'no redirect was followed')
})

t.test('the bytes arrive as they are, and connections are used again', async (t) => {
  const receiver = await startReceiver(t)
  const send = client(t)
  for (let index = 0; index < 5; index += 1) t.match(await send(receiver.url), { outcome: 'delivered' })
  t.equal(receiver.connections(), 1)
  for (const receipt of receiver.receipts) t.equal(receipt.body.equals(body), true)
})

t.test('a response without a status line in time is a timeout', async (t) => {
  const send = client(t, { timeoutMs: 150 })
  const silent = await rawServer(t, () => undefined)
  t.match(await send(silent), { outcome: 'timeout', httpStatus: null })
  const informational = await rawServer(t, (socket) => socket.write('HTTP/1.1 102 Processing\r\n\r\n'))
  t.match(await send(informational), { outcome: 'timeout', httpStatus: null }, 'an informational answer is no answer')
  const halfLine = await rawServer(t, (socket) => socket.write('HTTP/1.1 2'))
  const result = await send(halfLine)
  t.match(result, { outcome: 'timeout', httpStatus: null })
  t.ok(result.durationMs >= 149 && result.durationMs < 5_000, `${result.durationMs} ms`)
})

t.test('a status line in time counts, whatever the body does', async (t) => {
  const send = client(t, { timeoutMs: 4_000 })
  let closed = 0
  const drip = await rawServer(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n')
    const timer = setInterval(() => socket.write('x'), 20)
    socket.on('close', () => {
      clearInterval(timer)
      closed += 1
    })
  })
  const result = await send(drip)
  t.match(result, { outcome: 'delivered', httpStatus: 200 })
  t.ok(result.durationMs < 10_000, 'it ends with the attempt')
  await until('the connection is closed', () => closed === 1)

  let written = 0
  const flood = await rawServer(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n')
    const more = (): void => {
      while (!socket.destroyed && socket.write(Buffer.alloc(65_536))) written += 65_536
    }
    socket.on('drain', more)
    more()
  })
  t.match(await send(flood), { outcome: 'delivered', httpStatus: 200 })
  t.ok(written < 20_000_000, `${written} bytes of 100 MB were taken`)

  const hinting = await rawServer(t, (socket) => {
    const more = (): void => {
      while (!socket.destroyed && socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_000)));
    }
    socket.on('drain', more)
    more()
  })
  t.match(await send(hinting), { outcome: 'bad_response', httpStatus: null }, 'what precedes it has an end')

  const cut = await rawServer(t, (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nab'))
  t.match(await send(cut), { outcome: 'delivered', httpStatus: 200 }, 'a body that is cut off')
})

t.test('no connection, no HTTP and no address are distinguished', async (t) => {
  const send = client(t)
  t.match(await send('http://127.0.0.1:1/'), { outcome: 'connect', httpStatus: null })
  t.match(await send(await rawServer(t, (socket) => socket.resetAndDestroy())), { outcome: 'reset' })
  t.match(await send(await rawServer(t, (socket) => socket.end())), { outcome: 'reset' })
  t.match(await send(await rawServer(t, (socket) => socket.end('SSH-2.0-OpenSSH\r\n'))), { outcome: 'bad_response' })
  const long = `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`
  t.match(await send(await rawServer(t, (socket) => socket.write(long))), { outcome: 'bad_response' })
  t.match(await client(t, { resolve: async () => [] })('http://no.such.name/'), { outcome: 'dns' })
  const plain = await startReceiver(t)
  t.match(await send(`https://127.0.0.1:${plain.port}/`), { outcome: 'tls' })
})

t.test(
  'responses that arrive in parts are not mixed up, though all connections are read into one buffer',
  async (t) => {
    const sockets: Socket[] = []
    const url = await rawServer(t, (socket) => void sockets.push(socket))
    const send = client(t)
    const answers = Promise.all(Array.from({ length: 8 }, () => send(url)))
    await until('all are asked', () => sockets.length === 8)
    const texts = sockets.map((_, n) => `${String(n).repeat(20)} is the body`)
    for (const part of ['HTTP/1.1 20', '0 OK\r\ncontent-le', 'ngth: 32\r\n\r', '\n'])
      for (const socket of sockets) await written(socket, part)
    for (const at of [0, 16])
      for (const [n, socket] of sockets.entries()) await written(socket, texts[n]?.slice(at, at + 16) ?? '')
    const bodies = (await answers).map(({ outcome, responseBody }) => [outcome, responseBody])
    t.same(bodies.toSorted(), texts.map((text) => ['delivered', text]).toSorted())
  },
)

/** Writes, and lets the other side read it before anything else is written. */
async function written(socket: Socket, text: string): Promise<void> {
  await new Promise((resolve) => socket.write(text, resolve))
  await new Promise((resolve) => setTimeout(resolve, 2))
}

t.test('a server that speaks before it is asked does not answer with HTTP', async (t) => {
  const port = await listen(
    t,
    createServer((socket) => socket.write('220 mail.example ESMTP\r\n')),
  )
  const send = client(t)
  t.match(await send(`http://127.0.0.1:${port}/`), { outcome: 'bad_response', httpStatus: null })
})

t.test('a connection that was closed while idle does not count as a failure', async (t) => {
  // Answers the first request of a connection, and resets at the second one.
  const seen: number[] = []
  const server = createServer((socket) => {
    let requests = 0
    socket.on('data', () => {
      requests += 1
      seen.push(requests)
      if (requests === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
      else socket.resetAndDestroy()
    })
  })
  const url = `http://127.0.0.1:${await listen(t, server)}/`
  const send = client(t)
  for (let index = 0; index < 3; index += 1) t.match(await send(url), { outcome: 'delivered' })
  t.strictSame(seen, [1, 2, 1, 2, 1], 'sent once more, at once, over a connection of its own')
})

/** A server that answers the first request of each connection with `first`, and the later ones of a connection with `later`. */
async function twoAnswers(t: Test, first: string, later: string) {
  const requests: number[] = []
  const port = await listen(
    t,
    createServer((socket) => {
      let ofSocket = 0
      socket.on('data', () => {
        requests.push((ofSocket += 1))
        socket.write(ofSocket === 1 ? first : later)
      })
    }),
  )
  return { url: `http://127.0.0.1:${port}/`, requests }
}

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'
const CLOSING_408 = 'HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'

t.test('what a connection says that was used before is not taken for the answer, unless it is one', async (t) => {
  for (const later of [CLOSING_408, '0\r\n\r\n', '\r\n', '<p>the rest of a page</p>']) {
    const server = await twoAnswers(t, OK, later)
    const send = client(t)
    for (const _ of [1, 2]) t.match(await send(server.url), { outcome: 'delivered' }, JSON.stringify(later))
    t.same(server.requests, [1, 2, 1], 'sent once more, over a connection of its own')
  }
  for (const [later, outcome] of [
    ['HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n', 'http_408'],
    ['HTTP/1.1 500 No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n', 'http_500'],
    ['HTTP/1.1 101 Switching Protocols\r\n\r\n', 'bad_response'],
    [`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`, 'bad_response'],
  ] as const) {
    const server = await twoAnswers(t, OK, later)
    const send = client(t)
    t.match(await send(server.url), { outcome: 'delivered' })
    t.match(await send(server.url), { outcome }, 'an answer is an answer')
    t.same(server.requests, [1, 2])
  }
})

t.test('the first request of a connection is never sent again, whatever the answer', async (t) => {
  for (const [first, outcome] of [
    [CLOSING_408, 'http_408'],
    ['0\r\n\r\n', 'bad_response'],
  ] as const) {
    const server = await twoAnswers(t, first, OK)
    t.match(await client(t)(server.url), { outcome })
    t.same(server.requests, [1])
  }
})

t.test(
  'a response without a body that announces one ends its connection, so that the next is not misread',
  async (t) => {
    for (const [status, headers] of [
      [204, 'transfer-encoding: chunked'],
      [204, 'content-length: 5'],
      [304, 'transfer-encoding: chunked'],
    ] as const) {
      const server = await twoAnswers(t, `HTTP/1.1 ${status} x\r\n${headers}\r\n\r\n`, '0\r\n\r\n')
      const send = client(t)
      for (const _ of [1, 2]) t.match(await send(server.url), { httpStatus: status })
      t.same(server.requests, [1, 1], headers)
    }
    const usual = await twoAnswers(t, 'HTTP/1.1 204 x\r\ncontent-length: 0\r\n\r\n', OK)
    const send = client(t)
    for (const _ of [1, 2]) t.match(await send(usual.url), { outcome: 'delivered' })
    t.same(usual.requests, [1, 2], 'one without keeps it')
  },
)

/** Continue in a phase of the event loop: between some of them timers run before sockets are read. */
const PHASES = {
  'where it is': async () => undefined,
  'in a timer': () => new Promise((resolve) => setTimeout(resolve, 1)),
  'in an immediate': () => new Promise((resolve) => setImmediate(resolve)),
}

/** Does nothing at all for so long, like a thread that is busy or stopped. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

t.test('an answer that came in time counts, however late the thread comes to read it', async (t) => {
  const answers = new Int32Array(new SharedArrayBuffer(4))
  // In a thread of its own, because this one stands still meanwhile.
  const code = `
    const { createServer } = require('node:net')
    const { parentPort, workerData } = require('node:worker_threads')
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.on('data', (bytes) => {
        const [, number] = /^POST .(\\d+) /.exec(bytes)
        socket.write(${JSON.stringify(OK)}, () => {
          Atomics.store(workerData, 0, Number(number))
          Atomics.notify(workerData, 0)
        })
      })
    })
    server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`
  const receiver = new Worker(code, { eval: true, execArgv: [], workerData: answers })
  t.teardown(() => receiver.terminate())
  const port = await new Promise((resolve) => receiver.once('message', resolve))
  const timeoutMs = 200
  const send = client(t, { timeoutMs })
  let number = 0
  const sendNext = () => send(`http://127.0.0.1:${String(port)}/${(number += 1)}`)
  for (const [phase, comes] of Object.entries(PHASES)) {
    await until('a connection is kept', async () => (await sendNext()).outcome === 'delivered')
    await comes()
    const answer = sendNext()
    for (let last = -1; (last = Atomics.load(answers, 0)) !== number;)
      if (Atomics.wait(answers, 0, last, 60_000) === 'timed-out') throw new Error('the receiver has not answered')
    block(2 * timeoutMs)
    t.match(await answer, { outcome: 'delivered', httpStatus: 200 }, phase)
  }
})

t.test('nothing is sent over a connection that comes up after the time is over', async (t) => {
  const received: Buffer[] = []
  let closed = 0
  const port = await listen(
    t,
    createServer((socket) => {
      socket.on('data', (bytes) => received.push(bytes))
      socket.on('close', () => (closed += 1))
    }),
  )
  const timeoutMs = 100
  const send = client(t, { timeoutMs })
  for (const [phase, comes] of Object.entries(PHASES)) {
    await comes()
    const answer = send(`http://127.0.0.1:${port}/`)
    // It has begun to connect by then, and can't have seen that it has.
    await new Promise<void>((resolve) => process.nextTick(() => process.nextTick(resolve)))
    block(2 * timeoutMs)
    t.match(await answer, { outcome: 'timeout', httpStatus: null }, phase)
  }
  await until('the connections are closed', () => closed === 3)
  t.same(received, [])
})

t.test('a reset on a fresh connection is a failure, and is not repeated', async (t) => {
  let connections = 0
  const url = await rawServer(t, (socket) => {
    connections += 1
    socket.resetAndDestroy()
  })
  t.match(await client(t)(url), { outcome: 'reset' })
  t.equal(connections, 1)
})

t.test('proxy variables of the environment are ignored', async (t) => {
  const proxy = await startReceiver(t)
  const receiver = await startReceiver(t)
  for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'ALL_PROXY'])
    process.env[name] = `http://127.0.0.1:${proxy.port}`
  t.teardown(() => {
    for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'ALL_PROXY']) delete process.env[name]
  })
  t.match(await client(t)(receiver.url), { outcome: 'delivered' })
  t.equal(proxy.receipts.length, 0)
})

t.test("over TLS the certificate must be the name's, though the connection goes to a checked address", async (t) => {
  const folder = t.testdir()
  const files = { key: `${folder}/key.pem`, cert: `${folder}/cert.pem` }
  try {
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '2',
        '-subj',
        '/CN=shop.example',
        '-addext',
        'subjectAltName=DNS:shop.example',
        '-keyout',
        files.key,
        '-out',
        files.cert,
      ],
      { stdio: 'ignore' },
    )
  } catch {
    t.comment('there is no openssl here to make a certificate with')
    return
  }
  const cert = readFileSync(files.cert, 'utf8')
  const names: unknown[] = []
  const server = createHttpsServer({ key: readFileSync(files.key), cert }, (request, response) => {
    names.push(request.headers.host)
    response.writeHead(200).end()
  })
  const port = await listen(t, server)
  const looked: string[] = []
  const resolve = async (name: string): Promise<string[]> => {
    looked.push(name)
    return ['127.0.0.1']
  }
  const send = client(t, { resolve, ca: cert })
  t.match(await send(`https://shop.example:${port}/`), { outcome: 'delivered' })
  t.strictSame(names, [`shop.example:${port}`])
  t.strictSame(looked, ['shop.example'], 'the name was looked up once')
  t.match(await send(`https://other.example:${port}/`), { outcome: 'tls' }, 'another name')
  t.match(
    await client(t, { resolve })(`https://shop.example:${port}/`),
    { outcome: 'tls' },
    'an authority that is not trusted',
  )
})
