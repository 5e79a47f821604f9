import '../../support/tsx.ts'
import t from 'tap'
import type { Test } from 'tap'
import { headerCredentials } from '../../../cli/client/auth/credentials.ts'
import { makeClient } from '../../../cli/client/call.ts'
import { commandText } from '../../../cli/console/actions.ts'
import { makeConsole } from '../../../cli/console/console.ts'
import type { Console } from '../../../cli/console/console.ts'
import type { Host } from '../../../cli/console/host.ts'
import type { Screen } from '../../../cli/console/screen.ts'
import { fakeService, refusal } from '../harness.ts'
import type { Answer, Request } from '../harness.ts'
import { until } from '../../support/until.ts'
import { whoOf } from './who.ts'

/* `R` of the webhooks replays what the filter shows, and nothing else; and what `:payment` finds, and for whom. */

const { SCREENS } = await import('../../../cli/console/screens.ts')

const idOf = (end: string): string => `019aa000-0000-7000-8000-0000000000${end}`

type DeliveryFields = { end: string; status?: string; event?: string; realm?: string }

function delivery({ end, status = 'DEAD', event = 'payment.settled', realm = 'acme' }: DeliveryFields) {
  return {
    id: idOf(end),
    event_id: `evt_${end}`,
    event_type: event,
    payment_id: idOf('ff'),
    status,
    last_http_status: 500,
    last_error: 'http_500',
    attempt_count: 6,
    next_retry_at: null,
    delivered_at: null,
    created_at: '2026-11-22T12:00:00.000Z',
    merchant_id: realm === 'acme' ? idOf('01') : idOf('02'),
    realm_slug: realm,
    trading_name: realm === 'acme' ? 'Acme Ltd' : 'Tin Whistle Toys',
  }
}

const ROWS = [
  delivery({ end: 'a1' }),
  delivery({ end: 'a2', event: 'payment.refunded' }),
  delivery({ end: 'a3', status: 'DELIVERED' }),
  delivery({ end: 'a4', realm: 'tin' }),
  delivery({ end: 'a5', realm: 'tin', event: 'payment.failed' }),
]

const OWN_ROWS = ROWS.map(({ merchant_id: _id, realm_slug: _realm, trading_name: _name, ...row }) => row)

const page = (data: readonly unknown[], more: object = {}): Answer => ({
  json: { data, has_more: false, next_cursor: null, ...more },
})

/** The outbox, as far as it can be filtered. */
function outbox({ path }: Request): Answer {
  const query = new URL(path, 'http://x').searchParams
  const rows = ROWS.filter(
    (row) =>
      (query.get('status') ?? row.status) === row.status &&
      (query.get('event_type') ?? row.event_type) === row.event_type &&
      (query.get('merchant_id') ?? row.merchant_id) === row.merchant_id &&
      (query.get('payment_id') ?? row.payment_id) === row.payment_id,
  )
  return page(rows)
}

type Opening = {
  kind?: 'merchant' | 'platform'
  screen?: Screen['name']
  sandbox?: boolean
  answer?: (request: Request) => Answer
  /** What is answered instead where a replay goes wrong. */
  refuse?: (path: string) => Answer | undefined
}

async function opened(
  t: Test,
  { kind = 'platform', screen = 'webhooks', sandbox = true, answer = outbox, refuse = () => undefined }: Opening = {},
) {
  const { url, requests } = await fakeService(t, (request) =>
    request.path.includes('/replay') && kind === 'platform'
      ? (refuse(request.path) ?? { json: ROWS[0] })
      : answer(request),
  )
  // As the built-in profile: a merchant and an operator at once.
  const credentials = headerCredentials({ clientId: 'm-acme', platformUser: 'ada' })
  const client = makeClient({ apiUrl: url, credentials, timeoutMs: 30_000 })
  const who = whoOf(kind === 'merchant' ? 'ADMIN' : 'OPS', kind)
  const console = makeConsole({
    screens: SCREENS,
    first: screen,
    session: { client, profile: '', isBoth: true, rights: { who, readonly: false, sandbox } },
    host: {} as Host,
    now: Date.now,
  })
  t.teardown(async () => {
    console.stop()
    await client.close()
  })
  await until('the list is here', () => console.seen().feed.readAt !== undefined)
  const replayed = (): string[] =>
    requests.flatMap(({ method, path }) => (method === 'POST' ? [path.split('/').at(-2)?.slice(-2) ?? ''] : []))
  return { console, requests, replayed }
}

function filter(console: Console, text: string): void {
  console.press(['/', ...text.split(''), 'enter'])
}

const canReplayAll = (console: Console): boolean => console.seen().keys.some(({ key }) => key === 'R')

/** What R asks, once it has counted. */
async function asked(console: Console): Promise<{ title: string; command: string }> {
  console.press(['R'])
  await until('it has counted', () => console.state().modal?.kind === 'form')
  const { modal } = console.state()
  return { title: modal?.kind === 'form' ? modal.title : '', command: commandText(console, {}) }
}

async function agreed(console: Console): Promise<void> {
  for (let step = 0; step < 3 && console.state().modal?.kind === 'form'; step += 1) console.press(['enter'])
  await until('it is done', () => /replayed|stopped/.test(console.state().toast?.text ?? ''))
}

t.test('what the filter shows and is DEAD is replayed, the oldest first', async (t) => {
  for (const [text, ends] of [
    ['', ['a5', 'a4', 'a2', 'a1']],
    ['dead payment.settled', ['a4', 'a1']],
    [`DEAD merchant:${idOf('02')}`, ['a5', 'a4']],
    [`merchant:${idOf('01')} payment:${idOf('ff')}`, ['a2', 'a1']],
    ['whistle settled', ['a4']],
  ] as const) {
    const { console, replayed } = await opened(t)
    if (text !== '') filter(console, text)
    await until('the filter is answered', () => console.seen().feed.readAt !== undefined)
    const { title, command } = await asked(console)
    t.match(
      title,
      ends.length === 1
        ? /^send payment\.settled .* of Tin Whistle Toys again/
        : `send ${ends.length} deliveries again`,
    )
    t.match(command, `svc webhooks replay ${idOf(ends[0])} --all-merchants`)
    await agreed(console)
    t.same(replayed(), ends, text)
  }
})

t.test('it is offered only where something may be DEAD', async (t) => {
  const { console } = await opened(t)
  t.ok(canReplayAll(console))
  for (const text of ['DELIVERED', 'nothing like this']) {
    filter(console, text)
    await until('it is answered', () => console.seen().feed.readAt !== undefined)
    t.notOk(canReplayAll(console), text)
    console.press(['R'])
    t.not(console.state().modal?.kind, 'form')
    console.press(['esc'])
  }
})

t.test('a merchant has them counted first, and sends what its filter shows', async (t) => {
  const own = (request: Request): Answer => {
    const { method, path, body } = request
    if (method === 'GET') return page(OWN_ROWS, { alert: null })
    if (!path.endsWith('/webhooks/replay')) return { json: ROWS[0] }
    const isCount = JSON.parse(body).dry_run === true
    return { status: 202, json: { matching: 7, queued: isCount ? 0 : 7, has_more: false } }
  }
  const { console, requests } = await opened(t, { kind: 'merchant', answer: own })
  filter(console, 'payment.failed DEAD')
  t.same(await asked(console), {
    title: 'send every payment.failed again that is DEAD: 7 deliveries',
    command: 'svc webhooks replay --status DEAD --event payment.failed',
  })
  await agreed(console)
  t.same(
    requests.flatMap(({ method, body }) => (method === 'POST' ? [JSON.parse(body)] : [])),
    [
      { status: 'DEAD', event_type: 'payment.failed', dry_run: true },
      { status: 'DEAD', event_type: 'payment.failed' },
    ],
  )
})

t.test(
  'one that is DEAD no more keeps the others from nothing; of many, their number is typed in live mode',
  async (t) => {
    const { console, replayed } = await opened(t, {
      refuse: (path) => (path.includes(idOf('a2')) ? refusal(409, 'DELIVERY_NOT_DEAD') : undefined),
    })
    await asked(console)
    for (let step = 0; step < 3 && console.state().modal?.kind === 'form'; step += 1) console.press(['enter'])
    await until('all were tried', () => console.state().modal?.kind === 'text')
    t.match(console.state().modal, { title: '3 done, 1 failed' })
    t.same(replayed(), ['a5', 'a4', 'a2', 'a1'])
    const live = await opened(t, { sandbox: false })
    await asked(live.console)
    live.console.press(['enter'])
    t.match(live.console.state().modal, { fields: [{}, { label: 'LIVE: type 4' }], at: 1 })
  },
)

const STORY = {
  merchant_id: idOf('01'),
  title: 'payment of 50.00 GBP',
  status: 'Settled',
  standing: 'is settled.',
  as_of: '2026-11-22T12:00:00.000Z',
  timeline: [],
  left_out: [],
  next: [],
  also: [],
}

t.test('a payment is found as svc explain finds it, as whom the console acts', async (t) => {
  const id = idOf('ff')
  const endToEndId = `SVC${'0802'.repeat(8)}`
  const kinds: Record<string, string> = { [id]: 'payment', [endToEndId]: 'payment', [idOf('dd')]: 'dispute' }
  const answer = ({ path }: Request): Answer => {
    const [, , , side = '', what = '', which = ''] = path.split(/[/?]/)
    if (side !== 'admin') return refusal(403, 'FORBIDDEN_ROLE')
    if (what === 'explain') {
      const kind = kinds[which]
      return kind === undefined
        ? refusal(404, 'RESOURCE_NOT_FOUND')
        : { json: { ...STORY, kind, id: kind === 'payment' ? id : which } }
    }
    // It is older than the newest thousand of the list, and its webhooks tell of it.
    return what === 'outbox' ? page(ROWS) : page([])
  }
  const { console } = await opened(t, { screen: 'merchants', answer })
  for (const text of [id, id.toUpperCase(), endToEndId, id.slice(-8)]) {
    console.press([':', ...`payment ${text}`.split(''), 'enter'])
    await until('it is opened', () => console.state().screen === 'payments')
    t.equal(console.seen().view.open?.id, id, text)
    console.press(['esc'])
    t.equal(console.state().screen, 'merchants', 'whoever was led there comes back at once')
  }
  for (const [text, problem] of [
    [idOf('dd'), /is a dispute, not a payment/],
    [idOf('ee'), /RESOURCE_NOT_FOUND|no such|not/],
    ['ffffffff', /merchant's payment not found: ffffffff/],
  ] as const) {
    console.press([':', ...`payment ${text}`.split(''), 'enter'])
    await until('it is told', () => console.state().toast?.tone === 'bad')
    t.match(console.state().toast?.text, problem)
    t.equal(console.state().screen, 'merchants')
    console.press(['g'])
  }
})
