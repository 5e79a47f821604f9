import t from 'tap'
import { removeOldRecords } from '../../src/retention/remove-old-records.ts'
import { checkInvariants } from '../../src/verify/check-invariants.ts'
import { authorisedPayment, createPayment, testService, until, untilStatus } from '../support/app.ts'
import { refundWithRetry, times } from '../support/payments.ts'
import { startReceiver } from '../support/receiver.ts'
import { plantDead, plantDeliveries } from '../support/webhooks.ts'

const receiver = await startReceiver(t)
const service = await testService(t, {
  worker: true,
  env: { SVC_RETENTION_WEBHOOKS_DAYS: '90', SVC_RETENTION_RUNS_DAYS: '60' },
})
const { app, owner } = service
const merchant = await service.merchant({ webhookUrl: receiver.url })
const { signal } = new AbortController()

const count = async (from: string, ...values: unknown[]): Promise<number> =>
  (await owner.query<{ n: number }>(`select count(*)::int4 as n from ${from}`, values)).rows[0]?.n ?? -1
const removedOf = async (record: string): Promise<number> =>
  (await app.metrics.rowsRemoved.get()).values.find(({ labels }) => labels.record === record)?.value ?? 0

async function removeAll(): Promise<void> {
  while ((await removeOldRecords(app)).more);
}
async function settledPayment(): Promise<string> {
  const { id } = await authorisedPayment(service, merchant)
  await untilStatus(service, merchant, id, 'Settled')
  return id
}
/** Nothing is queued for this merchant any more. */
const delivered = (id = merchant.id) =>
  until(async () => (await count('webhook_queue where merchant_id = $1', id)) === 0)
const age = (days: number, where: string, ...values: unknown[]) =>
  owner.query(`update webhook_deliveries set created_at = now() - interval '${days} days' where ${where}`, values)
const broken = () => checkInvariants(app, { signal })

t.test('old webhooks go with their attempts, and what is left of each payment can be verified', async (t) => {
  const [old, young] = [await settledPayment(), await settledPayment()]
  await delivered()
  t.equal(await count('webhook_attempts'), 6)
  await age(91, 'payment_intent_id = $1', old)
  // The first two of a payment that has lasted long.
  await age(91, 'payment_intent_id = $1 and sequence < 3', young)
  await age(89, 'payment_intent_id = $1 and sequence = 3', young)
  await removeAll()
  t.equal(await count('webhook_deliveries where payment_intent_id = $1', old), 0)
  t.equal(await count('webhook_deliveries where payment_intent_id = $1', young), 1)
  t.equal(await count('webhook_attempts'), 1)
  t.equal(await removedOf('webhooks'), 5)
  t.same(await broken(), [])

  // Both payments go on, and what comes is numbered behind what was removed.
  for (const id of [old, young]) await refundWithRetry(service, merchant, { id, body: { amount: '1.0000' } })
  await delivered()
  const { rows } = await owner.query(
    'select sequence from webhook_deliveries where payment_intent_id = any($1) order by 1',
    [[old, young]],
  )
  t.same(rows, [{ sequence: 3 }, { sequence: 4 }, { sequence: 4 }])
  t.same(await broken(), [])
  await age(91, 'true')
  await removeAll()
  t.equal(await count('webhook_deliveries'), 1, 'the newest event stays, for a restored feed')
  t.same(await broken(), [])
})

t.test('removing a webhook behind the service is still seen', async (t) => {
  const id = await settledPayment()
  await delivered()
  await owner.query('delete from webhook_attempts')
  await owner.query('delete from webhook_deliveries where payment_intent_id = $1 and sequence = 1', [id])
  t.same((await broken()).map(({ invariant }) => invariant).toSorted(), [
    'WEBHOOK_FOR_CHANGE',
    'WEBHOOK_QUEUE',
    'WEBHOOK_SEQUENCE',
  ])
  await owner.query('update payment_intents set webhooks_removed = 1 where id = $1', [id])
  await owner.query(`update webhook_deliveries set event_type = 'payment.failed' where payment_intent_id = $1`, [id])
  t.ok((await broken()).some(({ invariant }) => invariant === 'WEBHOOK_FOR_CHANGE'))
  await owner.query('delete from webhook_deliveries where payment_intent_id = $1', [id])
  await owner.query('update payment_intents set webhooks_removed = webhook_sequence where id = $1', [id])
})

t.test('what is queued stays, with what follows it; dead ones and those that wait for an endpoint go', async (t) => {
  const silent = await service.merchant()
  const { body } = await createPayment(service, silent)
  const id = String(body.payment_id)
  await plantDead(owner, silent.id, { from: '2020-01-01T00:00:00Z', count: 2 })
  const [queued] = await plantDeliveries(owner, silent.id, { createdAt: '2020-01-01', nextRetryAt: '2100-01-01' })
  await age(100, 'payment_intent_id = $1', id)
  await removeAll()
  const { rows } = await owner.query('select id from webhook_deliveries where merchant_id = $1', [silent.id])
  t.same(rows, [{ id: queued }])
  t.equal(await count('webhook_waiting'), 0)
  t.same(await broken(), [])
})

t.test('a payment loses its first webhooks only, as what is left is numbered on from them', async (t) => {
  const [id] = [await settledPayment(), await settledPayment()]
  await delivered()
  await age(91, 'payment_intent_id = $1', id)
  await owner.query(
    `insert into webhook_queue (merchant_id, delivery_id, payment_intent_id, sequence, due_at)
     select merchant_id, id, payment_intent_id, sequence, '2100-01-01' from webhook_deliveries
     where payment_intent_id = $1 and sequence = 2`,
    [id],
  )
  await removeAll()
  const { rows } = await owner.query(
    'select sequence from webhook_deliveries where payment_intent_id = $1 order by sequence',
    [id],
  )
  t.same(rows, [{ sequence: 2 }, { sequence: 3 }], 'the second is queued, so the third stays as well')
  t.equal(await count('payment_intents where id = $1 and webhooks_removed = 1', id), 1)
  await owner.query('delete from webhook_queue where payment_intent_id = $1', [id])
  await removeAll()
  t.equal(await count('webhook_deliveries where payment_intent_id = $1', id), 0)
  t.same(await broken(), [])
})

t.test('nothing is removed twice, lost or left behind while payments move and webhooks are replayed', async (t) => {
  const ids = await times(12, () => settledPayment())
  await delivered()
  await age(91, 'merchant_id = $1', merchant.id)
  const dead = await plantDead(owner, merchant.id, { from: '2020-01-01T00:00:00Z', count: 20 })
  const replays = dead.map((id) => service.call('POST', `/api/v1/portal/webhooks/${id}/replay`, { merchant }))
  const refunds = ids.map((id) => refundWithRetry(service, merchant, { id, body: { amount: '0.5000' } }))
  await Promise.all([removeOldRecords(app), removeOldRecords(app), ...replays, ...refunds, removeOldRecords(app)])
  for (const answer of await Promise.all(replays)) t.ok([200, 202, 404].includes(answer.status), answer.text)
  for (const answer of await Promise.all(refunds)) t.ok(answer.status < 300, answer.text)
  await delivered()
  t.same(await broken(), [])
  await removeAll()
  t.same(await broken(), [])
  t.equal(await count('webhook_log where status <> $1 and merchant_id = $2', 'DELIVERED', merchant.id), 0)
})

t.test('bank calls, runs, alerts and mails go by their own settings, and younger ones cannot be removed', async (t) => {
  await owner.query(`
    insert into obie.calls (at, bank, step, interaction_id)
    select now() - make_interval(days => d), 'b', 's', gen_random_uuid() from unnest(array[500, 401, 399]) d`)
  await owner.query(`
    insert into verifications (id, started_at, finished_at, next_run_at, violations)
    select gen_random_uuid(), now() - make_interval(days => d), now(), now(), '[]' from unnest(array[61, 59]) d`)
  await owner.query(`
    insert into reconciliations (id, as_of, started_at, finished_at, next_run_at, status)
    select gen_random_uuid(), now(), now() - make_interval(days => d), now(), now(), 'BALANCED' from unnest(array[61, 59]) d`)
  await owner.query(`
    insert into mails (id, realm, kind, recipient, recipient_hash, subject, status, created_at)
    select gen_random_uuid(), 'r', 'invite', 'v1.', repeat('0', 64), d::text, 'SENT', now() - make_interval(days => d)
    from unnest(array[61, 31, 29]) d`)
  await owner.query(`
    insert into operator_alerts (name, subject, is_firing, detail, seen_at)
    select 'a', d::text, d = 62, '', now() - make_interval(days => d) from unnest(array[62, 61, 59]) d`)
  await removeAll()
  t.equal(await count('obie.calls'), 1)
  for (const table of ['verifications', 'reconciliations'])
    t.equal(await count(`${table} where started_at > now() - interval '60 days'`), await count(table), table)
  t.equal(await removedOf('runs'), 2)
  t.same((await owner.query('select subject from mails')).rows, [{ subject: '29' }])
  t.equal(await removedOf('mails'), 2)
  t.same((await owner.query('select subject from operator_alerts order by 1')).rows, [
    { subject: '59' },
    { subject: '62' },
  ])
  t.equal(await removedOf('bank_calls'), 2)
  await t.rejects(owner.query(`select remove_webhooks(now() - interval '29 days', 1)`), { message: /kept for 30 days/ })
  await owner.query(`insert into obie.calls (bank, step, interaction_id) values ('b', 's', gen_random_uuid())`)
  await t.rejects(owner.query('delete from obie.calls'), { message: /append-only/ })
})

t.test('a run that has not ended stays, however old: another process may be about to record its result', async (t) => {
  await owner.query(`
    insert into verifications (id, started_at, next_run_at) values (gen_random_uuid(), now() - interval '61 days', now());
    insert into reconciliations (id, as_of, started_at, next_run_at)
    values (gen_random_uuid(), now(), now() - interval '61 days', now())`)
  await removeAll()
  const running = `where finished_at is null and started_at < now() - interval '60 days'`
  for (const table of ['verifications', 'reconciliations']) t.equal(await count(`${table} ${running}`), 1, table)
})

t.test('a kind that cannot be removed keeps no other', async (t) => {
  await owner.query(`
    insert into obie.calls (at, bank, step, interaction_id) values (now() - interval '500 days', 'b', 's', gen_random_uuid());
    insert into verifications (id, started_at, finished_at, next_run_at, violations)
    values (gen_random_uuid(), now() - interval '61 days', now(), now(), '[]');
    create function refuse_removal() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
    create trigger refuse_removal before delete on obie.calls for each row execute function refuse_removal();
  `)
  const runs = await removedOf('runs')
  await t.rejects(removeAll(), { message: /^1 of/ }, 'the job counts as failed')
  t.equal(await removedOf('runs'), runs + 1)
  const before = await removedOf('bank_calls')
  await owner.query('drop function refuse_removal() cascade')
  await removeAll()
  t.equal(await removedOf('bank_calls'), before + 1)
})
