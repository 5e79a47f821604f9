import t from 'tap'
import { testService } from '../support/app.ts'

const service = await testService(t, {
  env: { SVC_IDENTITY: 'embedded', SVC_SSL_REQUIRED: 'all', SVC_TRUST_PROXY: 'true' },
})
const OVER_TLS = { 'x-forwarded-proto': 'https' }

t.test('a request without TLS is rejected before anything else, with a code of its own', async (t) => {
  const paths = [
    '/api/v1/service',
    '/api/v1/payments/none',
    '/openapi.json',
    '/api/v1/no-such-route',
    '/payments/return',
  ]
  for (const path of paths) {
    const { status, body } = await service.call('GET', path, { headers: { authorization: 'Bearer secret' } })
    t.equal(status, 403, path)
    t.match(body, { code: 'HTTPS_REQUIRED', status: 403, request_id: String, next: /https/ })
  }
  for (const proto of ['http', 'https, http', '']) {
    const { body } = await service.call('GET', '/api/v1/service', { headers: { 'x-forwarded-proto': proto } })
    t.equal(body.code, 'HTTPS_REQUIRED', proto)
  }
})

t.test('a body that comes in clear is not taken', async (t) => {
  const body = { company_name: 'Acme', trading_name: 'Acme', admin_email: 'ada@acme.example' }
  const refused = await service.call('POST', '/api/v1/portal/register', { body })
  t.match(refused, { status: 403, body: { code: 'HTTPS_REQUIRED' } })
  const { rowCount } = await service.owner.query('select from merchants')
  t.equal(rowCount, 0)
})

t.test('over TLS everything is as ever', async (t) => {
  t.equal((await service.call('GET', '/api/v1/service', { headers: OVER_TLS })).status, 200)
  t.equal((await service.call('GET', '/api/v1/whoami', { headers: OVER_TLS })).body.code, 'UNAUTHENTICATED')
})

t.test('probes and scrapers ask in clear', async (t) => {
  for (const path of ['/healthz', '/readyz', '/metrics', '/healthz?verbose'])
    t.equal((await service.call('GET', path)).status, 200, path)
})

t.test('realms reject with the errors of their protocol', async (t) => {
  const { status, body } = await service.call('GET', '/realms/platform/.well-known/openid-configuration')
  t.equal(status, 403)
  t.match(body, { error: 'invalid_request' })
})

t.test('external lets private addresses speak in clear', async (t) => {
  const near = await testService(t, { env: { SVC_SSL_REQUIRED: 'external', SVC_TRUST_PROXY: 'true' } })
  t.equal((await near.call('GET', '/api/v1/service')).status, 200)
  const far = await near.call('GET', '/api/v1/service', { headers: { 'x-forwarded-for': '203.0.113.7' } })
  t.equal(far.body.code, 'HTTPS_REQUIRED')
})
