import t from 'tap'
import { makeApp } from '../../src/app.ts'
import type { App } from '../../src/app.ts'
import { makeSharedRates } from '../../src/db/shared-rates.ts'
import { freePort } from '../support/free-port.ts'
import { testService } from '../support/app.ts'
import { until } from '../support/until.ts'

const LIMIT = { burst: 100, perHour: 36_000 }

/** A process's rates on a clock of their own, which stands still, and what it has heard and counted so far. */
function frozen(wake: App['wake']) {
  let heard = ''
  const noting: App['wake'] = {
    ...wake,
    listen: (handler) =>
      wake.listen((message) => {
        handler(message)
        heard += `${message}\n`
      }),
  }
  const rates = makeSharedRates({ wake: noting, now: () => 0 })
  const take = rates.buckets('test', LIMIT)
  const takeSlow = rates.buckets('slow', { burst: 100, perHour: 3_600 })
  return {
    ...rates,
    // Asking the buckets instead would empty them.
    hasHeard: (text: string) => heard.includes(text),
    passed: (key: string, count: number) =>
      Array.from({ length: count }, () => take(key)).filter((s) => s === 0).length,
    passedSlowly: (key: string, count: number) =>
      Array.from({ length: count }, () => takeSlow(key)).filter((s) => s === 0).length,
  }
}

t.test('what one process lets pass, another one counts', async (t) => {
  const { app } = await testService(t)
  const other = await makeApp({ ...app.config, port: await freePort() })
  t.teardown(() => other.close())
  const [one, two] = [frozen(app.wake), frozen(other.wake)]
  const stops = [await one.share(), await two.share()]
  t.teardown(() => Promise.all(stops.map((stop) => stop())))

  t.equal(one.passed('busy', 500), 100)
  t.equal(one.passed('quiet', 4), 4)
  t.equal(one.passedSlowly('steady', 1), 1)
  await until('the other process has heard of it', () => two.hasHeard('"busy"'))
  t.equal(two.passed('busy', 1), 0)
  t.equal(two.passed('quiet', 500), 100, 'little is not reported')
  t.equal(two.passedSlowly('steady', 500), 99, 'but where the refill is slow')
  t.equal(two.passed('third', 1), 1)
  await until('the first one has heard as well', () => one.hasHeard('"quiet"'))
  t.equal(one.passed('quiet', 1), 0)
})

t.test('messages of another form are ignored', async (t) => {
  const { app } = await testService(t)
  const rates = frozen(app.wake)
  const stop = await rates.share()
  t.teardown(stop)
  for (const message of ['rates {}', 'rates []', 'deliver-webhooks', 'rates {"by":"x","taken":[["other","k",9]]}'])
    app.wake.notify(message)
  app.wake.notify('rates {"by":"x","taken":[["test","k",99]]}')
  await until('the last one has arrived', () => rates.hasHeard('"k",99'))
  t.equal(rates.passed('k', 200), 1)
})
