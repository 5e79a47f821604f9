import { randomUUID } from 'node:crypto'
import t from 'tap'
import { testService } from '../support/app.ts'
import type { TestMerchant } from '../support/app.ts'
import { OPERATOR, accept, escalate, raiseAsPayer, submitEvidence } from '../support/disputes.ts'
import { settledPayment } from '../support/payments.ts'
import { serviceWithRealms } from '../support/realms.ts'
import { createPayouts } from '../../src/payouts/create-payouts.ts'
import { payableMerchant } from '../support/payouts.ts'
import { plantDead } from '../support/webhooks.ts'

const HOUR = 3_600_000

t.test('the operator inbox has every task, most urgent first', async (t) => {
  const service = await testService(t)
  const inbox = async (query = '') =>
    (await service.call('GET', `/api/v1/admin/inbox${query}`, { headers: OPERATOR })).body
  t.same(await inbox(), { data: [], has_more: false, next_cursor: null })

  const merchant = await service.merchant()
  const pending = await service.merchant({ kybStatus: 'PENDING' })
  // A Friday in the evening.
  await service.owner.query(`update merchants set created_at = '2026-01-09T18:00:00Z' where id = $1`, [pending.id])
  const disputes = []
  for (let index = 0; index < 3; index += 1)
    disputes.push((await raiseAsPayer(service, await settledPayment(service, merchant))).body.id)
  await submitEvidence(service, merchant, disputes[1])
  await escalate(service, disputes[2])
  await plantDead(service.owner, merchant.id, { count: 2, from: '2026-01-02T10:00:00Z' })
  await service.owner.query(
    `insert into registration (id, slug, status, company_name, trading_name, admin_email, locked_until)
     values ($1, 'half-made', 'PROVISIONING', 'Half Ltd', 'Half', 'h@x.example', now() - interval '1 minute')`,
    [randomUUID()],
  )
  const paid = await payableMerchant(service)
  await createPayouts(service.app)
  await service.owner.query(`update payouts set status = 'SENT', sent_at = $2 where merchant_id = $1`, [
    paid.id,
    '2026-01-01T10:00:00Z',
  ])
  const { data } = await inbox()
  const [unanswered] = data.splice(0, 1)
  t.match(unanswered, {
    kind: 'payouts_unanswered',
    id: paid.id,
    count: 1,
    since: '2026-01-01T10:00:00.000Z',
    due_at: '2026-01-02T18:00:00.000Z',
    command: `svc payouts list --merchant ${paid.realm} --status SENT`,
  })
  await service.owner.query('update payouts set sent_at = now() where merchant_id = $1', [paid.id])
  t.same((await inbox()).data, data, 'what was just sent is no task')
  t.same(
    data.map(({ kind }: { kind: string }) => kind),
    [
      'deliveries_dead',
      'kyb_pending',
      'registration_stuck',
      'dispute_escalated',
      'dispute_under_review',
      'dispute_evidence_due',
    ],
  )
  t.match(data, [
    {
      id: merchant.id,
      merchant_id: merchant.id,
      realm_slug: merchant.realm,
      trading_name: 'Acme',
      summary: '2 deliveries to the merchant are DEAD',
      count: 2,
      since: '2026-01-02T10:00:00.000Z',
      due_at: '2026-01-03T10:00:00.000Z',
      overdue: true,
      command: `svc webhooks list --merchant ${merchant.realm} --status DEAD`,
    },
    { id: pending.id, due_at: '2026-01-12T18:00:00.000Z', command: `svc kyb show ${pending.realm}` },
    { merchant_id: null, realm_slug: 'half-made', overdue: false, command: 'svc merchants repair half-made' },
    { id: disputes[2], command: `svc disputes show ${disputes[2]}` },
    { id: disputes[1], command: `svc disputes show ${disputes[1]}` },
    { id: disputes[0], overdue: false, command: `svc disputes show ${disputes[0]}` },
  ])
  t.equal(Date.parse(data[3].due_at) - Date.parse(data[3].since), 24 * HOUR)
  t.equal(Date.parse(data[4].due_at) - Date.parse(data[4].since), 72 * HOUR)

  const pages = []
  let cursor: string | null = null
  do {
    const page: { data: { id: string }[]; next_cursor: string | null } = await inbox(
      `?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`,
    )
    pages.push(page.data)
    cursor = page.next_cursor
  } while (cursor !== null)
  t.same(
    pages.map(({ length }) => length),
    [2, 2, 2],
  )
  t.same(pages.flat(), data)
  for (const [place, what] of [
    [3, 'an escalated dispute waits for an OWNER'],
    [4, 'a dispute waits for its resolution'],
    [5, 'a dispute waits for evidence from its merchant'],
  ] as const) {
    const end = data[place].id.slice(-8)
    t.equal(data[place].summary, `50.00 GBP item not received (${end}): ${what}`, 'the summary names the dispute')
  }
  const wrong = await service.call('GET', '/api/v1/admin/inbox?cursor=wrong', { headers: OPERATOR })
  t.match(wrong, { status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ path: 'cursor' }] } })
})

t.test('disputes by urgency: open ones as in the inbox, then resolved ones, page by page', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const ids: string[] = []
  for (let index = 0; index < 6; index += 1)
    ids.push((await raiseAsPayer(service, await settledPayment(service, merchant))).body.id)
  await submitEvidence(service, merchant, ids[1] ?? '')
  await escalate(service, ids[2] ?? '')
  await accept(service, merchant, ids[3] ?? '')
  await accept(service, merchant, ids[4] ?? '')
  type Page = { data: { id: string; due_at: string | null }[]; next_cursor: string | null }
  const pageOf = async (query: string): Promise<Page> =>
    (await service.call('GET', `/api/v1/admin/disputes?order=urgent${query}`, { headers: OPERATOR })).body
  const { data } = await pageOf('')
  t.same(
    data.map(({ id }) => id),
    [ids[2], ids[1], ids[0], ids[5], ids[4], ids[3]],
  )
  const waiting = (await service.call('GET', '/api/v1/admin/inbox', { headers: OPERATOR })).body.data
  t.same(
    data.map(({ due_at: due }) => due),
    [...waiting.map(({ due_at: due }: { due_at: string }) => due), null, null],
    'the deadlines of the inbox',
  )
  for (const limit of [1, 2, 4]) {
    const pages: Page['data'] = []
    let cursor: string | null = null
    do {
      const page: Page = await pageOf(`&limit=${limit}${cursor === null ? '' : `&cursor=${cursor}`}`)
      pages.push(...page.data)
      cursor = page.next_cursor
    } while (cursor !== null)
    t.same(pages, data, `in pages of ${limit}`)
  }
  t.same(
    (await pageOf('&status=OPEN')).data.map(({ id }) => id),
    [ids[0], ids[5]],
  )
  const { body: own } = await service.call('GET', '/api/v1/portal/disputes?order=urgent', { merchant })
  t.same(
    own.data.map(({ id }: { id: string }) => id),
    data.map(({ id }) => id),
  )
  t.notOk('due_at' in own.data[0], "the operators' deadline is not shown to the merchant")
  const other = await service.merchant()
  const others = (await raiseAsPayer(service, await settledPayment(service, other))).body.id
  await accept(service, other, others)
  const behind = Buffer.from(`.${others}`).toString('base64url')
  t.same(
    (await service.call('GET', `/api/v1/portal/disputes?order=urgent&cursor=${behind}`, { merchant })).body.data,
    [],
    "nobody's place is among the disputes of another merchant",
  )
  const { body: newest } = await service.call('GET', '/api/v1/admin/disputes?limit=1', { headers: OPERATOR })
  for (const cursor of ['x', newest.next_cursor, Buffer.from('9.nonsense').toString('base64url')])
    t.match(await service.call('GET', `/api/v1/admin/disputes?order=urgent&cursor=${cursor}`, { headers: OPERATOR }), {
      status: 400,
      body: { code: 'VALIDATION_FAILED', errors: [{ path: 'cursor' }] },
    })
})

t.test("a merchant's inbox has its own tasks, as far as the role may see them", async (t) => {
  const { service, person } = await serviceWithRealms(t)
  const merchant = await service.merchant({ webhookUrl: 'https://shop.example/hook' })
  const other = await service.merchant()
  const inbox = async (role: string, of: TestMerchant = merchant) =>
    (await service.call('GET', '/api/v1/portal/inbox', { headers: person(of, { roles: [role] }) })).body.data
  t.same(await inbox('ADMIN'), [])
  await plantDead(service.owner, other.id)
  await plantDead(service.owner, merchant.id)
  await service.owner.query(
    `insert into webhook_attempts (merchant_id, delivery_id, attempt, worker, started_at, duration_ms, outcome, http_status)
     select merchant_id, id, 6, 'test', now(), 10, 'http_410', 410 from webhook_deliveries where merchant_id = $1`,
    [merchant.id],
  )
  await service.owner.query(
    `update merchants set kyb_status = 'SUSPENDED', payout_held = true, payout_held_at = now(),
       webhook_secret_previous = 'v1.x', webhook_secret_previous_expires_at = now() + interval '2 hours',
       webhook_secret_rotated_at = now()
     where id = $1`,
    [merchant.id],
  )
  const items = await inbox('ADMIN')
  t.same(items.map(({ kind }: { kind: string }) => kind).toSorted(), [
    'deliveries_dead',
    'kyb_suspended',
    'payouts_held',
    'secret_overlap_ending',
    'webhook_endpoint_gone',
  ])
  t.same(new Set(items.map(({ merchant_id }: { merchant_id: string }) => merchant_id)), new Set([merchant.id]))
  t.match(items, [
    { kind: 'deliveries_dead', summary: '1 delivery to you is DEAD', command: 'svc webhooks replay --status DEAD' },
  ])
  t.same((await inbox('FINANCE')).map(({ kind }: { kind: string }) => kind).toSorted(), [
    'kyb_suspended',
    'payouts_held',
  ])
  t.match(await inbox('FINANCE', await service.merchant({ kybStatus: 'PENDING' })), [{ kind: 'kyb_pending' }])
})

t.test('a KYB decision is due on the next working day of banks in London', async (t) => {
  const service = await testService(t, { env: { SVC_BANK_HOLIDAYS: '2026-06-22,-2026-05-04' } })
  const due = {
    // Christmas is a Friday, and Boxing Day is made up for on Monday.
    '2026-12-24T09:30:00Z': '2026-12-29T09:30:00.000Z',
    '2026-12-25T09:30:00Z': '2026-12-29T09:30:00.000Z',
    '2026-12-29T09:30:00Z': '2026-12-30T09:30:00.000Z',
    // From summer time into winter's it is the same time of day.
    '2026-10-23T09:30:00Z': '2026-10-26T10:30:00.000Z',
    // In London it is Saturday already.
    '2026-06-12T23:30:00Z': '2026-06-14T23:30:00.000Z',
    // One more holiday than the table has, and one less.
    '2026-06-19T09:30:00Z': '2026-06-23T09:30:00.000Z',
    '2026-05-01T09:30:00Z': '2026-05-04T09:30:00.000Z',
  }
  const expected: Record<string, string> = {}
  for (const [since, at] of Object.entries(due)) {
    const merchant = await service.merchant({ kybStatus: 'PENDING' })
    await service.owner.query('update merchants set created_at = $2 where id = $1', [merchant.id, since])
    expected[merchant.id] = at
    const own = await service.call('GET', '/api/v1/portal/inbox', { merchant })
    t.match(own.body.data, [{ kind: 'kyb_pending', due_at: at }], since)
  }
  const { body } = await service.call('GET', '/api/v1/admin/inbox', { headers: OPERATOR })
  t.same(Object.fromEntries(body.data.map((item: { id: string; due_at: string }) => [item.id, item.due_at])), expected)
})
