import t from 'tap'
import type { Test } from 'tap'
import { resumeRefunds } from '../../src/payments/refunds/execute-refund.ts'
import { testService } from '../support/app.ts'
import type { Answer } from '../support/app.ts'
import { accept, raise, storyOf, submitEvidence } from '../support/disputes.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { bookingsOf, refund, settledPayment, tally, webhookTypesOf } from '../support/payments.ts'
import { countRows } from '../support/rows.ts'
import { steeredBank } from '../support/steered-bank.ts'

const bank = steeredBank()
const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' }, overrides: { bank: bank.connector } })
bank.behind(service.app.mockBank)
const { owner } = service
const merchant = await service.merchant()
const operators = { OWNER: await service.operator('OWNER'), OPS: await service.operator('OPS') }

type Case = { id: string; paymentId: string }

function settle(id: string, more: Record<string, unknown> = {}, as: keyof typeof operators = 'OPS'): Promise<Answer> {
  return service.call('PUT', `/api/v1/admin/disputes/${id}/resolve`, {
    headers: operators[as],
    body: { status: 'RESOLVED_PAYER_FAVOUR', resolution_note: 'once more', refund: true, ...more },
  })
}

/** Runs the job with a bank that refuses or executes refunds. */
async function bankAnswers(answer: 'refuses' | 'refunds'): Promise<void> {
  if (answer === 'refuses') bank.steer('refund', async () => ({ outcome: 'refused', failureCode: 'ACCOUNT_CLOSED' }))
  await resumeRefunds(service.app)
  bank.steer('refund', undefined)
}

async function reviewed(): Promise<Case> {
  const paymentId = await settledPayment(service, merchant)
  const { body } = await raise(service, merchant, paymentId)
  await submitEvidence(service, merchant, body.id)
  return { id: body.id, paymentId }
}

/** A dispute whose refund the bank refused. */
async function refusedOnce(): Promise<Case> {
  const made = await reviewed()
  t.equal((await settle(made.id, { resolution_note: 'No proof of delivery.' }, 'OWNER')).status, 200)
  await bankAnswers('refuses')
  return made
}

async function changesNothing(t: Test, run: () => Promise<void>): Promise<void> {
  const before = await countRows(owner)
  await run()
  t.same(await countRows(owner), before, 'no table has another number of rows')
}

t.test(
  'a rejected refund is a task of operators until it is ordered again, or nothing is left to refund',
  async (t) => {
    const tasks = async () => {
      const { body } = await service.call('GET', '/api/v1/admin/inbox', { headers: operators.OPS })
      return body.data.filter(({ kind }: { kind: string }) => kind === 'dispute_refund_rejected')
    }
    const { id } = await reviewed()
    await settle(id)
    t.same(await tasks(), [], 'the bank has not answered yet')
    await bankAnswers('refuses')
    const [task, ...others] = await tasks()
    t.same(others, [])
    t.match(task, {
      id,
      merchant_id: merchant.id,
      count: 1,
      summary: /^50\.00 GBP .*: the bank has rejected the refund/,
      command: `svc disputes refund ${id} --note "..."`,
    })
    t.equal(Date.parse(task.due_at) - Date.parse(task.since), 24 * 3_600_000)
    const own = await service.call('GET', '/api/v1/portal/inbox', { merchant })
    t.notMatch(own.text, /dispute_refund_rejected/, 'and none of the merchant')
    await settle(id)
    t.same(await tasks(), [], 'it is ordered again')
    await bankAnswers('refuses')
    t.match(await tasks(), [{ id }], 'and rejected again')
    await owner.query(`update payment_refunds set updated_at = updated_at - interval '31 days' where dispute_id = $1`, [
      id,
    ])
    t.same(await tasks(), [], 'for a month: what is paid otherwise is not known here')
    await settle(id)
    await bankAnswers('refunds')
    t.same(await tasks(), [])
    const elsewhere = await refusedOnce()
    t.match(await tasks(), [{ id: elsewhere.id }])
    await refund(service, merchant, { id: elsewhere.paymentId })
    t.same(await tasks(), [], 'nothing is left of the payment')
  },
)

t.test('a refund that the bank rejected can be ordered again, and the resolution stays unchanged', async (t) => {
  const { id, paymentId } = await refusedOnce()
  const path = `/api/v1/portal/disputes/${id}`
  const { body: before } = await service.call('GET', path, { merchant })
  t.match(before, { refund: { refund_status: 'FAILED' }, refundable_amount: '50.00' })
  const again = await settle(id)
  t.match(again, {
    status: 200,
    body: { refund: { refund_status: 'PENDING', amount: '50.00' }, refundable_amount: '0.00' },
  })
  t.not(again.body.refund.refund_id, before.refund.refund_id, 'it is another refund')
  const {
    refund: _,
    refundable_amount: _amount,
    updated_at: _at,
    events,
    ...after
  } = (await service.call('GET', path, { merchant })).body
  t.match(before, after, 'note, author and time of the resolution are those of the first')
  t.match(events.at(-1), { event: 'refund ordered', changed_by: 'PLATFORM', actor: null, note: 'once more' })
  t.equal(
    (await storyOf(service, id)).at(-1),
    'refund ordered: RESOLVED_PAYER_FAVOUR > RESOLVED_PAYER_FAVOUR by PLATFORM',
  )
  const { rows } = await owner.query(
    `select actor_role, reason, before, after from operator_actions where subject_id = $1 and action = 'dispute.resolve' order by ordinal`,
    [id],
  )
  const first = { status: 'RESOLVED_PAYER_FAVOUR', refund_id: before.refund.refund_id }
  t.match(rows, [
    { actor_role: 'OWNER', reason: 'No proof of delivery.', after: first },
    {
      actor_role: 'OPS',
      reason: 'once more',
      before: { ...first, refund_status: 'FAILED' },
      after: { status: 'RESOLVED_PAYER_FAVOUR', refund_id: again.body.refund.refund_id },
    },
  ])
  await bankAnswers('refunds')
  t.same((await bookingsOf(service, paymentId)).credits, ['50.0000'])
  t.same(
    (await webhookTypesOf(service, paymentId)).slice(3),
    ['dispute.opened', 'dispute.resolved', 'refund.failed', 'payment.refunded'],
    'and no second dispute.resolved',
  )
  await changesNothing(t, async () => {
    t.match(await settle(id), { status: 409, body: { code: 'DISPUTE_CLOSED' } })
  })
  t.same(await brokenInvariants(owner), [])
})

t.test('it can be ordered again after every rejection, with the amount that remains then', async (t) => {
  const { id, paymentId } = await refusedOnce()
  await settle(id)
  await bankAnswers('refuses')
  await refund(service, merchant, { id: paymentId, body: { amount: '12.50' } })
  t.match(await settle(id), { status: 200, body: { refund: { amount: '37.50' } } })
  await bankAnswers('refunds')
  t.same((await bookingsOf(service, paymentId)).credits, ['12.5000', '37.5000'])
  t.same(await brokenInvariants(owner), [])
})

t.test('the refund of an accepted dispute can be ordered again, but not by the merchant', async (t) => {
  const { id, paymentId } = await reviewed()
  await accept(service, merchant, id, { body: { refund: true } })
  await bankAnswers('refuses')
  await changesNothing(t, async () => {
    t.match(await accept(service, merchant, id, { body: { refund: true } }), {
      status: 409,
      body: { code: 'DISPUTE_CLOSED' },
    })
  })
  t.match(await settle(id), { status: 200, body: { refund: { refund_status: 'PENDING' }, resolution_note: null } })
  await bankAnswers('refunds')
  t.same((await bookingsOf(service, paymentId)).credits, ['50.0000'])
  t.same(await brokenInvariants(owner), [])
})

t.test('anything else on a resolved dispute is rejected, and changes nothing', async (t) => {
  const failed = await refusedOnce()
  const pending = await reviewed()
  const plain = await reviewed()
  const won = await reviewed()
  await settle(plain.id, { refund: false })
  await settle(won.id, { status: 'RESOLVED_MERCHANT_FAVOUR', refund: false })
  const emptied = await refusedOnce()
  await refund(service, merchant, { id: emptied.paymentId })
  await settle(pending.id)
  await changesNothing(t, async () => {
    for (const [why, answer] of [
      ['without a refund', await settle(failed.id, { refund: false })],
      ['in the other favour', await settle(failed.id, { status: 'RESOLVED_MERCHANT_FAVOUR', refund: false })],
      ['while the bank is asked', await settle(pending.id)],
      ['where none was ordered', await settle(plain.id)],
      ["in the merchant's favour", await settle(won.id)],
      ['where nothing is left', await settle(emptied.id)],
    ] as const)
      t.match(answer, { status: 409, body: { code: 'DISPUTE_CLOSED' } }, why)
  })
  t.match((await settle(emptied.id)).body.error, /nothing is left of its payment/)
  await bankAnswers('refunds')
  t.same(await brokenInvariants(owner), [])
})

t.test('only an OWNER orders the refund of an escalated dispute again', async (t) => {
  const { id } = await reviewed()
  await service.call('PUT', `/api/v1/admin/disputes/${id}/escalate`, {
    headers: operators.OPS,
    body: { reason: 'a large amount' },
  })
  await settle(id, {}, 'OWNER')
  await bankAnswers('refuses')
  await changesNothing(t, async () => {
    t.match(await settle(id), { status: 403, body: { code: 'FORBIDDEN_ROLE' } })
  })
  t.equal((await settle(id, {}, 'OWNER')).status, 200)
  await bankAnswers('refunds')
  t.same(await brokenInvariants(owner), [])
})

t.test('two concurrent orders create one refund', async (t) => {
  for (let round = 0; round < 3; round += 1) {
    const { id, paymentId } = await refusedOnce()
    const answers = await Promise.all(Array.from({ length: 5 }, () => settle(id)))
    t.same(tally(answers.map(({ status }) => status)), { '200': 1, '409': 4 })
    await bankAnswers('refunds')
    t.same((await bookingsOf(service, paymentId)).credits, ['50.0000'])
  }
  t.same(await brokenInvariants(owner), [])
})

t.test("a refund that can't be ordered names the alternative", async (t) => {
  const { id, paymentId } = await reviewed()
  await refund(service, merchant, { id: paymentId })
  for (const answer of [await settle(id), await accept(service, merchant, id, { body: { refund: true } })])
    t.match(answer, { status: 409, body: { code: 'PAYMENT_ALREADY_REFUNDED', next: /^repeat without refund/ } })
  t.equal((await settle(id, { refund: false })).status, 200)
})
