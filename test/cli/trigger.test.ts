import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { listTriggers } from '../../cli/scenario/triggers.ts'
import { packageRoot } from '../../src/lib/package-root.ts'
import { EventType } from '../../src/wire/webhook-events.ts'
import { SCRATCH } from '../support/scratch.ts'
import { fakeAdmin } from './admin-harness.ts'
import type { CliSettings, Outcome } from './harness.ts'
import { realService } from './real-service.ts'

const service = await realService(t)
const merchant = await service.merchant()

/** The command as the merchant, with an operator's name beside it as svc up has it. */
function trigger(words: readonly string[], settings: CliSettings = {}): Promise<Outcome> {
  const env = { SVC_PLATFORM_USER: 'ada', ...settings.env }
  return service.as(merchant, ['trigger', ...words], { ...settings, env })
}

async function triggered(t: Test, words: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await trigger([...words, '--json'])
  t.equal(code, 0, `${words.join(' ')}: ${stderr}`)
  return JSON.parse(stdout)
}

async function typesOf(paymentId: unknown): Promise<string[]> {
  const path = `/api/v1/portal/webhooks?payment_id=${String(paymentId)}`
  const { body } = await service.call('GET', path, { merchant })
  return body.data.map((each: { event_type: string }) => each.event_type)
}

t.test('every event can be triggered, and is reported by its id', async (t) => {
  const events = EventType.options.filter((event) => !event.startsWith('payout.'))
  t.same(
    listTriggers().map(({ event }) => event),
    events,
  )
  const told = await Promise.all(events.map((event) => triggered(t, [event])))
  for (const [index, event] of events.entries()) {
    const { event_id, payment_id, event_type } = told[index] ?? {}
    t.equal(event_type, event)
    t.match(event_id, /^evt_/)
    if (event !== 'consent.revoked') t.ok((await typesOf(payment_id)).includes(event), event)
  }
  t.equal(new Set(told.map(({ event_id }) => event_id)).size, events.length)
  t.match(await trigger(['payout.paid']), {
    code: 2,
    stderr: /follows a closed settlement[^]*svc webhooks test payout\.paid/,
  })
})

t.test('people see each step, where the event went, and that nothing is sent without an endpoint', async (t) => {
  const { code, stdout, stderr } = await trigger(['payment.settled', '--set', 'amount=7.77'])
  t.equal(code, 0, stderr)
  t.match(stdout, /Event +payment\.settled\nEvent id +evt_\S+\nDelivery +\S+ \(PENDING\)\nPayment +\S+\n/)
  t.match(
    stderr,
    /✓ pay: \{ as: p1, amount: 7\.77, currency: GBP \}\n✓ bank: \{ approve: \$p1 \}\n✓ await: \{[^]*No endpoint is set/,
  )
  const id = /Payment +(?<id>\S+)/.exec(stdout)?.groups?.['id']
  const { body } = await service.call('GET', `/api/v1/payments/${id}`, { merchant })
  t.match(body, { status: 'Settled', gross_amount: '7.77' })
})

t.test('the answer of the endpoint is printed', async (t) => {
  const asked: string[] = []
  const endpoint = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(asked.length === 1 ? 204 : 418).end()
  })
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve))
  t.teardown(() => endpoint.close())
  const { port } = endpoint.address() as AddressInfo
  const shop = await service.merchant({ webhookUrl: `http://127.0.0.1:${port}/hook` })
  const env = { SVC_PLATFORM_USER: 'ada' }
  const { stdout, stderr } = await service.as(shop, ['trigger', 'payment.initiated'], { env })
  t.match(stdout, /Delivery +\S+ \(DELIVERED: your endpoint answered 204\)/, stderr)
  const again = await service.as(shop, ['trigger', 'payment.initiated', '--json'], { env })
  t.match(JSON.parse(again.stdout), { http_status: 418, last_error: 'http_418' })
})

t.test('a service with real money is asked for nothing but what it is', async (t) => {
  const live = await fakeAdmin(t, () => ({ status: 500 }), { mode: 'live' })
  const { code, stderr } = await live.run(['trigger', 'payment.settled'])
  t.equal(code, 2)
  t.match(stderr, /is live: events there are about real money, and nothing was done/)
  t.same(live.requests, [])
})

t.test('unknown words are reported with the nearest known ones', async (t) => {
  t.match(await trigger(['payment.setled']), {
    code: 2,
    stderr: /no event "payment\.setled"[^]*trigger payment\.settled/,
  })
  t.match(await trigger([]), { code: 2, stderr: /which event\?[^]*--list/ })
  t.match(await trigger(['payment.settled', '--set', 'amout=1']), {
    code: 2,
    stderr: /no "amout"; there are amount, currency/,
  })
  t.match(await trigger(['dispute.opened', '--set', 'reason=BORED']), {
    code: 2,
    stderr: /dispute\.opened\.yaml:\d+:\d+: reason can't be "BORED"/,
  })
  t.match(await trigger(['payment.settled', '--timeout', '0s']), { code: 2 })
  t.match(await trigger(['payment.settled', '--set', 'amount=-1']), { code: 2, stderr: /amount/ })
  const listed = await trigger(['--list'])
  for (const { event, summary } of listTriggers())
    t.ok(listed.stdout.includes(event) && listed.stdout.includes(summary), event)
  t.equal(
    (await trigger(['payment.settled', '--show'])).stdout,
    readFileSync(join(packageRoot(), 'examples/triggers/payment.settled.yaml'), 'utf8'),
  )
  t.match(
    (await trigger(['payment.settled', '--show', '--set', 'amount=7.77'])).stdout,
    /vars:\n  amount: "7\.77"\n  currency: "GBP"\nsteps:/,
  )
})

t.test('the steps can be edited first; what would change the merchant itself is refused', async (t) => {
  const edited = async (sed: string): Promise<Outcome> => {
    const editor = join(mkdtempSync(join(SCRATCH, 'svc-trigger-')), 'editor.sh')
    writeFileSync(editor, `#!/bin/sh\nsed -i '${sed}' "$1"\n`)
    chmodSync(editor, 0o755)
    return trigger(['payment.settled', '--edit'], {
      tty: true,
      typed: '',
      env: { EDITOR: editor, NO_COLOR: '1', PATH: process.env['PATH'] },
    })
  }
  const done = await edited('s/"50.00"/"3.21"/')
  t.equal(done.code, 0, done.stderr)
  const id = /Payment +(?<id>\S+)/.exec(done.stdout)?.groups?.['id']
  t.match((await service.call('GET', `/api/v1/payments/${id}`, { merchant })).body, { gross_amount: '3.21' })
  t.match(await edited('s/approve: /aprove: /'), {
    code: 2,
    stderr: /payment\.settled\.yaml:\d+:\d+: [^]*did you mean "approve"/,
  })
  t.match(await edited('$a\\  - secret.rotate: {}'), {
    code: 2,
    stderr: /"secret.rotate" is for a case with a merchant of its own/,
  })
  t.match(await edited('s/status: Settled/status: Failed/'), {
    code: 3,
    stderr: /step 3 [^]*can no longer become Failed/,
  })
})
