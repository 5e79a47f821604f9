import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import t from 'tap'
import { Agent, request } from 'undici'
import { startApi } from '../../src/api.ts'
import { makePgConnection } from '../../src/db/connection.ts'
import { freePort } from '../support/free-port.ts'
import { makeServer } from '../../src/http/server.ts'
import { makeApp } from '../../src/app.ts'
import { createPayment, testService, until } from '../support/app.ts'
import { listenTo, rawRequest, rawSocket } from '../support/raw-http.ts'
import { countRows } from '../support/rows.ts'

const service = await testService(t)
const merchant = await service.merchant()
const { port } = service.app.config
const HEAD = `POST /api/v1/payments HTTP/1.1\r\nHost: localhost\r\nX-Merchant-Client-Id: ${merchant.clientId}\r\nX-Idempotency-Key: k\r\nContent-Type: application/json\r\n`

async function stillServes(): Promise<boolean> {
  return (await service.call('GET', '/api/v1/payments', { merchant })).status === 200
}

t.test('a body of 10 MB is rejected before it is read, and the connection closes', async (t) => {
  const before = await countRows(service.owner)
  const socket = rawSocket(port)
  socket.write(`${HEAD}Content-Length: 10000000\r\n\r\n`)
  const answer = await listenTo(socket, 30_000)
  t.match(answer, { status: 413, closed: true })
  t.match(answer.text, /\r\nconnection: close\r\n/i)
  t.match(answer.text, /"code":"BODY_TOO_LARGE"/)
  t.same(await countRows(service.owner), before)
  t.ok(await stillServes())
})

t.test('clients that send all of 10 MB get the answer too', async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const answer = await service.call('POST', '/api/v1/payments', {
      merchant,
      headers: { 'x-idempotency-key': 'big' },
      raw: Buffer.alloc(10_000_000, 32),
    })
    t.match(answer, { status: 413, body: { code: 'BODY_TOO_LARGE' } })
  }
})

t.test('a chunked body is counted as it comes', async (t) => {
  const before = await countRows(service.owner)
  const socket = rawSocket(port)
  socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`)
  const chunk = `4000\r\n${' '.repeat(0x4000)}\r\n`
  for (let sent = 0; sent < 8; sent += 1) socket.write(chunk)
  t.match(await listenTo(socket, 30_000), { status: 413, closed: true })
  t.same(await countRows(service.owner), before)
  t.ok(await stillServes())
})

t.test('a body without a credential is not waited for', async (t) => {
  const socket = rawSocket(port)
  socket.write(
    'POST /api/v1/payments HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 90000\r\n\r\n{',
  )
  // Less than the time that a body may take.
  t.match(await listenTo(socket, 14_000, (text) => text.includes('\r\n\r\n')), { status: 401, closed: false })
})

const GARBAGE: [name: string, bytes: string | Buffer, status: number | undefined][] = [
  ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  ['random bytes', Buffer.from(Array.from({ length: 2_000 }, (_, i) => (i * 7919) % 256)), 400],
  ['an unknown method', 'HELLO / HTTP/1.1\r\nHost: x\r\n\r\n', 400],
  ['no host', 'GET /healthz HTTP/1.1\r\n\r\n', 400],
  [
    'both lengths',
    'POST /api/v1/payments HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  [
    'two lengths',
    'POST /api/v1/payments HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello',
    400,
  ],
  [
    'a transfer encoding that is none',
    'POST /api/v1/payments HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  ['a negative length', 'POST /api/v1/payments HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n', 400],
  [
    'a chunk size that is none',
    'POST /api/v1/payments HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    400,
  ],
  ['a bare line feed in a header', 'GET /healthz HTTP/1.1\r\nHost: x\r\nA: b\nC: d\r\n\r\n', 400],
  ['a space before the colon', 'GET /healthz HTTP/1.1\r\nHost : x\r\n\r\n', 400],
  ['a NUL in a header', 'GET /healthz HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n', 400],
  ['17 KiB of headers', `GET /healthz HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(17 * 1024)}\r\n\r\n`, 431],
  ['an address elsewhere', 'GET http://evil.example/healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 404],
]

t.test('invalid HTTP is rejected and does not end the process', async (t) => {
  for (const [name, bytes, status] of GARBAGE) {
    const answer = await rawRequest(port, bytes)
    t.equal(answer.status, status, name)
    t.ok(answer.closed, `${name}: the connection ends`)
  }
  t.ok(await stillServes())
})

t.test('the whole address is a path with its host before it', async (t) => {
  const ask = (target: string, host = 'svc.example'): Promise<{ status: number | undefined; text: string }> =>
    rawRequest(port, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  for (const target of ['http://svc.example/healthz', 'HTTPS://SVC.example/healthz?x=1', 'http://svc.example/readyz'])
    t.equal((await ask(target)).status, 200, target)
  const refused = await ask('http://svc.example/open-banking/v1/accounts')
  t.equal(refused.status, 401)
  t.match(refused.text, /"Code":"401 Unauthorized"/, 'with the error of its surface')
  for (const target of [
    'http://svc.example',
    'http://svc.example?x=/healthz',
    'http://other.example/healthz',
    'ftp://svc.example/healthz',
  ])
    t.equal((await ask(target)).status, 404, target)
  t.equal((await ask('http://svc.example/healthz', '')).status, 404)
})

t.test('a client that disconnects within its body causes no error', async (t) => {
  const before = await countRows(service.owner)
  for (let round = 0; round < 20; round += 1) {
    const socket = rawSocket(port)
    socket.write(`${HEAD}Content-Length: 1000\r\n\r\n{"amount":`)
    await once(socket, 'connect')
    socket.destroy()
  }
  t.ok(await stillServes())
  t.same(await countRows(service.owner), before)
  t.notMatch((await service.call('GET', '/metrics')).text, /status="50\d"/, 'it is not taken for a failure of ours')
})

t.test('headers that do not come are waited for 10 seconds, and others are served meanwhile', async (t) => {
  const wait = async (): Promise<number> => {
    const began = performance.now()
    const sockets = Array.from({ length: 200 }, () => rawSocket(port))
    for (const socket of sockets) socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nA: ')
    t.ok(await stillServes())
    const answers = await Promise.all(sockets.map((socket) => listenTo(socket, 60_000)))
    t.ok(answers.every(({ closed, status }) => closed && status === 408))
    return (performance.now() - began) / 1000
  }
  let seconds = await wait()
  // Measured again where the machine stood still.
  for (let again = 0; again < 3 && seconds >= 13; again += 1) seconds = await wait()
  t.ok(seconds > 9 && seconds < 13, `${seconds} s`)
})

t.test('pipelined requests are each answered, in their order', async (t) => {
  const one = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'
  const answer = await rawRequest(
    port,
    `${one}GET /x HTTP/1.1\r\nHost: x\r\n\r\n${one.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')}`,
  )
  t.same(
    [...answer.text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]),
    ['200', '404', '200'],
  )
})

t.test('stopping completes requests in progress, rejects new ones and closes idle connections', async (t) => {
  const app = await makeApp({ ...service.app.config, port: await freePort() })
  const api = await startApi(app)
  t.teardown(() => app.close())
  const { body: payment } = await createPayment(service, merchant)
  const agent = new Agent({ pipelining: 1, connections: 1 })
  t.teardown(() => agent.close())
  t.match(await request(`${api.url}/healthz`, { dispatcher: agent }), { statusCode: 200 })
  const idle = rawSocket(api.port)
  idle.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(idle, 'data')
  const idleEnds = once(idle, 'close')

  // A row that somebody else has locked keeps the request under way for as long as the test wants.
  await service.owner.query('begin')
  await service.owner.query('select 1 from payment_intents where id = $1 for update', [payment.payment_id])
  const other = await makePgConnection({ databaseUrl: service.databaseUrl, onError: () => undefined })
  t.teardown(() => other.end())
  const underWay = request(`${api.url}/api/v1/payments/${payment.payment_id}/cancel`, {
    method: 'POST',
    headers: { 'x-merchant-client-id': merchant.clientId },
    dispatcher: agent,
  })
  await until(async () => {
    const { rows } = await other.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rows.length > 0
  })
  const stopped = api.stop()
  await idleEnds
  await t.rejects(request(`${api.url}/healthz`), { code: 'ECONNREFUSED' })
  await service.owner.query('rollback')
  const answer = await underWay
  t.equal(answer.statusCode, 200)
  t.equal(answer.headers['connection'], 'close', 'the client learns that the connection carries no more')
  t.match(await answer.body.json(), { payment_id: payment.payment_id, status: 'Failed' })
  await stopped
})

t.test('a client that accepts nothing of a response is disconnected, and one that waits for us is not', async (t) => {
  const quick = makeServer(service.app, { unreadMs: 2_000 })
  quick.listen(0, '127.0.0.1')
  await once(quick, 'listening')
  t.teardown(() => void quick.close())
  const { port: quickPort } = quick.address() as AddressInfo
  const idle: ServerResponse[] = []
  const sockets: Socket[] = []
  quick.on('request', (req: IncomingMessage, res: ServerResponse) => {
    sockets.push(req.socket)
    res.on('timeout', () => idle.push(res))
  })

  // More than the buffers of a connection take.
  const silent = rawSocket(quickPort)
  silent.pause()
  silent.write('GET /widget/reference/viewer.js HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(20))
  await until(async () => sockets[0]?.destroyed === true)
  silent.destroy()

  const locker = await makePgConnection({ databaseUrl: service.databaseUrl, onError: () => undefined })
  t.teardown(() => locker.end())
  await locker.query('begin; lock table payment_intents')
  idle.length = 0
  const waiting = request(`http://127.0.0.1:${quickPort}/api/v1/payments`, {
    headers: { 'x-merchant-client-id': merchant.clientId },
  })
  await Promise.race([waiting, until(async () => idle.length > 0)])
  await locker.query('rollback')
  const { statusCode, body } = await waiting
  await body.dump()
  t.ok([200, 503].includes(statusCode), String(statusCode))
})

t.test('a process that drains turns proxies away first, and breaks no connection', async (t) => {
  const config = { ...service.app.config, port: await freePort(), observePort: await freePort(), drainSeconds: 8 }
  const app = await makeApp(config)
  const api = await startApi(app)
  t.teardown(() => app.close())
  const probe = `http://127.0.0.1:${config.observePort}`
  const readiness = async () => (await (await fetch(`${probe}/readyz`)).json()) as { status: string; database: string }
  await until(async () => (await readiness()).status === 'ready')
  t.match(await (await fetch(`${probe}/metrics`)).text(), /^svc_outbox_deliveries/m)
  t.equal((await fetch(`${api.url}/metrics`)).status, 404, 'figures stay inside')
  t.equal((await fetch(`${probe}/api/v1/banks`)).status, 404, 'and that port has nothing else')
  const agent = new Agent({ pipelining: 1, connections: 16 })
  t.teardown(() => agent.close())
  let isStopped = false
  const statuses: number[] = []
  const client = async () => {
    while (!isStopped) {
      const answer = await request(`${api.url}/api/v1/banks`, { dispatcher: agent })
      await answer.body.dump()
      statuses.push(answer.statusCode)
      // A proxy that sees 503 sends no more: so do these clients before the grace period ends.
      const ready = await readiness()
      // The database may be slow to say that it is there: that is not what they wait for.
      if (ready.status !== 'draining') continue
      t.match(ready, { database: 'reachable' })
      const last = await request(`${api.url}/healthz`, { dispatcher: agent })
      t.match([last.statusCode, last.headers['connection']], [200, 'close'])
      return
    }
  }
  const clients = Array.from({ length: 16 }, client)
  await until(async () => statuses.length > 100)
  const stopped = api.stop()
  await Promise.all(clients)
  isStopped = true
  await stopped
  t.same([...new Set(statuses)], [200], `${statuses.length} requests`)
  for (const url of [api.url, probe]) await t.rejects(request(`${url}/healthz`), { code: 'ECONNREFUSED' })
})

t.test('a handler that throws is a 500 without its message, and the process lives', async (t) => {
  const broken = await testService(t, {
    overrides: {
      bank: {
        ...service.app.mockBank,
        exchangeCode: () =>
          Promise.reject(
            Object.assign(new Error('password authentication failed for user svc at 10.0.0.5'), {
              code: 500,
              status: 200,
              statusCode: 200,
            }),
          ),
      },
    },
  })
  const shop = await broken.merchant()
  const { body } = await createPayment(broken, shop)
  const state = new URL(body.redirect_url).searchParams.get('state')
  for (let round = 0; round < 3; round += 1) {
    const answer = await broken.call('POST', `/api/v1/payments/${body.payment_id}/sca-complete`, {
      body: { state, code: 'x' },
    })
    t.match(answer, { status: 500, body: { code: 'INTERNAL_ERROR', error: 'Internal Server Error' } })
    t.notMatch(answer.text, /password|10\.0\.0\.5/)
  }
  t.equal((await createPayment(broken, shop)).status, 201)
})

t.test('an error with a code like a status, or with an invalid status, does not end the process', async (t) => {
  for (const error of [
    Object.assign(new Error('x'), { code: '23505' }),
    Object.assign(new Error('x'), { status: 99_999 }),
    'a string',
    undefined,
    null,
    { status: 200 },
  ]) {
    const broken = await testService(t, {
      overrides: { bank: { ...service.app.mockBank, exchangeCode: () => Promise.reject(error) } },
    })
    const { body } = await createPayment(broken, await broken.merchant())
    const answer = await broken.call('POST', `/api/v1/payments/${body.payment_id}/sca-complete`, {
      body: { state: new URL(body.redirect_url).searchParams.get('state'), code: 'x' },
    })
    t.match(answer, { status: 500, body: { code: 'INTERNAL_ERROR' } })
  }
})

t.test('a violated unique constraint is an internal error, and its name is not shown', async (t) => {
  const same = await testService(t, {
    overrides: { ids: { ...service.app.ids, endToEndId: () => `SVC${'0'.repeat(32)}` } },
  })
  const shop = await same.merchant()
  t.equal((await createPayment(same, shop)).status, 201)
  const answer = await createPayment(same, shop)
  t.match(answer, { status: 500, body: { code: 'INTERNAL_ERROR' } })
  t.notMatch(answer.text, /end_to_end_id|unique|constraint/)
})
