import t from 'tap'
import { MERCHANT_ID, actionOf, fakeAdmin, merchantOf, pageOf } from './admin-harness.ts'
import type { FakeAdmin } from './admin-harness.ts'
import { refusal } from './harness.ts'
import type { Answer, Request } from './harness.ts'

/** Answers as a service with this one merchant does; changes answer the merchant that they make. */
function one(more: object = {}): (request: Request) => Answer {
  const merchant = merchantOf(more)
  return ({ method, path, body }) => {
    if (method === 'PUT') return { json: { ...merchant, ...withoutReason(body) } }
    if (path.startsWith('/api/v1/admin/merchants?')) return pageOf([merchant])
    return { json: { ...merchant, actions: [actionOf()] } }
  }
}

function withoutReason(body: string): object {
  const { reason: _reason, ...changes } = JSON.parse(body)
  return changes
}

function paths({ requests }: FakeAdmin): string[] {
  return requests.map(({ method, path }) => `${method} ${path}`)
}

t.test('list asks what its flags say, as the operator', async (t) => {
  const admin = await fakeAdmin(t, one())
  t.match(
    await admin.run([
      'merchants',
      'list',
      '--status',
      'PENDING',
      '--held',
      '--disabled',
      '--search',
      'Ac me',
      '--limit',
      '5',
    ]),
    { code: 0, stdout: /^ID +REALM +NAME[^]*acme +Acme +PENDING/ },
  )
  t.equal(
    paths(admin)[0],
    'GET /api/v1/admin/merchants?kyb_status=PENDING&payout_held=true&is_active=false&search=Ac+me&limit=5',
  )
  t.equal(admin.requests[0]?.headers['x-platform-user'], 'ada')
  t.match(await admin.run(['merchants', 'list', '-o', 'id']), { code: 0, stdout: `${MERCHANT_ID}\n` })
  t.match(await admin.run(['merchants', 'list', '--limit', '0']), { code: 2 })
})

t.test('--deliveries asks how the newest ones ended, and prints how many arrived', async (t) => {
  const recent = (delivered: number, dead: number) => merchantOf({ recent_deliveries: { delivered, dead } })
  const admin = await fakeAdmin(t, () => pageOf([recent(49, 1), recent(0, 0), recent(50, 0), recent(199, 1)]))
  const { code, stdout } = await admin.run(['merchants', 'list', '--deliveries'], { columns: 140 })
  t.equal(code, 0)
  t.match(stdout, /ACTIVE +DELIVERED/)
  t.same(stdout.match(/\d+%/g), ['98%', '100%', '99%'], 'rounded down, and nothing where none has ended')
  t.same(paths(admin), ['GET /api/v1/admin/merchants?include=recent_deliveries&limit=50'])
  const json = await admin.run(['merchants', 'list', '--deliveries', '-o', 'json'])
  t.same(JSON.parse(json.stdout)[0].recent_deliveries, { delivered: 49, dead: 1 })
  t.match((await admin.run(['merchants', 'list', '--deliveries', '-o', 'csv'])).stdout, /^id,.*,recent_deliveries/)
  const plain = await fakeAdmin(t, one())
  t.notMatch((await plain.run(['merchants', 'list', '-o', 'csv'])).stdout, /recent_deliveries/)
})

t.test('a page says where the next one begins, and --all reads them all', async (t) => {
  const admin = await fakeAdmin(t, ({ path }) => pageOf([merchantOf()], path.includes('cursor=') ? null : 'c1'))
  t.match(await admin.run(['merchants', 'list', '--limit', '1']), { code: 0, stderr: /--cursor c1, or --all/ })
  t.match(await admin.run(['merchants', 'list', '--all', '-o', 'id']), { stdout: `${MERCHANT_ID}\n${MERCHANT_ID}\n` })
  t.equal(paths(admin).at(-1), 'GET /api/v1/admin/merchants?limit=100&cursor=c1')
})

t.test('a merchant is found by id, realm, client id, and the end or beginning of its id', async (t) => {
  for (const name of [MERCHANT_ID, MERCHANT_ID.toUpperCase(), 'acme', 'acme-server', 'a2b4358c4f6d', '01a1fd03-f879']) {
    const admin = await fakeAdmin(t, one())
    t.match(await admin.run(['merchants', 'show', name, '-q', 'id']), { code: 0, stdout: `${MERCHANT_ID}\n` }, name)
    t.equal(paths(admin).at(-1), `GET /api/v1/admin/merchants/${MERCHANT_ID}`, name)
  }
})

t.test('a whole id is asked for at once, and a merchant with its history is shown', async (t) => {
  const admin = await fakeAdmin(t, one({ payout_held: true, payout_held_by: 'grace@pay.example' }))
  const { code, stdout } = await admin.run(['merchants', 'show', MERCHANT_ID])
  t.equal(code, 0)
  t.match(
    stdout,
    /Payouts +held by grace@pay\.example\n[^]*merchant\.kyb +grace@pay\.example \(OPS\) +documents checked/,
  )
  t.equal(admin.requests.length, 1)
})

t.test('a name of no merchant, or of several, is reported, and nothing more is asked', async (t) => {
  const admin = await fakeAdmin(t, one())
  t.match(await admin.run(['merchants', 'show', 'nobody']), { code: 6, stderr: /Try: svc .*merchants list/ })
  t.match(await admin.run(['merchants', 'show', 'Acme Ltd']), { code: 6, stderr: /Try: svc .*merchants list/ })
  const named = await admin.run(['hold', 'set', 'ACME', '--reason', 'x'])
  t.match(
    named,
    { code: 6, stderr: /Try: svc .*merchants show acme\n/ },
    'a trading name chooses nothing, and leads on',
  )
  t.same(admin.writes(), [])
  t.match(await admin.run(['merchants', 'show', 'abc']), { code: 2, stderr: /too short/ })
  const two = [merchantOf(), merchantOf({ id: MERCHANT_ID.replace('01a1', '02a1'), realm_slug: 'acme-2' })]
  const many = await fakeAdmin(t, () => pageOf(two))
  t.match(await many.run(['kyb', 'approve', 'a2b4358c4f6d', '--reason', 'x']), { code: 2, stderr: /a part of several/ })
  t.same(many.writes(), [])
  const gone = await fakeAdmin(t, () => refusal(404, 'MERCHANT_NOT_FOUND'))
  t.match(await gone.run(['merchants', 'show', MERCHANT_ID]), { code: 6 })
})

t.test('a realm whose name is a part of another is not taken for it', async (t) => {
  const admin = await fakeAdmin(t, () => pageOf([merchantOf({ realm_slug: 'acme-ltd' })]))
  t.match(await admin.run(['merchants', 'show', 'acme']), { code: 6 })
})

t.test('disable and enable send what is asked for and why', async (t) => {
  const admin = await fakeAdmin(t, one())
  t.match(await admin.run(['merchants', 'disable', 'acme', '--reason', 'left us', '-q', 'is_active']), {
    code: 0,
    stdout: 'false\n',
  })
  t.match(await admin.run(['merchants', 'enable', 'acme', '--reason', 'back']), { code: 0 })
  const path = `/api/v1/admin/merchants/${MERCHANT_ID}/active`
  t.same(admin.writes(), [
    { method: 'PUT', path, body: { is_active: false, reason: 'left us', expected: { is_active: true } } },
    { method: 'PUT', path, body: { is_active: true, reason: 'back', expected: { is_active: true } } },
  ])
})

t.test('the reason is never left out, nor blank, nor endless', async (t) => {
  const admin = await fakeAdmin(t, one({ kyb_status: 'APPROVED' }))
  for (const words of [
    ['kyb', 'approve'],
    ['kyb', 'refuse'],
    ['kyb', 'suspend'],
    ['kyb', 'reinstate'],
    ['hold', 'set'],
    ['hold', 'release'],
    ['merchants', 'disable'],
    ['merchants', 'enable'],
  ]) {
    t.match(await admin.run([...words, 'acme']), { code: 2, stderr: /--reason/ }, words.join(' '))
    t.match(
      await admin.run([...words, 'acme', '--reason', ' ']),
      { code: 2, stderr: /must not be empty/ },
      words.join(' '),
    )
    t.match(await admin.run([...words, 'acme', '--reason', 'x'.repeat(501)]), { code: 2 }, words.join(' '))
  }
  t.same(admin.requests, [])
})

t.test('a dry run asks the service, and shows the request that it would take', async (t) => {
  const admin = await fakeAdmin(t, one({ kyb_status: 'APPROVED' }))
  const why = ['--reason', 'why', '--dry-run']
  for (const words of [
    ['kyb', 'suspend', 'acme', ...why],
    ['hold', 'set', 'acme', ...why],
    ['hold', 'release', 'acme', ...why],
    ['merchants', 'disable', 'acme', ...why],
    ['merchants', 'enable', 'acme', ...why],
  ]) {
    const { code, stdout, stderr } = await admin.run(words)
    t.equal(code, 0, words.join(' '))
    t.match(stdout, /Would send +PUT http:\/\/\S+\nBody +\{/, words.join(' '))
    t.match(stderr, /Nothing was changed\./)
    t.match(admin.requests.at(-1), { method: 'PUT', path: /\?dry_run=true$/ }, words.join(' '))
  }
  t.same(admin.writes(), [])
  const { stdout } = await admin.run(['hold', 'set', 'acme', ...why, '--json'])
  t.match(JSON.parse(stdout), {
    dry_run: true,
    method: 'PUT',
    url: new RegExp(`/api/v1/admin/merchants/${MERCHANT_ID}/hold$`),
    body: { payout_held: true, reason: 'why' },
    effect: /^this would hold Acme: its payouts are held, and it can create no payments until release; refunds go on$/,
  })
  t.match(await admin.run(['kyb', 'suspend', 'acme', ...why]), {
    stdout: /Effect +this would suspend Acme: KYB from APPROVED to SUSPENDED; it can create no payments\n/,
  })
  t.match(await admin.run(['hold', 'release', 'acme', ...why]), { stdout: /Effect +this would change nothing\n/ })
})

t.test('what the service refuses, a dry run refuses', async (t) => {
  const admin = await fakeAdmin(t, ({ method }) =>
    method === 'GET'
      ? pageOf([merchantOf()])
      : refusal(409, 'REGISTRATION_COMPLETE', { error: 'a complete registration cannot be rolled back' }),
  )
  t.match(await admin.run(['merchants', 'repair', 'acme', '--rollback', '--dry-run']), {
    code: 7,
    stderr: /a complete registration cannot be rolled back/,
  })
  t.match(admin.requests, [{ path: '/api/v1/admin/registrations/acme/repair?dry_run=true' }])
})

t.test('incomplete registrations are listed and repaired', async (t) => {
  const registration = {
    slug: 'acme',
    status: 'PROVISIONING',
    company_name: 'Acme Ltd',
    trading_name: 'Acme',
    admin_email: 'ada@acme.example',
    merchant_id: null,
    warnings: [],
    failure: null,
    invited_at: null,
    created_at: '2026-11-21T09:30:00.000Z',
    problems: ['half-made', 'not invited'],
  }
  const admin = await fakeAdmin(t, ({ method }) =>
    method === 'GET'
      ? pageOf([registration])
      : { json: { slug: 'acme', status: 'FAILED', repaired: ['the realm was taken away'] } },
  )
  t.match(await admin.run(['merchants', 'registrations']), {
    code: 0,
    stdout: /PROVISIONING[^]*half-made; not invited/,
  })
  t.match(await admin.run(['merchants', 'repair', 'acme', '--rollback', '--reason', 'a test']), {
    code: 0,
    stdout: /Repaired +the realm was taken away/,
  })
  t.match(await admin.run(['merchants', 'repair', 'acme']), { code: 0 })
  t.match(await admin.run(['merchants', 'repair', 'acme', '--admin-email', 'ada@acme.example']), { code: 0 })
  const path = '/api/v1/admin/registrations/acme/repair'
  t.same(admin.writes(), [
    { method: 'POST', path, body: { rollback: true, reason: 'a test' } },
    { method: 'POST', path, body: {} },
    { method: 'POST', path, body: { admin_email: 'ada@acme.example' } },
  ])
})

t.test('the review queue is of those that wait, the oldest first', async (t) => {
  const admin = await fakeAdmin(t, () => pageOf([]))
  t.match(await admin.run(['kyb', 'list']), { code: 0, stdout: '', stderr: /No merchant waits/ })
  t.match(await admin.run(['kyb', 'list', '--status', 'SUSPENDED']), { code: 0 })
  t.same(paths(admin), [
    'GET /api/v1/admin/merchants?kyb_status=PENDING&order=oldest&limit=50',
    'GET /api/v1/admin/merchants?kyb_status=SUSPENDED&order=oldest&limit=50',
  ])
})

t.test('each word of KYB leads from one status to another, and nowhere from a third', async (t) => {
  const words = {
    approve: { from: 'PENDING', to: 'APPROVED', never: 'SUSPENDED', instead: 'reinstate' },
    refuse: { from: 'PENDING', to: 'SUSPENDED', never: 'APPROVED', instead: 'suspend' },
    suspend: { from: 'APPROVED', to: 'SUSPENDED', never: 'PENDING', instead: 'refuse' },
    reinstate: { from: 'SUSPENDED', to: 'APPROVED', never: 'PENDING', instead: 'approve' },
  }
  for (const [word, { from, to, never, instead }] of Object.entries(words)) {
    const admin = await fakeAdmin(t, one({ kyb_status: from }))
    t.match(await admin.run(['kyb', word, 'acme', '--reason', 'because', '-q', 'kyb_status']), {
      code: 0,
      stdout: `${to}\n`,
    })
    t.same(admin.writes(), [
      {
        method: 'PUT',
        path: `/api/v1/admin/merchants/${MERCHANT_ID}/kyb`,
        body: { kyb_status: to, reason: 'because', expected: { kyb_status: from } },
      },
    ])
    const other = await fakeAdmin(t, one({ kyb_status: never }))
    t.match(await other.run(['kyb', word, 'acme', '--reason', 'because']), {
      code: 7,
      stderr: new RegExp(`Try: svc --api-url \\S+ kyb ${instead} acme`),
    })
    t.same(other.writes(), [], word)
    const already = await fakeAdmin(t, one({ kyb_status: to }))
    t.match(await already.run(['kyb', word, 'acme', '--reason', 'again']), { code: 0, stderr: /already/ })
  }
})

t.test('holds are set, released and listed', async (t) => {
  const admin = await fakeAdmin(t, one())
  t.match(await admin.run(['hold', 'set', 'acme', '--reason', 'fraud']), { code: 0 })
  t.match(await admin.run(['hold', 'release', 'acme', '--reason', 'cleared']), { code: 0, stderr: /not held/ })
  const path = `/api/v1/admin/merchants/${MERCHANT_ID}/hold`
  t.same(admin.writes(), [
    { method: 'PUT', path, body: { payout_held: true, reason: 'fraud', expected: { payout_held: false } } },
    { method: 'PUT', path, body: { payout_held: false, reason: 'cleared', expected: { payout_held: false } } },
  ])
  t.match(await admin.run(['hold', 'list', '--json']), { code: 0 })
  t.equal(paths(admin).at(-1), 'GET /api/v1/admin/merchants?payout_held=true&limit=50')
})

t.test('people read since when payouts are held, by whom and why', async (t) => {
  const held = { payout_held: true, payout_held_at: '2026-11-21T09:30:00.000Z', payout_held_by: 'grace@pay.example' }
  const actions = [
    actionOf({ reason: 'approved after all' }),
    actionOf({ action: 'merchant.hold', reason: 'under investigation', after: { payout_held: true } }),
    actionOf({ action: 'merchant.hold', reason: 'an older one', after: { payout_held: true } }),
  ]
  const admin = await fakeAdmin(t, ({ path }) =>
    path.includes('?') ? pageOf([merchantOf(held)]) : { json: merchantOf({ ...held, actions }) },
  )
  const { stdout } = await admin.run(['hold', 'list'])
  t.match(stdout, /SINCE +BY +REASON\n.*2026-11-21 09:30:00Z +grace@pay\.example +under investigation\n$/)
})

t.test("a refusal's kind is the exit code", async (t) => {
  const codes = [
    [403, 'FORBIDDEN_ROLE', 5],
    [409, 'KYB_TRANSITION_INVALID', 7],
    [401, 'UNAUTHENTICATED', 4],
    [503, 'IDP_UNAVAILABLE', 1],
  ] as const
  for (const [status, code, exit] of codes) {
    const admin = await fakeAdmin(t, (request) => (request.method === 'GET' ? one()(request) : refusal(status, code)))
    const { code: ended, stderr } = await admin.run(['kyb', 'approve', 'acme', '--reason', 'x', '--json'])
    t.equal(ended, exit, code)
    t.match(JSON.parse(stderr), { error: { code, status } })
  }
})

t.test('a realm that is not there is reported with the command that lists those that are', async (t) => {
  const admin = await fakeAdmin(t, () => refusal(404, 'REGISTRATION_NOT_FOUND'))
  t.match(await admin.run(['merchants', 'repair', 'nope']), {
    code: 6,
    stderr: /Try: svc .*merchants (registrations|list)/,
  })
})

t.test('the step that a command suggests uses the service that the command named', async (t) => {
  const admin = await fakeAdmin(t, one({ kyb_status: 'SUSPENDED' }))
  const { stderr } = await admin.run(['kyb', 'approve', 'acme', '--reason', 'x', '--state-dir', '/srv/svc'])
  t.match(stderr, /Try: svc --api-url http:\S+ --state-dir \/srv\/svc kyb reinstate acme/)
})
