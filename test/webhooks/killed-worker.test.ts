import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { bundled } from '../support/built.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import {
  countByStatus,
  makeOutbox,
  plantDeliveries,
  plantMerchant,
  queueIsEmpty,
  startDeliveries,
} from '../support/webhooks.ts'

/** What a worker has in progress of a merchant at once, and what it has claimed of it and not recorded. */
const PER_MERCHANT_MAX = 8
const ROWS_MAX = 3 * PER_MERCHANT_MAX

type Outbox = Awaited<ReturnType<typeof makeOutbox>>

/** A worker in a process of its own; `said` is its output. */
function startWorkerProcess(
  t: { teardown(handler: () => unknown): unknown },
  outbox: Outbox,
  hold = '',
): { child: ChildProcess; said: unknown[] } {
  const child = fork(bundled('webhook-worker'), {
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      SVC_DATABASE_URL: outbox.url,
      SVC_ENCRYPTION_KEY: outbox.encryptionKey,
      HOLD: hold,
    },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const said: unknown[] = []
  child.on('message', (message) => said.push(message))
  t.teardown(() => child.kill('SIGKILL'))
  return { child, said }
}

/** Kills the process, and ends its leases at once instead of after half a minute. */
async function kill(outbox: Outbox, child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
  await endLeases(outbox, child)
}

async function endLeases({ owner }: Outbox, child: ChildProcess): Promise<void> {
  await owner.query('update webhook_lanes set locked_until = now() where worker like $1', [`%.${child.pid}.%`])
}

t.test(
  'a worker that is killed between sending and recording loses nothing: it is sent again, with the same id and bytes',
  async (t) => {
    const outbox = await makeOutbox(t)
    const { owner, app } = outbox
    const receiver = await startReceiver(t)
    const merchantId = await plantMerchant({ owner, app, webhookUrl: receiver.url })
    await plantDeliveries(owner, merchantId, { count: 5 })
    const { child, said } = startWorkerProcess(t, outbox, 'record')
    await until(
      'it has sent, and holds the record back',
      () => said.includes('holding') && receiver.receipts.length === 5,
    )
    const { rows } = await owner.query<{ seconds: number }>(
      'select min(extract(epoch from locked_until - now()))::float8 as seconds from webhook_lanes',
    )
    t.ok((rows[0]?.seconds ?? 0) > 15, 'its lease outlasts any attempt')
    await kill(outbox, child)
    t.strictSame(await countByStatus(owner), { PENDING: 5 })
    startDeliveries(t, app)
    await until('the next worker has delivered all', () => queueIsEmpty(owner))
    t.strictSame(await countByStatus(owner), { DELIVERED: 5 })
    t.equal(receiver.receipts.length, 10)
    const bodies = new Map<string, Set<string>>()
    for (const { eventId, body } of receiver.receipts)
      bodies.set(eventId, (bodies.get(eventId) ?? new Set()).add(body.toString('hex')))
    t.equal(bodies.size, 5, 'the same event ids')
    t.ok(
      [...bodies.values()].every((variants) => variants.size === 1),
      'the same bytes',
    )
    t.equal(
      (await owner.query('select from webhook_attempts where attempt = 1')).rowCount,
      5,
      'and one attempt each that is known of',
    )
  },
)

t.test('three worker processes, two of them killed at work: each row is delivered', async (t) => {
  const outbox = await makeOutbox(t)
  const { owner, app } = outbox
  const receiver = await startReceiver(t, ({ response }) => setTimeout(() => response.writeHead(200).end(), 5))
  for (let index = 0; index < 5; index += 1) {
    await plantDeliveries(owner, await plantMerchant({ owner, app, webhookUrl: receiver.url }), { count: 200 })
  }
  const workers = [startWorkerProcess(t, outbox), startWorkerProcess(t, outbox), startWorkerProcess(t, outbox)]
  await until('they work', () => workers.every(({ said }) => said.includes('started')) && receiver.receipts.length > 50)
  const [first, second, last] = workers.map(({ child }) => child)
  if (!first || !second || !last) throw new Error('three workers were started')
  await kill(outbox, first)
  await until('they go on', () => receiver.receipts.length > 300)
  await kill(outbox, second)
  const beforeSecondKill = receiver.receipts.length
  // A claim may be under way in the server when its worker dies, and take its leases after that.
  const finish = async () => {
    await endLeases(outbox, first)
    await endLeases(outbox, second)
    return queueIsEmpty(owner)
  }
  await until('the last one has delivered all', finish)
  t.strictSame(await countByStatus(owner), { DELIVERED: 1_000 })
  const ids = new Set(receiver.receipts.map(({ eventId }) => eventId))
  t.equal(ids.size, 1_000, 'none is lost')
  const duplicates = receiver.receipts.length - ids.size
  t.ok(duplicates <= 2 * 5 * ROWS_MAX, `${duplicates} were sent twice, no more than the killed ones had claimed`)
  const firstIndex = new Map<string, number>()
  const sentAgain = receiver.receipts.filter(({ eventId }, index) => {
    const isFirst = !firstIndex.has(eventId)
    if (isFirst) firstIndex.set(eventId, index)
    return !isFirst
  })
  const later = sentAgain.filter(({ eventId }) => (firstIndex.get(eventId) ?? 0) >= beforeSecondKill)
  // What a worker has sent may arrive after its end.
  t.ok(later.length <= 5 * PER_MERCHANT_MAX, `${later.length} that came after the kills were sent twice`)
  last.kill('SIGTERM')
  t.strictSame(await once(last, 'exit'), [0, null], 'the last one stops when it is asked to')
})
