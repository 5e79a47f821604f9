import t from 'tap'
import { run as runWith } from '../../cli/entry/run.ts'
import { makeIo } from './harness.ts'
import type { Test } from 'tap'
import { verifySignature } from '../../src/lib/webhook-signature.ts'
import { EventType } from '../../src/wire/webhook-events.ts'
import { createPayment } from '../support/app.ts'
import type { TestMerchant } from '../support/app.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'
import { countRows } from '../support/rows.ts'
import { until } from '../support/until.ts'
import { makeDead, realService } from './real-service.ts'
import type { RealService } from './real-service.ts'
import type { CliSettings, Outcome } from './harness.ts'

type Case = {
  service: RealService
  merchant: TestMerchant
  receiver: Receiver
  /** What the receiver answers from now on. */
  answer: { status: number; body: string }
  run(words: readonly string[], settings?: CliSettings): Promise<Outcome>
}

async function receiving(t: Test): Promise<Case> {
  const service = await realService(t)
  const answer = { status: 200, body: 'thanks' }
  const receiver = await startReceiver(t, ({ response }) => response.writeHead(answer.status).end(answer.body))
  const merchant = await service.merchant({ webhookUrl: receiver.url })
  return {
    service,
    merchant,
    receiver,
    answer,
    run: (words, more) => service.as(merchant, ['webhooks', ...words], more),
  }
}

/** Sends a test event that is taken, and answers its delivery's id. */
async function delivered({ run }: Pick<Case, 'run'>, event = 'payment.settled'): Promise<string> {
  return (await run(['test', event, '--wait', '-o', 'id'])).stdout.trim()
}

t.test('test sends every event, waits for the answer, and show prints what was sent and answered', async (t) => {
  const { run, receiver, merchant } = await receiving(t)
  for (const event of EventType.options) {
    const sent = await run(['test', '--wait', event])
    t.match(sent, { code: 0, stdout: /Status +DELIVERED\n[^]*ATTEMPT[^]* +1 .*200 +delivered +thanks/ }, event)
  }
  t.equal(receiver.receipts.length, EventType.options.length)
  t.match(await run(['test', 'payment.nonsense']), { code: 2, stderr: /payment\.settled/ })

  const id = await delivered({ run })
  const shown = await run(['show', id.slice(-8)])
  t.match(shown.stdout, /Event +payment\.settled[^]*\{\n {2}"eventId"[^]*\n\}\n\nATTEMPT/)
  const { stdout } = await run(['show', id, '-q', 'payload'])
  const body = Buffer.from(stdout.replace(/\n$/, ''))
  const receipt = receiver.receipts.at(-1)
  t.same(body, receipt?.body, 'the very bytes')
  const signature = String(receipt?.headers['x-service-signature'])
  t.ok(verifySignature({ secret: merchant.secret, body, signature }))
  t.match(await run(['list', '--event', 'dispute.opened', '-q', '[].event_type']), { stdout: 'dispute.opened\n' })
})

t.test('test says without waiting where to look, and with it that nothing takes the event', async (t) => {
  const { run, answer } = await receiving(t)
  t.match(await run(['test']), { code: 0, stderr: /Next: svc webhooks show \S+; to wait for the answer: --wait\n/ })
  answer.status = 500
  answer.body = 'out of order'
  const failed = await run(['test', '--wait'])
  t.match(failed, {
    code: 3,
    stdout: /500 +answered 500 +out of order/,
    stderr: /did not take payment\.settled: answered 500/,
  })
  const told = await run(['test', '--wait', '--json'])
  t.match(JSON.parse(told.stderr), { error: { code: 'NOT_DELIVERED', delivery_id: /^[0-9a-f-]{36}$/ } })
})

t.test('without a worker the wait is over in time', async (t) => {
  const service = await realService(t, { worker: false })
  const receiver = await startReceiver(t)
  const merchant = await service.merchant({ webhookUrl: receiver.url })
  t.match(await service.as(merchant, ['webhooks', 'test', '--wait', '--timeout', '300ms']), {
    code: 9,
    stdout: /Status +PENDING/,
    stderr: /still PENDING after 300ms/,
  })
})

t.test('dead deliveries are reported below the list with what to type, and not among JSON', async (t) => {
  const { service, run } = await receiving(t)
  await makeDead(service, [await delivered({ run })])
  const told = /^Warning: .*1.*\nTry: svc webhooks list --status DEAD; [^\n]*svc webhooks replay --status DEAD\n$/
  t.match((await run(['list'])).stderr, told)
  t.match((await run(['endpoint', 'show'])).stderr, told)
  t.match(await run(['list', '--json']), { code: 0, stderr: '' })
})

t.test('bulk replay is one request, filtered, and a dry run only counts', async (t) => {
  const { service, run, receiver } = await receiving(t)
  const dead = [await delivered({ run }), await delivered({ run }), await delivered({ run }, 'dispute.opened')]
  await makeDead(service, dead)
  await service.owner.query("update webhook_deliveries set created_at = now() - interval '3 hours' where id = $1", [
    dead[0],
  ])
  const before = await countRows(service.owner)
  const count = async (...filter: string[]): Promise<string> => {
    return (await run(['replay', '--status', 'DEAD', '--dry-run', ...filter, '-q', 'matching'])).stdout
  }
  t.equal(await count(), '3\n')
  t.equal(await count('--since', '2h'), '2\n')
  t.equal(await count('--since', '-2h', '--event', 'payment.settled'), '1\n')
  t.equal(await count('--until', '2h'), '1\n')
  t.equal(await count('--since', '2026-01-01', '--until', '2026-01-02T00:00:00Z'), '0\n')
  t.match(await run(['replay', '--status', 'DEAD', '--dry-run']), {
    stdout: /Dead +3\nWould be sent again +3\n/,
    stderr: 'Nothing was changed.\n',
  })
  t.same(await countRows(service.owner), before)
  const had = receiver.receipts.length
  t.match(await run(['replay', '--status', 'DEAD', '--since', '2h']), { code: 0, stdout: /Sent again +2\n/ })
  await until('they are delivered', () => receiver.receipts.length === had + 2)
})

t.test('a replay of nothing, of too much, or of a wrong time is refused', async (t) => {
  const { service, run } = await receiving(t)
  const id = await delivered({ run })
  const before = await countRows(service.owner)
  const refused = async (words: string[], code: number, stderr: RegExp): Promise<void> => {
    t.match(await run(['replay', ...words]), { code, stdout: '', stderr }, words.join(' '))
  }
  await refused([], 2, /Give their ids, or --status DEAD\nTry: svc webhooks replay --status DEAD --since 2h/)
  await refused(['--since', '2h'], 2, /say --status DEAD as well/)
  await refused([id, '--status', 'DEAD'], 2, /either ids, or --status DEAD/)
  await refused(['--status', 'PENDING'], 2, /DEAD/)
  await refused(['--status', 'DEAD', '--since', 'yesterday'], 2, /--since: invalid time "yesterday"/)
  await refused(['--status', 'DEAD', '--since', '2 h'], 2, /invalid time "2 h"/)
  await refused(['--status', 'DEAD', '--wait'], 2, /--wait is for deliveries that are named/)
  await refused([id], 7, new RegExp(`Try: svc webhooks show ${id}`))
  await refused([id, '--dry-run'], 7, /is DELIVERED; only a DEAD one/)
  await refused(['ffffffff'], 6, /Try: svc webhooks list\n/)
  t.same(await countRows(service.owner), before)
})

t.test('named ones are replayed and waited for; one that is refused does not keep the others', async (t) => {
  const { service, run, answer } = await receiving(t)
  const [alive, dead] = [await delivered({ run }), await delivered({ run })]
  await makeDead(service, [dead])
  t.match(await run(['replay', dead, '--dry-run', '-o', 'id']), { code: 0, stdout: `${dead}\n` })
  const both = await run(['replay', alive, dead.slice(-8), '--wait'])
  t.match(both, { code: 7, stdout: new RegExp(`${dead} .*DELIVERED`), stderr: /Error: / })
  await makeDead(service, [dead])
  answer.status = 503
  t.match(await run(['replay', dead, '--wait']), { code: 3, stdout: /FAILED +503/, stderr: /answered 503/ })
})

t.test('the endpoint is set with a warning when nothing answers there, paused, resumed and checked', async (t) => {
  const { run, receiver } = await receiving(t)
  const set = await run(['endpoint', 'set', receiver.url])
  t.match(set, { code: 0, stdout: /State +active\nReachable +yes: answered with HTTP \d+/, stderr: '' })
  t.match(await run(['endpoint', 'check']), { code: 0, stdout: /Reachable +yes\n/ })
  t.match(await run(['endpoint', 'pause']), {
    code: 0,
    stdout: /State +paused\n/,
    stderr: /To send them: svc webhooks endpoint resume\n/,
  })
  t.match(await run(['test']), { code: 7, stderr: /Try: svc webhooks endpoint resume\n/ })
  t.match((await run(['endpoint', 'show'])).stdout, new RegExp(`Webhooks go to +${receiver.url}\nState +paused`))
  t.match(await run(['endpoint', 'resume']), { code: 0, stdout: /State +active\n/ })
  await receiver.close()
  const away = await run(['endpoint', 'set', receiver.url])
  t.match(away, {
    code: 0,
    stdout: /Reachable +no: connection refused or no route/,
    stderr: new RegExp(`Warning: [^\n]*no route\nTry: svc listen --forward-to ${receiver.url}\n`),
  })
  t.match(await run(['endpoint', 'check']), {
    code: 3,
    stdout: /Reachable +no\nOutcome +connection refused/,
    stderr: /svc listen --forward-to <url>/,
  })
  t.equal((await run(['endpoint', 'check', '-q', 'outcome'])).stdout, 'connect\n', 'programs get the code')
  t.match(await run(['endpoint', 'set', '--none', '--dry-run']), { code: 0, stdout: /Body +\{"webhook_url":null\}/ })
  t.match(await run(['endpoint', 'show', '-q', 'webhook_url']), { stdout: `${receiver.url}\n` })
  t.match(await run(['endpoint', 'set', '--none']), { code: 0, stdout: /nowhere/ })
  for (const verb of ['pause', 'resume', 'check'])
    t.match(await run(['endpoint', verb]), { code: 7, stderr: /Try: svc webhooks endpoint set <url>\n/ }, verb)
  t.match(await run(['test']), { code: 7, stderr: /Try: svc webhooks endpoint set <url>\n/ })
  t.match(await run(['endpoint', 'set', 'nonsense']), { code: 2 })
  const local = await run(['endpoint', 'set', 'localhost:4242'])
  t.match(local, { code: 2, stderr: /http:\/\/ or https:\/\/.*http:\/\/localhost:4242/ })
})

t.test('list --follow begins with the last ones and prints each change once', async (t) => {
  const { service, merchant, run, answer } = await receiving(t)
  const first = await delivered({ run })
  const second = await delivered({ run })
  answer.status = 500
  const { io, stdout: said } = makeIo({ env: { SVC_API_URL: service.url, SVC_CLIENT_ID: merchant.clientId } })
  let isGone = false
  const stdout = Object.defineProperty(io.stdout, 'isGone', { get: () => isGone })
  const tailing = runWith(['webhooks', 'list', '--follow', '--limit', '1', '-o', 'jsonl'], { ...io, stdout })
  await until('it has looked', () => said.length > 0)
  const third = JSON.parse((await run(['test', '--json'])).stdout).id
  await until('the failure is told', () => said.some((line) => line.includes('"FAILED"')))
  isGone = true
  t.equal(await tailing, 0)
  const rows = said.map((line) => JSON.parse(line))
  t.notOk(rows.some(({ id }) => id === first))
  t.equal(rows[0]?.id, second)
  t.match(rows.at(-1), { id: third, status: 'FAILED', last_http_status: 500 })
  const states = rows.map(({ id, status, attempt_count: count }) => `${id} ${status} ${count}`)
  t.same(states, [...new Set(states)])
  const lines = await run(['list', '--follow', '--timeout', '100ms'], { env: { NO_COLOR: '1' }, tty: true })
  t.match(lines.stdout, /^\d\d:\d\d:\d\d {2}[0-9a-f]{8} {2}DELIVERED {2}payment\.settled \(test\) {2}HTTP 200\n/)
  t.match(lines.stdout, /FAILED {5}payment\.settled \(test\) {2}attempt 1 {2}HTTP 500\n$/)
  t.match(await run(['list', '--timeout', '1s']), { code: 2, stderr: /--timeout ends --follow/ })
  t.match(await run(['list', '--follow', '--all-merchants']), { code: 2, stderr: /svc listen --all-merchants/ })
})

t.test("another merchant's delivery is not there", async (t) => {
  const { service, run } = await receiving(t)
  const id = await delivered({ run })
  await makeDead(service, [id])
  const other = await service.merchant()
  for (const words of [
    ['show', id],
    ['replay', id],
    ['replay', id, '--dry-run'],
  ])
    t.match(await service.as(other, ['webhooks', ...words]), { code: 6, stderr: /Try: svc webhooks list\n/ })
  t.match(await service.as(other, ['webhooks', 'list']), { stdout: '', stderr: 'There are no such deliveries.\n' })
})

t.test('the list of deliveries and the endpoint say when it is paused', async (t) => {
  const { service, merchant, run } = await receiving(t)
  t.equal((await run(['list'])).stderr, 'There are no such deliveries.\n')
  await run(['endpoint', 'pause'])
  const told = 'Warning: the endpoint is paused; its events wait\nTry: svc webhooks endpoint resume\n'
  t.equal((await run(['endpoint', 'show'])).stderr, told)
  await createPayment(service, merchant)
  t.equal((await run(['list'])).stderr, told)
  t.match(await run(['list', '--json']), { code: 0, stderr: '' })
})

t.test('a receiver that rejects the signature gets a hint where the secret is', async (t) => {
  const { service, run, answer } = await receiving(t)
  answer.status = 401
  const sent = await run(['test', '--wait'])
  t.match(sent, { code: 3, stderr: 'rejects the signature; does it have the secret of this merchant?' })
  t.match(sent.stderr, /Try: svc secret show\n[^\n]*svc webhooks show/)
  const [row] = JSON.parse((await run(['list', '--json'])).stdout)
  t.match(row, { last_error: 'http_401', event_type: 'payment.settled' }, 'programs get the code')
  t.match(
    (await run(['list'])).stdout,
    /payment\.settled \(test\) .* answered 401: the receiver rejects the signature\n/,
  )
  const shown = await run(['show', row.id])
  t.match(shown.stdout, /Event +payment\.settled \(test\)[^]*Last error +answered 401/)
  t.match(shown.stderr, 'does it have the secret of this merchant?')
  t.match(
    (await service.operate(['webhooks', 'list', '--all-merchants'])).stdout,
    /payment\.settled \(test\) .* answered 401/,
  )
})
