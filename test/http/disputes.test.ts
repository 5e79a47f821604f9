import { randomUUID } from 'node:crypto'
import t from 'tap'
import { testService } from '../support/app.ts'
import type { Answer, CallOptions } from '../support/app.ts'
import { raise, submitEvidence, accept } from '../support/disputes.ts'
import { refund, settledPayment } from '../support/payments.ts'
import { countRows } from '../support/rows.ts'

const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
const { owner } = service
const headers = {
  OWNER: await service.operator('OWNER'),
  OPS: await service.operator('OPS'),
  SUPPORT: await service.operator('SUPPORT'),
}
const merchant = await service.merchant()

function call(
  method: 'GET' | 'PUT' | 'POST',
  path: string,
  as: keyof typeof headers,
  options: CallOptions = {},
): Promise<Answer> {
  return service.call(method, path, { ...options, headers: headers[as] })
}

async function openDispute(body?: unknown): Promise<{ id: string; paymentId: string }> {
  const paymentId = await settledPayment(service, merchant)
  const answer = await raise(service, merchant, paymentId, body)
  return { id: answer.body.id, paymentId }
}

const NOTE = { status: 'RESOLVED_PAYER_FAVOUR', resolution_note: 'so it is' }

t.test('OPS escalates and resolves, but an escalated dispute is resolved by an OWNER alone', async (t) => {
  const { id } = await openDispute()
  const body = { reason: 'a large amount', assignee: 'olivia@svc.example' }
  t.match(await call('PUT', `/api/v1/admin/disputes/${id}/escalate`, 'OPS', { body }), {
    status: 200,
    body: { status: 'ESCALATED', escalation_reason: 'a large amount', assignee: 'olivia@svc.example' },
  })
  const before = await countRows(owner)
  t.match(await call('PUT', `/api/v1/admin/disputes/${id}/resolve`, 'OPS', { body: NOTE }), {
    status: 403,
    body: { code: 'FORBIDDEN_ROLE' },
  })
  t.match(await call('PUT', `/api/v1/admin/disputes/${id}/resolve`, 'SUPPORT', { body: NOTE }), { status: 403 })
  t.same(await countRows(owner), before)
  t.match(await call('PUT', `/api/v1/admin/disputes/${id}/resolve`, 'OWNER', { body: NOTE }), {
    status: 200,
    body: { status: 'RESOLVED_PAYER_FAVOUR', escalation_reason: 'a large amount' },
  })
  t.match(await call('PUT', `/api/v1/admin/disputes/${id}/resolve`, 'OPS', { body: NOTE }), {
    status: 409,
    body: { code: 'DISPUTE_CLOSED' },
  })
  const { rows } = await owner.query(
    `select action, actor_role, before ->> 'status' as before, after ->> 'status' as after, reason
     from operator_actions where subject_id = $1 order by ordinal`,
    [id],
  )
  t.same(rows, [
    { action: 'dispute.escalate', actor_role: 'OPS', before: 'OPEN', after: 'ESCALATED', reason: 'a large amount' },
    {
      action: 'dispute.resolve',
      actor_role: 'OWNER',
      before: 'ESCALATED',
      after: 'RESOLVED_PAYER_FAVOUR',
      reason: 'so it is',
    },
  ])
  const reviewed = await openDispute()
  await submitEvidence(service, merchant, reviewed.id)
  t.equal((await call('PUT', `/api/v1/admin/disputes/${reviewed.id}/resolve`, 'OPS', { body: NOTE })).status, 200)
})

t.test('SUPPORT reads disputes with addresses masked; OPS and the merchant read them whole', async (t) => {
  const { id } = await openDispute({ reason: 'OTHER', statement: 'Write to pat@payer.example about it.' })
  await call('PUT', `/api/v1/admin/disputes/${id}/escalate`, 'OPS', {
    body: { reason: 'asked by boss@svc.example', assignee: 'olivia@svc.example' },
  })
  const masked = await call('GET', `/api/v1/admin/disputes/${id}`, 'SUPPORT')
  t.match(masked, { status: 200, body: { statement: 'Write to p***@payer.example about it.' } })
  t.notMatch(masked.text, /pat@|boss@|olivia@/)
  const list = await call('GET', '/api/v1/admin/disputes', 'SUPPORT')
  t.equal(list.status, 200)
  t.notMatch(list.text, /pat@|boss@|olivia@/)
  t.match((await call('GET', `/api/v1/admin/disputes/${id}`, 'OPS')).text, /pat@payer.example[^]*olivia@svc.example/)
  t.match((await service.call('GET', `/api/v1/portal/disputes/${id}`, { merchant })).text, /pat@payer.example/)
})

t.test('SUPPORT sees no phone or account numbers in statements', async (t) => {
  const words = 'ring 07700 900123, account GB29 NWBK 6016 1331 9268 19'
  const { id, paymentId } = await openDispute({ reason: 'OTHER', statement: words })
  await submitEvidence(service, merchant, id, words)
  await call('PUT', `/api/v1/admin/disputes/${id}/escalate`, 'OPS', { body: { reason: words } })
  await call('PUT', `/api/v1/admin/disputes/${id}/resolve`, 'OWNER', { body: { ...NOTE, resolution_note: words } })
  const byPayer = await settledPayment(service, merchant)
  const { body: told } = await service.call('POST', `/api/v1/sandbox/payments/${byPayer}/dispute`, {
    headers: headers.OPS,
    body: { reason: 'OTHER', payer_statement: words },
  })
  await service.call('PUT', `/api/v1/admin/merchants/${merchant.id}/hold`, {
    headers: headers.OPS,
    body: { payout_held: true, reason: words },
  })
  for (const path of [
    `/api/v1/admin/disputes/${id}`,
    `/api/v1/admin/disputes/${told.id}`,
    '/api/v1/admin/disputes',
    `/api/v1/admin/merchants/${merchant.id}`,
    `/api/v1/admin/explain/${id}`,
    `/api/v1/admin/explain/${merchant.id}`,
  ]) {
    const masked = await call('GET', path, 'SUPPORT')
    t.match(masked, { status: 200, text: /ring \*{4}0123, account \*{4}6819/ }, path)
    t.notMatch(masked.text, /900123|6016 ?1331/, path)
    t.match((await call('GET', path, 'OPS')).text, '07700 900123', 'OPS reads it')
  }
  const whole = (await call('GET', `/api/v1/admin/disputes/${id}`, 'OPS')).body
  const { body } = await call('GET', `/api/v1/admin/disputes/${id}`, 'SUPPORT')
  for (const name of [
    'id',
    'payment_id',
    'merchant_id',
    'end_to_end_id',
    'gross_amount',
    'opened_at',
    'evidence_due_at',
  ])
    t.equal(body[name], whole[name], name)
  t.equal(body.payment_id, paymentId)
  await service.call('PUT', `/api/v1/admin/merchants/${merchant.id}/hold`, {
    headers: headers.OPS,
    body: { payout_held: false },
  })
})

t.test('lists show whether there is evidence, and each dispute shows its text', async (t) => {
  const shop = await service.merchant()
  const [quiet, answered] = [await settledPayment(service, shop), await settledPayment(service, shop)]
  const { body: first } = await raise(service, shop, quiet)
  const { body: second } = await raise(service, shop, answered)
  await submitEvidence(service, shop, second.id, 'signed for')
  const one = await service.call('GET', `/api/v1/portal/disputes/${second.id}`, { merchant: shop })
  t.match(one.body, { merchant_evidence: 'signed for', has_evidence: true })
  for (const list of [
    await service.call('GET', '/api/v1/portal/disputes', { merchant: shop }),
    await call('GET', `/api/v1/admin/disputes?merchant_id=${shop.id}`, 'OPS'),
  ]) {
    t.same(
      list.body.data.map(({ id, has_evidence: has }: { id: string; has_evidence: boolean }) => [id, has]),
      [
        [second.id, true],
        [first.id, false],
      ],
    )
    t.notMatch(list.text, /merchant_evidence|signed for/)
  }
})

t.test('a dispute shows the refundable amount of its payment', async (t) => {
  const { id, paymentId } = await openDispute()
  const leftOf = async (): Promise<string[]> => [
    (await service.call('GET', `/api/v1/portal/disputes/${id}`, { merchant })).body.refundable_amount,
    (await call('GET', `/api/v1/admin/disputes/${id}`, 'OPS')).body.refundable_amount,
  ]
  t.same(await leftOf(), ['50.00', '50.00'])
  await refund(service, merchant, { id: paymentId, body: { amount: '12.50' } })
  t.same(await leftOf(), ['37.50', '37.50'])
  await submitEvidence(service, merchant, id)
  await call('PUT', `/api/v1/admin/disputes/${id}/resolve`, 'OPS', { body: { ...NOTE, refund: true } })
  t.same(await leftOf(), ['0.00', '0.00'], 'what is ordered is left no more')
})

t.test('the lists go by when disputes were opened: from a moment on, and before another', async (t) => {
  const shop = await service.merchant()
  const ids: string[] = []
  for (let day = 1; day <= 3; day += 1) {
    const { body } = await raise(service, shop, await settledPayment(service, shop))
    ids.push(body.id)
    await owner.query('update disputes set created_at = $2 where id = $1', [body.id, `2026-05-0${day}T12:00:00Z`])
  }
  const idsOf = ({ body }: Answer): string[] => body.data.map(({ id }: { id: string }) => id)
  for (const [query, expected] of [
    ['from=2026-05-02T12:00:00Z', [ids[1], ids[2]]],
    ['to=2026-05-02T12:00:00Z', [ids[0]]],
    ['from=2026-05-02T14:00:00%2B02:00&to=2026-05-03T12:00:00Z', [ids[1]]],
    ['from=2026-05-04T00:00:00Z', []],
    ['from=2026-05-01T12:00:00Z&limit=2', [ids[0], ids[1]]],
  ] as const) {
    const own = await service.call('GET', `/api/v1/portal/disputes?order=oldest&${query}`, { merchant: shop })
    t.same(idsOf(own), expected, query)
    t.same(
      idsOf(await call('GET', `/api/v1/admin/disputes?order=oldest&merchant_id=${shop.id}&${query}`, 'SUPPORT')),
      expected,
      query,
    )
  }
  for (const query of ['from=yesterday', 'to=2026-05-01', 'from=2026-13-01T00:00:00Z'])
    t.match(await service.call('GET', `/api/v1/portal/disputes?${query}`, { merchant: shop }), {
      status: 400,
      body: { code: 'VALIDATION_FAILED' },
    })
})

t.test('a merchant sees neither the names of operators nor their notes to each other', async (t) => {
  const { id } = await openDispute()
  await submitEvidence(service, merchant, id)
  await call('PUT', `/api/v1/admin/disputes/${id}/escalate`, 'OPS', {
    body: { reason: 'smells of fraud', assignee: 'olivia' },
  })
  await call('PUT', `/api/v1/admin/disputes/${id}/resolve`, 'OWNER', { body: NOTE })
  const own = await service.call('GET', `/api/v1/portal/disputes/${id}`, { merchant })
  t.notMatch(own.text, /smells of fraud|olivia|platform-key/)
  t.match(own.body.events, [
    { event: 'opening', changed_by: 'MERCHANT', actor: String },
    { event: 'evidence', changed_by: 'MERCHANT', actor: String },
    { event: 'escalation', changed_by: 'PLATFORM', actor: null, note: null },
    { event: 'resolution for the payer', changed_by: 'PLATFORM', actor: null, note: 'so it is' },
  ])
  const { body } = await call('GET', `/api/v1/admin/disputes/${id}`, 'OPS')
  t.match(body, { assignee: 'olivia', escalation_reason: 'smells of fraud', resolved_by: /^platform-key/ })
  t.match(body.events, [{}, {}, { actor: /^platform-key/, note: 'smells of fraud' }, { actor: /^platform-key/ }])
})

t.test("another merchant's dispute, an unknown one and a malformed id are the same 404", async (t) => {
  const { id } = await openDispute()
  const stranger = await service.merchant()
  const before = await countRows(owner)
  const unknown = await service.call('GET', `/api/v1/portal/disputes/${randomUUID()}`, { merchant })
  for (const answer of [
    unknown,
    await service.call('GET', `/api/v1/portal/disputes/${id}`, { merchant: stranger }),
    await service.call('GET', '/api/v1/portal/disputes/nonsense', { merchant }),
    await submitEvidence(service, stranger, id),
    await submitEvidence(service, merchant, 'nonsense'),
    await accept(service, stranger, id),
    await accept(service, merchant, randomUUID(), { body: { refund: true } }),
    ...(await Promise.all(
      ['%00', '%ff', '%2F', `${id}x`, `{${id}}`, id.replaceAll('-', ''), 'x'.repeat(4000)].map((each) =>
        service.call('GET', `/api/v1/portal/disputes/${each}`, { merchant }),
      ),
    )),
    await call('GET', '/api/v1/admin/disputes/nonsense', 'OPS'),
    await call('GET', `/api/v1/admin/disputes/${randomUUID()}`, 'OPS'),
    await call('PUT', `/api/v1/admin/disputes/${randomUUID()}/resolve`, 'OWNER', { body: NOTE }),
    await call('PUT', '/api/v1/admin/disputes/nonsense/escalate', 'OWNER', { body: { reason: 'x' } }),
  ]) {
    t.match(answer, { status: 404, body: { code: 'DISPUTE_NOT_FOUND', error: unknown.body.error } })
  }
  t.same(await countRows(owner), before)
  t.same((await service.call('GET', '/api/v1/portal/disputes', { merchant: stranger })).body.data, [])
})

t.test('the lists have their filters and their pages', async (t) => {
  const shop = await service.merchant()
  const payments: string[] = []
  const ids: string[] = []
  while (ids.length < 5) {
    const paymentId = await settledPayment(service, shop)
    payments.push(paymentId)
    ids.push((await raise(service, shop, paymentId)).body.id)
  }
  await submitEvidence(service, shop, ids[1] ?? '')
  const portal = (query: string) => service.call('GET', `/api/v1/portal/disputes?${query}`, { merchant: shop })
  const idsOf = ({ body }: Answer): string[] => body.data.map(({ id }: { id: string }) => id)
  t.same(idsOf(await portal('')), ids.toReversed(), 'the newest first')
  t.same(idsOf(await portal('order=oldest')), ids)
  t.same(idsOf(await portal('status=UNDER_REVIEW')), [ids[1]])
  t.same(idsOf(await portal(`payment_id=${payments[2]}`)), [ids[2]])
  t.same(idsOf(await portal('payment_id=nonsense')), [])
  for (const order of ['newest', 'oldest'] as const) {
    const seen: string[] = []
    let cursor = ''
    do {
      const page = await portal(`order=${order}&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
      seen.push(...idsOf(page))
      t.equal(page.body.has_more, page.body.next_cursor !== null)
      cursor = page.body.next_cursor ?? ''
    } while (cursor !== '')
    t.same(seen, order === 'newest' ? ids.toReversed() : ids)
  }
  const admin = (query: string) => call('GET', `/api/v1/admin/disputes?${query}`, 'SUPPORT')
  t.same(idsOf(await admin(`merchant_id=${shop.id}&order=oldest`)), ids)
  t.same(idsOf(await admin('merchant_id=nonsense')), [])
  t.same(idsOf(await admin('limit=1')), [ids[4]], 'of all merchants')
  t.ok(idsOf(await admin('')).length > 5)
  t.same(idsOf(await admin(`merchant_id=${shop.id}&status=OPEN&limit=2`)), [ids[4], ids[3]])
  for (const query of ['limit=0', 'limit=101', 'status=open', 'cursor=x', 'order=up', 'x=1', 'merchant_id=x']) {
    t.match(await portal(query), { status: 400, body: { code: 'VALIDATION_FAILED' } }, query)
  }
  // Another list's cursor leads nowhere here, and shows nothing of that list.
  const stranger = await service.merchant()
  const { body: page } = await portal('limit=2')
  const foreign = await service.call('GET', `/api/v1/portal/disputes?cursor=${page.next_cursor}`, {
    merchant: stranger,
  })
  t.match(foreign, { status: 200, body: { data: [], has_more: false } })
})

t.test('a disabled, suspended or held merchant still raises, answers and accepts', async (t) => {
  for (const hinder of [
    'set is_active = false',
    `set kyb_status = 'SUSPENDED'`,
    `set payout_held = true, payout_held_at = now(), payout_held_by = 'olga'`,
  ]) {
    const shop = await service.merchant()
    const paymentId = await settledPayment(service, shop)
    await owner.query(`update merchants ${hinder} where id = $1`, [shop.id])
    const raised = await raise(service, shop, paymentId)
    t.equal(raised.status, 201, hinder)
    const { id } = raised.body
    t.equal((await submitEvidence(service, shop, id)).status, 200, hinder)
    t.equal((await service.call('GET', `/api/v1/portal/disputes/${id}`, { merchant: shop })).status, 200, hinder)
    t.match(
      await accept(service, shop, id, { body: { refund: true } }),
      { status: 200, body: { status: 'RESOLVED_PAYER_FAVOUR', refund: { refund_status: 'PENDING' } } },
      hinder,
    )
  }
})

type FieldError = { path: string }

const BAD: [name: string, method: 'PUT' | 'POST', path: string, body: unknown, paths: string[]][] = [
  ['no reason', 'POST', '/api/v1/payments/{p}/dispute', {}, ['reason']],
  [
    'an unknown reason, and no words',
    'POST',
    '/api/v1/payments/{p}/dispute',
    { reason: 'x', statement: ' ' },
    ['reason', 'statement'],
  ],
  ['lower case', 'POST', '/api/v1/payments/{p}/dispute', { reason: 'other' }, ['reason']],
  [
    'a stray member',
    'POST',
    '/api/v1/payments/{p}/dispute',
    { reason: 'OTHER', payer_statement: 'x' },
    ['payer_statement'],
  ],
  [
    'too many words',
    'POST',
    '/api/v1/payments/{p}/dispute',
    { reason: 'OTHER', statement: 'x'.repeat(5001) },
    ['statement'],
  ],
  [
    'text that is turned around',
    'POST',
    '/api/v1/payments/{p}/dispute',
    { reason: 'OTHER', statement: 'a\u202eb' },
    ['statement'],
  ],
  ['no evidence', 'PUT', '/api/v1/portal/disputes/{d}', {}, ['merchant_evidence']],
  ['blank evidence', 'PUT', '/api/v1/portal/disputes/{d}', { merchant_evidence: ' \n ' }, ['merchant_evidence']],
  [
    'evidence of another type',
    'PUT',
    '/api/v1/portal/disputes/{d}',
    { merchant_evidence: ['x'] },
    ['merchant_evidence'],
  ],
  [
    'a status in the evidence',
    'PUT',
    '/api/v1/portal/disputes/{d}',
    { merchant_evidence: 'x', status: 'OPEN' },
    ['status'],
  ],
  ['a refund of text', 'POST', '/api/v1/portal/disputes/{d}/accept', { refund: 'yes', note: '' }, ['refund', 'note']],
]

const BAD_ADMIN: typeof BAD = [
  ['no reason', 'PUT', '/api/v1/admin/disputes/{d}/escalate', {}, ['reason']],
  [
    'a long reason, a broken assignee',
    'PUT',
    '/api/v1/admin/disputes/{d}/escalate',
    { reason: 'x'.repeat(501), assignee: 'a\nb' },
    ['reason', 'assignee'],
  ],
  ['nothing', 'PUT', '/api/v1/admin/disputes/{d}/resolve', {}, ['status', 'resolution_note']],
  ['an open status', 'PUT', '/api/v1/admin/disputes/{d}/resolve', { ...NOTE, status: 'OPEN' }, ['status']],
  ['a blank note', 'PUT', '/api/v1/admin/disputes/{d}/resolve', { ...NOTE, resolution_note: ' ' }, ['resolution_note']],
  ['a refund that is no yes or no', 'PUT', '/api/v1/admin/disputes/{d}/resolve', { ...NOTE, refund: 1 }, ['refund']],
  ['a platform without a reason', 'POST', '/api/v1/admin/payments/{p}/dispute', { statement: 'x' }, ['reason']],
  [
    'a payer with a statement',
    'POST',
    '/api/v1/sandbox/payments/{p}/dispute',
    { reason: 'OTHER', statement: 'x' },
    ['statement'],
  ],
]

t.test('invalid input is reported field by field, and changes nothing', async (t) => {
  const { id, paymentId } = await openDispute()
  const before = await countRows(owner)
  for (const [rows, as] of [
    [BAD, { merchant }],
    [BAD_ADMIN, { headers: headers.OWNER }],
  ] as const) {
    for (const [name, method, path, body, paths] of rows) {
      const answer = await service.call(method, path.replace('{p}', paymentId).replace('{d}', id), { ...as, body })
      t.match(answer, { status: 400, body: { code: 'VALIDATION_FAILED' } }, name)
      t.same(
        answer.body.errors?.map((error: FieldError) => error.path).toSorted(),
        paths.toSorted(),
        `${name}: ${answer.text}`,
      )
    }
  }
  t.same(await countRows(owner), before)
})

t.test('an acceptance needs no body', async (t) => {
  const { id } = await openDispute()
  t.match(await accept(service, merchant, id), {
    status: 200,
    body: { status: 'RESOLVED_PAYER_FAVOUR', resolution_note: null, refund: null },
  })
})
