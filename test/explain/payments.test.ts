import t from 'tap'
import { setPayoutHold } from '../../src/merchant-status/set-payout-hold.ts'
import { expireConsents } from '../../src/payments/expire-consents.ts'
import { resumeRefunds } from '../../src/payments/refunds/execute-refund.ts'
import { settlePayments } from '../../src/payments/settle-payments.ts'
import type { Explanation, TimelineEntry } from '../../src/wire/explain.ts'
import { atBank, authorisedPayment, createPayment, testService, until, untilStatus } from '../support/app.ts'
import type { TestMerchant, TestService } from '../support/app.ts'
import { completeSca, endConsent, refund, settledPayment } from '../support/payments.ts'
import { startReceiver } from '../support/receiver.ts'

async function explained(service: TestService, merchant: TestMerchant, id: string): Promise<Explanation> {
  const { status, body, text } = await service.call('GET', `/api/v1/portal/explain/${id}`, { merchant })
  if (status !== 200) throw new Error(`${status} ${text}`)
  return body
}

function kindsOf(timeline: readonly TimelineEntry[], ...kinds: string[]): string[] {
  return timeline
    .filter(({ kind }) => kinds.includes(kind))
    .map(({ kind, status, text }) => `${kind} ${status ?? text}`)
}

t.test('a waiting payment says until when, for whom, and how to cancel it', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const { body } = await createPayment(service, merchant, { payer_name: 'Paula Payer' })
  const explanation = await explained(service, merchant, body.payment_id)
  t.equal(explanation.kind, 'payment')
  t.equal(explanation.title, 'payment of 50.00 GBP')
  t.match(
    explanation.standing,
    /^waits for the payer to authorise it at the bank until \d{4}-\d\d-\d\d [\d:]+Z, \d+ (hour|minute)s?.* left\.$/,
  )
  t.match(explanation.timeline[0], {
    kind: 'payment',
    by: 'MERCHANT_API',
    status: 'AwaitingAuthorisation',
    text: "created: 50.00 GBP, of which 0.70 is the fee (1% and 0.20) and 49.30 the merchant's",
  })
  t.same(kindsOf(explanation.timeline, 'consent', 'webhook', 'due'), [
    'consent AWAITING_AUTHORISATION',
    'webhook PENDING',
    'due the consent expires; the payment fails if it is still waiting',
  ])
  t.equal(explanation.timeline.at(-1)?.at, body.expires_at)
  t.match(
    explanation.next.find(({ on }) => on === 'cancellation'),
    { to: 'Failed', how: `svc payments cancel ${body.payment_id}`, webhook: 'payment.failed' },
  )
  t.equal(explanation.next.find(({ on }) => on === 'expiry')?.at, body.expires_at)
  t.notMatch(JSON.stringify(explanation), /Paula/, 'without the payer')
})

t.test('a partly refunded payment shows every move, and every webhook with its attempts', async (t) => {
  const receiver = await startReceiver(t)
  const service = await testService(t, { worker: true })
  const merchant = await service.merchant({ webhookUrl: receiver.url })
  const { id } = await authorisedPayment(service, merchant)
  await untilStatus(service, merchant, id, 'Settled')
  await refund(service, merchant, { id, body: { amount: '20.00' } })
  const explanation = await until(async () => {
    const read = await explained(service, merchant, id)
    return read.timeline.filter(({ kind, status }) => kind === 'attempt' && status === 'delivered').length === 4 && read
  })
  t.equal(
    explanation.standing,
    'settled: the bank has executed it; 20.00 GBP of 50.00 GBP refunded, 30.00 GBP refundable. Its money is in the next settlement.',
  )
  t.same(kindsOf(explanation.timeline, 'payment', 'refund'), [
    'payment AwaitingAuthorisation',
    'payment Authorised',
    'payment Settled',
    'refund PENDING',
    'refund EXECUTED',
  ])
  t.same(
    explanation.timeline
      .filter(({ kind }) => kind === 'webhook')
      .map(({ text, status }) => `${text.split(' ')[1]} ${status}`),
    ['payment.initiated', 'payment.authorized', 'payment.settled', 'payment.partially_refunded'].map(
      (type) => `${type} DELIVERED`,
    ),
  )
  const attempt = explanation.timeline.find(({ kind }) => kind === 'attempt')
  t.match(attempt?.text, /^attempt 1 of 6: delivered with HTTP 200, after \d+ ms$/)
  t.ok(
    explanation.timeline.some(({ kind, ref }) => kind === 'webhook' && ref === attempt?.ref),
    'it names its webhook',
  )
  t.same(
    explanation.timeline.map(({ at }) => at),
    explanation.timeline.map(({ at }) => at).toSorted(),
    'in order of time',
  )
  t.match(explanation.next, [{ on: 'refund', to: 'Refunded', at: null, how: `svc payments refund ${id}` }])
  t.match(explanation.also, [{ how: `svc disputes raise ${id} --reason OTHER --statement "..."` }])
  await refund(service, merchant, { id })
  const end = await explained(service, merchant, id)
  t.match(end, { status: 'Refunded', standing: 'refunded in full: 50.00 GBP went back to the payer.', next: [] })
  await t.test("it is found by its end-to-end id and by its refund's id", async (t) => {
    const { body } = await service.call('GET', `/api/v1/payments/${id}`, { merchant })
    t.equal((await explained(service, merchant, body.end_to_end_id)).id, id)
    const made = end.timeline.find(({ kind }) => kind === 'refund')
    t.equal((await explained(service, merchant, made?.ref ?? '')).id, id)
  })
})

t.test("a failed payment names who ended it: the bank, the merchant, the payer or the consent's end", async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const create = async (): Promise<{ id: string; url: string }> => {
    const { body } = await createPayment(service, merchant)
    return { id: body.payment_id, url: body.redirect_url }
  }
  const denied = await create()
  await completeSca(service, denied.id, await atBank(denied.url, 'cancel'))
  t.match(await explained(service, merchant, denied.id), {
    standing:
      "failed: The payer cancelled at the bank (ACCESS_DENIED, CUST; reported by the payer's bank). No money was taken; a new payment can be created.",
    next: [],
    also: [],
  })
  const cancelled = await create()
  await service.call('POST', `/api/v1/payments/${cancelled.id}/cancel`, { merchant })
  const byMerchant = await explained(service, merchant, cancelled.id)
  t.match(byMerchant.timeline.find(({ status }) => status === 'Failed')?.text, 'the merchant cancelled it')
  t.same(kindsOf(byMerchant.timeline, 'consent'), ['consent AWAITING_AUTHORISATION', 'consent REJECTED'])
  const left = await create()
  await service.call('POST', `/api/v1/payments/${left.id}/cancel`, {
    headers: { 'x-payment-state': new URL(left.url).searchParams.get('state') ?? '' },
  })
  const byPayer = await explained(service, merchant, left.id)
  t.match(byPayer.timeline.find(({ status }) => status === 'Failed')?.text, 'the payer cancelled it on our page')
  const expired = await create()
  await endConsent(service, expired.id)
  const read = await explained(service, merchant, expired.id)
  t.equal(read.status, 'Failed', 'reading it expires it before the job runs')
  t.match(
    read.timeline.find(({ status }) => status === 'Failed'),
    {
      by: 'BATCH_JOB',
      text: 'the consent ended before the payer authorised it (job expire-consents)',
    },
  )
  t.same(kindsOf(read.timeline, 'consent'), ['consent AWAITING_AUTHORISATION', 'consent EXPIRED'])
  await expireConsents(service.app)
})

t.test('a refused execution and an unanswered refund are shown', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const refused = await settledPayment(service, merchant, { scenario: 'settlement-fails' })
  t.match(
    (await explained(service, merchant, refused)).timeline.find(({ status }) => status === 'Failed')?.text,
    /^the bank rejected it: .* \(job settle-payments\)$/,
  )
  const { id } = await authorisedPayment(service, merchant, { scenario: 'success-slow-settle:2h' })
  const waiting = await explained(service, merchant, id)
  t.match(
    waiting.standing,
    /^authorised by the payer; the service has the bank execute it at .*, 1 hour 59 minutes left\.$/,
  )
  t.ok(
    waiting.next.every(({ at }) => at !== null),
    'settlement and refusal happen without a command',
  )
  const failing = await settledPayment(service, merchant, { scenario: 'refund-fails' })
  await refund(service, merchant, { id: failing })
  const explanation = await explained(service, merchant, failing)
  t.same(kindsOf(explanation.timeline, 'refund'), ['refund PENDING', 'refund FAILED'])
  const planted = await settledPayment(service, merchant)
  await plantPendingRefund(service, merchant, planted)
  const pending = await explained(service, merchant, planted)
  t.match(pending.standing, /the bank has not answered 1 refund of 50\.00 GBP yet, and is asked next at/)
  const [step] = pending.next
  t.ok(step?.at, 'the refund completes by itself')
  t.equal(step?.how, null, 'there is nothing left to refund by hand')
  await service.owner.query('update payment_refunds set resume_at = now()')
  await resumeRefunds(service.app)
  await settlePayments(service.app)
  t.equal((await explained(service, merchant, planted)).status, 'Refunded')
})

async function plantPendingRefund({ owner, app }: TestService, merchant: TestMerchant, id: string): Promise<void> {
  await owner.query('update payment_intents set refund_reserved_amount = gross_amount where id = $1', [id])
  await owner.query(
    `insert into payment_refunds (id, merchant_id, payment_intent_id, amount, request_fingerprint, raw_payload, resume_at)
     values ($1, $2, $3, 50, repeat('0', 64), '{}', now() + interval '10 seconds')`,
    [app.ids.uuid(), merchant.id, id],
  )
}

t.test('a hold during a payment is in its timeline, and an earlier one is not', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const actor = { id: 'o-1', name: 'grace@pay.example', role: 'OPS' }
  await setPayoutHold(service.app, { id: merchant.id, payoutHeld: true, reason: 'long ago', actor })
  await setPayoutHold(service.app, { id: merchant.id, payoutHeld: false, reason: 'fine', actor })
  const id = await settledPayment(service, merchant)
  await setPayoutHold(service.app, { id: merchant.id, payoutHeld: true, reason: 'under investigation', actor })
  const own = await explained(service, merchant, id)
  t.match(
    own.timeline.filter(({ kind }) => kind === 'operator'),
    [{ by: null, text: 'an operator held payouts' }],
  )
  t.notMatch(JSON.stringify(own), /grace|investigation/, 'a merchant sees neither name nor reason')
  const { body } = await service.call('GET', `/api/v1/admin/explain/${id}`, { headers: await service.operator() })
  t.match(
    body.timeline.filter(({ kind }: TimelineEntry) => kind === 'operator'),
    [{ by: 'grace@pay.example', text: 'an operator held payouts: under investigation' }],
  )
})

t.test('webhooks that wait for the endpoint say so, with one remedy, and due entries are last', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant({ webhookUrl: 'http://127.0.0.1:9/hook' })
  const put = (body: object) => service.call('PUT', '/api/v1/portal/webhook-endpoint', { merchant, body })
  await put({ paused: true })
  const { id } = await authorisedPayment(service, merchant, { scenario: 'success-slow-settle:2h' })
  const paused = await explained(service, merchant, id)
  const webhooks = paused.timeline.filter(({ kind }) => kind === 'webhook').map(({ text }) => text)
  t.equal(webhooks.length, 2)
  for (const text of webhooks) t.match(text, /, which waits because the merchant has paused its endpoint$/)
  t.same(
    paused.also.map(({ how }) => how),
    ['svc webhooks endpoint resume'],
  )
  await put({ webhook_url: null })
  const missing = await explained(service, merchant, id)
  t.match(
    missing.timeline.find(({ kind }) => kind === 'webhook')?.text,
    /which waits for the merchant to set an endpoint$/,
  )
  await put({ webhook_url: 'http://127.0.0.1:9/hook' })
  const due = await explained(service, merchant, id)
  t.same(
    due.timeline.slice(-3).map(({ kind }) => kind),
    ['due', 'due', 'due'],
  )
  t.match(due.timeline.at(-1)?.text, 'the bank is asked to execute it', 'in the order of their times')
})
