import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { alertOperators } from '../../src/alerts/alert-operators.ts'
import { listDeadEndpoints } from '../../src/alerts/sql.ts'
import { createPayment, testService } from '../support/app.ts'
import type { TestService } from '../support/app.ts'
import { capturedLog } from '../support/captured-log.ts'
import { smtpSink } from '../support/smtp-sink.ts'
import { makeSoftwareStatement } from '../support/software-statement.ts'
import { statementOf } from '../support/statement-of.ts'
import { plantDead, plantMerchant } from '../support/webhooks.ts'

type Alert = { id: string; alert: string; state: string; subject: string | null; since: string; text: string }

/** An operator's receiver that keeps what it gets, and answers with the given status. */
async function startPager(t: Test) {
  const received: Alert[] = []
  const pager = {
    url: '',
    received,
    status: 200,
    /** Another status for some alerts. */
    answer: undefined as ((alert: Alert) => number) | undefined,
  }
  const server = createServer((req, res) => {
    let text = ''
    req.on('data', (part) => (text += String(part)))
    req.on('end', () => {
      const alert = JSON.parse(text) as Alert
      received.push(alert)
      res.writeHead(pager.answer?.(alert) ?? pager.status, { location: pager.url }).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  pager.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/alerts`
  return pager
}

const never = new AbortController().signal
const run = ({ app }: TestService) => alertOperators(app, never)
/** A run after so long that what it does not find has ended. */
async function runLater(service: TestService): Promise<void> {
  await service.owner.query(`update operator_alerts set seen_at = seen_at - interval '2 minutes'`)
  await run(service)
}
/** A delivery of a merchant whose last attempt has just failed. */
async function plantDeaths({ owner }: TestService, merchantId: string, count = 1): Promise<void> {
  await plantDead(owner, merchantId, { count })
  await owner.query(
    `insert into webhook_attempts (merchant_id, delivery_id, attempt, worker, started_at, duration_ms, outcome)
     select merchant_id, id, 6, 'w', now(), 3, 'timeout' from webhook_deliveries where merchant_id = $1 and status = 'DEAD'`,
    [merchantId],
  )
}
const names = (received: readonly Alert[]): string[] =>
  received.map(({ alert, state, subject }) => `${state} ${alert}${subject === null ? '' : ` ${subject}`}`).toSorted()

t.test('each thing that needs an operator is reported when it begins and when it is over, once', async (t) => {
  const [pager, sink] = [await startPager(t), await smtpSink(t)]
  const service = await testService(t, {
    env: { SVC_ALERT_URL: pager.url, SVC_ALERT_MAIL: 'ops@pay.example', SVC_SMTP_URL: sink.url },
  })
  const { app, owner } = service
  await run(service)
  t.same(pager.received, [], 'nothing is wrong yet')

  const merchant = await service.merchant({ webhookUrl: 'https://shop.example/hook' })
  const late = await service.merchant({ webhookUrl: 'https://late.example/hook' })
  await createPayment(service, merchant)
  await createPayment(service, late)
  await plantDeaths(service, merchant.id)
  await owner.query(`update webhook_queue set due_at = now() - interval '10 minutes'`)
  app.metrics.bankAvailable.set({ bank: 'monzo' }, 0)
  app.metrics.bankAvailable.set({ bank: 'starling' }, 1)
  await owner.query(`
    insert into reconciliations (id, status, as_of, finished_at, next_run_at, difference_count, difference_counts)
    values (gen_random_uuid(), 'DIFFERENT', now(), now(), now(), 2, '[{"kind": "LEDGER_WITHOUT_PAYMENT", "count": 2}]')
  `)
  await owner.query(`
    insert into verifications (id, finished_at, next_run_at, violations) values (gen_random_uuid(), now(), now(),
      '[{"invariant": "x", "rule": "r", "action": "a", "count": 3, "subjects": []}]')
  `)
  const fileStatement = await makeSoftwareStatement({ validDays: 20 })
  const ending = { ...service, app: { ...app, bankSetup: { profiles: [], fileStatement } } }
  // Several workers do the same at the same time.
  await Promise.all([run(ending), run(ending), run(ending)])
  await run(ending)
  const begun = [
    'FIRING SvcBankDown monzo',
    'FIRING SvcBooksDiffer',
    'FIRING SvcCertificateEnds certificate',
    `FIRING SvcDeliveriesDead ${merchant.id}`,
    'FIRING SvcInvariantBroken',
    'FIRING SvcWebhooksLate',
  ]
  t.same(names(pager.received), begun)
  t.match(
    pager.received.find(({ alert }) => alert === 'SvcBankDown'),
    {
      text: 'FIRING SvcBankDown: The bank monzo does not answer.',
      since: /^\d{4}-/,
    },
  )
  t.equal(sink.received.length, begun.length)
  const [mail] = sink.received.filter(({ text }) => text.includes('SvcWebhooksLate'))
  t.match(mail, { recipients: ['ops@pay.example'], text: /Subject: \[svc\] FIRING SvcWebhooksLate[^]*runbook\.md/ })

  await owner.query(`update webhook_queue set due_at = now()`)
  app.metrics.bankAvailable.set({ bank: 'monzo' }, 1)
  pager.received.length = 0
  await runLater(ending)
  await runLater(ending)
  t.same(names(pager.received), ['RESOLVED SvcBankDown monzo', 'RESOLVED SvcWebhooksLate'])
  t.equal(sink.received.length, begun.length + 2)

  pager.received.length = 0
  app.metrics.bankAvailable.set({ bank: 'monzo' }, 0)
  await run(ending)
  t.same(names(pager.received), ['FIRING SvcBankDown monzo'], 'and again when it begins again')
})

t.test('webhooks are late while no worker has them in hand, and not because their endpoint hangs', async (t) => {
  const pager = await startPager(t)
  const service = await testService(t, { env: { SVC_ALERT_URL: pager.url } })
  const { owner } = service
  const merchant = await service.merchant({ webhookUrl: 'https://hangs.example/hook' })
  await createPayment(service, merchant)
  await owner.query(`update webhook_queue set due_at = now() - interval '10 minutes'`)
  const hold = `insert into webhook_lanes (merchant_id, worker, locked_until) values ($1, 'w', now() + interval '30 seconds')`
  await owner.query(hold, [merchant.id])
  await run(service)
  t.same(pager.received, [])
  await owner.query(`update webhook_lanes set locked_until = now()`)
  await run(service)
  t.same(names(pager.received), ['FIRING SvcWebhooksLate'], 'its worker was lost')
  t.match(pager.received[0]?.text, /has waited 6\d\d s/)
})

t.test('what could not be sent is tried again, in order, and one channel does not wait for the other', async (t) => {
  const [pager, sink] = [await startPager(t), await smtpSink(t)]
  const service = await testService(t, {
    env: { SVC_ALERT_URL: pager.url, SVC_ALERT_MAIL: 'ops@pay.example', SVC_SMTP_URL: sink.url },
  })
  const { app, owner } = service
  const later = () => owner.query(`update operator_alert_messages set due_at = now()`)
  app.metrics.bankAvailable.set({ bank: 'monzo' }, 0)
  for (const status of [503, 302]) {
    pager.status = status
    await run(service)
    await run(service)
    t.equal(pager.received.length, 1, `${status} is no success, and the next attempt waits`)
    await later()
    pager.received.length = 0
  }
  t.equal(sink.received.length, 1, 'the mail was sent')
  app.metrics.bankAvailable.set({ bank: 'monzo' }, 1)
  sink.refuse(550)
  pager.status = 204
  await runLater(service)
  t.same(
    pager.received.map(({ state }) => state),
    ['FIRING', 'RESOLVED'],
  )
  sink.refuse(undefined)
  await later()
  await run(service)
  t.match(sink.received.at(-1)?.text, /RESOLVED SvcBankDown monzo/)
  t.same((await owner.query('select 1 from operator_alert_messages')).rows, [])
})

t.test('a message that can not be sent keeps no message about another thing waiting', async (t) => {
  const pager = await startPager(t)
  const service = await testService(t, { env: { SVC_ALERT_URL: pager.url } })
  const { app, owner } = service
  for (const bank of ['monzo', 'starling', 'nationwide', 'santander']) app.metrics.bankAvailable.set({ bank }, 0)
  pager.answer = ({ subject }) => (subject === 'monzo' ? 500 : 200)
  await run(service)
  app.metrics.bankAvailable.set({ bank: 'monzo' }, 1)
  app.metrics.bankAvailable.set({ bank: 'starling' }, 1)
  await runLater(service)
  const others = ['FIRING nationwide', 'FIRING santander', 'FIRING starling', 'RESOLVED starling']
  const told = () => pager.received.map(({ state, subject }) => `${state} ${subject}`).toSorted()
  t.same(told(), ['FIRING monzo', ...others], 'the end of the outage waits for its beginning')
  pager.answer = () => 200
  await owner.query('update operator_alert_messages set due_at = now()')
  await run(service)
  t.same(told(), ['FIRING monzo', 'FIRING monzo', 'RESOLVED monzo', ...others].toSorted())
})

t.test('a receiver that is down is asked three times a run, and gets everything when it is back', async (t) => {
  const pager = await startPager(t)
  const service = await testService(t, { env: { SVC_ALERT_URL: pager.url } })
  const { app, owner } = service
  const banks = Array.from({ length: 10 }, (_, nth) => `bank-${nth}`)
  for (const bank of banks) app.metrics.bankAvailable.set({ bank }, 0)
  pager.answer = () => 503
  await run(service)
  t.equal(pager.received.length, 3)
  pager.answer = () => 200
  pager.received.length = 0
  await owner.query('update operator_alert_messages set due_at = now()')
  await run(service)
  t.same(pager.received.map(({ subject }) => subject).toSorted(), banks)
})

t.test('daily runs that have not succeeded for a day and a half are an alert', async (t) => {
  const pager = await startPager(t)
  const service = await testService(t, { env: { SVC_ALERT_URL: pager.url } })
  const { owner } = service
  await run(service)
  t.same(names(pager.received), [], 'not where there is nothing to look at')
  const { id } = await service.merchant()
  await run(service)
  t.same(names(pager.received), [], 'nor in a new installation')
  await owner.query(`update merchants set created_at = now() - interval '37 hours' where id = $1`, [id])
  await run(service)
  const both = ['FIRING SvcBooksNotCompared', 'FIRING SvcNotVerified']
  t.same(names(pager.received), both, 'where no run was ever made')
  pager.received.length = 0

  await owner.query(`
    insert into verifications (id, started_at, finished_at, next_run_at, violations)
    values (gen_random_uuid(), now() - interval '35 hours', now() - interval '35 hours', now(), '[]')`)
  await owner.query(`
    insert into reconciliations (id, status, as_of, finished_at, next_run_at, difference_count, difference_counts)
    values (gen_random_uuid(), 'BALANCED', now(), now(), now(), 0, '[]')`)
  await runLater(service)
  t.same(names(pager.received), ['RESOLVED SvcBooksNotCompared', 'RESOLVED SvcNotVerified'])
  pager.received.length = 0
  await owner.query(`update verifications set finished_at = finished_at - interval '2 hours'`)
  await owner.query(`
    insert into verifications (id, finished_at, next_run_at, failure) values (gen_random_uuid(), now(), now(), 'it fails')`)
  await run(service)
  t.match(pager.received, [{ alert: 'SvcNotVerified', text: /last verified 37 hours ago/ }])
  t.equal(pager.received.length, 1, 'a run that failed is none')
})

t.test('a check that fails is an alert, silences no other, and ends nothing', async (t) => {
  const pager = await startPager(t)
  const { log, lines } = capturedLog('error')
  const service = await testService(t, { overrides: { log }, env: { SVC_ALERT_URL: pager.url } })
  const { app, owner } = service
  await owner.query(`
    insert into reconciliations (id, status, as_of, finished_at, next_run_at, difference_count, difference_counts)
    values (gen_random_uuid(), 'DIFFERENT', now(), now(), now(), 2, '[{"kind": "LEDGER_WITHOUT_PAYMENT", "count": 2}]')
  `)
  await run(service)
  t.same(names(pager.received), ['FIRING SvcBooksDiffer'])
  pager.received.length = 0
  await owner.query('alter table reconciliations rename to mislaid')
  app.metrics.bankAvailable.set({ bank: 'monzo' }, 0)
  await runLater(service)
  await runLater(service)
  t.same(names(pager.received), [
    'FIRING SvcAlertCheckFailed SvcBooksDiffer',
    'FIRING SvcAlertCheckFailed SvcBooksNotCompared',
    'FIRING SvcBankDown monzo',
  ])
  t.match(lines().join('\n'), /"level":"error".*"alert":"SvcBooksDiffer"/)
  pager.received.length = 0
  await owner.query('alter table mislaid rename to reconciliations')
  await runLater(service)
  t.same(names(pager.received), [
    'RESOLVED SvcAlertCheckFailed SvcBooksDiffer',
    'RESOLVED SvcAlertCheckFailed SvcBooksNotCompared',
  ])
})

t.test('a dead endpoint is reported a day long and then again, and those of many merchants as one alert', async (t) => {
  const pager = await startPager(t)
  const service = await testService(t, { env: { SVC_ALERT_URL: pager.url } })
  const { app, owner } = service
  const plant = async () => {
    const id = await plantMerchant({ owner, app, webhookUrl: 'https://shop.example/hook' })
    await plantDeaths(service, id)
    return id
  }
  const first = await plant()
  await run(service)
  await owner.query(`update webhook_attempts set started_at = now() - interval '25 hours'`)
  await runLater(service)
  t.same(names(pager.received), [`FIRING SvcDeliveriesDead ${first}`, `RESOLVED SvcDeliveriesDead ${first}`])
  pager.received.length = 0
  await plantDeaths(service, first)
  await run(service)
  t.same(names(pager.received), [`FIRING SvcDeliveriesDead ${first}`])
  t.match(pager.received[0], { text: /The endpoint of “Shop” has failed: 2 webhooks/ })

  pager.received.length = 0
  const ids: string[] = []
  for (let nth = 0; nth < 20; nth += 1) ids.push(await plant())
  await runLater(service)
  await runLater(service)
  t.same(names(pager.received), ['FIRING SvcDeliveriesDead'], 'one for all 21, and that of the first is not over')
  t.match(pager.received[0], { text: /more than 20 merchants/ })
  pager.received.length = 0
  await owner.query(`update webhook_deliveries set status = 'PENDING', attempt_count = 0 where merchant_id = any($1)`, [
    ids,
  ])
  await runLater(service)
  t.same(names(pager.received), ['RESOLVED SvcDeliveriesDead'], 'what was replayed is not dead')
})

t.test("a merchant's name puts no link and no mention into the alerts of operators", async (t) => {
  const [pager, sink] = [await startPager(t), await smtpSink(t)]
  const service = await testService(t, {
    env: { SVC_ALERT_URL: pager.url, SVC_ALERT_MAIL: 'ops@pay.example', SVC_SMTP_URL: sink.url },
  })
  const { app, owner } = service
  const id = await plantMerchant({ owner, app, webhookUrl: 'https://shop.example/hook' })
  const named = '<!channel> @here <https://evil.example|Sign in> & go'
  await owner.query('update merchants set trading_name = $2 where id = $1', [id, named])
  await plantDeaths(service, id)
  await run(service)
  t.match(pager.received, [
    { text: /of “&lt;!channel&gt; @\u200bhere &lt;https\[:\]\/\/evil\[\.\]example\|Sign in&gt; &amp; go” has failed/ },
  ])
  t.notMatch(sink.received[0]?.text, /evil\.example/)
})

t.test('however many deliveries of one merchant are dead, the endpoint of another is reported', async (t) => {
  const pager = await startPager(t)
  const service = await testService(t, { env: { SVC_ALERT_URL: pager.url } })
  const { app, owner } = service
  const plant = (webhookUrl: string) => plantMerchant({ owner, app, webhookUrl })
  const [few, many] = [await plant('https://few.example/hook'), await plant('https://many.example/hook')]
  await plantDeaths(service, few)
  await run(service)
  await owner.query(`update webhook_attempts set started_at = now() - interval '1 hour'`)
  await plantDeaths(service, many, 10_001)
  await runLater(service)
  t.same(names(pager.received), [`FIRING SvcDeliveriesDead ${few}`, `FIRING SvcDeliveriesDead ${many}`].toSorted())
  t.match(pager.received.at(-1), { subject: many, text: /at least 1000 webhooks/ })
})

t.test('with a long history, deaths are read from their index', async (t) => {
  const { app, owner } = await testService(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: 'https://shop.example/hook' })
  await plantDead(owner, merchantId, { count: 20_000 })
  await owner.query(
    `insert into webhook_attempts (merchant_id, delivery_id, attempt, worker, started_at, duration_ms, outcome)
     select merchant_id, id, nth, 'w', now() - interval '1 hour' * row_number() over (), 3, 'timeout'
     from webhook_deliveries, generate_series(1, 6) nth`,
  )
  await owner.query('analyze webhook_deliveries, webhook_attempts')
  const { text, values } = await statementOf((tx) => listDeadEndpoints(tx, 20))
  const { rows } = await owner.query(`explain ${text}`, [...values])
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  t.match(plan, /Index Scan Backward using webhook_attempts__last/, plan)
  t.match(plan, /Index Only Scan using webhook_deliveries__dead/, plan)
  t.notMatch(plan, /Seq Scan on webhook_/, plan)
})

t.test('without an address nothing is kept, and an alert outlasts a worker that does not see it', async (t) => {
  const service = await testService(t)
  service.app.metrics.bankAvailable.set({ bank: 'monzo' }, 0)
  await run(service)
  t.same((await service.owner.query('select 1 from operator_alerts')).rows, [])
  const pager = await startPager(t)
  const app = { ...service.app, config: { ...service.app.config, alerts: { url: pager.url, mail: undefined } } }
  await alertOperators(app, never)
  app.metrics.bankAvailable.reset()
  await alertOperators(app, never)
  t.same(names(pager.received), ['FIRING SvcBankDown monzo'])
})
