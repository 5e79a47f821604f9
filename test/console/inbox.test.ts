import { randomUUID } from 'node:crypto'
import t from 'tap'
import { testService } from '../support/app.ts'
import type { TestMerchant } from '../support/app.ts'
import { OPERATOR, escalate, raiseAsPayer, submitEvidence } from '../support/disputes.ts'
import { settledPayment } from '../support/payments.ts'
import { serviceWithRealms } from '../support/realms.ts'
import { plantDead } from '../support/webhooks.ts'

const HOUR = 3_600_000

t.test('operators have everything before them that waits for somebody, the most urgent first', async (t) => {
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
  const { data } = await inbox()
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
      command: `svc outbox list --merchant ${merchant.realm} --status DEAD`,
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
  const wrong = await service.call('GET', '/api/v1/admin/inbox?cursor=wrong', { headers: OPERATOR })
  t.match(wrong, { status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ path: 'cursor' }] } })
})

t.test("a merchant's people have their own before them, as far as their role sees it", async (t) => {
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
