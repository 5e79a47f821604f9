import { createServer as createHttpServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import t from 'tap'
import { makeProbe } from '../../../src/webhooks/sending/probe.ts'
import type { PostOptions } from '../../../src/webhooks/sending/post.ts'
import { until } from '../../support/until.ts'

type Test = { teardown(handler: () => unknown): unknown }

function probeWith(t: Test, options: Partial<PostOptions> = {}) {
  const probe = makeProbe({ allowPrivate: true, ...options })
  t.teardown(() => probe.close())
  return async (url: string) => {
    const check = await probe.probe(url, 'merchant')
    if (check === null) throw new Error('another check is under way')
    return check
  }
}

async function listen(t: Test, server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function answering(t: Test, listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(t, createHttpServer(listener))}/hook?shop=1`
}

async function raw(t: Test, answer: (socket: Socket) => void): Promise<string> {
  return `http://127.0.0.1:${await listen(
    t,
    createServer((socket) => socket.on('data', () => answer(socket))),
  )}/`
}

t.test('any response shows that the server is up, also one that rejects the method', async (t) => {
  const seen: unknown[] = []
  let status = 200
  const url = await answering(t, (request, response) => {
    seen.push([request.method, request.url, request.headers['content-length'], request.headers['webhook-id']])
    response.writeHead(status, { location: '/elsewhere' }).end()
  })
  const probe = probeWith(t)
  const statuses = [200, 204, 301, 307, 401, 404, 405, 410, 500, 503]
  for (status of statuses) {
    const check = await probe(url)
    t.match(check, { reachable: true, outcome: 'answered', http_status: status })
    t.ok(check.duration_ms >= 0 && Number.isInteger(check.duration_ms))
  }
  t.strictSame(
    seen,
    statuses.map(() => ['HEAD', '/hook?shop=1', undefined, undefined]),
    'one HEAD each: no redirect was followed, and no event was sent',
  )
})

t.test('a body that no HEAD may have is not read', async (t) => {
  const probe = probeWith(t, { timeoutMs: 20_000 })
  const url = await raw(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n')
    const more = (): void => {
      while (!socket.destroyed && socket.write(Buffer.alloc(65_536)));
    }
    socket.on('drain', more)
    more()
  })
  const begun = performance.now()
  t.match(await probe(url), { reachable: true, outcome: 'answered', http_status: 200 })
  t.ok(performance.now() - begun < 19_000, 'it does not wait for the body')
  t.match(await probe(url), { reachable: true }, 'nor does what is left of it disturb the next')
})

t.test('the failure is reported by a reason of the closed list', async (t) => {
  const probe = probeWith(t)
  const hasty = probeWith(t, { timeoutMs: 300 })
  const unreachable = { reachable: false, http_status: null }
  t.match(await probe('http://127.0.0.1:1/'), { ...unreachable, outcome: 'connect' })
  t.match(await hasty(await raw(t, () => undefined)), { ...unreachable, outcome: 'timeout' })
  t.match(await probe(await raw(t, (socket) => socket.resetAndDestroy())), { ...unreachable, outcome: 'reset' })
  t.match(await probe(await raw(t, (socket) => socket.end('SSH-2.0-x\r\n'))), {
    ...unreachable,
    outcome: 'bad_response',
  })
  t.match(await probeWith(t, { resolve: async () => [] })('http://no.such.name/'), { ...unreachable, outcome: 'dns' })
  const plain = await answering(t, (_request, response) => response.end())
  t.match(await probe(plain.replace('http:', 'https:')), { ...unreachable, outcome: 'tls' })
})

t.test('a check of a hanging server ends with the timeout of an attempt', async (t) => {
  const check = await probeWith(t)(await raw(t, () => undefined))
  t.match(check, { reachable: false, outcome: 'timeout' })
  t.ok(check.duration_ms >= 4_990 && check.duration_ms < 10_000, `${check.duration_ms} ms`)
})

t.test('no private address is connected to in live mode, however it is written or named', async (t) => {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
  })
  const port = await listen(t, server)
  const probe = probeWith(t, { allowPrivate: false })
  for (const host of [
    'localhost',
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '169.254.169.254',
  ]) {
    for (const url of [`https://${host}/`, `https://${host}:${port}/`, `http://${host}:${port}/`])
      t.match(await probe(url), { reachable: false, outcome: 'blocked', http_status: null }, url)
  }
  for (const addresses of [['127.0.0.1'], ['10.1.2.3'], ['93.184.215.14', '127.0.0.1'], ['::ffff:127.0.0.1']]) {
    const named = probeWith(t, { allowPrivate: false, resolve: async () => addresses })
    t.match(await named('https://shop.example/'), { reachable: false, outcome: 'blocked' }, addresses.join(', '))
  }
  t.equal(connections, 0)
})

t.test('a client that was never used has nothing to close', async () => {
  await makeProbe({ allowPrivate: false }).close()
})

t.test('one check of a merchant runs at a time, and fifty of all', async (t) => {
  const sockets: Socket[] = []
  const url = await raw(t, (socket) => void sockets.push(socket))
  const probe = makeProbe({ allowPrivate: true })
  t.teardown(() => probe.close())
  const underWay = Array.from({ length: 50 }, (_, index) => probe.probe(url, `merchant ${index}`))
  t.equal(await probe.probe(url, 'merchant 0'), null, 'a second one of the same merchant')
  t.equal(await probe.probe(url, 'merchant 50'), null, 'one of a further merchant')
  await until('all fifty have asked', () => sockets.length === 50)
  for (const socket of sockets) socket.end('HTTP/1.1 405 No\r\ncontent-length: 0\r\n\r\n')
  for (const check of await Promise.all(underWay)) t.match(check, { reachable: true, http_status: 405 })
  const again = probe.probe(url, 'merchant 0')
  await until('it has asked', () => sockets.length === 51)
  sockets.at(-1)?.destroy()
  t.match(await again, { reachable: false, outcome: 'reset' })
})

t.test('a failure in the client releases its slot', async (t) => {
  const resolve = () => Promise.reject(new Error('a bug'))
  const probe = makeProbe({ allowPrivate: false, resolve })
  t.teardown(() => probe.close())
  for (let round = 0; round < 3; round += 1)
    t.not(await probe.probe('https://shop.example/', 'merchant').catch(() => 'failed'), null)
})
