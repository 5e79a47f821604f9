import t from 'tap'
import type { Test } from 'tap'
import type { TestMerchant } from '../support/app.ts'
import { countRows } from '../support/rows.ts'
import { until } from '../support/until.ts'
import { DISPUTE_ID, MERCHANT_ID, disputeOf, fakeAdmin, pageOf } from './admin-harness.ts'
import type { FakeAdmin } from './admin-harness.ts'
import { paidPayment, realService } from './real-service.ts'
import type { RealService } from './real-service.ts'

type Case = { service: RealService; merchant: TestMerchant; payment: string }

async function settled(t: Test): Promise<Case> {
  const service = await realService(t)
  const merchant = await service.merchant()
  return { service, merchant, payment: await paidPayment(service, merchant) }
}

async function disputed(t: Test): Promise<Case & { dispute: string }> {
  const made = await settled(t)
  const words = [
    'disputes',
    'raise',
    '--as-payer',
    made.payment,
    '--reason',
    'ITEM_NOT_RECEIVED',
    '--statement',
    'nothing came',
  ]
  const { stdout, code } = await made.service.as(made.merchant, [...words, '-o', 'id'])
  t.equal(code, 0)
  return { ...made, dispute: stdout.trim() }
}

t.test(
  'an operator raises a dispute by the end of a payment id, reads it, and resolves it with a refund',
  async (t) => {
    const { service, merchant, payment } = await settled(t)
    const raise = ['disputes', 'raise', payment.slice(-8), '--reason', 'UNAUTHORISED']
    const raised = await service.operate([...raise, '--statement', 'reported by the bank'])
    t.match(raised, { code: 0, stdout: /Opened +\S+ \S+ by PLATFORM\n[^]*The platform says\nreported by the bank\n/ })
    const id = /Dispute +(\S+)/.exec(raised.stdout)?.[1] ?? ''
    t.match(raised.stderr, `Next: svc disputes show ${id}`)

    const listed = await service.operate(['disputes', 'list', '--status', 'OPEN', '--merchant', merchant.realm])
    t.match(
      listed.stdout,
      new RegExp(`ID +STATUS +MERCHANT +REALM[^]*${id} +OPEN +Acme +${merchant.realm} +UNAUTHORISED +50\\.00`),
    )
    t.match(await service.operate(['disputes', 'list', '--payment', payment, '-o', 'id']), { stdout: `${id}\n` })
    t.match(await service.operate(['disputes', 'list', '--status', 'ESCALATED']), { stdout: '', stderr: /no such/ })
    t.match(await service.operate(['disputes', 'list', '--since', '1h', '-o', 'id']), { stdout: `${id}\n` })
    t.match(await service.operate(['disputes', 'list', '--until', '1h', '-o', 'id']), { code: 0, stdout: '' })
    t.match(await service.operate(['disputes', 'list', '--since', 'soon']), {
      code: 2,
      stderr: /--since: invalid time "soon"/,
    })

    await service.as(merchant, ['disputes', 'evidence', id, '--text', 'it was delivered'])
    const resolve = ['disputes', 'resolve', id.slice(-8), '--favour', 'payer', '--note', 'no proof', '--refund']
    const resolved = await service.operate(resolve)
    t.match(resolved, { code: 0, stdout: /Status +RESOLVED_PAYER_FAVOUR\n[^]*Note +no proof\nRefund +50\.00 GBP/ })
    await until('the money is back', async () => {
      return (
        (await service.as(merchant, ['payments', 'refunds', payment, '-q', '[0].refund_status'])).stdout ===
        'EXECUTED\n'
      )
    })
    const shown = await service.operate(['disputes', 'show', id])
    t.match(shown.stdout, /The merchant says\nit was delivered\n\nTIME +EVENT +FROM +TO +BY +WHO/)
    t.match(shown.stdout, /Refund +50\.00 GBP EXECUTED/)
    t.notMatch(shown.stdout, /PLATFORM +ada +no proof/, 'a note is not told twice')
  },
)

t.test('a dry run says what a resolution comes to, in text and in JSON, and changes nothing', async (t) => {
  const { service, merchant, payment, dispute } = await disputed(t)
  await service.as(merchant, ['payments', 'refund', payment, '--amount', '12.50'])
  const words = ['disputes', 'resolve', dispute, '--favour', 'payer', '--note', 'n', '--dry-run']
  t.match(await service.operate(words), { code: 7, stdout: '', stderr: /Try: until when the merchant may answer/ })
  await service.as(merchant, ['disputes', 'evidence', dispute, '--text', 'it was delivered'])
  const before = await countRows(service.owner)
  t.match(await service.operate([...words, '--refund']), {
    code: 0,
    stdout:
      /Would send +PUT [^]*Effect +this would resolve the dispute of 50\.00 GBP at Acme in the payer's favour, and refund 37\.50 GBP, all that is left of it/,
    stderr: /Nothing was changed/,
  })
  const { stdout } = await service.operate([...words, '--json'])
  t.match(JSON.parse(stdout), { dry_run: true, body: { refund: false }, effect: /and refund nothing$/ })
  const escalation = await service.operate(['disputes', 'escalate', dispute, '--reason', 'r', '--dry-run'])
  t.match(
    escalation.stdout,
    /Effect +this would escalate the dispute of 50\.00 GBP at Acme, from UNDER_REVIEW to ESCALATED/,
  )
  t.same(await countRows(service.owner), before)
  t.match(await service.operate(['disputes', 'show', dispute, '-q', 'status']), { stdout: 'UNDER_REVIEW\n' })
})

t.test('what can not be done is refused with what can be', async (t) => {
  const { service, merchant, payment, dispute } = await disputed(t)
  const before = await countRows(service.owner)
  const refused = async (words: string[], code: number, stderr: RegExp): Promise<void> => {
    t.match(await service.operate(['disputes', ...words]), { code, stdout: '', stderr }, words.join(' '))
  }
  const resolve = ['resolve', dispute, '--favour', 'merchant', '--note', 'n']
  await refused(resolve, 7, new RegExp(`Try: until when [^\n]*: svc disputes show ${dispute}\\n`))
  await refused(
    ['raise', payment, '--reason', 'OTHER'],
    7,
    new RegExp(`Try: svc disputes list --payment ${payment} --all-merchants\n`),
  )
  await refused(['show', '00000000-0000-7000-8000-000000000000'], 6, /Try: svc disputes list\n/)
  await refused(['show', 'ffffffff'], 6, /dispute not found: ffffffff\nTry: svc disputes list\n/)
  await refused(['show', 'fff'], 2, /too short/)
  await refused(['raise', 'ffffffff', '--reason', 'OTHER'], 6, /merchant's payment not found: ffffffff/)
  await refused(['raise', payment], 2, /--reason/)
  await refused(['raise', payment, '--reason', 'nonsense'], 2, /ITEM_NOT_RECEIVED/)
  await refused(['raise', payment, '--reason', 'OTHER', '--statement', ' '], 2, /no words/)
  await refused(['raise', payment, '--reason', 'OTHER', '--statement', 'a', '--file', 'b'], 2, /one of them/)
  await refused(['escalate', dispute, '--reason', ' '], 2, /--reason: must not be empty/)
  await refused(['resolve', dispute, '--favour', 'both', '--note', 'n'], 2, /merchant, payer/)
  await refused(['resolve', dispute, '--favour', 'payer'], 2, /--note/)
  for (const more of [[], ['--dry-run']])
    await refused([...resolve, '--refund', ...more], 2, /--refund: a dispute .* refunds nothing/)
  t.same(await countRows(service.owner), before)

  await service.operate(['disputes', 'escalate', dispute, '--reason', 'a pattern', '--assignee', 'grace'])
  t.match((await service.operate(['disputes', 'show', dispute])).stdout, /Assignee +grace\nEscalated for +a pattern\n/)
  await refused(['escalate', dispute, '--reason', 'r'], 7, /Try: as an OWNER: svc disputes resolve /)
  t.match(await service.operate(['disputes', ...resolve]), { code: 0 })
  await refused(resolve, 7, new RegExp(`Try: how it ended: svc disputes show ${dispute}\\n`))
  t.match(await service.as(merchant, ['disputes', 'raise', payment, '--reason', 'OTHER']), { code: 0 }, 'the next one')
})

t.test('a refund of what was refunded already is refused, and the hint leaves it out', async (t) => {
  const { service, merchant, payment, dispute } = await disputed(t)
  t.match(await service.as(merchant, ['payments', 'refund', payment]), { code: 0 })
  await service.as(merchant, ['disputes', 'evidence', dispute, '--text', 'refunded'])
  const resolve = ['disputes', 'resolve', dispute, '--favour', 'payer', '--note', 'n']
  t.match(await service.operate([...resolve, '--refund']), {
    code: 7,
    stderr: /Try: the same command without --refund/,
  })
  t.match(await service.operate(resolve), { code: 0 })
})

t.test('both sides stand side by side in a wide terminal, and below each other in a narrow one', async (t) => {
  const { service, merchant, dispute } = await disputed(t)
  await service.as(merchant, ['disputes', 'evidence', dispute, '--text', 'signed for by the payer '.repeat(8)])
  const wide = await service.operate(['disputes', 'show', dispute], { tty: true, columns: 140, env: { NO_COLOR: '1' } })
  t.match(wide.stdout, /The payer says +The merchant says\nnothing came +signed for/)
  const narrow = await service.operate(['disputes', 'show', dispute], {
    tty: true,
    columns: 60,
    env: { NO_COLOR: '1' },
  })
  t.match(narrow.stdout, /The payer says\nnothing came\n\nThe merchant says\nsigned for/)
  const after = narrow.stdout.slice(narrow.stdout.indexOf('The payer says'))
  t.same(
    after.split('\n').filter((line) => line.length > 60),
    [],
  )
})

/** As operators see it. */
const OF_OPERATORS = {
  trading_name: 'Acme',
  realm_slug: 'acme',
  assignee: null,
  due_at: '2026-12-05T12:00:00.000Z',
  escalation_reason: null,
  resolved_by: null,
}

async function live(t: Test): Promise<FakeAdmin> {
  const dispute = disputeOf({ ...OF_OPERATORS, payer_statement: 'x\u001b[31mred' })
  return fakeAdmin(
    t,
    ({ path }) =>
      path.includes('?limit') || path.includes('&limit') ? pageOf([dispute]) : { json: { ...dispute, events: [] } },
    {
      mode: 'live',
    },
  )
}

const RESOLVE = ['--favour', 'payer', '--note', 'n', '--refund']

t.test("in live mode a resolution asks for the merchant's realm or id, and takes nothing else", async (t) => {
  for (const typed of ['acme', MERCHANT_ID]) {
    const admin = await live(t)
    const { code, stderr } = await admin.run(['disputes', 'resolve', DISPUTE_ID, ...RESOLVE], { typed })
    t.equal(code, 0, typed)
    t.match(stderr, /LIVE\S*: this will resolve [^\n]* and refund 50\.00 GBP, all that is left of it\.\nType acme or /)
    t.equal(admin.writes().length, 1)
  }
  for (const typed of ['', 'yes', 'Acme', DISPUTE_ID]) {
    const admin = await live(t)
    t.match(await admin.run(['disputes', 'resolve', DISPUTE_ID, ...RESOLVE], { typed }), { code: 2 }, typed)
    t.same(admin.writes(), [], typed)
  }
})

t.test('in live mode a refund is ordered again only when it is asked for', async (t) => {
  const refund = { refund_id: MERCHANT_ID, refund_status: 'FAILED', amount: '50.00' }
  const more = { ...OF_OPERATORS, status: 'RESOLVED_PAYER_FAVOUR', resolved_at: '2026-11-21T09:30:00.000Z', refund }
  const dispute = { ...disputeOf(more), events: [] }
  const again = ['disputes', 'refund', DISPUTE_ID, '--note', 'n']
  for (const [typed, code] of [
    ['acme', 0],
    ['', 2],
  ] as const) {
    const admin = await fakeAdmin(t, () => ({ json: dispute }), { mode: 'live' })
    t.match(await admin.run(again, { typed }), {
      code,
      stderr:
        /LIVE\S*: this will order the refund of the dispute of 50\.00 GBP at Acme again: refund 50\.00 GBP, all that/,
    })
    t.equal(admin.writes().length, code === 0 ? 1 : 0)
  }
  const admin = await fakeAdmin(t, () => ({ json: dispute }), { mode: 'live' })
  t.match(await admin.run([...again, '--dry-run']), { code: 0, stdout: /Effect +this would order the refund/ })
  t.same(admin.writes(), [])
})

t.test('in live mode a program resolves with --yes and a whole id alone', async (t) => {
  const admin = await live(t)
  const run = (id: string, ...more: string[]) => admin.run(['disputes', 'resolve', id, ...RESOLVE, ...more])
  t.match(await run(DISPUTE_ID), { code: 2, stderr: /Try: the same command with --yes/ })
  t.match(await run(DISPUTE_ID.slice(-8), '--yes'), { code: 2, stderr: /the whole id, and --yes/ })
  t.same(admin.writes(), [])
  t.match(await run(DISPUTE_ID, '--dry-run'), { code: 0 })
  t.same(admin.writes(), [])
  t.match(await run(DISPUTE_ID, '--yes'), { code: 0 })
  t.equal(admin.writes().length, 1)
})

t.test("a person's words never drive the terminal", async (t) => {
  const admin = await live(t)
  const { stdout } = await admin.run(['disputes', 'show', DISPUTE_ID, '--all-merchants'], {
    tty: true,
    env: { NO_COLOR: '1' },
  })
  t.match(stdout, 'x\\u001b[31mred')
  t.notMatch(stdout, '\u001b')
})

t.test(
  'an operator sees all disputes, and a merchant its own; with credentials of both a flag says which',
  async (t) => {
    const { service, merchant, dispute } = await disputed(t)
    const other = await service.merchant()
    const ids = async (words: string[], who = other) =>
      (await service.as(who, ['disputes', ...words, '-o', 'id'])).stdout
    t.equal(await ids(['list']), '')
    for (const words of [
      ['list', '--all-merchants'],
      ['list', '--merchant', merchant.realm],
      ['show', dispute, '--all-merchants'],
    ])
      t.equal(await ids(words), `${dispute}\n`, words.join(' '))
    t.equal(await ids(['list'], merchant), `${dispute}\n`)
    t.match(await service.operate(['disputes', 'list']), { code: 0, stdout: /Acme/ })
    t.match(await service.as(other, ['disputes', 'show', dispute]), { code: 6, stderr: /Try: svc disputes list\n/ })
  },
)

t.test('a dispute is raised by the merchant, an operator, or the payer of the sandbox', async (t) => {
  const { service, merchant, payment } = await settled(t)
  const raise = ['disputes', 'raise', payment, '--reason', 'OTHER', '--dry-run']
  const asMerchant = (words: string[]) => service.as(merchant, [...raise, ...words])
  t.match(await asMerchant([]), {
    code: 0,
    stdout: /POST \S+\/api\/v1\/payments\/[^]*Effect +this would dispute payment \w{8} of 50\.00 GBP: OTHER/,
  })
  t.match(await asMerchant(['--as-operator']), { code: 0, stdout: /POST \S+\/api\/v1\/admin\/payments\// })
  t.match(await asMerchant(['--as-payer', '--statement', 'w']), {
    code: 0,
    stdout: /POST \S+\/api\/v1\/sandbox\/payments\/[^]*payer_statement/,
  })
  t.match(await asMerchant(['--as-payer', '--as-operator']), { code: 2, stdout: '' })
  t.match(await service.operate(raise), { code: 0, stdout: /\/api\/v1\/admin\/payments\// })
  t.match(await service.operate([...raise, '--as-payer']), { code: 0, stdout: /\/api\/v1\/sandbox\/payments\// })
})

t.test('a dry run is refused where the change would be', async (t) => {
  const { service, merchant, payment, dispute } = await disputed(t)
  const words = ['--reason', 'OTHER', '--statement', 'why']
  const alike = async (line: string[], error: string, isOperator = false): Promise<void> => {
    for (const more of [['--dry-run'], []]) {
      const all = ['disputes', ...line, ...more, '--json']
      const { code, stderr } = await (isOperator ? service.operate(all) : service.as(merchant, all))
      t.match([code, JSON.parse(stderr).error.code], [7, error], all.join(' '))
    }
  }
  await alike(['raise', payment, ...words], 'DISPUTE_ALREADY_OPEN')
  await alike(['raise', payment, ...words], 'DISPUTE_ALREADY_OPEN', true)
  await alike(['raise', '--as-payer', payment, ...words], 'DISPUTE_ALREADY_OPEN')
  await alike(['resolve', dispute, '--favour', 'payer', '--note', 'n'], 'DISPUTE_NOT_UNDER_REVIEW', true)
  await alike(['refund', dispute, '--note', 'n'], 'DISPUTE_NOT_UNDER_REVIEW', true)
  await service.as(merchant, ['disputes', 'accept', dispute])
  await alike(['escalate', dispute, '--reason', 'r'], 'DISPUTE_CLOSED', true)
  await alike(['accept', dispute], 'DISPUTE_CLOSED')
  await alike(['evidence', dispute, '--text', 'a'], 'DISPUTE_CLOSED')
})
