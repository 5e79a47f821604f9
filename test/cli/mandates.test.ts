import t from 'tap'
import type { Test } from 'tap'
import { fakeAdmin, pageOf } from './admin-harness.ts'
import { startReceiver } from '../support/receiver.ts'
import { PAYMENT_ID, fakeService, paymentOf, refusal, runCli } from './harness.ts'
import { realService } from './real-service.ts'

const ID = '01a1fd03-0000-7eb7-872f-a2b4358c0011'
const AT = '2026-11-21T09:30:00.000Z'

function mandateOf(more: object = {}): Record<string, unknown> {
  return {
    consent_id: ID,
    consent_type: 'VARIABLE_RECURRING',
    status: 'AUTHORISED',
    currency: 'GBP',
    control_parameters: { max_amount_per_payment: '20.00' },
    max_amount_per_payment: '20.00',
    allowances: [
      {
        period: 'MONTH',
        max_amount: '60.00',
        used_amount: '9.99',
        remaining_amount: '50.01',
        resets_at: '2026-12-01T00:00:00.000Z',
      },
    ],
    caps_enforced: true,
    payer_name: 'Ada',
    remittance_reference: 'membership',
    debtor_bank_id: 'mock-albion',
    first_payment_id: PAYMENT_ID,
    payment_count: 3,
    valid_to: '2027-11-21T09:30:00.000Z',
    expires_at: '2027-11-21T09:30:00.000Z',
    created_at: AT,
    updated_at: AT,
    ...more,
  }
}

const AS_MERCHANT = ['--client-id', 'acme-server']
/** A full page: a list reads on from a short one. */
const ONE = ['--limit', '1']

t.test("list shows the merchant's mandates, in 80 columns, and asks for a status", async (t) => {
  const service = await fakeAdmin(t, () => pageOf([mandateOf()], 'next'))
  const { run } = service
  const { code, stdout, stderr } = await run(
    ['payments', 'mandates', 'list', '--status', 'authorised', ...ONE, ...AS_MERCHANT],
    {
      tty: true,
      env: { NO_COLOR: '1' },
    },
  )
  t.equal(code, 0)
  t.match(stdout, /^ID +STATUS +AT MOST[^\n]*PAYER NAME[^\n]*\n358c0011 /)
  t.match(stdout, /AUTHORISED +20\.00 +GBP +3 +Ada +2027-11-21/)
  t.ok(stdout.split('\n').every((line) => line.length <= 80))
  const waiting = await fakeAdmin(t, () =>
    pageOf([mandateOf({ status: 'AWAITING_AUTHORISATION', max_amount_per_payment: '20000.00' })]),
  )
  const narrow = await waiting.run(['payments', 'mandates', 'list', ...AS_MERCHANT], {
    tty: true,
    env: { NO_COLOR: '1' },
  })
  t.match(narrow.stdout, /AWAITING_AUTHORISATION +20000\.00 +GBP +Ada +2027-11-21/, 'the count goes before the name')
  t.match(stderr, 'There are more: --cursor next, or --all')
  t.match(service.requests[0]?.path, /^\/api\/v1\/portal\/consents\?status=AUTHORISED&limit=1$/)
  t.equal((await run(['payments', 'mandates', 'list', '-o', 'id', ...ONE, ...AS_MERCHANT])).stdout, `${ID}\n`)
  const json = await run(['payments', 'mandates', 'list', '--json', ...ONE, ...AS_MERCHANT])
  t.same(JSON.parse(json.stdout), [mandateOf()])
  t.match(await run(['payments', 'mandates', 'list', '--status', 'gone', ...AS_MERCHANT]), { code: 2 })
  const none = await fakeAdmin(t, () => pageOf([]))
  t.match(await none.run(['payments', 'mandates', 'list', ...AS_MERCHANT]), {
    code: 0,
    stdout: '',
    stderr: /no such mandates/,
  })
})

t.test('show prints what is left of each cap, by a part of the id too', async (t) => {
  const { run } = await fakeAdmin(t, ({ path }) => (path.endsWith(ID) ? { json: mandateOf() } : pageOf([mandateOf()])))
  const { code, stdout } = await run(['payments', 'mandates', 'show', ID.slice(-8), ...AS_MERCHANT])
  t.equal(code, 0)
  t.match(stdout, /At most +20\.00 GBP for each payment\nCaps +the service rejects payments above them/)
  t.match(stdout, /PERIOD +AT MOST +USED +LEFT +RESETS\nMONTH +60\.00 +9\.99 +50\.01 +2026-12-01/)
  t.equal(
    (await run(['payments', 'mandates', 'show', ID, '-q', 'allowances[0].remaining_amount', ...AS_MERCHANT])).stdout,
    '50.01\n',
  )
  t.match(await run(['payments', 'mandates', 'show', 'ffffffff', ...AS_MERCHANT]), { code: 6, stderr: /mandates list/ })
  const gone = await fakeAdmin(t, () => refusal(404, 'CONSENT_NOT_FOUND'))
  t.match(await gone.run(['payments', 'mandates', 'show', ID, ...AS_MERCHANT]), { code: 6, stderr: /mandates list/ })
  const kept = await fakeAdmin(t, () => ({ json: mandateOf({ caps_enforced: false, allowances: [] }) }))
  t.match(
    (await kept.run(['payments', 'mandates', 'show', ID, ...AS_MERCHANT])).stdout,
    /Caps +kept as they were given/,
  )
})

t.test('end is asked for in live mode, and shown with --dry-run', async (t) => {
  const answer = () => ({ json: { consent_id: ID, status: 'REVOKED' } })
  const sandbox = await fakeAdmin(t, answer)
  t.match(await sandbox.run(['payments', 'mandates', 'end', ID, '--dry-run', ...AS_MERCHANT]), {
    code: 0,
    stdout: /DELETE .*consents/,
  })
  t.same(sandbox.writes(), [])
  t.match(await sandbox.run(['payments', 'mandates', 'end', ID, ...AS_MERCHANT]), {
    code: 0,
    stdout: /Status +REVOKED/,
  })
  const live = await fakeAdmin(t, answer, { mode: 'live' })
  const end = ['payments', 'mandates', 'end', ID, ...AS_MERCHANT]
  t.match(await live.run(end), { code: 2, stderr: /end the mandate [^]*--yes/ })
  t.match(await live.run(end, { typed: 'no' }), { code: 2 })
  t.same(live.writes(), [])
  t.match(await live.run(end, { typed: ID.slice(-8) }), { code: 0 })
  t.match(await live.run([...end, '--yes']), { code: 0 })
  t.equal(live.writes().length, 2)
  const single = await fakeAdmin(t, () => refusal(409, 'CONSENT_NOT_REVOCABLE'))
  t.match(await single.run(end), { code: 7, stderr: /mandates show/ })
})

async function payments(t: Test, mandate: object = {}) {
  const { url, requests } = await fakeService(t, ({ path }) => {
    if (/\/portal\/consents\/[\w-]{36}$/.test(path)) return { json: mandateOf(mandate) }
    if (path.startsWith('/api/v1/portal/consents')) return pageOf([mandateOf()])
    const { status_history: _history, ...payment } = paymentOf('AwaitingAuthorisation', {
      redirect_url: `http://127.0.0.1/redirect-stub?state=${'s'.repeat(40)}`,
    })
    const known = ['payment_id', 'status', 'redirect_url', 'end_to_end_id', 'gross_amount', 'fee_amount', 'net_amount']
    const names = [...known, 'currency', 'consent_id', 'expires_at', 'created_at']
    return { status: 201, json: Object.fromEntries(names.map((name) => [name, payment[name]])) }
  })
  const run = (words: string[], settings = {}) =>
    runCli(
      ['payments', 'create', '--amount', '9.99', '--currency', 'GBP', ...words, '--api-url', url, ...AS_MERCHANT],
      settings,
    )
  const sent = () => requests.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body))
  return { run, sent, requests }
}

t.test('a mandate is set up with its first payment, and its caps are decimal strings', async (t) => {
  const { run, sent } = await payments(t)
  const caps = ['--max-amount', '20.00', '--periodic', 'month:60.00', '--periodic', 'YEAR:200.00']
  t.match(await run(['--mandate', ...caps, '--valid-to', '2027-06-30T12:00:00Z']), { code: 0 })
  t.match(sent()[0], {
    consent_type: 'VARIABLE_RECURRING',
    control_parameters: {
      max_amount_per_payment: '20.00',
      periodic_limits: [
        { period: 'MONTH', max_amount: '60.00' },
        { period: 'YEAR', max_amount: '200.00' },
      ],
    },
    valid_to: '2027-06-30T12:00:00.000Z',
    redirect_uri: /\/payments\/return$/,
  })
  t.match(await run(['--mandate']), {
    code: 2,
    stderr: /Try: --mandate --max-amount 20\.00\n$/,
  })
  t.match(await run(['--max-amount', '20.00', '--periodic', 'MONTH:1.00']), {
    code: 2,
    stderr: /--max-amount, --periodic and --valid-to are of a new mandate/,
  })
  t.match(await run(['--mandate', '--max-amount', '20.00', '--periodic', 'MONTH']), {
    code: 2,
    stderr: /MONTH:200\.00/,
  })
  t.match(await run(['--mandate', '--max-amount', '20.00', '--valid-to', 'some day']), {
    code: 2,
    stderr: /--valid-to/,
  })
  t.equal(sent().length, 1)
})

t.test('a payment under a mandate sends nothing that the mandate fixes, and has no payer to approve it', async (t) => {
  const { run, sent } = await payments(t)
  t.match(await run(['--consent', ID.slice(-8)]), { code: 0 })
  t.same(sent(), [{ amount: '9.99', currency: 'GBP', consent_id: ID }])
  for (const more of [['--approve'], ['--cancel'], ['--mandate'], ['--qr'], ['--redirect-uri', 'https://shop.example']])
    t.match(await run(['--consent', ID, ...more]), { code: 2, stdout: '' }, more.join(' '))
  t.match(await run(['--consent', ID, '--max-amount', '20.00']), { code: 2, stderr: /are of a new mandate/ })
  t.match(await run(['--consent', ID, '--payer-name', 'Ada']), { code: 2, stderr: /--payer-name: / })
  t.equal(sent().length, 1)
})

t.test('--qr draws the address with the address below it, for people alone', async (t) => {
  const { run, sent } = await payments(t)
  const drawn = await run(['--qr'], { tty: true, columns: 80, env: { NO_COLOR: '1' } })
  t.equal(drawn.code, 0)
  const lines = drawn.stdout.trimEnd().split('\n')
  t.match(lines.at(-1), /^http:\/\/127\.0\.0\.1:\d+\/go\?state=s+$/)
  t.equal(drawn.stdout.match(/state=/g)?.length, 1, 'the address once')
  const code = lines.filter((line) => /^[█▀▄ ]+$/.test(line) && line.includes('█'))
  t.ok(code.length > 15)
  t.ok(code.every((line) => line.length <= 80 && line.length === code[0]?.length))
  const coloured = await run(['--qr'], { tty: true, columns: 80, env: { FORCE_COLOR: '1' } })
  t.ok(coloured.stdout.includes('\u001b[30m\u001b[107m'), 'dark on light')
  const narrow = await run(['--qr'], { tty: true, columns: 30, env: { NO_COLOR: '1' } })
  t.match(narrow, { code: 0, stdout: /go\?state=s+/, stderr: /needs a terminal of \d+ columns/ })
  t.notMatch(narrow.stdout, /█/)
  const before = sent().length
  t.match(await run(['--qr', '--json']), { code: 2 })
  t.equal(sent().length, before)
})

t.test('the whole story against the service: set up, pay, look, end', async (t) => {
  const service = await realService(t, { env: { SVC_VRP_CAPS: 'enforce' } })
  const receiver = await startReceiver(t, ({ response }) => response.end('thanks'))
  const merchant = await service.merchant({ webhookUrl: receiver.url })
  const run = (...words: string[]) => service.as(merchant, words)
  const create = (...words: string[]) => run('payments', 'create', '--amount', '9.99', '--currency', 'GBP', ...words)
  const first = await create(
    '--mandate',
    '--max-amount',
    '20.00',
    '--periodic',
    'MONTH:25.00',
    '--approve',
    '--wait',
    '--json',
  )
  t.equal(first.code, 0, first.stderr)
  const id: string = JSON.parse(first.stdout).consent_id
  t.match(await run('payments', 'mandates', 'list', '-q', '[0].status'), { code: 0, stdout: 'AUTHORISED\n' })
  const second = await create('--consent', id.slice(-12), '--wait', '-q', 'status')
  t.match(second, { code: 0, stdout: 'Settled\n' }, second.stderr)
  t.match(
    (await run('payments', 'mandates', 'show', id)).stdout,
    /Payments +2, the first [^]*MONTH +25\.00 +19\.98 +5\.02/,
  )
  t.match(await create('--consent', id), { code: 2, stderr: /Try: svc .*payments mandates show / })
  t.match(await create('--mandate', '--max-amount', 'much'), { code: 2, stderr: /--max-amount: / })
  t.match(await run('payments', 'mandates', 'end', id, '-q', 'status'), { code: 0, stdout: 'REVOKED\n' })
  t.match(await create('--consent', id), { code: 7, stderr: /mandates show/ })
  t.match((await run('webhooks', 'list')).stdout, /consent\.revoked +(PENDING|DELIVERED) /, 'and no test')
  const [news = ''] = (await run('webhooks', 'list', '-o', 'id')).stdout.split('\n')
  t.match((await run('explain', news)).stdout, /Summary +webhook consent\.revoked/)
  t.match(await run('explain', id), { code: 6, stderr: /svc payments mandates show <id>/ })
})
