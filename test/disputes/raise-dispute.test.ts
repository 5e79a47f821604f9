import { randomUUID } from 'node:crypto'
import t from 'tap'
import { resumeRefunds } from '../../src/payments/refunds/execute-refund.ts'
import { askAgain, authorisedPayment, createPayment, testService } from '../support/app.ts'
import { accept, raise, raiseAsPayer, raiseAsPlatform, resolve, storyOf, submitEvidence } from '../support/disputes.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { refund, settledPayment, tally, times, webhookTypesOf } from '../support/payments.ts'
import { countRows } from '../support/rows.ts'

const service = await testService(t)
const { owner } = service
const merchant = await service.merchant()

t.test('merchant, payer and platform dispute a payment, each with its own statement', async (t) => {
  const paymentId = await settledPayment(service, merchant, { amount: '12.50' })
  const shown = { payment_id: paymentId, merchant_id: merchant.id, gross_amount: '12.50', currency: 'GBP' }
  const fresh = { status: 'OPEN', merchant_evidence: null, evidence_missing: false, refund: null, resolved_at: null }
  const byMerchant = await raise(service, merchant, paymentId, {
    reason: 'DUPLICATE_PAYMENT',
    statement: 'Paid twice.',
  })
  t.match(byMerchant, {
    status: 201,
    headers: { location: `/api/v1/portal/disputes/${byMerchant.body.id}` },
    body: { ...shown, ...fresh, opened_by: 'MERCHANT', reason: 'DUPLICATE_PAYMENT', statement: 'Paid twice.' },
  })
  t.equal(byMerchant.body.payer_statement, null)
  t.match(byMerchant.body.end_to_end_id, /^SVC[0-9a-f]{32}$/)
  t.same(await storyOf(service, byMerchant.body.id), ['opening: - > OPEN by MERCHANT'])
  await accept(service, merchant, byMerchant.body.id)

  const byPayer = await raiseAsPayer(service, paymentId)
  t.match(byPayer, {
    status: 201,
    body: { ...shown, ...fresh, opened_by: 'PAYER', payer_statement: 'It never came.', statement: null },
  })
  t.same(await storyOf(service, byPayer.body.id), ['opening: - > OPEN by PAYER'])
  await accept(service, merchant, byPayer.body.id)

  const byPlatform = await raiseAsPlatform(service, paymentId)
  t.match(byPlatform, {
    status: 201,
    headers: { location: `/api/v1/admin/disputes/${byPlatform.body.id}` },
    body: { ...shown, ...fresh, opened_by: 'PLATFORM', statement: 'The bank asks.', trading_name: 'Acme' },
  })
  t.same(await storyOf(service, byPlatform.body.id), ['opening: - > OPEN by PLATFORM'])

  const { rows } = await owner.query(
    `select actor_name, subject_id, merchant_id, reason, after from operator_actions where action = 'dispute.raise' order by ordinal`,
  )
  t.match(rows, [
    { actor_name: 'olga', subject_id: byPayer.body.id, after: { opened_by: 'PAYER' } },
    {
      actor_name: 'olga',
      subject_id: byPlatform.body.id,
      merchant_id: merchant.id,
      reason: 'The bank asks.',
      after: { status: 'OPEN', payment_id: paymentId, opened_by: 'PLATFORM', reason: 'UNAUTHORISED' },
    },
  ])
  t.equal(rows.length, 2, "the merchant's own is no act of an operator")
})

t.test('the statement is optional', async (t) => {
  const paymentId = await settledPayment(service, merchant)
  const { body } = await raise(service, merchant, paymentId, { reason: 'OTHER' })
  t.match(body, { status: 'OPEN', statement: null, payer_statement: null })
  const { rows } = await owner.query('select note, actor_name from dispute_events where dispute_id = $1', [body.id])
  t.match(rows, [{ note: null, actor_name: String }])
})

t.test('only settled or refunded payments can be disputed', async (t) => {
  const waiting = (await createPayment(service, merchant)).body.payment_id
  const { id: authorised } = await authorisedPayment(service, merchant, { scenario: 'success-slow-settle:2h' })
  const failed = (await createPayment(service, merchant)).body.payment_id
  await service.call('POST', `/api/v1/payments/${failed}/cancel`, { merchant })
  const before = await countRows(owner)
  for (const [id, status] of [
    [waiting, 'AwaitingAuthorisation'],
    [authorised, 'Authorised'],
    [failed, 'Failed'],
  ] as const) {
    for (const answer of [
      await raise(service, merchant, id),
      await raiseAsPayer(service, id),
      await raiseAsPlatform(service, id),
    ]) {
      t.match(answer, { status: 409, body: { code: 'PAYMENT_NOT_DISPUTABLE', error: new RegExp(status) } })
    }
  }
  t.same(await countRows(owner), before)
  const refunded = await settledPayment(service, merchant)
  await refund(service, merchant, { id: refunded })
  t.equal((await raise(service, merchant, refunded)).status, 201, 'a Refunded payment can')
})

t.test("a payment can't be disputed after the configured number of days", async (t) => {
  const paymentId = await settledPayment(service, merchant)
  const age = (interval: string) =>
    owner.query(`update payment_intents set created_at = now() - $2::interval where id = $1`, [paymentId, interval])
  await age('120 days 1 second')
  const before = await countRows(owner)
  for (const answer of [await raise(service, merchant, paymentId), await raiseAsPlatform(service, paymentId)]) {
    t.match(answer, { status: 409, body: { code: 'PAYMENT_NOT_DISPUTABLE', error: /more than 120 days ago/ } })
  }
  t.same(await countRows(owner), before)
  await age('119 days 23 hours')
  t.equal((await raise(service, merchant, paymentId)).status, 201)
})

t.test('of fifty concurrent requests exactly one opens a dispute', async (t) => {
  const paymentId = await settledPayment(service, merchant)
  const answers = await times(50, (index) =>
    askAgain(() =>
      index % 3 === 0
        ? raiseAsPayer(service, paymentId)
        : index % 3 === 1
          ? raise(service, merchant, paymentId)
          : raiseAsPlatform(service, paymentId),
    ),
  )
  t.same(tally(answers.map(({ status }) => status)), { '201': 1, '409': 49 })
  t.same(
    new Set(answers.filter(({ status }) => status === 409).map(({ body }) => body.code)),
    new Set(['DISPUTE_ALREADY_OPEN']),
  )
  const { rows } = await owner.query('select count(*)::int4 as count from disputes where payment_intent_id = $1', [
    paymentId,
  ])
  t.same(rows, [{ count: 1 }])
  t.equal((await webhookTypesOf(service, paymentId)).filter((type) => type === 'dispute.opened').length, 1)
  t.same(await brokenInvariants(owner), [])
})

t.test('a second dispute is rejected in each state of the first, and accepted once that is resolved', async (t) => {
  const paymentId = await settledPayment(service, merchant)
  const { body: first } = await raise(service, merchant, paymentId)
  const refuse = async () =>
    t.match(await raise(service, merchant, paymentId), { status: 409, body: { code: 'DISPUTE_ALREADY_OPEN' } })
  await refuse()
  await submitEvidence(service, merchant, first.id)
  await refuse()
  await resolve(service, first.id, { refund: true })
  const second = await raise(service, merchant, paymentId)
  t.equal(second.status, 201)
  t.not(second.body.id, first.id)
  await resumeRefunds(service.app)
  t.same(await brokenInvariants(owner), [])
})

t.test('another merchant, an unknown payment and a malformed id are the same 404', async (t) => {
  const paymentId = await settledPayment(service, merchant)
  const stranger = await service.merchant()
  const before = await countRows(owner)
  const answers = [
    await raise(service, stranger, paymentId),
    await raise(service, merchant, randomUUID()),
    await raise(service, merchant, 'nonsense'),
    await raiseAsPlatform(service, randomUUID()),
    await raiseAsPayer(service, 'nonsense'),
  ]
  for (const { status, body } of answers)
    t.match(
      { status, code: body.code, error: body.error },
      {
        status: 404,
        code: 'PAYMENT_NOT_FOUND',
        error: answers[0]?.body.error,
      },
    )
  t.same(await countRows(owner), before)
})

t.test('each side disputes a payment at most twenty times, and uses up none of another', async (t) => {
  const paymentId = await settledPayment(service, merchant)
  await owner.query(
    `insert into disputes (id, merchant_id, payment_intent_id, opened_by, reason, status, evidence_due_at, resolved_at)
     select gen_random_uuid(), $1, $2, 'MERCHANT', 'OTHER', 'RESOLVED_PAYER_FAVOUR', now(), now() from generate_series(1, 19)`,
    [merchant.id, paymentId],
  )
  const twins = await Promise.all([raise(service, merchant, paymentId), raise(service, merchant, paymentId)])
  t.same(tally(twins.map(({ status }) => status)), { '201': 1, '409': 1 })
  await accept(service, merchant, twins.find(({ status }) => status === 201)?.body.id)
  const before = await countRows(owner)
  const atMost = { status: 409, body: { code: 'PAYMENT_NOT_DISPUTABLE', error: /disputed 20 times from this side/ } }
  t.match(await raise(service, merchant, paymentId), atMost)
  t.same(await countRows(owner), before)
  const story = async () => {
    const { body } = await service.call('GET', `/api/v1/portal/explain/${paymentId}`, { merchant })
    return JSON.stringify(body.also)
  }
  t.match(await story(), /dispute it.*"the payer or an operator"/)
  t.notMatch(await story(), /disputes raise/, 'and its merchant is offered no other dispute')

  for (const raiseAs of [raiseAsPayer, raiseAsPlatform]) {
    const other = await raiseAs(service, paymentId)
    t.equal(other.status, 201, other.text)
    await accept(service, merchant, other.body.id)
  }
  await owner.query(
    `insert into disputes (id, merchant_id, payment_intent_id, opened_by, reason, status, evidence_due_at, resolved_at)
     select gen_random_uuid(), $1, $2, side, 'OTHER', 'RESOLVED_PAYER_FAVOUR', now(), now()
     from generate_series(1, 19), unnest('{PAYER,PLATFORM}'::dispute_opened_by[]) side`,
    [merchant.id, paymentId],
  )
  t.match(await raiseAsPayer(service, paymentId), atMost)
  t.match(await raiseAsPlatform(service, paymentId), atMost)
  t.notMatch(await story(), /dispute it/)
  // Rows without events, which other tests must not see.
  await owner.query(
    `delete from disputes d where payment_intent_id = $1
       and not exists (select from dispute_events e where e.merchant_id = d.merchant_id and e.dispute_id = d.id)`,
    [paymentId],
  )
})

t.test("the acceptance of a payer's dispute is in the operators' audit trail, with or without a refund", async (t) => {
  const actions = async (ids: readonly string[]) => {
    const { rows } = await owner.query(
      `select actor_role, merchant_id, subject_id, reason, before, after from operator_actions
       where action = 'dispute.accept' and subject_id = any($1) order by ordinal`,
      [ids],
    )
    return rows
  }
  const paymentId = await settledPayment(service, merchant)
  const own = (await raise(service, merchant, paymentId)).body.id
  await accept(service, merchant, own)
  const first = (await raiseAsPayer(service, paymentId)).body.id
  await accept(service, merchant, first, { body: { note: 'Sorry.' } })
  const second = (await raiseAsPayer(service, paymentId)).body.id
  const { body: accepted } = await accept(service, merchant, second, { body: { refund: true } })
  t.match(await actions([own, first, second]), [
    {
      merchant_id: merchant.id,
      subject_id: first,
      reason: null,
      before: { status: 'OPEN' },
      after: { status: 'RESOLVED_PAYER_FAVOUR', payment_id: paymentId, opened_by: 'PAYER', refund_id: null },
    },
    { subject_id: second, after: { refund_id: accepted.refund.refund_id } },
  ])
  t.equal((await actions([own])).length, 0)
  const { body } = await service.call('GET', '/api/v1/admin/audit?limit=100', {
    headers: { 'x-platform-user': 'olga' },
  })
  t.ok(
    body.data.some(({ action, subject_id: id }: Record<string, string>) => action === 'dispute.accept' && id === first),
  )
  await resumeRefunds(service.app)
})
