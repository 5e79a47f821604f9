import t from 'tap'
import type { Test } from 'tap'
import { STILL_POSSIBLE } from '../../cli/kit/wait.ts'
import { PAYMENT_TRANSITIONS } from '../../src/payments/states.ts'
import { PaymentStatus } from '../../src/wire/payments.ts'
import { PAYMENT_ID, createdOf, fakeService, paymentOf, refusal, runCli, serviceInfo, summaryOf } from './harness.ts'
import type { Answer, CliSettings, Outcome, Request } from './harness.ts'

type Service = { requests: Request[]; run(words: string[], settings?: CliSettings): Promise<Outcome> }

async function service(t: Test, answer: (request: Request, count: number) => Answer): Promise<Service> {
  // Those that the commands are about: without the question for the mode.
  const requests: Request[] = []
  const { url } = await fakeService(t, (request) => {
    if (request.path === '/api/v1/service') return { json: serviceInfo() }
    return answer(request, requests.push(request))
  })
  return {
    requests,
    run: (words, settings) => runCli([...words, '--api-url', url, '--client-id', 'demo'], settings),
  }
}

function created(redirectUrl: string | null): Answer {
  return createdOf({ redirect_url: redirectUrl })
}

const CREATE = ['payments', 'create', '--amount', '50.00', '--currency', 'gbp']

t.test('create sends what the flags say, and a new key that it prints', async (t) => {
  const { requests, run } = await service(t, () => created('http://127.0.0.1/redirect-stub?state=s'))
  const { code, stdout, stderr } = await run([
    ...CREATE,
    '--payer-name',
    'Ada',
    '--metadata',
    'order=1',
    '--metadata',
    'note=a=b',
  ])
  t.equal(code, 0)
  t.match(stdout, /Status +AwaitingAuthorisation/)
  const key = /Idempotency key: (\S+)/.exec(stderr)?.[1]
  t.match(key, /^[0-9a-f-]{36}$/)
  t.match(requests[0]?.headers, { 'x-idempotency-key': key })
  const { redirect_uri, ...body } = JSON.parse(requests[0]?.body ?? '')
  t.same(body, { amount: '50.00', currency: 'GBP', payer_name: 'Ada', metadata: { order: '1', note: 'a=b' } })
  t.match(redirect_uri, /\/payments\/return$/)
})

t.test('a creation that is interrupted prints the payment that there is, and its key', async (t) => {
  const { run } = await service(t, ({ method }) => {
    if (method === 'POST') return created('http://127.0.0.1/redirect-stub?state=s')
    setImmediate(() => process.emit('SIGINT', 'SIGINT'))
    return { json: paymentOf('AwaitingAuthorisation') }
  })
  const { code, stdout, stderr } = await run([...CREATE, '--json', '--wait'])
  t.same([code, stdout], [130, ''])
  t.match(JSON.parse(stderr), {
    error: {
      code: 'INTERRUPTED',
      payment_id: PAYMENT_ID,
      idempotency_key: /^[0-9a-f-]{36}$/,
      hint: new RegExp(`payments show ${PAYMENT_ID}$`),
    },
  })
  const waits = await service(t, ({ method }) => {
    if (method === 'GET') return { json: paymentOf('Settled') }
    setImmediate(() => process.emit('SIGTERM', 'SIGTERM'))
    return 'silence'
  })
  const refund = await waits.run(['payments', 'refund', PAYMENT_ID, '--json'])
  t.match(JSON.parse(refund.stderr), { error: { code: 'INTERRUPTED', idempotency_key: /-/, payment_id: PAYMENT_ID } })
  const early = await waits.run([...CREATE, '--idempotency-key', 'order-1'])
  t.match(early, { code: 143, stderr: /ended by SIGTERM\nTry: the same command with --idempotency-key order-1/ })
})

t.test('a rejected creation prints its key for programs, so that the repeat is the same payment', async (t) => {
  const { run } = await service(t, () => refusal(403, 'PAYOUT_HELD'))
  const { code, stdout, stderr } = await run([...CREATE, '--json'])
  t.equal(code, 5)
  t.equal(stdout, '')
  t.match(JSON.parse(stderr), {
    error: { code: 'PAYOUT_HELD', status: 403, request_id: 'req-1', idempotency_key: /^[0-9a-f-]{36}$/ },
  })
})

t.test('every invalid field is reported', async (t) => {
  const errors = [
    { path: 'amount', code: 'x', message: 'is wrong' },
    { path: 'currency', code: 'x', message: 'is wrong too' },
  ]
  const { run } = await service(t, () => refusal(400, 'VALIDATION_FAILED', { errors }))
  t.match(await run(CREATE), { code: 2, stderr: /--amount: is wrong\n {2}--currency: is wrong too\n/ })
  const told = JSON.parse((await run([...CREATE, '--json'])).stderr)
  t.match(told.error.errors, [
    { path: 'amount', flag: '--amount' },
    { path: 'currency', flag: '--currency' },
  ])
})

t.test('values are held against the contract before a key is printed or anything is sent, each once', async (t) => {
  const { requests, run } = await service(t, () => created(null))
  const wrong = await run(['payments', 'create', '--amount', 'much', '--currency', 'POUND'])
  t.match(wrong, {
    code: 2,
    stdout: '',
    stderr: /^Error: 2 values are wrong\n {2}--amount: .*\n {2}--currency: .*\nTry: svc payments create --help\n$/,
  })
  t.match(await run([...CREATE, '--metadata', 'nothing']), { code: 2, stderr: /^Error: --metadata/ })
  const refund = await run(['payments', 'refund', PAYMENT_ID, '--amount', 'much'])
  t.match(refund, { code: 2, stderr: /^Error: --amount: must be [^\n]*\nTry: svc payments refund --help\n$/ })
  t.match(await run([...CREATE, '-q', 'pyment_id']), { code: 2, stderr: /^Error: there is no field "pyment_id"/ })
  t.match(await run([...REFUND, '-q', 'refund']), { code: 2, stderr: /^Error: there is no field "refund"/ })
  t.same(requests, [])
})

t.test(
  "--approve presses the bank's button without following it, and brings code and state to sca-complete",
  async (t) => {
    let url = ''
    const { requests, run } = await service(t, (request) => {
      url = `http://${request.headers.host}`
      if (request.path === '/api/v1/payments') return created(`${url}/redirect-stub?state=s1&request=r`)
      if (request.path.startsWith('/redirect-stub'))
        return { status: 303, headers: { location: 'https://shop.example/back?code=c1&state=s1' } }
      if (request.path.endsWith('/sca-complete'))
        return { json: { payment_id: PAYMENT_ID, status: 'Authorised', end_to_end_id: 'SVC1', failure: null } }
      return { json: paymentOf('Authorised') }
    })
    const { code, stdout } = await run([...CREATE, '--approve', '-q', 'status'])
    t.match({ code, stdout }, { code: 0, stdout: 'Authorised\n' })
    t.match(requests[1], {
      method: 'POST',
      path: '/redirect-stub?state=s1&request=r',
      body: 'decision=approve',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    t.notOk(requests[1]?.headers['x-merchant-client-id'], 'the payer does not act as the merchant')
    t.same(JSON.parse(requests[2]?.body ?? ''), { state: 's1', code: 'c1' })
  },
)

t.test("--cancel brings the bank's error", async (t) => {
  const { requests, run } = await service(t, (request) => {
    if (request.path === '/api/v1/payments') return created(`http://${request.headers.host}/redirect-stub`)
    if (request.path.startsWith('/redirect-stub'))
      return { status: 303, headers: { location: '/back?error=access_denied&state=s1' } }
    if (request.path.endsWith('/sca-complete'))
      return { json: { payment_id: PAYMENT_ID, status: 'Failed', end_to_end_id: 'SVC1', failure: null } }
    return { json: paymentOf('Failed') }
  })
  t.match(await run([...CREATE, '--cancel', '--wait']), { code: 0 })
  t.equal(requests[1]?.body, 'decision=cancel')
  t.same(JSON.parse(requests[2]?.body ?? ''), { state: 's1', error: 'access_denied' })
})

t.test('--from-account names the account that pays, and says when the bank takes nothing from it', async (t) => {
  const { requests, run } = await service(t, (request) =>
    request.path === '/api/v1/payments'
      ? created(`http://${request.headers.host}/redirect-stub`)
      : { status: 400, headers: { 'content-type': 'text/html' } },
  )
  const refused = await run([...CREATE, '--approve', '--from-account', '00007512345678'])
  t.match(refused, { code: 2, stderr: /--from-account: the mock bank takes no money[^]*00007512345678/ })
  t.equal(requests[1]?.body, 'decision=approve&account=00007512345678')
  t.match(await run([...CREATE, '--from-account', '00007512345678']), { code: 2, stderr: /--approve/ })
  t.match(await run([...CREATE, '--cancel', '--from-account', '00007512345678']), { code: 2 })
  t.equal(requests.length, 2, 'who does not approve pays from nowhere')
})

t.test('--approve does nothing at a bank that is not the mock bank', async (t) => {
  const { requests, run } = await service(t, (request) => created(`http://${request.headers.host}/authorise`))
  t.match(await run([...CREATE, '--approve']), { code: 2, stderr: /not at the mock bank/ })
  t.equal(requests.length, 1)
})

t.test('--wait polls until the status comes, also when it has passed already', async (t) => {
  const { run } = await service(t, (request, count) => {
    if (request.path === '/api/v1/payments') return created(null)
    return { json: paymentOf(count < 4 ? 'Authorised' : 'Settled') }
  })
  t.match(await run([...CREATE, '--wait', '-q', 'status']), { code: 0, stdout: 'Settled\n' })
  const history = ['Authorised', 'Settled'].map((status, at) => ({
    ordinal: String(at),
    previous_status: null,
    new_status: status,
    changed_by: 'BATCH_JOB',
    created_at: '2026-11-21T09:30:00.000Z',
  }))
  const passed = await service(t, (request) =>
    request.path === '/api/v1/payments' ? created(null) : { json: paymentOf('Settled', { status_history: history }) },
  )
  t.match(await passed.run([...CREATE, '--wait', 'Authorised']), { code: 0 })
})

t.test(
  'a status that can no longer come is exit code 3 at once, and the payment is printed all the same',
  async (t) => {
    const failure = {
      code: 'INSUFFICIENT_FUNDS',
      reason: 'The account has too little money',
      source: 'ASPSP_REJECTION',
      iso_code: 'AM04',
    }
    const { run } = await service(t, (request) =>
      request.path === '/api/v1/payments' ? created(null) : { json: paymentOf('Failed', { failure }) },
    )
    const { code, stdout, stderr } = await run([...CREATE, '--wait', 'Settled', '--json', '--timeout', '10m'])
    t.equal(code, 3)
    t.match(JSON.parse(stdout), { status: 'Failed', failure: { code: 'INSUFFICIENT_FUNDS' } })
    t.match(JSON.parse(stderr), { error: { code: 'STATE_IMPOSSIBLE', payment_id: PAYMENT_ID, retryable: false } })
  },
)

t.test('a wait that takes too long is exit code 9', async (t) => {
  const { run } = await service(t, (request) =>
    request.path === '/api/v1/payments' ? created(null) : { json: paymentOf('Authorised') },
  )
  t.match(await run([...CREATE, '--wait', '--timeout', '300ms']), {
    code: 9,
    stdout: /Authorised/,
    stderr: /still Authorised after 300ms/,
  })
  t.match(await run([...CREATE, '--wait', '--timeout', 'soon']), { code: 2 })
  t.match(await run([...CREATE, '--wait', 'Nonsense']), { code: 2 })
})

t.test('on a terminal the statuses are shown as they come, on standard error', async (t) => {
  const { run } = await service(t, (request) =>
    request.path === '/api/v1/payments' ? created(null) : { json: paymentOf('Settled') },
  )
  t.match((await run([...CREATE, '--wait'], { tty: true, env: { NO_COLOR: '1' } })).stderr, /09:30:00.000 {2}Settled/)
  t.notMatch((await run([...CREATE, '--wait'])).stderr, /Settled/)
})

t.test("what may still come after a status is what the service's own table allows", async (t) => {
  for (const status of PaymentStatus.options) {
    const reached = new Set<string>()
    const queue: string[] = [status]
    for (const from of queue) {
      for (const row of PAYMENT_TRANSITIONS) {
        if (row.from !== from || reached.has(row.to)) continue
        reached.add(row.to)
        queue.push(row.to)
      }
    }
    t.same([...STILL_POSSIBLE[status]].toSorted(), [...reached].toSorted(), status)
  }
})

t.test('an id may be given by its beginning or its end, if that means one payment', async (t) => {
  const other = '01a1fd03-aaaa-7eb7-872f-a2b4358c4f6e'
  const { requests, run } = await service(t, (request) => {
    if (!request.path.includes('?')) return { json: paymentOf('Settled') }
    const isFirst = !request.path.includes('cursor')
    return {
      json: {
        data: [isFirst ? summaryOf('Settled', { payment_id: other }) : summaryOf('Settled')],
        has_more: isFirst,
        next_cursor: isFirst ? 'next' : null,
      },
    }
  })
  t.match(await run(['payments', 'show', '01A1FD03-f879']), { code: 0, stdout: /\n\nTIME +/ })
  t.equal(requests.at(-1)?.path, `/api/v1/payments/${PAYMENT_ID}`)
  t.match(await run(['payments', 'show', '01a1fd03']), { code: 2, stderr: /several: 01a1fd03-aaaa[^]*Try: the last 8/ })
  t.match(await run(['payments', 'show', '358C4F6D']), { code: 0 })
  t.equal(requests.at(-1)?.path, `/api/v1/payments/${PAYMENT_ID}`)
  t.match(await run(['payments', 'show', '58c4f6d']), {
    code: 2,
    stderr: /too short for an id: .*\nTry: svc .*payments list\n$/,
  })
  t.match(await run(['payments', 'show', 'a2b4358c4f']), { code: 6 }, 'not by its middle')
  t.match(await run(['payments', 'show', '01a1fd0']), { code: 2, stderr: /too short/ })
  t.match(await run(['payments', 'show', '01a1fd04']), { code: 6 })
  t.match(await run(['payments', 'show', '../secrets']), { code: 6 })
})

t.test('list turns relative times into points in time, and --all follows the cursor', async (t) => {
  const { requests, run } = await service(t, (request) => {
    const isFirst = !request.path.includes('cursor')
    return { json: { data: [summaryOf('Settled')], has_more: isFirst, next_cursor: isFirst ? 'c2' : null } }
  })
  const before = Date.now()
  t.match(await run(['payments', 'list', '--since', '-2h', '--currency', 'gbp', '--all', '-o', 'id']), {
    code: 0,
    stdout: `${PAYMENT_ID}\n${PAYMENT_ID}\n`,
    stderr: '',
  })
  const query = new URL(requests[0]?.path ?? '', 'http://x').searchParams
  const from = Date.parse(query.get('from') ?? '') + 7_200_000
  t.ok(from >= before && from <= Date.now(), String(from - before))
  t.match(Object.fromEntries(query), { limit: '100', currency: 'GBP' })
  t.equal(query.size, 3)
  t.match(requests[1]?.path, /cursor=c2/)
  t.match(await run(['payments', 'list', '--limit', '1']), { code: 0, stderr: /There are more: --cursor c2/ })
  t.match(await run(['payments', 'list', '--cursor', 'c2', '-o', 'id']), { code: 0, stdout: `${PAYMENT_ID}\n` })
  t.match(requests.at(-1)?.path, /cursor=c2/)
  for (const wrong of [
    ['--since', 'yesterday'],
    ['--until', '2026-13-01'],
    ['--limit', '0'],
    ['--limit', '101'],
    ['--status', 'setled'],
  ]) {
    t.equal((await run(['payments', 'list', ...wrong])).code, 2, wrong.join(' '))
  }
})

/** A settled payment, and what its refunds are answered. */
async function refunding(t: Test, answer: (count: number) => Answer): Promise<Service> {
  const requests: Request[] = []
  const { run } = await service(t, (request) =>
    request.method === 'GET' ? { json: paymentOf('Settled') } : answer(requests.push(request)),
  )
  return { requests, run }
}

t.test('refund sends only what was given, under a key', async (t) => {
  const reply = {
    payment_id: PAYMENT_ID,
    status: 'Settled',
    refund_id: PAYMENT_ID,
    refund_status: 'EXECUTED',
    refunded_amount: '10.00',
    remaining_amount: '40.00',
  }
  const { requests, run } = await refunding(t, () => ({ json: reply }))
  t.match(await run(['payments', 'refund', PAYMENT_ID, '--amount', '10.00', '--idempotency-key', 'k']), {
    code: 0,
    stdout: /Remaining +40.00/,
  })
  t.match(requests[0], {
    path: `/api/v1/payments/${PAYMENT_ID}/refund`,
    body: '{"amount":"10.00"}',
    headers: { 'x-idempotency-key': 'k' },
  })
})

function refundOf(status: string): Record<string, unknown> {
  return {
    payment_id: PAYMENT_ID,
    status: 'Settled',
    refund_id: PAYMENT_ID,
    refund_status: status,
    refunded_amount: status === 'EXECUTED' ? '10.00' : '0.00',
    remaining_amount: '40.00',
  }
}

const REFUND = ['payments', 'refund', PAYMENT_ID, '--amount', '10.00']

t.test('refund --wait repeats the same request until the bank has answered', async (t) => {
  const { requests, run } = await refunding(t, (count) =>
    count < 3 ? { status: 202, json: refundOf('PENDING') } : { json: refundOf('EXECUTED') },
  )
  const { code, stdout, stderr } = await run([...REFUND, '--wait'])
  t.match({ code, stdout }, { code: 0, stdout: /Status +EXECUTED\n[^]*Refunded +10.00/ })
  t.equal(stdout.match(/Status/g)?.length, 1, 'it is told once')
  t.notMatch(stderr, '--wait')
  t.equal(requests.length, 3)
  const key = requests[0]?.headers['x-idempotency-key']
  t.match(key, /^[0-9a-f-]{36}$/)
  for (const request of requests) {
    t.match(request, { method: 'POST', path: `/api/v1/payments/${PAYMENT_ID}/refund`, body: '{"amount":"10.00"}' })
    t.equal(request.headers['x-idempotency-key'], key)
  }
})

t.test('refund --wait sees a refund that the bank refuses in the end: exit code 3', async (t) => {
  const { run } = await refunding(t, (count) =>
    count < 2 ? { status: 202, json: refundOf('PENDING') } : refusal(409, 'REFUND_REFUSED', { next: 'a new key' }),
  )
  const { code, stdout, stderr } = await run([...REFUND, '--wait', '--json'])
  t.match({ code, stdout }, { code: 3, stdout: '' })
  t.match(JSON.parse(stderr), {
    error: { code: 'REFUND_REFUSED', status: 409, payment_id: PAYMENT_ID, idempotency_key: /^[0-9a-f-]{36}$/ },
  })
})

t.test('refund --wait gives up in time, shows the refund, and prints how to continue', async (t) => {
  const { run } = await refunding(t, () => ({ status: 202, json: refundOf('PENDING') }))
  t.match(await run([...REFUND, '--wait', '--timeout', '200ms', '--idempotency-key', 'k7']), {
    code: 9,
    stdout: /Status +PENDING/,
    stderr: /after 200ms\nTry: the same command with --idempotency-key k7/,
  })
})

t.test('a refused refund that is not waited for is a conflict, and names its key to a program', async (t) => {
  const { run } = await refunding(t, () => refusal(409, 'REFUND_REFUSED'))
  const { code, stderr } = await run([...REFUND, '--json'])
  t.equal(code, 7)
  t.match(JSON.parse(stderr), { error: { code: 'REFUND_REFUSED', idempotency_key: /^[0-9a-f-]{36}$/ } })
})

t.test('cancel and events reach their operations; a refusal keeps its code', async (t) => {
  const { run } = await service(t, (request) =>
    request.path.endsWith('/cancel')
      ? refusal(409, 'PAYMENT_NOT_CANCELLABLE', { next_step: { operation: 'refundPayment', params: {} } })
      : {
          json: request.path.endsWith('/events')
            ? { data: [], has_more: false, next_cursor: null }
            : paymentOf('Settled'),
        },
  )
  t.match(await run(['payments', 'cancel', PAYMENT_ID]), {
    code: 7,
    stderr:
      /^Error: refused: PAYMENT_NOT_CANCELLABLE\nTry: svc --api-url \S+ payments refund [0-9a-f-]{36}\n\[request req-1\]\n$/,
  })
  t.match(await run(['payments', 'events', PAYMENT_ID]), { code: 0 })
})

t.test('webhooks endpoint set wants an address or --none, not both and not neither', async (t) => {
  const { requests, run } = await service(t, (request) => ({
    json: {
      webhook_url: null,
      ...JSON.parse(request.body || '{}'),
      paused: false,
      gone: false,
      alert: null,
      check: null,
    },
  }))
  t.match(await run(['webhooks', 'endpoint', 'set', 'http://127.0.0.1:1/hook', '-q', 'webhook_url']), {
    code: 0,
    stdout: 'http://127.0.0.1:1/hook\n',
  })
  t.match(await run(['webhooks', 'endpoint', 'set', '--none']), { code: 0, stdout: /nowhere/ })
  t.equal(requests.at(-1)?.body, '{"webhook_url":null}')
  t.equal((await run(['webhooks', 'endpoint', 'set'])).code, 2)
  t.equal((await run(['webhooks', 'endpoint', 'set', 'http://x/', '--none'])).code, 2)
})

t.test('replay goes on after a delivery that is refused, and ends with its exit code', async (t) => {
  const second = PAYMENT_ID.replace(/d$/, 'e')
  const delivery = {
    id: second,
    event_id: 'evt_1_a',
    event_type: 'payment.settled',
    payment_id: null,
    status: 'PENDING',
    last_http_status: 500,
    last_error: null,
    attempt_count: 0,
    next_retry_at: null,
    delivered_at: null,
    created_at: '2026-11-21T09:30:00.000Z',
  }
  const { run } = await service(t, (request) =>
    request.path.includes(PAYMENT_ID) ? refusal(409, 'DELIVERY_NOT_DEAD') : { json: delivery },
  )
  t.match(await run(['webhooks', 'replay', PAYMENT_ID, second, '-o', 'id']), {
    code: 7,
    stdout: `${second}\n`,
    stderr: /DELIVERY_NOT_DEAD/,
  })
})

t.test('webhooks list says why a delivery failed', async (t) => {
  const delivery = {
    id: PAYMENT_ID,
    event_id: 'evt_1_a',
    event_type: 'payment.settled',
    payment_id: null,
    status: 'DEAD',
    last_http_status: null,
    last_error: 'nothing listens there',
    attempt_count: 6,
    next_retry_at: null,
    delivered_at: null,
    created_at: '2026-11-21T09:30:00.000Z',
  }
  const { run } = await service(t, () => ({
    json: { data: [delivery], has_more: false, next_cursor: null, alert: null },
  }))
  t.match(await run(['webhooks', 'list']), { code: 0, stdout: /LAST ERROR\n.*nothing listens there\n$/ })
})
