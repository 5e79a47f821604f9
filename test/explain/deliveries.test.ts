import t from 'tap'
import { replayForMerchant } from '../../src/webhooks/replay-for-merchant.ts'
import type { Explanation, TimelineEntry } from '../../src/wire/explain.ts'
import { testService, until } from '../support/app.ts'
import type { TestMerchant, TestService } from '../support/app.ts'
import { startReceiver } from '../support/receiver.ts'
import { passDelays, plantDeliveries } from '../support/webhooks.ts'

async function explained(service: TestService, merchant: TestMerchant, id: string): Promise<Explanation> {
  const { status, body, text } = await service.call('GET', `/api/v1/portal/explain/${id}`, { merchant })
  if (status !== 200) throw new Error(`${status} ${text}`)
  return body
}

function attemptsOf(timeline: readonly TimelineEntry[]): string[] {
  return timeline.filter(({ kind }) => kind === 'attempt').map(({ text }) => text.replace(/, after \d+ ms$/, ''))
}

/** Lets the delays pass until a delivery is in this status. */
async function untilDelivery(service: TestService, id: string, wanted: string): Promise<void> {
  await until(async () => {
    const { rows } = await service.owner.query('select status::text from webhook_log where id = $1', [id])
    if (rows[0]?.status === wanted) return true
    await passDelays(service.owner)
    service.app.wake.notify('deliver-webhooks')
    return false
  })
}

t.test('a DEAD delivery that was replayed shows the attempts of both rounds', async (t) => {
  let isWell = false
  const receiver = await startReceiver(t, ({ response }) => void response.writeHead(isWell ? 200 : 500).end())
  const service = await testService(t, { worker: true })
  const merchant = await service.merchant({ webhookUrl: receiver.url })
  const [id = ''] = await plantDeliveries(service.owner, merchant.id)
  service.app.wake.notify('deliver-webhooks')
  await until(async () => (await explained(service, merchant, id)).status === 'FAILED')
  const failed = await explained(service, merchant, id)
  t.match(failed.standing, /^attempt 1 of 6 failed \(answered 500\): attempt 2 is due at .* left\.$/)
  t.same(
    failed.next.map(({ on }) => on),
    ['delivered', 'failed'],
    'the next failure is not the last',
  )
  t.ok(
    failed.next.every(({ at, how }) => at !== null && how === null),
    'both happen without a command',
  )
  t.equal(failed.timeline.at(-1)?.text, 'attempt 2 of 6 of payment.settled is due')
  await untilDelivery(service, id, 'DEAD')
  const dead = await explained(service, merchant, id)
  t.match(dead, {
    standing: 'all 6 attempts failed (the last: answered 500): it is not sent again unless it is replayed.',
    next: [{ on: 'replay', to: 'PENDING', at: null, how: `svc webhooks replay ${id}` }],
  })
  t.same(
    attemptsOf(dead.timeline),
    [1, 2, 3, 4, 5, 6].map((attempt) => `attempt ${attempt} of 6: answered 500`),
  )
  isWell = true
  const actor = { id: 'o-1', name: 'grace@pay.example', role: 'OPS' }
  await replayForMerchant(service.app, { merchantId: merchant.id, id, reason: 'the shop asked', actor })
  await untilDelivery(service, id, 'DELIVERED')
  const well = await explained(service, merchant, id)
  t.match(well.standing, /^delivered at .*, at attempt 1 of 6\.$/)
  t.same(well.next, [], 'no further transitions')
  t.equal(attemptsOf(well.timeline).at(-1), 'replayed: attempt 1 of 6: delivered with HTTP 200')
  t.match(
    well.timeline.filter(({ kind }) => kind === 'operator'),
    [{ by: null, text: 'an operator replayed the delivery' }],
  )
  const { rows } = await service.owner.query('select event_id from webhook_deliveries where id = $1', [id])
  t.equal((await explained(service, merchant, rows[0].event_id)).id, id, 'it is found by its event id')
})

t.test('a waiting delivery says why: no endpoint, a pause, its age, an earlier event, no worker', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const [id = ''] = await plantDeliveries(service.owner, merchant.id, { nextRetryAt: 'infinity' })
  const set = (url: string | null, paused: string | null) =>
    service.owner.query('update merchants set webhook_url = $1, paused_webhook_url = $2 where id = $3', [
      url,
      paused,
      merchant.id,
    ])
  t.match(await explained(service, merchant, id), {
    standing: 'has not been tried yet: it waits for the merchant to set an endpoint.',
    also: [{ how: 'svc webhooks endpoint set <url>' }],
  })
  await set(null, 'https://shop.example/hook')
  t.match(await explained(service, merchant, id), {
    standing: 'has not been tried yet: it waits because the merchant has paused its endpoint.',
    also: [{ how: 'svc webhooks endpoint resume' }],
  })
  t.match((await explained(service, merchant, id)).timeline, [
    { text: /^webhook payment\.settled \(\w+\), which waits because the merchant has paused its endpoint$/ },
  ])
  await set('https://shop.example/hook', null)
  t.match(await explained(service, merchant, id), {
    standing: /too old to be sent when the endpoint was set/,
    also: [{ how: `svc webhooks replay ${id}` }],
  })
  const [late = ''] = await plantDeliveries(service.owner, merchant.id, { nextRetryAt: '2026-01-01' })
  t.match(
    (await explained(service, merchant, late)).standing,
    /attempt 1 has been due for \d+ days.*no worker has claimed it/,
  )
})

t.test('only the last 100 attempts are shown, and left_out says so', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const [id = ''] = await plantDeliveries(service.owner, merchant.id, { nextRetryAt: 'infinity' })
  await service.owner.query(
    `insert into webhook_attempts (merchant_id, delivery_id, attempt, worker, started_at, duration_ms, outcome, http_status)
     select $1, $2, 1 + n % 6, 'w', now() + n * interval '1 second', 5, 'http_500', 500 from generate_series(0, 119) n`,
    [merchant.id, id],
  )
  const explanation = await explained(service, merchant, id)
  t.equal(attemptsOf(explanation.timeline).length, 100)
  t.equal(attemptsOf(explanation.timeline).at(-1), 'attempt 6 of 6: answered 500', 'the newest attempts are listed')
  t.same(explanation.left_out, [`attempts of payment.settled ${id} before its last 100`])
})

t.test('a 401 response suggests comparing secrets, and a test event is called one', async (t) => {
  const receiver = await startReceiver(t, ({ response }) => void response.writeHead(401).end())
  const service = await testService(t, { worker: true })
  const merchant = await service.merchant({ webhookUrl: receiver.url })
  const { body } = await service.call('POST', '/api/v1/portal/webhooks/test', { merchant })
  await until(async () => (await explained(service, merchant, body.id)).status === 'FAILED')
  t.match(await explained(service, merchant, body.id), {
    title: 'test webhook payment.settled',
    standing: /^attempt 1 of 6 failed \(answered 401: the receiver rejects the signature\): attempt 2 is due/,
    also: [{ how: 'svc secret show' }],
    timeline: [{ text: /^test webhook payment\.settled/ }, { status: 'http_401' }, { kind: 'due' }],
  })
})
