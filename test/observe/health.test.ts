import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { authorisedPayment, createPayment, testService, until, untilStatus } from '../support/app.ts'
import { packageRoot } from '../../src/lib/package-root.ts'
import { measureOverdue } from '../../src/observe/health-sql.ts'
import { makeReadiness } from '../../src/observe/health.ts'
import { runReconciliation } from '../../src/reconciliation/run-reconciliation.ts'
import { runVerification } from '../../src/verify/run-verification.ts'
import { workOnce } from '../../src/worker.ts'
import type { Answer, TestService } from '../support/app.ts'
import { capturedLog } from '../support/captured-log.ts'
import { measurePlan } from '../support/kept-plan.ts'
import { makeRemoteIdentity } from '../support/remote-identity.ts'
import { statementOf } from '../support/statement-of.ts'
import { plantDeliveries, plantMerchant } from '../support/webhooks.ts'

/**
 * The answer of /readyz once it has these members: it is a second old, and leaves out the counts of a database that takes half
 * a second for them, as on a busy machine.
 */
function readiness(service: TestService, expected: object): Promise<Answer['body']> {
  return until(async () => {
    const { status, body } = await service.call('GET', '/readyz')
    return status === 200 && body.webhooks !== undefined && isDeepStrictEqual({ ...body, ...expected }, body) && body
  })
}

t.test('liveness checks nothing else, readiness counts the outbox', async (t) => {
  const service = await testService(t, { env: { SVC_IDENTITY: 'none' } })
  t.match(await service.call('GET', '/healthz'), { status: 200, text: '{"status":"ok"}' })
  const nothing = { waiting: 0, due: 0, dead: 0, held: 0 }
  t.same(await readiness(service, { webhooks: nothing }), {
    status: 'ready',
    database: 'reachable',
    webhooks: nothing,
    banks: 'configured',
  })
  const withEndpoint = await service.merchant({ webhookUrl: 'http://127.0.0.1:1/' })
  await createPayment(service, withEndpoint)
  await createPayment(service, withEndpoint)
  await createPayment(service, await service.merchant())
  await service.owner.query(
    `update webhook_deliveries set status = 'DEAD', attempt_count = 6, last_error = 'timeout' where merchant_id <> $1`,
    [withEndpoint.id],
  )
  t.match(await readiness(service, { webhooks: { waiting: 2, due: 2, dead: 1, held: 1 } }), { status: 'ready' })
})

t.test('readiness counts deliveries that wait for a paused or missing endpoint', async (t) => {
  const service = await testService(t, { env: { SVC_IDENTITY: 'none' } })
  const merchant = await service.merchant({ webhookUrl: 'http://127.0.0.1:1/' })
  const put = (body: object) => service.call('PUT', '/api/v1/portal/webhook-endpoint', { merchant, body })
  await put({ paused: true })
  await createPayment(service, merchant)
  await createPayment(service, await service.merchant())
  t.ok(await readiness(service, { webhooks: { waiting: 0, due: 0, dead: 0, held: 2 } }))
  await put({ paused: false })
  t.ok(await readiness(service, { webhooks: { waiting: 1, due: 1, dead: 0, held: 1 } }))
})

t.test('an identity provider that is away is shown, and the service stays ready', async (t) => {
  const identity = makeRemoteIdentity()
  const service = await testService(t, { overrides: { identity } })
  await readiness(service, { identity: 'reachable' })
  identity.faults.isAway = true
  t.match(await readiness(service, { identity: 'away' }), { status: 'ready' })
  identity.faults.isAway = false
  await readiness(service, { identity: 'reachable' })
  identity.health = () => new Promise(() => undefined)
  t.match(await readiness(service, { identity: 'away' }), { status: 'ready' }, 'nor is it waited for')
  const embedded = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
  await readiness(embedded, { identity: 'reachable' })
})

t.test('however many ask whether it is ready, there is one check at a time, and none for a second', async (t) => {
  const identity = makeRemoteIdentity()
  const { app } = await testService(t, { overrides: { identity } })
  let checks = 0
  const health = identity.health.bind(identity)
  identity.health = () => {
    checks += 1
    return health()
  }
  let now = 0
  const ready = makeReadiness(app, () => now)
  const ask = () => Promise.all(Array.from({ length: 200 }, () => ready({ isDraining: false })))
  // A machine that stands still is not ready, and is asked again.
  await until(async () => (await ready({ isDraining: false })).status === 'ready')
  now = 1_000
  checks = 0
  for (const found of await ask()) t.equal(found.status, 'ready')
  t.equal(checks, 1, 'at once')
  now = 1_999
  await ask()
  t.equal(checks, 1, 'a little later')
  t.equal((await ready({ isDraining: true })).status, 'draining', 'which is known without a check')
  now = 2_000
  await ask()
  t.equal(checks, 2, 'a second later')
  await app.readinessPool.close()
  for (const found of await ask()) t.equal(found.status, 'ready')
  now = 3_000
  checks = 0
  t.match(await ready({ isDraining: true }), { status: 'not_ready' })
  await ready({ isDraining: false })
  t.equal(checks, 2, 'what is not ready is looked at again')
})

t.test('a database that takes no changes, as a standby after a failover, is not ready until it does', async (t) => {
  const { app, owner } = await testService(t, { env: { SVC_IDENTITY: 'none' } })
  const ready = makeReadiness(app)
  const ask = () => ready({ isDraining: false })
  await until(async () => (await ask()).status === 'ready')
  const { rows } = await owner.query<{ name: string }>('select current_database() as name')
  const database = rows[0]?.name ?? ''
  await owner.query(`alter database ${database} set default_transaction_read_only = on`)
  // A failover ends all connections.
  await owner.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'svc readiness' and datname = $1`,
    [database],
  )
  t.match(await until(async () => ((found) => found.database === 'read_only' && found)(await ask())), {
    status: 'not_ready',
  })
  await owner.query(`alter database ${database} reset default_transaction_read_only`)
  t.match(await until(async () => ((found) => found.status === 'ready' && found)(await ask())), {
    database: 'reachable',
  })
})

t.test('the metrics count requests, moves, attempts and jobs, and name no one', async (t) => {
  const service = await testService(t, { worker: true })
  const merchant = await service.merchant({ webhookUrl: `${service.url}/dev/webhook-receiver/x` })
  const { id } = await authorisedPayment(service, merchant, { payer_name: 'Canary' })
  await untilStatus(service, merchant, id, 'Settled')
  await service.call('GET', '/api/v1/payments/x', { merchant })
  const expected = [
    /^svc_http_request_duration_seconds_count\{operation="createPayment",method="POST",status="201"\} 1$/m,
    /^svc_http_request_duration_seconds_count\{operation="getPayment",method="GET",status="404"\} 1$/m,
    /^svc_payment_moves_total\{from="AwaitingAuthorisation",to="Authorised"\} 1$/m,
    /^svc_payment_moves_total\{from="Authorised",to="Settled"\} 1$/m,
    /^svc_webhook_attempts_total\{outcome="[a-z_0-9]+",status="[A-Z]+"\} \d+$/m,
    /^svc_webhook_claims_total [1-9]\d*$/m,
    /^svc_job_last_success_timestamp_seconds\{job="deliver-webhooks"\} \d{10}/m,
    /^svc_webhooks_in_flight \d+$/m,
    /^svc_job_runs_total\{job="settle-payments",outcome="done"\} \d+$/m,
    /^svc_job_last_success_timestamp_seconds\{job="settle-payments"\} \d{10}/m,
    /^svc_outbox_deliveries\{state="waiting"\} \d+$/m,
    /^svc_overdue_seconds\{what="webhooks"\} \d/m,
    /^process_cpu_seconds_total /m,
    /^nodejs_eventloop_lag_seconds /m,
  ]
  // What the worker does is counted a moment after its effect is seen.
  let text = ''
  await until(async () => {
    text = (await service.call('GET', '/metrics')).text
    return expected.every((pattern) => pattern.test(text))
  }).catch(() => undefined)
  for (const pattern of expected) t.match(text, pattern)
  t.notMatch(text, new RegExp(`${merchant.id}|${id}|${merchant.clientId}|canary`, 'i'))
})

t.test('a webhook that is not delivered is logged with its ids, and counted by what becomes of it', async (t) => {
  const { log, lines } = capturedLog('info')
  const service = await testService(t, { overrides: { log }, worker: true, env: { SVC_WEBHOOK_TIME_SCALE: '100000' } })
  const merchant = await service.merchant({ webhookUrl: 'http://127.0.0.1:1/' })
  await createPayment(service, merchant)
  const dead = await until(async () => lines().find((line) => line.includes('"status":"DEAD"')))
  const { rows } = await service.owner.query('select id, event_id from webhook_deliveries')
  t.match(JSON.parse(dead), {
    level: 'warn',
    merchant_id: merchant.id,
    delivery_id: rows[0].id,
    event_id: rows[0].event_id,
    attempt: 6,
    outcome: 'connect',
  })
  const { text } = await service.call('GET', '/metrics')
  t.match(text, /^svc_webhook_attempts_total\{outcome="connect",status="FAILED"\} 5$/m, 'retries')
  t.match(text, /^svc_webhook_attempts_total\{outcome="connect",status="DEAD"\} 1$/m)
})

t.test('an alert comes true where no worker runs, and ends where one does', async (t) => {
  const service = await testService(t, { env: { SVC_IDENTITY: 'none' } })
  await createPayment(service, await service.merchant({ webhookUrl: `${service.url}/dev/webhook-receiver/x` }))
  const rules = readFileSync(join(packageRoot(), 'examples', 'operate', 'alerts.yaml'), 'utf8')
  const [, what = '', limit] = /svc_overdue_seconds\{what="(webhooks)"\}\) > (\d+)/.exec(rules) ?? []
  const isLate = async () => {
    const { text } = await service.call('GET', '/metrics')
    return Number(new RegExp(`^svc_overdue_seconds\\{what="${what}"\\} (.+)$`, 'm').exec(text)?.[1]) > Number(limit)
  }
  t.equal(await isLate(), false)
  await service.owner.query(`update webhook_queue set due_at = now() - interval '10 minutes'`)
  t.equal(await isLate(), true)
  await workOnce(service.app)
  t.equal(await isLate(), false)
})

t.test('a process that knows of no daily run has no time of one, which would be fifty years old', async (t) => {
  const service = await testService(t, { env: { SVC_IDENTITY: 'none' } })
  const times = async () => {
    const { text } = await service.call('GET', '/metrics')
    return text.match(/^svc_(?:reconciliation|verification)_last_run_timestamp_seconds .+$/gm)
  }
  t.equal(await times(), null)
  for (const run of [runReconciliation, runVerification]) await run(service.app, new AbortController().signal)
  const shown = await times()
  t.match(shown, [/ 1\d{9}/, / 1\d{9}/])
  const rules = readFileSync(join(packageRoot(), 'examples', 'operate', 'alerts.yaml'), 'utf8')
  for (const line of shown ?? []) {
    const [name = ''] = line.split(' ')
    t.match(rules, `time() - max(${name}) > 129600 or absent(${name})\n        for: 1h\n`, 'that there is none is one')
  }
})

t.test('the metrics say how late the jobs are', async (t) => {
  const service = await testService(t, { env: { SVC_IDENTITY: 'none' } })
  const merchant = await service.merchant({ webhookUrl: 'http://127.0.0.1:1/' })
  const overdue = async (what: string) => {
    const { text } = await service.call('GET', '/metrics')
    return Number(new RegExp(`^svc_overdue_seconds\\{what="${what}"\\} (.+)$`, 'm').exec(text)?.[1])
  }
  for (const what of ['webhooks', 'settlements', 'consents']) t.equal(await overdue(what), 0, what)
  await createPayment(service, merchant)
  const { id } = await authorisedPayment(service, merchant)
  await service.owner.query(`update webhook_queue set due_at = now() - interval '90 seconds'`)
  await service.owner.query(`update payment_intents set settle_at = now() - interval '60 seconds' where id = $1`, [id])
  await service.owner.query(`update payment_consents set expires_at = now() - interval '30 seconds'`)
  for (const [what, seconds] of [
    ['webhooks', 90],
    ['settlements', 60],
    ['consents', 30],
  ] as const) {
    const late = await overdue(what)
    t.ok(late >= seconds && late < seconds + 30, `${what}: ${late}`)
  }
})

t.test('how late webhooks are is known without reading the queue', async (t) => {
  const { app, owner } = await testService(t)
  for (const count of [20_000, 20_000]) {
    const id = await plantMerchant({ owner, app, webhookUrl: 'https://shop.example/hook' })
    await plantDeliveries(owner, id, { count })
  }
  const { text, values } = await statementOf(measureOverdue)
  const plan = await measurePlan(owner, text, values)
  t.ok(plan.buffers < 100, plan.text)
})
