import t from 'tap'
import { startApi } from '../../src/api.ts'
import { makeApp } from '../../src/app.ts'
import { run } from '../../cli/entry/run.ts'
import { createPayment, testService, until } from '../support/app.ts'
import type { TestMerchant, TestService } from '../support/app.ts'
import { makeIo, runCli } from './harness.ts'

const service = await testService(t, { overrides: { streamLimits: { gapMs: 10, fallbackMs: 50 } } })
const one = await service.merchant()
const two = await service.merchant()

/** A command that goes on, and what it has printed so far; its reader goes away at the end. */
function start(words: readonly string[], url: string, env: NodeJS.ProcessEnv) {
  const { io, stdout, stderr } = makeIo({ env: { SVC_API_URL: url, ...env } })
  let isGone = false
  const sink = Object.defineProperty(io.stdout, 'isGone', { get: () => isGone })
  const ended = run(words, { ...io, stdout: sink })
  return {
    ended,
    lines: () =>
      stdout
        .join('')
        .split('\n')
        .filter((line) => line !== ''),
    said: () => stderr.join(''),
    leave: () => (isGone = true),
  }
}

/** Follows from the beginning of what is there: nothing that is made after the start is missed. */
async function cursorOf(of: TestService, merchant: TestMerchant): Promise<string> {
  return (await of.call('GET', '/api/v1/portal/events?after=latest', { merchant })).body.next_cursor
}

t.test('a line for each event, of all merchants or of one that an operator names', async (t) => {
  const since = await cursorOf(service, one)
  const all = start(['listen', '--all-merchants', '--cursor', since, '-o', 'jsonl'], service.url, {})
  const named = start(['listen', '--cursor', since, '--merchant', two.realm, '--events', 'payment.*'], service.url, {})
  const id = (await createPayment(service, one)).body.payment_id
  await createPayment(service, two)
  await until(async () => all.lines().length === 2 && named.lines().length === 1)
  t.match(named.lines()[0], new RegExp(`^\\d\\d:\\d\\d:\\d\\d  payment\\.initiated .* ${two.realm}$`))
  t.match(
    all.lines().map((line) => JSON.parse(line)),
    [
      { cursor: String, event_type: 'payment.initiated', payment_id: id, merchant_id: one.id, realm_slug: one.realm },
      { merchant_id: two.id },
    ],
  )
  for (const each of [all, named]) each.leave()
  await createPayment(service, one)
  await createPayment(service, two)
  t.same(await Promise.all([all.ended, named.ended]), [0, 0])
  t.equal(all.said(), '', 'a program gets no remarks')
  t.match(named.said(), `Listening for events payment.* of ${two.realm} at ${service.url}; Ctrl`)
})

t.test('it survives a restart of the service, and misses nothing of the time between', async (t) => {
  const port = Number(new URL(service.url).port)
  const app = await makeApp({ ...service.app.config, port: 0 })
  t.teardown(() => app.close())
  const api = await startApi(app)
  t.not(api.port, port)
  const follow = start(['listen', '--all-merchants', '-o', 'jsonl'], api.url, {})
  const open = async (): Promise<boolean> => (await app.metrics.eventStreams.get()).values[0]?.value === 1
  await until(open)
  await createPayment(service, one)
  await until(async () => follow.lines().length === 1)
  await api.stop()
  await until(async () => /continuing once it answers/.test(follow.said()) || follow.said() === '')
  await createPayment(service, one)
  await createPayment(service, one)
  const again = await startApi({ ...app, config: { ...app.config, port: api.port } })
  await until(async () => follow.lines().length === 3)
  t.equal(new Set(follow.lines()).size, 3)
  follow.leave()
  await createPayment(service, one)
  t.equal(await follow.ended, 0)
  await again.stop()
})

t.test(
  'it ends with its time and says where, and what is wrong is refused with the exit code of its kind',
  async (t) => {
    const listen = (...words: string[]) =>
      runCli(['listen', '--all-merchants', ...words], { env: { SVC_API_URL: service.url }, tty: true })
    t.match(await listen('--timeout', '5s'), { code: 0, stdout: '', stderr: /to continue from here: --cursor \S+\n/ })
    t.match(await listen('--cursor', 'wrong'), { code: 2, stderr: /cursor/ })
    t.match(await listen('--cursor', ''), { code: 2, stderr: /--cursor/ })
    t.match(await listen('--events', 'Payment!'), { code: 2, stderr: /invalid event name "Payment!"/ })
    t.match(await listen('--timeout', 'soon'), { code: 2, stderr: /--timeout/ })
    t.match(await listen('--merchant', 'nobody'), { code: 6 })
    for (const words of [['--once'], ['--print-json'], ['--forward-to', 'localhost:4242']])
      t.match(await listen(...words), { code: 2, stderr: /a merchant's own are sent on/ }, words.join(' '))
    t.match(await listen('--api-url', 'http://127.0.0.1:9'), { code: 8, stderr: /can't be reached/ })
    const unknown = { env: { SVC_API_URL: service.url, SVC_CLIENT_ID: 'nobody-server' } }
    t.match(await runCli(['listen'], unknown), { code: 4 })
  },
)
