import t from 'tap'
import { expireEvidence } from '../../src/disputes/expire-evidence.ts'
import { resumeRefunds } from '../../src/payments/refunds/execute-refund.ts'
import type { Explanation } from '../../src/wire/explain.ts'
import { testService } from '../support/app.ts'
import type { TestMerchant, TestService } from '../support/app.ts'
import { settledPayment } from '../support/payments.ts'

type Disputed = { service: TestService; merchant: TestMerchant; paymentId: string; id: string }

async function disputed(t: Parameters<typeof testService>[0]): Promise<Disputed> {
  const service = await testService(t)
  const merchant = await service.merchant()
  const paymentId = await settledPayment(service, merchant)
  const { body } = await service.call('POST', `/api/v1/payments/${paymentId}/dispute`, {
    merchant,
    body: { reason: 'DUPLICATE_PAYMENT', statement: 'charged twice, says Paula' },
  })
  return { service, merchant, paymentId, id: body.id }
}

async function own({ service, merchant }: Disputed, id: string): Promise<Explanation> {
  return (await service.call('GET', `/api/v1/portal/explain/${id}`, { merchant })).body
}

async function operators({ service }: Disputed, id: string): Promise<Explanation> {
  return (await service.call('GET', `/api/v1/admin/explain/${id}`, { headers: await service.operator() })).body
}

t.test("a dispute's timeline runs from its opening to the refund that its resolution ordered", async (t) => {
  const it = await disputed(t)
  const { service, merchant, id, paymentId } = it
  const open = await own(it, id)
  t.match(open.standing, /^waits for the merchant's evidence until .*, 13 days 23 hours left; without it/)
  t.match(
    open.next.map(({ on, to, how }) => [on, to, how]),
    [
      ['evidence', 'UNDER_REVIEW', `svc disputes evidence ${id} --file <path>`],
      ['evidence deadline', 'UNDER_REVIEW', null],
      ['escalation', 'ESCALATED', null],
      ['acceptance', 'RESOLVED_PAYER_FAVOUR', `svc disputes accept ${id}`],
    ],
  )
  t.notMatch(JSON.stringify(open), /Paula/, 'statements are not shown')
  await service.call('PUT', `/api/v1/portal/disputes/${id}`, { merchant, body: { merchant_evidence: 'signed for' } })
  const reviewed = await own(it, id)
  t.match(reviewed.standing, /^waits for an operator to resolve it; the merchant has submitted evidence\.$/)
  t.match(reviewed.also, [{ what: 'add more evidence' }])
  const headers = await service.operator()
  await service.call('PUT', `/api/v1/admin/disputes/${id}/escalate`, {
    headers,
    body: { reason: 'a pattern of fraud', assignee: 'grace' },
  })
  t.match((await operators(it, id)).standing, /escalated: .*; assigned to grace\.$/)
  t.match((await own(it, id)).standing, /resolve it\.$/, 'the merchant does not see the assignee')
  await service.call('PUT', `/api/v1/admin/disputes/${id}/resolve`, {
    headers,
    body: { status: 'RESOLVED_PAYER_FAVOUR', resolution_note: 'it was twice', refund: true },
  })
  t.match((await own(it, id)).standing, /; the bank has not answered the refund of 50\.00 GBP yet, and is asked next /)
  await service.owner.query("update payment_refunds set resume_at = now() - interval '1 second'")
  await resumeRefunds(service.app)
  const end = await own(it, id)
  t.match(end, { status: 'RESOLVED_PAYER_FAVOUR', next: [], also: [] })
  t.match(end.standing, /^resolved in the payer's favour at .*; 50\.00 GBP went back to the payer\.$/)
  t.same(
    end.timeline.filter(({ kind }) => kind === 'dispute' || kind === 'refund').map(({ status, by }) => [status, by]),
    [
      ['OPEN', 'MERCHANT'],
      ['UNDER_REVIEW', 'MERCHANT'],
      ['ESCALATED', null],
      ['RESOLVED_PAYER_FAVOUR', null],
      ['PENDING', null],
      ['EXECUTED', null],
    ],
  )
  t.same(
    end.timeline.filter(({ kind }) => kind === 'webhook').map(({ text }) => /^webhook (\S+)/.exec(text)?.[1]),
    ['dispute.opened', 'dispute.escalated', 'dispute.resolved'],
    'and only the webhooks about it',
  )
  t.notMatch(JSON.stringify(end), /pattern of fraud|it was twice|\bada\b/)
  const theirs = await operators(it, id)
  t.match(
    theirs.timeline.filter(({ status }) => status === 'ESCALATED' || status === 'RESOLVED_PAYER_FAVOUR'),
    [
      { by: 'ada', text: 'an operator escalated it: a pattern of fraud' },
      { by: 'ada', text: "an operator resolved it in the payer's favour: it was twice" },
    ],
  )
  const payment = await own(it, paymentId)
  t.equal(payment.status, 'Refunded')
  t.ok(
    payment.timeline.some(({ kind, status }) => kind === 'dispute' && status === 'ESCALATED'),
    'its payment shows it too',
  )
})

t.test('a missed evidence deadline is shown, and evidence can still be added', async (t) => {
  const it = await disputed(t)
  const { service, id, paymentId } = it
  t.match((await own(it, paymentId)).standing, /It is disputed \(DUPLICATE_PAYMENT\): the dispute is OPEN\.$/)
  await service.owner.query("update disputes set evidence_due_at = now() - interval '1 second'")
  await expireEvidence(service.app)
  const explanation = await own(it, id)
  t.match(explanation.standing, /the merchant has submitted no evidence in time\.$/)
  t.match(explanation.also, [{ what: 'submit evidence after the deadline' }])
  t.match(explanation.timeline.at(-1), {
    kind: 'dispute',
    by: 'BATCH_JOB',
    text: 'the evidence deadline passed without evidence',
  })
})

t.test('a refund that the bank refused can be ordered again, and both are shown', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const paymentId = await settledPayment(service, merchant, { scenario: 'refund-fails' })
  const raised = await service.call('POST', `/api/v1/payments/${paymentId}/dispute`, {
    merchant,
    body: { reason: 'OTHER' },
  })
  const { id } = raised.body
  const it = { service, merchant, paymentId, id }
  const headers = await service.operator()
  const order = (resolution_note: string) =>
    service.call('PUT', `/api/v1/admin/disputes/${id}/resolve`, {
      headers,
      body: { status: 'RESOLVED_PAYER_FAVOUR', resolution_note, refund: true },
    })
  await service.call('PUT', `/api/v1/portal/disputes/${id}`, { merchant, body: { merchant_evidence: 'x' } })
  await order('first')
  t.same((await operators(it, id)).also, [], 'not while the bank has not answered')
  await resumeRefunds(service.app)
  const theirs = await operators(it, id)
  t.match(
    theirs.standing,
    /the bank rejected the refund of 50\.00 GBP that was ordered with it, and it can be ordered again\.$/,
  )
  t.same(theirs.next, [], 'the dispute is final nevertheless')
  t.same(theirs.also, [
    {
      what: 'order the refund again after the bank rejected it',
      by: 'an operator',
      how: `svc disputes refund ${id} --note "..."`,
    },
    { what: 'refund the payment outside the dispute', by: 'the merchant', how: null },
  ])
  t.match((await own(it, id)).also, [{ how: null }, { how: `svc payments refund ${paymentId}` }])
  t.equal((await order('once more')).status, 200)
  await resumeRefunds(service.app)
  const { timeline } = await operators(it, id)
  t.same(
    timeline.filter(({ kind }) => kind === 'refund').map(({ status }) => status),
    ['PENDING', 'FAILED', 'PENDING', 'FAILED'],
  )
  t.match(timeline.filter(({ kind }) => kind === 'dispute').at(-1), {
    text: 'an operator ordered its refund again: once more',
    status: 'RESOLVED_PAYER_FAVOUR',
  })
  const ofPayment = (await own(it, paymentId)).timeline.filter(({ text }) => /ordered with the resolution/.test(text))
  t.equal(ofPayment.length, 2, 'its payment shows the origin of both')
  t.equal((await service.call('POST', `/api/v1/payments/${paymentId}/refund`, { merchant })).status, 409)
})
