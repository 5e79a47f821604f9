import { randomUUID } from 'node:crypto'
import t from 'tap'
import { reportSuperuser } from '../../src/observe/report-superuser.ts'
import { createPayment, testService } from '../support/app.ts'
import { capturedLog } from '../support/captured-log.ts'
import { liveService } from '../support/live.ts'
import { rawRequest } from '../support/raw-http.ts'

const { log, lines } = capturedLog()
const service = await testService(t, { overrides: { log }, env: { SVC_SECURITY_LOG_LEVEL: 'info' } })
const merchant = await service.merchant()

/** The last line of the log with this message. */
const lineOf = (msg: string) =>
  lines()
    .map((line) => JSON.parse(line))
    .findLast((line) => line.msg === msg)

t.test("each request's line names client, subject, merchant and network, and no address", async (t) => {
  const { body } = await createPayment(service, merchant)
  t.match(lineOf('request'), {
    operation: 'createPayment',
    subject: merchant.clientId,
    merchant_id: merchant.id,
    network: /^[0-9a-f]{16}$/,
    payment_id: undefined,
  })
  const { network } = lineOf('request')
  await service.call('GET', `/api/v1/payments/${body.payment_id}`, { merchant })
  t.match(lineOf('request'), { operation: 'getPayment', network, payment_id: body.payment_id })
  await service.call('GET', '/api/v1/admin/merchants', { headers: await service.operator('OPS') })
  t.match(lineOf('request'), { subject: 'ada', merchant_id: undefined })
  await service.call('GET', '/hub')
  t.match(lineOf('request'), { path: '/hub', network })
})

t.test('a refused caller is in the security log, with the client that it claims to be', async (t) => {
  await service.call('GET', '/api/v1/payments', { headers: { 'x-merchant-client-id': 'nobody' } })
  t.match(lineOf('a caller was rejected'), {
    level: 'info',
    log: 'security',
    operation: 'listPayments',
    rejection: 'UNKNOWN_CLIENT',
    claimed_client: 'nobody',
    network: /^[0-9a-f]{16}$/,
  })
  await service.call('GET', '/api/v1/payments', { headers: { 'x-merchant-client-id': 'a"b c' } })
  t.equal(lineOf('a caller was rejected').claimed_client, undefined)
  const other = capturedLog()
  const quiet = await testService(t, { overrides: { log: other.log }, env: { SVC_SECURITY_LOG_LEVEL: 'warn' } })
  await quiet.call('GET', '/api/v1/payments', { headers: { 'x-merchant-client-id': 'nobody' } })
  t.notMatch(other.lines().join('\n'), /a caller was rejected/, 'its level is its own')
  t.match(other.lines().join('\n'), /"operation":"listPayments"/)
})

t.test('live mode serves no metrics on its public port, and asks for TLS for a year', async (t) => {
  const live = await liveService(t)
  const headers = { 'x-forwarded-proto': 'https' }
  t.equal((await live.call('GET', '/metrics', { headers })).status, 404)
  const healthy = await live.call('GET', '/healthz')
  t.equal(healthy.status, 200)
  t.equal(healthy.headers['strict-transport-security'], 'max-age=31536000')
  t.equal((await service.call('GET', '/healthz')).headers['strict-transport-security'], undefined)
})

t.test('a request with two Host headers is rejected', async (t) => {
  const ask = (more: string) =>
    rawRequest(service.app.config.port, `GET /healthz HTTP/1.1\r\nHost: a.example\r\n${more}Connection: close\r\n\r\n`)
  t.match(await ask(''), { status: 200 })
  t.match(await ask('HOST: b.example\r\n'), { status: 400 })
  t.match(await ask('host: a.example\r\n'), { status: 400 })
})

t.test('paths are written in one way', async (t) => {
  const id = randomUUID()
  t.match(await service.call('GET', `/api/v1/payments/${id}`, { merchant }), { body: { code: 'PAYMENT_NOT_FOUND' } })
  for (const path of [`/API/v1/payments/${id}`, `/api/v1/Payments/${id}`, '/api/V1/payments'])
    t.match(await service.call('GET', path, { merchant }), { status: 404, body: { message: /^Route GET:/ } }, path)
  t.match(await service.call('GET', '/api/v1/payments/?limit=1', { merchant }), { status: 200 })
  t.match(await service.call('GET', '/api/v1/payments?limit=1', { merchant }), { status: 200 })
})

t.test('pages may use no device and keep no handle', async (t) => {
  for (const path of ['/checkout?token=x', '/hub', '/payments/return?state=x', '/redirect-stub'])
    t.match(
      (await service.call('GET', path)).headers,
      { 'permissions-policy': /camera=\(\)/, 'cross-origin-opener-policy': 'same-origin' },
      path,
    )
})

t.test('a customer id with NUL is rejected, and a contact without a state is a declared 401', async (t) => {
  const headers = await service.operator('OWNER')
  t.match(await service.call('GET', '/api/v1/sandbox/clock?customer_id=%00', { headers }), { status: 400 })
  const { leaveContact } = await import('../../src/wire/payer.ts')
  const { errorsOf } = await import('../../src/wire/operation.ts')
  t.ok(errorsOf(leaveContact).includes('UNAUTHENTICATED'))
  t.match(await service.call('POST', `/api/v1/payments/${randomUUID()}/contact`, { body: { email: 'a@b.example' } }), {
    status: 401,
    body: { code: 'UNAUTHENTICATED' },
  })
})

t.test('a merchant id that is no UUID is one that no merchant has', async (t) => {
  const headers = await service.operator('OWNER')
  const body = { email: 'ada@acme.example', reason: 'lost the phone' }
  for (const id of ['m-acme-server', '%ff', randomUUID()])
    t.match(
      await service.call('POST', `/api/v1/admin/merchants/${id}/reset-factor`, { headers, body }),
      { status: 404, body: { code: 'MERCHANT_NOT_FOUND' } },
      id,
    )
})

t.test('a login that is a superuser is reported at the start of live mode', async (t) => {
  const before = lines().length
  await reportSuperuser(service.app)
  t.equal(lines().length, before, 'not in the sandbox')
  const loud = capturedLog()
  await reportSuperuser({ ...service.app, log: loud.log, config: { ...service.app.config, mode: 'live' } })
  t.match(loud.lines(), [/"level":"warn".*superuser/])
})
