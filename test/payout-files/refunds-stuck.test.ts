import t from 'tap'
import { createPayoutFile } from '../../src/payout-files/create-payout-file.ts'
import { failRefund } from '../../src/payments/refunds/fail-refund.ts'
import { refundPayment } from '../../src/payments/refunds/refund-payment.ts'
import { accept, raise } from '../support/disputes.ts'
import { PAYER_ACCOUNT, PAYER_IBAN, fileRefundService } from '../support/file-refunds.ts'
import { refund, webhookTypesOf } from '../support/payments.ts'
import { readInstructions, statementOf } from '../support/payout-bank.ts'
import { hashTables } from '../support/rows.ts'
import { noAnswer, steeredBank } from '../support/steered-bank.ts'

const service = await fileRefundService(t)
const { app, differences, exported, owner, payment, post, refundsOf, shop } = service
const headers = await service.operator('OPS')
const actor = { id: 'test', name: 'test', role: 'OPS' } as const

/** The service whose bank refunds by its API, which does not answer. */
const api = steeredBank('local', 'api')
api.behind(app.mockBank)
api.steer('refund', noAnswer)
const withApi = {
  ...app,
  banks: new Map([[api.connector.id, api.connector]]),
  refundApis: new Set([api.connector.id]),
}

function refundByApi(id: string) {
  return refundPayment(withApi, { merchantId: shop.id, id, body: {}, rawBody: '{}', idempotencyKey: undefined })
}

/** A settled payment whose bank is not configured any more. */
async function paymentAtGoneBank(account: Record<string, string | null> = PAYER_ACCOUNT): Promise<string> {
  const id = await payment(account)
  await forget(id)
  return id
}

async function forget(id: string): Promise<void> {
  await owner.query(`update payment_intents set bank_connector = 'gone' where id = $1`, [id])
}

function fail(refundId: string, query = '') {
  return post(`refunds/${refundId}/fail${query}`, { reason: 'nothing can take it' })
}

async function standingOf(id: string): Promise<string> {
  return (await service.call('GET', `/api/v1/admin/explain/${id}`, { headers })).text
}

const notFailable = { status: 409, body: { code: 'REFUND_NOT_FAILABLE' } }

t.test('a refund at a bank that is not configured any more goes by file, where the account is known', async (t) => {
  const id = await paymentAtGoneBank()
  t.notMatch(await standingOf(id), /can't be refunded/)
  t.match(await refund(service, shop, { id }), { status: 202 })
  t.match(await refundsOf(id), [{ carried_by: 'file', sent_at: null, refund_status: 'PENDING' }])
  const { file } = await exported()
  t.match(file.payments, [{ account: '20201555555555', amount: '50.00' }])
  await post('statements', { content: statementOf(file.payments) })
  t.match(await refundsOf(id), [{ refund_status: 'EXECUTED' }])

  const unknown = await paymentAtGoneBank({ debtor_account_scheme: null, debtor_identification: null })
  const dispute = (await raise(service, shop, unknown)).body
  const before = await hashTables(owner)
  const rejected = { status: 409, body: { code: 'REFUND_ACCOUNT_UNKNOWN' } }
  t.match(await refund(service, shop, { id: unknown }), rejected)
  t.match(await accept(service, shop, dispute.id, { body: { refund: true } }), rejected)
  t.same(await hashTables(owner), before, 'nothing is reserved')
  t.match(await standingOf(unknown), /can't be refunded through the bank/, 'and explain says so before')
})

t.test('a refund in a currency that no account of ours pays is ended by an operator, once', async (t) => {
  const [euros, pounds] = [await payment(PAYER_IBAN, { currency: 'EUR' }), await payment()]
  for (const id of [euros, pounds]) t.match(await refund(service, shop, { id }), { status: 202 })
  const [[waiting], [takeable]] = [await refundsOf(euros), await refundsOf(pounds)]
  t.match(await fail(takeable.refund_id), { ...notFailable, body: { error: /no file has taken the refund/ } })
  const before = await hashTables(owner)
  t.match(await fail(waiting.refund_id, '?dry_run=true'), { status: 200, body: { refund_status: 'FAILED' } })
  t.same(await hashTables(owner), before)
  const answers = await Promise.all([1, 2, 3].map(() => fail(waiting.refund_id)))
  t.same(answers.map(({ status }) => status).toSorted(), [200, 409, 409])
  t.match(await refundsOf(euros), [{ refund_status: 'FAILED', sent_at: null, failure: { code: 'BANK_ERROR' } }])
  t.equal((await webhookTypesOf(service, euros)).at(-1), 'refund.failed')
  t.match(await refund(service, shop, { id: euros }), { status: 202 }, 'its amount is free again')
  const { answer, file } = await exported()
  t.match(answer.left_out_refunds, [{ payment_id: euros, reason: 'NO_PAYING_ACCOUNT' }])
  await post('statements', { content: statementOf(file.payments) })

  const [, again] = await refundsOf(euros)
  const config = { ...app.config, payoutAccounts: new Map([['EUR', 'IE29AIBK93115212345678']]) }
  const [made, failed] = await Promise.all([createPayoutFile({ ...app, config }, { actor }), fail(again.refund_id)])
  const isSent = made.file !== null && readInstructions(made.file.content).payments.length === 1
  const outcome = `${failed.status} ${(await refundsOf(euros))[1].refund_status}`
  t.ok(outcome === '200 FAILED' || (isSent && outcome === '409 PENDING'), `${outcome}, sent: ${isSent}`)
  t.same(await differences(), [])
})

t.test('a refund that waits for the API of a bank that has none, or is gone, is ended by an operator', async (t) => {
  const [first, second] = [await payment(), await payment()]
  for (const id of [first, second])
    t.match(await refundByApi(id), { refund: { status: 'PENDING', end_to_end_id: null } })
  t.match(await post('payout-files'), { body: { file: null } }, 'no file takes it')
  const [[ofFirst], [ofSecond]] = [await refundsOf(first), await refundsOf(second)]
  const end = { id: ofFirst.refund_id, failure_code: 'BANK_ERROR', reason: 'x', actor } as const
  await t.rejects(failRefund(withApi, end), { code: 'REFUND_NOT_FAILABLE', message: /the API of mock carries out/ })
  await forget(second)
  for (const { refund_id: id } of [ofFirst, ofSecond]) {
    t.match(await fail(id), { status: 200, body: { refund_status: 'FAILED', carried_by: 'api' } })
    t.match(await fail(id), { ...notFailable, body: { current: { status: 'FAILED' } } })
  }
  t.match(await refund(service, shop, { id: second }), { status: 202 }, 'ordered again, it goes by file')
  const { file } = await exported()
  t.equal(file.payments.length, 1)
  await post('statements', { content: statementOf(file.payments) })

  api.steer('refund', undefined)
  const done = await payment()
  const { refund: executed } = await refundByApi(done)
  t.equal(executed.status, 'EXECUTED')
  await forget(done)
  t.match(await fail(executed.id), { ...notFailable, body: { current: { status: 'EXECUTED' } } })
  api.steer('refund', noAnswer)
})

t.test('refunds that wait for three days are a task of operators, whatever they wait for', async (t) => {
  const inbox = async () => (await service.call('GET', '/api/v1/admin/inbox', { headers })).body.data
  const tasks = async () => (await inbox()).filter(({ kind }: { kind: string }) => kind === 'refunds_waiting')
  const [byFile, byApi, euros] = [await payment(), await payment(), await payment(PAYER_IBAN, { currency: 'EUR' })]
  for (const id of [byFile, euros]) await refund(service, shop, { id })
  await refundByApi(byApi)
  t.same(await tasks(), [], 'a few days are none')
  const aged = async (id: string, days: number) => {
    await owner.query(
      `update payment_refunds set created_at = now() - make_interval(days => $2) where payment_intent_id = $1`,
      [id, days],
    )
    return (await refundsOf(id))[0].refund_id
  }
  const refunds = [await aged(euros, 6), await aged(byApi, 5), await aged(byFile, 4)]
  const item = { merchant_id: shop.id, overdue: true, due_at: String }
  t.match(await tasks(), [
    { ...item, id: refunds[0], count: 3, summary: /^3 refunds have waited/, command: `svc explain ${refunds[0]}` },
  ])
  t.match(await standingOf(refunds[0]), euros, 'the command leads to its payment')
  await fail(refunds[0])
  t.match(await tasks(), [{ ...item, id: refunds[1], count: 2 }])
  const { file } = await exported()
  t.match(await tasks(), [{ ...item, id: refunds[1], count: 1, summary: /^a refund has waited/ }])
  await post('statements', { content: statementOf(file.payments) })
  await fail(refunds[1])
  t.same(await tasks(), [])
  const own = await service.call('GET', '/api/v1/portal/inbox', { merchant: shop })
  t.notMatch(own.text, /refunds_waiting/, 'and none of the merchant')
})
