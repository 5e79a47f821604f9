import t from 'tap'
import { jobs, startJobs } from '../src/jobs.ts'
import type { Job } from '../src/jobs.ts'
import { startWorker, workOnce } from '../src/worker.ts'
import { until } from './support/until.ts'
import { runDeliveries } from '../src/webhooks/run-deliveries.ts'
import { startReceiver } from './support/receiver.ts'
import { makeOutbox, plantDeliveries, plantMerchant, readDelivery } from './support/webhooks.ts'

const hourMs = 3_600_000

t.test('a job runs at once at the start, and then at its cadence', async (t) => {
  const { app } = await makeOutbox(t)
  const at: number[] = []
  const job: Job = {
    name: 'tick',
    everyMs: 50,
    run: async () => {
      at.push(performance.now())
      return { more: false }
    },
  }
  const running = startJobs(app, [job])
  await until('three runs', () => at.length >= 3)
  await running.stop()
  const [first = 0, second = 0] = at
  t.ok(second - first >= 49, `${second - first} ms between the first two`)
})

t.test('a job runs again at once while it says there is more', async (t) => {
  const { app } = await makeOutbox(t)
  let runs = 0
  const running = startJobs(app, [{ name: 'drain', everyMs: hourMs, run: async () => ({ more: (runs += 1) < 100 }) }])
  await until('all is done', () => runs === 100)
  await running.stop()
  t.equal(runs, 100)
})

t.test('NOTIFY with its name wakes a job, and no other one', async (t) => {
  const { app } = await makeOutbox(t)
  const ran: string[] = []
  const job = (name: string): Job => ({
    name,
    everyMs: hourMs,
    run: async () => {
      ran.push(name)
      return { more: false }
    },
  })
  const running = startJobs(app, [job('one'), job('two')])
  await until('the first runs', () => ran.length === 2)
  await until('it listens and is woken', () => {
    app.wake.notify('two')
    return ran.length > 2
  })
  await running.stop()
  t.strictSame(ran.slice(0, 2), ['one', 'two'])
  t.ok(ran.slice(2).every((name) => name === 'two'))
})

t.test('a job never runs twice at a time, and a wake-up during a run is not lost', async (t) => {
  const { app } = await makeOutbox(t)
  let underWay = 0
  let peak = 0
  let runs = 0
  const first = Promise.withResolvers<void>()
  const job: Job = {
    name: 'slow',
    everyMs: hourMs,
    run: async () => {
      underWay += 1
      peak = Math.max(peak, underWay)
      runs += 1
      if (runs === 1) await first.promise
      underWay -= 1
      return { more: false }
    },
  }
  const woken: ((name: string) => void)[] = []
  const wake = {
    ...app.wake,
    listen: async (handler: (name: string) => void) => (woken.push(handler), async () => undefined),
  }
  const running = startJobs({ ...app, wake }, [job])
  await until('it runs and listens', () => runs === 1 && woken.length === 1)
  for (let index = 0; index < 10; index += 1) woken[0]?.('slow')
  t.equal(runs, 1)
  first.resolve()
  await until('the run that the wake-ups asked for', () => runs === 2)
  await running.stop()
  t.equal(runs, 2, 'ten wake-ups are one run')
  t.equal(peak, 1)
})

t.test('a job that fails is counted and runs again; the others go on', async (t) => {
  const { app } = await makeOutbox(t)
  let failures = 0
  let runs = 0
  const running = startJobs(app, [
    {
      name: 'broken',
      everyMs: 10,
      run: async () => {
        failures += 1
        throw new Error('it is broken')
      },
    },
    { name: 'sound', everyMs: 10, run: async () => ({ more: (runs += 1) < 0 }) },
  ])
  await until('both ran several times', () => failures > 2 && runs > 2)
  await running.stop()
  const counts = await app.metrics.jobRuns.get()
  t.ok(counts.values.some(({ labels, value }) => labels.job === 'broken' && labels.outcome === 'failed' && value > 2))
  t.notOk(counts.values.some(({ labels }) => labels.job === 'broken' && labels.outcome === 'done'))
})

t.test('stopping aborts and awaits the run in progress, and starts no other', async (t) => {
  const { app } = await makeOutbox(t)
  let ended = false
  let runs = 0
  const running = startJobs(app, [
    {
      name: 'long',
      everyMs: 1,
      run: async (_app, signal) => {
        runs += 1
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        ended = true
        return { more: true }
      },
    },
  ])
  await until('it runs', () => runs === 1)
  await running.stop()
  t.equal(ended, true)
  t.equal(runs, 1)
})

t.test('a run that gives up because the process stops has not failed; one that fails meanwhile has', async (t) => {
  const { app } = await makeOutbox(t)
  let waiting = 0
  const job = (name: string, end: (signal: AbortSignal) => void): Job => ({
    name,
    everyMs: hourMs,
    run: async (_app, signal) => {
      waiting += 1
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      end(signal)
      return { more: false }
    },
  })
  const gaveUp: unknown[] = []
  const running = startJobs(app, [
    job('gives-up', (signal) => {
      gaveUp.push(signal.reason)
      signal.throwIfAborted()
    }),
    job('breaks', () => {
      throw new Error('it is broken')
    }),
  ])
  await until('both run', () => waiting === 2)
  await running.stop()
  const { values } = await app.metrics.jobRuns.get()
  t.same(
    values.map(({ labels }) => labels),
    [{ job: 'breaks', outcome: 'failed' }],
  )
  t.match(gaveUp, [{ message: 'the process stops' }], 'a run that is kept says so')
})

t.test(
  'a worker delivers a webhook within moments of the wake-up, and every name of the table is unique',
  async (t) => {
    const { owner, app } = await makeOutbox(t)
    t.equal(new Set(jobs.map(({ name }) => name)).size, jobs.length)
    const receiver = await startReceiver(t)
    const merchantId = await plantMerchant({ owner, app, webhookUrl: receiver.url })
    const worker = startWorker(app)
    const [first = ''] = await plantDeliveries(owner, merchantId)
    await until('it works', async () => {
      app.wake.notify('deliver-webhooks')
      return (await readDelivery(owner, first)).status === 'DELIVERED'
    })
    // Each is planted right behind a look, so that without a wake-up every one would wait for the next, five seconds. A
    // busy machine may be late with one of them, and not with all.
    const [waits, ids]: [number[], string[]] = [[], []]
    for (const turn of [2, 3, 4]) {
      ids.push(...(await plantDeliveries(owner, merchantId)))
      const begun = performance.now()
      app.wake.notify('deliver-webhooks')
      await until('the next one', () => receiver.receipts.length === turn)
      waits.push(performance.now() - begun)
    }
    t.ok(Math.min(...waits) < 2_000, `long before the next look of its own: ${waits.join(', ')}`)
    await worker.stop()
    for (const id of ids)
      t.match(await readDelivery(owner, id), { status: 'DELIVERED' }, 'stopping waited for the record')
  },
)

t.test('once: due work is completed, a failed job is named, and other work stays', async (t) => {
  const { app, owner } = await makeOutbox(t)
  const receiver = await startReceiver(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: receiver.url })
  const due = await plantDeliveries(owner, merchantId, { count: 20 })
  const [later = ''] = await plantDeliveries(owner, merchantId, {
    nextRetryAt: new Date(Date.now() + hourMs).toISOString(),
  })
  t.same(await workOnce(app), [])
  t.equal(receiver.receipts.length, 20)
  for (const id of due) t.match(await readDelivery(owner, id), { status: 'DELIVERED' })
  t.match(await readDelivery(owner, later), { status: 'PENDING', attempt_count: 0 })
  let runs = 0
  const table: Job[] = [
    { name: 'drain', everyMs: hourMs, run: async () => ({ more: (runs += 1) < 3 }) },
    { name: 'broken', everyMs: hourMs, run: () => Promise.reject(new Error('no')) },
  ]
  t.same(await workOnce(app, { jobs: table }), ['broken'])
  t.equal(runs, 3)
})

t.test('once: what a job began before a run of it failed is waited for', async (t) => {
  const { app } = await makeOutbox(t)
  const call = Promise.withResolvers<void>()
  const order: string[] = []
  const job: Job = {
    name: 'calls',
    everyMs: hourMs,
    hasOpenWork: true,
    run: async (_app, signal) => {
      if (signal.aborted) return (await call.promise, { more: false })
      order.push('run')
      if (order.length > 1) throw new Error('no claim')
      setTimeout(() => {
        order.push('call ended')
        call.resolve()
      }, 20)
      return { more: true }
    },
  }
  t.same(await workOnce(app, { jobs: [job] }), ['calls'])
  t.same(order, ['run', 'run', 'call ended'])
})

t.test('once: deliveries whose claims fail for too long are given up, and are stopped', async (t) => {
  const { app } = await makeOutbox(t)
  const lost = new Error('the database is away')
  const pool = { ...app.pool, any: () => Promise.reject(lost) }
  const giveUp: Job = { name: 'deliver', start: () => runDeliveries({ ...app, pool }, { giveUpMs: 0 }) }
  await t.rejects(workOnce(app, { jobs: [giveUp] }), lost)
  let claims = 0
  const back: typeof app.pool = {
    ...app.pool,
    any: (query) => ((claims += 1) === 1 ? Promise.reject(lost) : app.pool.any(query)),
  }
  const passing: Job = { name: 'deliver', start: () => runDeliveries({ ...app, pool: back }) }
  t.same(await workOnce(app, { jobs: [passing] }), [], 'one that comes back is waited for')
})
