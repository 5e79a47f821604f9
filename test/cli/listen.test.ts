import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpsServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { run } from '../../cli/entry/run.ts'
import { writeServiceState } from '../../cli/client/service-state.ts'
import { startApi } from '../../src/api.ts'
import { freePort } from '../support/free-port.ts'
import { signStandard, verifySignature } from '../../src/lib/webhook-signature.ts'
import { authorisedPayment, createPayment, testService, until, untilStatus } from '../support/app.ts'
import type { TestMerchant, TestService } from '../support/app.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receipt } from '../support/receiver.ts'
import { plantDeliveries, plantPayment } from '../support/webhooks.ts'
import { makeIo, runCli } from './harness.ts'
import { LAUNCHER, cleanEnv, nodeCommand } from './service.ts'

type Listening = {
  ended: Promise<number>
  out(): string
  err(): string
  ready(): Promise<void>
  says(pattern: RegExp): Promise<void>
}

type Start = { service: { url: string }; merchant: TestMerchant; env?: NodeJS.ProcessEnv; tty?: boolean }

/** Starts `svc listen` in this process. It ends by --once, --stop-after or --timeout. */
function startListening({ service, merchant, env = {}, tty = false }: Start, ...words: string[]): Listening {
  const { io, stdout, stderr } = makeIo({
    env: { SVC_API_URL: service.url, SVC_CLIENT_ID: merchant.clientId, ...env },
    tty,
  })
  const err = (): string => stderr.join('')
  return {
    ended: run(['listen', ...words], io),
    out: () => stdout.join(''),
    err,
    ready: async () => void (await until(async () => /^Ready$/m.test(err()))),
    says: async (pattern) => void (await until(async () => pattern.test(err()))),
  }
}

/** Hangs a process's command on its end: what it said, and its exit code. */
function startProcess(
  t: Test,
  words: readonly string[],
  env: NodeJS.ProcessEnv,
): Listening & { kill(signal: NodeJS.Signals): void } {
  const child = spawn(...nodeCommand(words), { env: cleanEnv(env), stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => void (stdout += chunk))
  child.stderr.on('data', (chunk: Buffer) => void (stderr += chunk))
  return {
    ended: once(child, 'close').then(([code]) => Number(code ?? -1)),
    out: () => stdout,
    err: () => stderr,
    async ready() {
      await until(async () => child.exitCode !== null || /^Ready$/m.test(stderr))
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${stderr}`)
    },
    says: async (pattern) => void (await until(async () => pattern.test(stderr))),
    kill: (signal) => void child.kill(signal),
  }
}

const MAIN = `import('${join(import.meta.dirname, '..', '..', 'cli', 'main.ts')}').then((cli) => cli.main())`

const visible = (text: string): string => text.replaceAll('\u001b', 'ESC')

const typesOf = (receipts: readonly Receipt[]): string[] =>
  receipts.map(({ body }) => JSON.parse(body.toString()).eventType)

async function urlOf(service: TestService, merchant: TestMerchant): Promise<unknown> {
  return (await service.call('GET', '/api/v1/portal/webhook-endpoint', { merchant })).body.webhook_url
}

/** Deliveries of these types for one payment, each in a transaction of its own. */
async function plantEvents(service: TestService, merchant: TestMerchant, types: readonly string[]): Promise<string> {
  const paymentId = await plantPayment(service.owner, merchant.id)
  for (const [index, eventType] of types.entries()) {
    const payload = JSON.stringify({ eventType, n: index + 1, data: { object: 'transaction', id: paymentId } })
    await service.owner.query('begin')
    const ids = await plantDeliveries(service.owner, merchant.id, { paymentId, sequence: index + 1, payload })
    await service.owner.query('update webhook_deliveries set event_type = $2 where id = any($1)', [ids, eventType])
    await service.owner.query('commit')
  }
  return paymentId
}

t.test(
  "a payment's webhooks arrive at the local server as they were signed; the merchant's own deliveries go on",
  async (t) => {
    const service = await testService(t, { worker: true })
    const own = await startReceiver(t)
    const local = await startReceiver(t)
    const merchant = await service.merchant({ webhookUrl: own.url })
    const env = { SVC_WEBHOOK_SECRET: merchant.secret }
    const listening = startListening(
      { service, merchant, env },
      '--forward-to',
      `localhost:${local.port}/hook?a=1`,
      '-H',
      'X-Extra: yes',
      '--stop-after',
      'payment.settled',
      '--timeout',
      '120s',
    )
    await listening.ready()
    const { id } = await authorisedPayment(service, merchant)
    t.equal(await listening.ended, 0, listening.err())
    t.same(typesOf(local.receipts), ['payment.initiated', 'payment.authorized', 'payment.settled'])
    for (const { headers, body, path } of local.receipts) {
      t.equal(path, '/hook?a=1')
      t.match(headers, { 'content-type': 'application/json', 'x-extra': 'yes', 'content-length': String(body.length) })
      t.ok(verifySignature({ secret: merchant.secret, body, signature: String(headers['x-service-signature']) }))
      const standard = {
        secret: merchant.secret,
        body,
        id: String(headers['webhook-id']),
        timestamp: Number(headers['webhook-timestamp']),
      }
      t.equal(headers['webhook-signature'], signStandard(standard))
    }
    t.notMatch(listening.err(), /WRONG SIGNATURE/)
    const [, settled] = /--> payment\.settled \[(evt_\w+)\]/.exec(listening.out()) ?? []
    t.match(
      listening.out(),
      new RegExp(`<-- \\[200\\] POST http://localhost:${local.port}/hook\\?a=1 \\(\\d+ms\\) \\[${settled}\\]`),
    )
    t.equal(settled, local.receipts[2]?.eventId)

    await untilStatus(service, merchant, id, 'Settled')
    await until(async () => own.receipts.length === 3)
    t.same(typesOf(own.receipts), typesOf(local.receipts))
    t.same(
      own.receipts.map(({ body }) => body.toString()),
      local.receipts.map(({ body }) => body.toString()),
      'the bytes are the same',
    )
    t.equal(await urlOf(service, merchant), own.url, 'its address is not touched')
  },
)

t.test('odd bytes arrive as they are stored, and a secret that does not sign them is reported clearly', async (t) => {
  const service = await testService(t)
  const local = await startReceiver(t)
  const merchant = await service.merchant()
  const payload = '{ "eventType":"payment.settled", "b":1.0,\n "name":"é€😀", "big":12345678901234567890 }'
  await plantDeliveries(service.owner, merchant.id, { payload })
  const listening = startListening(
    { service, merchant, env: { SVC_WEBHOOK_SECRET: 'b'.repeat(64) } },
    '--forward-to',
    local.url,
    '--cursor',
    'beginning',
    '--once',
  )
  t.equal(await listening.ended, 3)
  t.match(listening.err(), /WRONG SIGNATURE: \[evt_\w+\] is not signed with the secret of SVC_WEBHOOK_SECRET/)
  t.equal(local.receipts[0]?.body.toString(), payload)
  t.notMatch(listening.err() + listening.out(), /b{64}/)
})

t.test('the secret of svc.json is used for its own service and merchant only', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  await plantDeliveries(service.owner, merchant.id)
  const stateDir = mkdtempSync(join(tmpdir(), 'svc-listen-'))
  t.teardown(() => rmSync(stateDir, { recursive: true }))
  const write = (clientId: string): void => {
    const own = { id: merchant.id, client_id: clientId, webhook_secret: 'c'.repeat(64) }
    const state = {
      api_url: service.url,
      auth_url: null,
      demo_url: service.url,
      database_url: '',
      state_dir: stateDir,
      pid: process.pid,
      merchant: own,
      operator: null,
      customer: null,
    }
    writeFileSync(join(stateDir, 'svc.json'), JSON.stringify(state))
  }
  const listen = (): Listening =>
    startListening({ service, merchant, env: { SVC_STATE_DIR: stateDir } }, '--cursor', 'beginning', '--once')
  write(merchant.clientId)
  const checked = listen()
  t.equal(await checked.ended, 3)
  t.match(checked.err(), /WRONG SIGNATURE.+svc\.json/)
  write('another')
  const unchecked = listen()
  t.equal(await unchecked.ended, 0)
  t.notMatch(unchecked.err(), /SIGNATURE|secret/)
})

t.test(
  'a secret that is rotated under way is known at once, and until the overlap ends the one before is right too',
  async (t) => {
    const service = await testService(t)
    const merchant = await service.merchant()
    const stateDir = t.testdir()
    const { clientId, realm, secret } = merchant
    writeServiceState(stateDir, {
      api_url: service.url,
      auth_url: null,
      demo_url: service.url,
      database_url: '',
      state_dir: stateDir,
      pid: process.pid,
      merchant: {
        id: merchant.id,
        client_id: clientId,
        client_secret: null,
        realm,
        webhook_secret: secret,
        email: null,
        password: null,
      },
      operator: null,
      customer: null,
    })
    const env = { SVC_STATE_DIR: stateDir }
    const rotate = (overlap: string) =>
      runCli(['secret', 'rotate', '--overlap', overlap], {
        env: { SVC_API_URL: service.url, SVC_CLIENT_ID: clientId, ...env },
      })
    const running = startListening({ service, merchant, env }, '--once')
    const stale = startListening({ service, merchant, env: { SVC_WEBHOOK_SECRET: secret } }, '--once')
    await Promise.all([running.ready(), stale.ready()])
    t.match(await rotate('1h'), { code: 0, stderr: /svc\.json has it as well/ })
    await createPayment(service, merchant)
    t.equal(await running.ended, 0, running.err())
    t.equal(await stale.ended, 0, stale.err())
    await runCli(['secret', 'end-overlap'], { env: { SVC_API_URL: service.url, SVC_CLIENT_ID: clientId } })
    const over = startListening({ service, merchant, env }, '--once')
    await over.ready()
    await rotate('0s')
    await createPayment(service, merchant)
    t.equal(await over.ended, 0, over.err())
  },
)

t.test('the events of a payment wait for each other; different payments do not', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const held: (() => void)[] = []
  const local = await startReceiver(t, ({ response }) => void held.push(() => response.writeHead(200).end()))
  const types = ['payment.initiated', 'payment.authorized', 'payment.settled']
  for (let index = 0; index < 10; index += 1) await plantEvents(service, merchant, types)
  await plantEvents(service, merchant, ['payment.refunded'])
  const listening = startListening(
    { service, merchant },
    '--forward-to',
    local.url,
    '--cursor',
    'beginning',
    '--timeout',
    '120s',
    '--stop-after',
    'payment.refunded',
  )
  await until(async () => local.receipts.length === 8)
  t.equal(
    new Set(local.receipts.map(({ body }) => JSON.parse(body.toString()).data.id)).size,
    8,
    'eight at one time, of eight payments',
  )
  t.same(new Set(typesOf(local.receipts)), new Set(['payment.initiated']))
  await until(async () => {
    while (held.length > 0) held.shift()?.()
    return local.receipts.length === 31
  })
  await until(async () => {
    while (held.length > 0) held.shift()?.()
    return held.length === 0
  })
  t.equal(await listening.ended, 0, listening.err())
  t.equal(local.peak(), 8)
  const orders = new Map<string, number[]>()
  for (const { body } of local.receipts) {
    const { data, n } = JSON.parse(body.toString())
    orders.set(data.id, [...(orders.get(data.id) ?? []), n])
  }
  t.same(
    [...orders.values()].toSorted((a, b) => b.length - a.length),
    [...Array.from({ length: 10 }, () => [1, 2, 3]), [1]],
  )
})

t.test('--events takes names and nouns; --print-json puts the payloads alone on standard output', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  await plantEvents(service, merchant, ['payment.initiated', 'refund.failed', 'payment.settled', 'consent.revoked'])
  const some = startListening(
    { service, merchant },
    '--events',
    'payment.settled, refund.*',
    '--cursor',
    'beginning',
    '--stop-after',
    'consent.revoked',
    '--print-json',
  )
  t.equal(await some.ended, 0)
  t.same(
    some
      .out()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).eventType),
    ['refund.failed', 'payment.settled', 'consent.revoked'],
  )
  t.match(some.err(), /^Ready$/m)
  t.match(some.err(), /--> refund\.failed \[evt_/, 'the lines for people are on standard error')

  const lines = startListening(
    { service, merchant },
    '--cursor',
    'beginning',
    '--stop-after',
    'consent.*',
    '-o',
    'jsonl',
  )
  t.equal(await lines.ended, 0)
  t.same(
    lines
      .out()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).n),
    [1, 2, 3, 4],
  )
  const query = startListening({ service, merchant }, '--cursor', 'beginning', '--once', '-q', 'data.id')
  t.equal(await query.ended, 0)
  t.match(query.out(), /^[0-9a-f-]{36}\n$/)

  const people = startListening({ service, merchant, tty: true }, '--cursor', 'beginning', '--once')
  t.equal(await people.ended, 0)
  t.match(visible(people.out()), /^--> ESC\[1mpayment\.initiatedESC\[22m \[evt_\w+\]\n$/, 'a terminal gets colours')
})

t.test('a payload of several lines is one line for scripts, and the same JSON', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const payload = '{\n  "name": "a\\nb",\r\n  "n": 1.0\n}'
  await plantDeliveries(service.owner, merchant.id, { payload })
  const listening = startListening({ service, merchant }, '--cursor', 'beginning', '--once', '--print-json')
  t.equal(await listening.ended, 0)
  t.equal(listening.out(), '{   "name": "a\\nb",   "n": 1.0 }\n')
})

t.test('--cursor: latest skips what was before, a cursor continues there, and the summary has one', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  await plantEvents(service, merchant, ['payment.initiated'])
  // Read once, so that no other database of the server still holds the event back.
  t.equal(await startListening({ service, merchant }, '--cursor', 'beginning', '--once').ended, 0)
  const listening = startListening({ service, merchant }, '--timeout', '120s', '--stop-after', 'payment.authorized')
  await listening.ready()
  await plantEvents(service, merchant, ['payment.authorized'])
  t.equal(await listening.ended, 0)
  t.match(listening.out(), /^--> payment\.authorized \[evt_\w+\]\n$/)
  const [, cursor = ''] = /--cursor (\S+)/.exec(listening.err()) ?? []
  await plantEvents(service, merchant, ['payment.settled'])
  const onward = startListening({ service, merchant }, '--cursor', cursor, '--once')
  t.equal(await onward.ended, 0)
  t.match(onward.out(), /^--> payment\.settled/)
  t.match(await startListening({ service, merchant }, '--cursor', 'nonsense', '--once').ended, 2)
})

t.test('--once ends after the first event and its answer; an answer that is no 2xx is exit code 3', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  await plantEvents(service, merchant, ['payment.initiated', 'payment.authorized'])
  const good = await startReceiver(t)
  t.equal(
    await startListening({ service, merchant }, '--cursor', 'beginning', '--once', '--forward-to', good.url).ended,
    0,
  )
  t.same(typesOf(good.receipts), ['payment.initiated'])

  const bad = await startReceiver(t, ({ response }) => response.writeHead(401).end('signature\n\u001b[2Jinvalid'))
  const refused = startListening({ service, merchant }, '--cursor', 'beginning', '--once', '--forward-to', bad.url)
  t.equal(await refused.ended, 3)
  t.match(
    refused.out(),
    /<-- \[401\] POST http.+\(\d+ms\) \[evt_\w+\]: signature \\u001b\[2Jinvalid\n$/,
    "what it says is shown, and can't drive the terminal",
  )
  t.match(refused.err(), /Error: .+ 1 of 1 events/)

  const elsewhere = await startReceiver(t, ({ response }) => response.writeHead(307, { location: good.url }).end())
  const redirected = startListening(
    { service, merchant },
    '--cursor',
    'beginning',
    '--once',
    '--forward-to',
    elsewhere.url,
  )
  t.equal(await redirected.ended, 3)
  t.match(redirected.out(), /\[307\].+redirects are not followed/)
  t.equal(good.receipts.length, 1, 'it was not followed')
})

t.test('an https server with a certificate of its own making is refused, and taken with --skip-verify', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-listen-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  try {
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-days',
        '2',
        '-subj',
        '/CN=localhost',
        '-keyout',
        key,
        '-out',
        cert,
      ],
      { stdio: 'ignore' },
    )
  } catch {
    t.comment('there is no openssl here to make a certificate with')
    return
  }
  const server = createHttpsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_request, response) =>
    response.writeHead(200).end(),
  )
  t.teardown(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const url = `https://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`
  const service = await testService(t)
  const merchant = await service.merchant()
  await plantEvents(service, merchant, ['payment.settled'])
  const careful = startListening({ service, merchant }, '--cursor', 'beginning', '--once', '--forward-to', url)
  t.equal(await careful.ended, 3)
  t.match(careful.out(), /its certificate is not trusted \(\w+\); --skip-verify/)
  t.equal(
    await startListening({ service, merchant }, '--cursor', 'beginning', '--once', '--forward-to', url, '--skip-verify')
      .ended,
    0,
  )
})

t.test('a failure on the way to --stop-after is exit code 3, and does not keep what follows from coming', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  await plantEvents(service, merchant, ['payment.initiated', 'payment.authorized', 'payment.settled'])
  const local = await startReceiver(t, ({ response, count }) => response.writeHead(count === 2 ? 500 : 204).end())
  const listening = startListening(
    { service, merchant },
    '--cursor',
    'beginning',
    '--stop-after',
    'payment.settled',
    '--forward-to',
    local.url,
    '--output-style',
    'quiet',
  )
  t.equal(await listening.ended, 3)
  t.same(typesOf(local.receipts), ['payment.initiated', 'payment.authorized', 'payment.settled'])
  t.match(listening.out(), /^<-- \[500\] [^\n]+\n$/, 'quiet shows the failure alone')
  const compact = startListening(
    { service, merchant },
    '--cursor',
    'beginning',
    '--stop-after',
    'payment.settled',
    '--forward-to',
    local.url,
    '--output-style',
    'compact',
  )
  t.equal(await compact.ended, 0)
  t.match(compact.out(), /^payment\.initiated evt_\w+ 204 \d+ms\n/)
})

t.test('a local server that is down is reported, and events come again once it is up', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const port = await freePort()
  const listening = startListening(
    { service, merchant, tty: true },
    '--stop-after',
    'payment.settled',
    '--forward-to',
    `http://localhost:${port}/`,
    '--timeout',
    '120s',
  )
  await listening.ready()
  await plantEvents(service, merchant, ['payment.initiated'])
  await until(async () =>
    /ESC\[31m<-- \[ERR\] POST http:\/\/localhost:\d+\/ \(\d+ms\) \[evt_\w+\]: nothing listens thereESC\[39m/.test(
      visible(listening.out()),
    ),
  )
  await plantEvents(service, merchant, ['payment.settled'])
  t.equal(await listening.ended, 3)
})

t.test('--timeout ends with exit code 9, also in the middle of an answer that does not come', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const idle = startListening({ service, merchant }, '--stop-after', 'payment.settled', '--timeout', '300ms')
  t.equal(await idle.ended, 9)
  t.match(idle.err(), /^Error: no payment\.settled within 300ms$/m)
  await plantEvents(service, merchant, ['payment.settled'])
  // Read once, so that no other database of the server still holds the event back.
  t.equal(await startListening({ service, merchant }, '--cursor', 'beginning', '--once').ended, 0)
  const silent = await startReceiver(t, () => undefined)
  const held = startListening(
    { service, merchant },
    '--cursor',
    'beginning',
    '--once',
    '--timeout',
    '4s',
    '--forward-to',
    silent.url,
  )
  t.equal(await held.ended, 9)
  t.equal(silent.receipts.length, 1)
  t.match(
    held.err(),
    /Stopped after 1 event, 0 answered with 2xx, 0 failed$/m,
    'with no cursor behind what was not answered',
  )
})

t.test('a server that does not answer within five seconds has failed', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  await plantEvents(service, merchant, ['payment.settled'])
  const silent = await startReceiver(t, () => undefined)
  const listening = startListening({ service, merchant }, '--cursor', 'beginning', '--once', '--forward-to', silent.url)
  t.equal(await listening.ended, 3)
  t.match(listening.out(), /<-- \[ERR\].+\([5-9]\d{3}ms\).+no answer within 5 s/)
})

t.test('a restart of the service in between loses nothing and doubles nothing, and is reported once', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const local = await startReceiver(t)
  const other = { ...service.app, config: { ...service.app.config, port: await freePort() } }
  let api = await startApi(other)
  t.teardown(() => api.stop())
  const listening = startListening(
    { service: api, merchant },
    '--forward-to',
    local.url,
    '--stop-after',
    'payment.refunded',
    '--timeout',
    '120s',
  )
  await listening.ready()
  await plantEvents(service, merchant, ['payment.initiated'])
  await until(async () => local.receipts.length === 1)
  await api.stop()
  await listening.says(/can't be reached.+Trying again/)
  await plantEvents(service, merchant, ['payment.authorized', 'payment.settled'])
  api = await startApi(other)
  await listening.says(/The service is back/)
  await plantEvents(service, merchant, ['payment.refunded'])
  t.equal(await listening.ended, 0, listening.err())
  const types = typesOf(local.receipts)
  t.same(types.toSorted(), ['payment.authorized', 'payment.initiated', 'payment.refunded', 'payment.settled'])
  t.ok(types.indexOf('payment.authorized') < types.indexOf('payment.settled'), 'which are about one payment')
  t.equal(listening.err().match(/Trying again/g)?.length, 1)
})

t.test('a service that is not there at the start, and one that knows no such merchant, end it', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const gone = startListening({ service: { url: `http://127.0.0.1:${await freePort()}` }, merchant }, '--once')
  t.equal(await gone.ended, 8)
  t.notMatch(gone.err(), /Ready/)
  t.equal(await startListening({ service, merchant: { ...merchant, clientId: 'nobody' } }, '--once').ended, 4)
})

t.test('a wrong command line is reported before anything is asked of the service', async (t) => {
  const wrong = [
    ['--forward-to', 'ftp://localhost/x'],
    ['--forward-to', 'http://user:hidden@localhost/'],
    ['--forward-to', 'http://'],
    ['--events', 'settled!'],
    ['--stop-after', ''],
    ['--once', '--stop-after', 'payment.settled'],
    ['--timeout', '30'],
    ['-H', 'nonsense'],
    ['-H', 'X-Service-Signature: hidden'],
    ['-H', 'Webhook-Id: 1'],
    ['-H', 'a: b\r\nc: hidden'],
    ['--output-style', 'loud'],
    ['--cursor', ''],
  ]
  for (const words of wrong) {
    const { code, stderr } = await runCli(['listen', ...words], {
      env: { SVC_API_URL: 'http://127.0.0.1:1', SVC_CLIENT_ID: 'x' },
    })
    t.equal(code, 2, `${words.join(' ')}: ${stderr}`)
    t.notMatch(stderr, /hidden/)
  }
})

t.test('Ctrl+C ends it with a summary and exit code 130, SIGTERM with 143', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const local = await startReceiver(t)
  const env = { SVC_API_URL: service.url, SVC_CLIENT_ID: merchant.clientId }
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const before = local.receipts.length
    const listening = startProcess(t, ['-e', MAIN, 'svc', 'listen', '--forward-to', local.url], env)
    await listening.ready()
    await createPayment(service, merchant)
    await until(async () => local.receipts.length === before + 1)
    await until(async () => listening.out().includes('<-- [200]'))
    listening.kill(signal)
    t.equal(await listening.ended, code, listening.err())
    t.match(
      listening.err(),
      /Stopped after 1 event, 1 answered with 2xx, 0 failed; to continue from here: --cursor \S+$/m,
    )
  }
})

t.test('the launcher listens, and ends when its output is closed', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const env = { SVC_API_URL: service.url, SVC_CLIENT_ID: merchant.clientId }
  await plantEvents(service, merchant, ['payment.initiated', 'payment.settled'])
  const all = startProcess(
    t,
    [LAUNCHER, 'listen', '--cursor', 'beginning', '--stop-after', 'payment.settled', '--print-json'],
    env,
  )
  t.equal(await all.ended, 0, all.err())
  t.equal(all.out().trim().split('\n').length, 2)

  const child = spawn(...nodeCommand([LAUNCHER, 'listen', '--print-json', '--cursor', 'beginning']), {
    env: cleanEnv(env),
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  child.stdout.destroy()
  let isOver = false
  const over = once(child, 'exit').then(([code]) => {
    isOver = true
    return code
  })
  await until(async () => {
    if (!isOver) await plantEvents(service, merchant, ['payment.initiated'])
    return isOver
  })
  t.equal(await over, 0)
})
