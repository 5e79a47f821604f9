import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { OPERATIONS } from '../../cli/entry/commands/api/operations.ts'
import { apiPath } from '../../cli/entry/commands/api/request.ts'
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes.ts'
import { createPayment } from '../support/app.ts'
import { fakeService, refusal, runCli } from './harness.ts'
import { realService } from './real-service.ts'

t.test('every operation of the service is known, and none else', (t) => {
  const nameOf = ({ name }: { name: string }): string => name
  t.same(
    OPERATIONS.map(nameOf).toSorted(),
    [...ROUTES, ...SANDBOX_ROUTES].map(({ operation }) => nameOf(operation)).toSorted(),
  )
  t.end()
})

t.test('the path decides whether a real service sees the merchant, the operator, or no identity', async (t) => {
  const service = await realService(t)
  const merchant = await service.merchant()
  const { body } = await createPayment(service, merchant)
  const id = String(body['payment_id'])
  t.match(await service.as(merchant, ['api', 'get', `/api/v1/payments/${id}`, '-q', 'payment_id']), {
    code: 0,
    stdout: `${id}\n`,
    stderr: '',
  })
  t.equal(
    (await service.as(merchant, ['api', 'GET', '/api/v1/payments', '-f', 'limit=1', '-o', 'id'])).stdout,
    `${id}\n`,
  )
  t.match(await service.operate(['api', 'GET', '/api/v1/admin/merchants', '-q', 'data[].client_id']), {
    code: 0,
    stdout: new RegExp(merchant.clientId),
  })
  t.equal((await runCli(['api', 'GET', '/healthz'], { env: { SVC_API_URL: service.url } })).code, 0)
  const described = await runCli(['api', '/openapi.json', '-q', 'openapi'], { env: { SVC_API_URL: service.url } })
  t.match(described, { code: 0, stdout: /^3\.1/ })
  const whoami = ['api', '/api/v1/whoami', '-q', 'kind']
  t.equal((await service.as(merchant, whoami)).stdout, 'merchant\n')
  t.equal((await service.as(merchant, [...whoami, '--platform'])).stdout, 'platform\n')
  t.match(await service.as(merchant, ['api', '/api/v1/payments', '--platform']), {
    code: 2,
    stderr: /--platform: \/api\/v1\/payments is not for operators/,
  })
  t.match(await runCli(['api', '/payments'], { env: { SVC_API_URL: service.url } }), {
    code: 2,
    stderr: /none of the service's API[^]*Try: svc api openapi -q paths\n/,
  })
  t.match((await service.operate(['api', 'GET', '/metrics'])).stdout, /^# HELP/)
  const made = await service.as(merchant, [
    'api',
    'POST',
    '/api/v1/payments',
    '--show-headers',
    ...['amount=5.00', 'currency=GBP', 'redirect_uri=https://shop.example/back', 'metadata.order=17'].flatMap(
      (field) => ['-f', field],
    ),
  ])
  t.equal((await service.operate(['api', 'openapi', '-q', 'openapi'])).stdout, '3.1.0\n')
  t.equal((await service.operate(['open', 'demo', '--print', '-o', 'id'])).stdout, `${service.url}/widget-demo.html\n`)
  t.equal((await service.operate(['open', 'payer', '--print'])).stdout, `${service.url}/hub\n`)
  t.equal((await service.operate(['open', 'payer', '--print', '-q', 'mode'])).stdout, 'sandbox\n')
  t.match(made, {
    code: 0,
    stderr: /^Idempotency key: [0-9a-f-]{36}\nHTTP 201 Created\n[^]*content-type: application\/json/,
  })
  t.match(JSON.parse(made.stdout), { status: 'AwaitingAuthorisation' })
  const madeId = JSON.parse(made.stdout).payment_id
  t.equal(
    (await service.as(merchant, ['api', 'GET', `/api/v1/payments/${madeId}`, '-q', 'metadata.order'])).stdout,
    '17\n',
  )
})

t.test('refusals have the exit code of their status, the body, and what to do', async (t) => {
  const service = await realService(t)
  const merchant = await service.merchant()
  const none = await service.as(merchant, ['api', 'GET', '/api/v1/payments/01a1fd03-f879-7eb7-872f-a2b4358c4f6d'])
  t.match(none, { code: 6, stderr: /^Error: .+\n/ })
  t.equal(JSON.parse(none.stdout).code, 'PAYMENT_NOT_FOUND')
  const part = ['api', '/api/v1/payments/01a1fd03-f879-7eb7-872f-a2b4358c4f6d', '-q', 'status']
  t.match(await service.as(merchant, part), { code: 6, stdout: '', stderr: /payment not found/i })
  t.match(await service.as(merchant, ['api', 'POST', '/api/v1/payments', '-f', 'amount:=5']), { code: 2 })
  t.match(await service.as(merchant, ['api', 'GET', '/api/v1/paymets']), {
    code: 6,
    stderr: /has no GET \/api\/v1\/paymets; the service responded with 404\nTry: svc api openapi -q paths\n/,
  })
  t.match(await service.as(merchant, ['api', 'PUT', '/api/v1/payments']), {
    code: 6,
    stderr: /Try: svc api POST \/api\/v1\/payments\n {5}svc api GET/,
  })
  const json = await service.as(merchant, ['api', 'GET', '/api/v1/nothing-like-it', '--json'])
  t.equal(JSON.parse(json.stderr).error.code, 'NO_SUCH_OPERATION')
})

t.test('with -q nothing is picked from a refusal, whose exit code stays', async (t) => {
  for (const [status, code] of [
    [403, 5],
    [404, 6],
    [409, 7],
  ] as const) {
    const { url } = await fakeService(t, () => refusal(status, 'FORBIDDEN_ROLE'))
    const asked = await runCli(['api', '/api/v1/payments', '-q', 'code'], {
      env: { SVC_API_URL: url, SVC_CLIENT_ID: 'acme' },
    })
    t.match(asked, { code, stdout: '', stderr: /^Error: / }, String(status))
  }
})

t.test('what is sent: fields, files, headers; and nothing with a dry run', async (t) => {
  const { url, requests } = await fakeService(t, () => ({ json: { ok: true } }))
  const cwd = t.testdir({})
  writeFileSync(join(cwd, 'body.json'), '{"a": 1}')
  const api = (words: string[], more: object = {}) =>
    runCli(['api', ...words], { cwd, env: { SVC_API_URL: url, SVC_CLIENT_ID: 'acme' }, ...more })
  const fields = ['-f', 'a.b=x', '-f', 'n:=3', '-f', 'l[]=1', '-f', 'l[]=2', '-f', 'e=', '-f', 'q=a=b']
  await api(['POST', '/api/v1/x', ...fields, '-H', 'X-One: 1'])
  t.match(requests.at(-1), {
    headers: { 'x-one': '1', 'x-merchant-client-id': 'acme', 'content-type': 'application/json' },
  })
  t.same(JSON.parse(requests.at(-1)?.body ?? ''), { a: { b: 'x' }, n: 3, l: ['1', '2'], e: '', q: 'a=b' })
  await api(['PUT', '/api/v1/x', '-F', 'body.json'])
  t.equal(requests.at(-1)?.body, '{"a": 1}')
  await api(['PUT', '/api/v1/x', '-F', '-'], { stdin: '[2]' })
  t.equal(requests.at(-1)?.body, '[2]')
  await api(['GET', '/api/v1/x?a=1', '-f', 'b=é&'])
  t.equal(requests.at(-1)?.path, '/api/v1/x?a=1&b=%C3%A9%26')
  await api(['DELETE', '/api/v1/admin/staff/x', '-f', 'reason=has left'])
  t.match(requests.at(-1), { path: '/api/v1/admin/staff/x', body: '{"reason":"has left"}' })
  await api(['DELETE', '/api/v1/portal/team/x', '-f', 'a=1'])
  t.match(requests.at(-1), { path: '/api/v1/portal/team/x?a=1', body: '' })
  t.match(await api(['DELETE', '/api/v1/portal/team/x', '-F', 'body.json']), {
    code: 2,
    stderr: /DELETE \/api\/v1\/portal\/team\/x takes no body/,
  })
  await api(['GET', '/api/v1/x', '-H', 'authorization: Bearer mine'])
  t.equal(requests.at(-1)?.headers['authorization'], 'Bearer mine')
  t.equal(requests.at(-1)?.headers['x-merchant-client-id'], undefined, 'nothing else goes with it')
  const sent = requests.length
  const dry = await api(['POST', '/api/v1/x', '-f', 'a=1', '-H', 'authorization: Bearer mine', '--dry-run', '--json'])
  t.match(JSON.parse(dry.stdout), { dry_run: true, method: 'POST', url: `${url}/api/v1/x`, body: { a: '1' } })
  t.notMatch(dry.stdout, 'mine')
  const told = await api(['POST', '/api/v1/x', '-f', 'a=1', '--dry-run'])
  t.match(
    told.stdout,
    /^Would send .+\nHeaders +accept: application\/json, content-type: application\/json\nBody +\{"a":"1"\}\n$/,
  )
  t.equal(requests.length, sent)
})

t.test('a path alone is a GET, and a POST with fields', async (t) => {
  const { url, requests } = await fakeService(t, () => ({ json: {} }))
  const env = { SVC_API_URL: url, SVC_CLIENT_ID: 'acme' }
  const cases = [
    ['/api/v1/x', 'GET'],
    ['/api/v1/x -f a=1', 'POST'],
    ['/api/v1/x -F -', 'POST'],
    ['get /api/v1/x', 'GET'],
  ] as const
  for (const [words, method] of cases) {
    t.equal((await runCli(['api', ...words.split(' ')], { env, stdin: '{}' })).code, 0, words)
    t.match(requests.at(-1), { method, path: '/api/v1/x' }, words)
  }
  const sent = requests.length
  const wrong = [
    ['PATCH /api/v1/x', 'svc api GET <path>'],
    ['/api/v1/x put', 'svc api GET <path>'],
    ['PUT', 'svc api PUT /api/v1/payments'],
  ] as const
  for (const [words, hint] of wrong) {
    const { code, stdout, stderr } = await runCli(['api', ...words.split(' ')], { env })
    t.match({ code, stdout }, { code: 2, stdout: '' }, words)
    t.equal(/^Try: (?<hint>.+)$/m.exec(stderr)?.groups?.['hint'], hint, words)
  }
  t.equal(requests.length, sent)
  t.notMatch((await runCli(['api', '--help'])).stdout, 'default: []')
})

t.test('credentials go to no other place, and no line into another', async (t) => {
  const { url, requests } = await fakeService(t, () => ({ json: {} }))
  const env = { SVC_API_URL: url, SVC_CLIENT_ID: 'acme' }
  const bad = [
    'https://evil.example/api/v1/x',
    `${url}/api/v1/x`,
    `${url}.evil.example/api/v1/x`,
    `${url}@evil.example/api/v1/x`,
    '//evil.example/api/v1/x',
    '/\\evil.example/api/v1/x',
    'api/v1/x',
    '/api/../dev/merchant-harness',
    '/api/%2e%2e/realms/x',
    '/realms/acme/token',
    '/apiary',
    '/api/v1/x\r\nHost: evil',
    '/api/v1/x y',
    '/api/v1/x#y',
    '@evil.example/api/',
    '',
  ]
  for (const path of bad) {
    const { code, stdout } = await runCli(['api', 'GET', path], { env })
    t.match({ code, stdout }, { code: 2, stdout: '' }, JSON.stringify(path))
    t.throws(() => apiPath(path), path)
  }
  const post = ['api', 'POST', '/api/v1/x']
  for (const words of [
    ['-H', 'x: a\r\nx-platform-user: eve'],
    ['-H', 'host: evil'],
    ['-H', 'no header'],
    ['-H', 'content-length: 3'],
    ['-f', 'novalue'],
    ['-f', 'a:={'],
    ['-f', '__proto__.x=1'],
    ['-f', 'a=1', '-f', 'a=2'],
    ['-f', 'a=1', '-f', 'a.b=2'],
    ['-f', 'a=1', '-F', '-'],
    ['-F', 'missing.json'],
    ['-F', '/dev/zero'],
  ])
    t.match(await runCli([...post, ...words], { env }), { code: 2, stdout: '', stderr: /^Error: / }, words.join(' '))
  t.match(await runCli(['api', 'TRACE', '/api/v1/x'], { env }), { code: 2 })
  t.match(await runCli(['api', 'GET', '/api/v1/x', '-F', '-'], { env }), { code: 2 })
  t.same(requests, [])
})

t.test('what comes back drives no terminal, and is whole where it is piped', async (t) => {
  const { url } = await fakeService(t, ({ path }) =>
    path === '/metrics'
      ? { text: 'a \u001b[31m\n' }
      : refusal(409, 'PAYMENT_NOT_CANCELLABLE', { error: 'no \u001b[31m' }),
  )
  const env = { SVC_API_URL: url, SVC_CLIENT_ID: 'acme' }
  t.equal((await runCli(['api', 'GET', '/metrics'], { env })).stdout, 'a \u001b[31m\n')
  t.match((await runCli(['api', 'POST', '/api/v1/payments/x/cancel'], { env })).stdout, /}\n$/)
  t.equal((await runCli(['api', 'GET', '/metrics'], { env, tty: true })).stdout, 'a \\u001b[31m\n')
  const { code, stdout } = await runCli(['api', 'POST', '/api/v1/payments/x/cancel'], { env, tty: true })
  t.equal(code, 7)
  t.notMatch(stdout, '\u001b[31m')
})
