import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { request } from 'undici'
import { startApi } from '../../src/api.ts'
import { makeApp } from '../../src/app.ts'
import { readConfig } from '../../src/config/read.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { freePort } from '../support/free-port.ts'
import { migrateUp } from '../../src/db/migrate.ts'
import { ensureDemoMerchant } from '../../src/sandbox/seed-merchant.ts'
import { createPayment, paymentBody, serviceToken, testService, until } from '../support/app.ts'

t.test(
  'while the database is stopped every request is a 503 within 3 seconds, and afterwards all is well',
  async (t) => {
    const stateDir = mkdtempSync(join(tmpdir(), 'svc-away-'))
    const options = { stateDir, log: () => undefined, disposable: true, port: await freePort() }
    let database = await startEmbedded(options)
    t.teardown(async () => {
      await database.stop()
      rmSync(stateDir, { recursive: true, force: true })
    })
    await migrateUp({ databaseUrl: database.url, log: () => undefined })
    const config = readConfig({
      SVC_DATABASE_URL: database.url,
      SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      SVC_PORT: String(await freePort()),
      SVC_LOG_LEVEL: 'silent',
    })
    const app = await makeApp(config)
    const api = await startApi(app)
    t.teardown(async () => {
      await api.stop()
      await app.close()
    })
    const { realm, client_id: clientId, client_secret: secret } = await ensureDemoMerchant(app)
    const token = await serviceToken(api.url, { realm, clientId, secret: secret ?? '' })

    async function call(method: 'GET' | 'POST', path: string, body?: unknown) {
      const began = performance.now()
      const answer = await request(api.url + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          'x-idempotency-key': randomUUID(),
          'content-type': 'application/json',
        },
        body: body === undefined ? null : JSON.stringify(body),
      })
      const text = await answer.body.text()
      return { status: answer.statusCode, headers: answer.headers, text, ms: performance.now() - began }
    }
    const create = () => call('POST', '/api/v1/payments', paymentBody())
    const created = await create()
    t.equal(created.status, 201)
    const id = String(JSON.parse(created.text).payment_id)
    t.match(await call('GET', '/readyz'), { status: 200 })

    await database.stop()
    const ask = () =>
      Promise.all([
        create(),
        create(),
        call('GET', `/api/v1/payments/${id}`),
        call('GET', '/api/v1/payments'),
        call('POST', `/api/v1/payments/${id}/cancel`, {}),
        call('POST', `/api/v1/payments/${id}/refund`, {}),
        call('POST', `/api/v1/payments/${id}/sca-complete`, { state: 'x', code: 'y' }),
        call('GET', '/api/v1/portal/webhooks'),
      ])
    let away = await ask()
    // A machine that stands still takes time of its own, once or twice.
    for (let again = 0; again < 2 && away.some(({ ms }) => ms >= 3_000); again += 1) away = await ask()
    for (const answer of away) {
      t.match(answer, { status: 503, headers: { 'retry-after': /^\d+$/ } })
      t.match(JSON.parse(answer.text), {
        code: 'SERVICE_UNAVAILABLE',
        status: 503,
        error: 'the database does not respond',
      })
      t.notMatch(answer.text, /postgres|127\.0\.0\.1:\d+ |ECONN|slonik/i)
      t.ok(answer.ms < 3_000, `${answer.ms} ms`)
    }
    t.match(await call('GET', '/healthz'), { status: 200 }, 'the process lives, so nobody kills it')
    const readiness = await until(async () => {
      const answer = await call('GET', '/readyz')
      return answer.status === 503 && answer
    })
    t.same(JSON.parse(readiness.text), {
      status: 'not_ready',
      database: 'unreachable',
      identity: 'away',
      banks: 'configured',
    })
    t.equal((await call('GET', '/metrics')).status, 200)

    database = await startEmbedded(options)
    await until(async () => (await create()).status === 201)
    t.match(await call('GET', `/api/v1/payments/${id}`), { status: 200 })
    t.match(await call('GET', '/readyz'), { status: 200 })
  },
)

t.test('connections that the server ends are replaced without an answer worse than 503', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const { body } = await createPayment(service, merchant)
  for (let round = 0; round < 3; round += 1) {
    await service.owner.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    const answers = await Promise.all([
      ...Array.from({ length: 6 }, () => createPayment(service, merchant)),
      ...Array.from({ length: 6 }, () => service.call('GET', `/api/v1/payments/${body.payment_id}`, { merchant })),
    ])
    for (const answer of answers) t.ok([200, 201, 503].includes(answer.status), `${answer.status} ${answer.text}`)
    await until(async () => (await createPayment(service, merchant)).status === 201)
  }
})

t.test('a locked payment is waited for, then a 503 says to try again', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const { body } = await createPayment(service, merchant)
  await service.owner.query('begin')
  await service.owner.query('select 1 from payment_intents where id = $1 for update', [body.payment_id])
  const path = `/api/v1/payments/${body.payment_id}/cancel`
  t.match(await service.call('POST', path, { merchant, isOnce: true }), {
    status: 503,
    headers: { 'retry-after': /^\d+$/ },
    body: { code: 'SERVICE_UNAVAILABLE' },
  })
  await service.owner.query('rollback')
  t.match(await service.call('POST', path, { merchant }), { status: 200, body: { status: 'Failed' } })
})
