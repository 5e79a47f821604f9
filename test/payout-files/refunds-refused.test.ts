import t from 'tap'
import { createPayoutFile } from '../../src/payout-files/create-payout-file.ts'
import { settlePayments } from '../../src/payments/settle-payments.ts'
import { untilStatus } from '../support/app.ts'
import { accept, raise, resolve } from '../support/disputes.ts'
import { PAYER_ACCOUNT, PAYER_IBAN, fileRefundService } from '../support/file-refunds.ts'
import { authorisedMandate } from '../support/mandates.ts'
import { bookingsOf, refund, settledPayment, webhookTypesOf } from '../support/payments.ts'
import { answerTo, readInstructions, statementOf } from '../support/payout-bank.ts'
import { hashTables } from '../support/rows.ts'
import { startWorkerProcess } from '../support/worker-process.ts'

const service = await fileRefundService(t)
const { app, bank, differences, exported, owner, payment, post, refundsOf, shop } = service

t.test('merchants have nothing to do with refunds of others, and neither have answers to other files', async (t) => {
  const other = await service.merchant()
  const id = await payment()
  t.match(await refund(service, other, { id }), { status: 404, body: { code: 'PAYMENT_NOT_FOUND' } })
  await refund(service, shop, { id })
  t.match(await service.call('GET', `/api/v1/payments/${id}/refunds`, { merchant: other }), { status: 404 })
  const first = await exported()
  await refund(service, other, { id: await payment(PAYER_ACCOUNT, { of: other }) })
  const second = await exported()
  const before = await hashTables(owner)
  const [mine] = first.file.payments
  const wrong = answerTo(second.file.messageId, { [mine?.endToEndId ?? '']: 'RJCT AC04' })
  t.match(await post('payout-reports', { content: wrong }), { status: 400, body: { errors: [{ path: 'content' }] } })
  t.match(await post('payout-reports', { content: answerTo('another', {}) }), { status: 404 })
  t.same(await hashTables(owner), before)
  await owner.query(`update payment_refunds set sent_at = now() - interval '11 days' where file_id = $1`, [
    first.answer.file.id,
  ])
  const own = await service.call('GET', '/api/v1/portal/reconciliation', { merchant: other })
  t.match(own, { status: 200, body: { is_balanced: true, differences: [] } })
  await owner.query('update payment_refunds set sent_at = now() where file_id is not null')
  await post('statements', { content: statementOf([...first.file.payments, ...second.file.payments]) })
  t.same(await differences(), [])
})

t.test('what is wrong is rejected before anything is reserved', async (t) => {
  const id = await payment()
  const euros = await payment(PAYER_ACCOUNT, { currency: 'EUR' })
  const headers = await service.operator('OPS')
  const { text } = await service.call('GET', `/api/v1/admin/explain/${euros}`, { headers })
  t.match(text, /no bank has confirmed the payer's account/, 'a sort code takes no euros')
  const before = await hashTables(owner)
  for (const [paymentId, body, code] of [
    [id, { amount: '0.00' }, 'VALIDATION_FAILED'],
    [id, { amount: '1.001' }, 'VALIDATION_FAILED'],
    [id, { amount: '50.01' }, 'REFUND_EXCEEDS_AVAILABLE'],
    [id, { amount: '10.00', refund_amount_available: '49.00' }, 'REFUND_AVAILABLE_MISMATCH'],
    [euros, {}, 'REFUND_ACCOUNT_UNKNOWN'],
  ] as const)
    t.match(await refund(service, shop, { id: paymentId, body }), { body: { code } }, `${code} ${JSON.stringify(body)}`)
  for (const content of ['not XML', '<Document/>', statementOf([])])
    t.match(await post('payout-reports', { content }), { status: 400, body: { errors: [{ path: 'content' }] } })
  t.same(await hashTables(owner), before)
})

t.test('a dry run of each step answers as the step does, and changes nothing', async (t) => {
  const id = await payment()
  const dryRefund = () =>
    service.call('POST', `/api/v1/payments/${id}/refund?dry_run=true`, { merchant: shop, body: { amount: '4.00' } })
  let before = await hashTables(owner)
  t.match(await dryRefund(), { status: 202, body: { refund_status: 'PENDING' } })
  t.same(await hashTables(owner), before)
  await refund(service, shop, { id, body: { amount: '4.00' } })
  before = await hashTables(owner)
  t.match(await post('payout-files?dry_run=true'), {
    status: 200,
    body: { file: { refund_count: 1, content: null } },
  })
  t.same(await hashTables(owner), before)
  const { file } = await exported()
  before = await hashTables(owner)
  const [sent] = file.payments
  const answer = { content: answerTo(file.messageId, { [sent?.endToEndId ?? '']: 'RJCT AC04' }) }
  t.match(await post('payout-reports?dry_run=true', answer), { body: { rejected_refunds: [{ payment_id: id }] } })
  const statement = { content: statementOf(file.payments) }
  t.match(await post('statements?dry_run=true', statement), { body: { matched_line_count: 1 } })
  t.same(await hashTables(owner), before)
  t.match(await post('statements', statement), { body: { matched_line_count: 1 } })
  t.match(await refundsOf(id), [{ refund_status: 'EXECUTED' }])
})

t.test('a refund in a currency without an account of ours waits for one', async (t) => {
  const id = await payment(PAYER_IBAN, { currency: 'EUR' })
  t.match(await refund(service, shop, { id }), { status: 202 })
  const { body } = await post('payout-files')
  const [waiting] = await refundsOf(id)
  t.match(body, { file: null, left_out: [], has_more: false })
  t.match(body.left_out_refunds, [
    { refund_id: waiting.refund_id, payment_id: id, currency: 'EUR', amount: '50.00', reason: 'NO_PAYING_ACCOUNT' },
  ])
  t.match(waiting, { sent_at: null, refund_status: 'PENDING' })
  const payoutAccounts = new Map([['EUR', 'IE29AIBK93115212345678']])
  const withAccount = { ...app, config: { ...app.config, payoutAccounts } }
  const actor = { id: 'test', name: 'test', role: 'OPS' } as const
  const { file, leftOutRefunds } = await createPayoutFile(withAccount, { actor })
  t.same(leftOutRefunds, [])
  t.match(readInstructions(file?.content ?? '').payments, [
    { amount: '50.00', currency: 'EUR', account: PAYER_IBAN.debtor_identification },
  ])
})

t.test('a refund whose account number does not open is left out, and keeps no other back', async (t) => {
  const [broken, fine] = [await payment(), await payment()]
  for (const id of [broken, fine]) t.match(await refund(service, shop, { id }), { status: 202 })
  const { rows } = await owner.query(
    `with o as (select c.* from payment_consents c join payment_intents p on p.consent_id = c.id where p.id = $1)
     update payment_consents c set debtor_identification = 'v1.of.another.key' from o
     where c.merchant_id = o.merchant_id and c.id = o.id returning c.id, o.debtor_identification`,
    [broken],
  )
  const { answer, file } = await exported()
  t.match(answer.left_out_refunds, [{ payment_id: broken, amount: '50.00', reason: 'ACCOUNT_UNREADABLE' }])
  t.equal(file.payments.length, 1)
  t.match([...(await refundsOf(broken)), ...(await refundsOf(fine))], [{ sent_at: null }, { sent_at: String }])
  const [{ id: consent, debtor_identification: sealed }] = rows
  await owner.query('update payment_consents set debtor_identification = $2 where id = $1', [consent, sealed])
  const next = await exported()
  t.equal(next.file.payments.length, 1, 'it goes when the number opens again')
  await post('statements', { content: statementOf([...file.payments, ...next.file.payments]) })
})

t.test('refunds that can never be opened keep no other back, and an operator ends them', async (t) => {
  const [first, second, fine] = [await payment(), await payment(), await payment()]
  for (const id of [first, second, fine]) t.match(await refund(service, shop, { id }), { status: 202 })
  await owner.query(
    `update payment_consents c set debtor_identification = 'v1.of.another.key' from payment_intents p
     where p.consent_id = c.id and p.id = any($1)`,
    [[first, second]],
  )
  const actor = { id: 'test', name: 'test', role: 'OPS' } as const
  const { file, leftOutRefunds, hasMore } = await createPayoutFile(app, { actor, paymentsMax: 1 })
  const { payments } = readInstructions(file?.content ?? '')
  t.match({ count: payments.length, leftOut: leftOutRefunds.length, hasMore }, { count: 1, leftOut: 2, hasMore: false })
  t.match(await refundsOf(fine), [{ sent_at: String }])
  await post('statements', { content: statementOf(payments) })

  const waits = await payment()
  t.match(await refund(service, shop, { id: waits }), { status: 202 })
  const fail = async (id: string, query = '') => {
    const [{ refund_id: refundId }] = await refundsOf(id)
    return post(`refunds/${refundId}/fail${query}`, { failure_code: 'INVALID_CREDITOR_ACCOUNT', reason: 'key lost' })
  }
  t.match(await fail(waits), { status: 409, body: { code: 'REFUND_NOT_FAILABLE' } }, 'the next file takes it')
  for (const id of [first, second]) {
    t.match(await fail(id, '?dry_run=true'), { status: 200 })
    t.match(await fail(id), { status: 200, body: { refund_status: 'FAILED' } })
    t.match(await fail(id), { status: 409, body: { code: 'REFUND_NOT_FAILABLE' } }, 'once')
    t.match(await service.call('GET', `/api/v1/payments/${id}`, { merchant: shop }), { body: { status: 'Settled' } })
  }
  const next = await exported()
  t.match(next.answer, { left_out_refunds: [], file: { refund_count: 1 } })
  await post('statements', { content: statementOf(next.file.payments) })
})

t.test('a refund goes to the account that the bank named, and of a mandate to no other', async (t) => {
  const { paymentId: unnamed } = await authorisedMandate(service, shop, PAYER_ACCOUNT)
  await settlePayments(app)
  await untilStatus(service, shop, unnamed, 'Settled')
  const dispute = (await raise(service, shop, unnamed)).body
  const before = await hashTables(owner)
  const unknown = {
    status: 409,
    body: { code: 'REFUND_ACCOUNT_UNKNOWN', error: /no bank has confirmed the payer's account for GBP/ },
  }
  t.match(await refund(service, shop, { id: unnamed }), unknown, 'no bank knows what the merchant said')
  t.match(await accept(service, shop, dispute.id, { body: { refund: true } }), {
    ...unknown,
    body: { ...unknown.body, next: /repeat without `refund`/ },
  })
  t.same(await hashTables(owner), before)
  const headers = await service.operator('OPS')
  const standingOf = async (id: string) => (await service.call('GET', `/api/v1/admin/explain/${id}`, { headers })).text
  t.match(await standingOf(unnamed), /can't be refunded through the bank, as no bank has confirmed the payer's account/)

  const debtorAccount = { scheme: PAYER_IBAN.debtor_account_scheme, identification: 'GB29NWBK60161331926819' }
  bank.steer('execute', async (answer) => ({ ...((await answer()) as object), debtorAccount }))
  const { paymentId: named } = await authorisedMandate(service, shop, PAYER_ACCOUNT)
  await settlePayments(app)
  await untilStatus(service, shop, named, 'Settled')
  const single = await settledPayment(service, shop, PAYER_ACCOUNT)
  await untilStatus(service, shop, single, 'Settled')
  bank.steer('execute', undefined)
  for (const id of [named, single]) {
    t.notMatch(await standingOf(id), /can't be refunded/)
    t.match(await refund(service, shop, { id }), { status: 202 })
  }
  const { file } = await exported()
  t.match(file.payments, [{ account: '60161331926819' }, { account: '60161331926819' }])
  await post('statements', { content: statementOf(file.payments) })
})

t.test("a dispute's refund that the bank rejected is ordered again, and goes with the next file", async (t) => {
  const id = await payment()
  const dispute = (await raise(service, shop, id)).body
  await accept(service, shop, dispute.id, { body: { refund: true } })
  t.match(await resolve(service, dispute.id, { refund: true }), { status: 409 }, 'the first is not ended')
  const { file } = await exported()
  const [first] = file.payments
  await post('payout-reports', { content: answerTo(file.messageId, { [first?.endToEndId ?? '']: 'RJCT AC04' }) })
  t.match(await refundsOf(id), [{ refund_status: 'FAILED', failure: { code: 'ACCOUNT_CLOSED' } }])
  t.match(await resolve(service, dispute.id, { refund: true }), { status: 200 })
  const again = await exported()
  t.equal(again.file.payments.length, 1)
  t.not(again.file.payments[0]?.endToEndId, first?.endToEndId)
  await post('statements', { content: statementOf(again.file.payments) })
  t.match(await refundsOf(id), [{ refund_status: 'FAILED' }, { refund_status: 'EXECUTED' }])
  const { rows } = await owner.query(
    `select e.movement::text as movement, e.amount from ledger_entries e
     join payment_refunds r on r.merchant_id = e.merchant_id and r.id = e.subject_id where r.payment_intent_id = $1`,
    [id],
  )
  t.same(rows, [{ movement: 'dispute_refunded', amount: '50.0000' }])
  t.equal((await webhookTypesOf(service, id)).filter((type) => type === 'payment.refunded').length, 1)
  t.same(await differences(), [])
})

t.test('what a bank says in no file is recorded by an operator, once and audited', async (t) => {
  const id = await payment()
  const { body: ordered } = await refund(service, shop, { id })
  const fail = (refundId: string, more: object = {}) =>
    post(`refunds/${refundId}/fail`, { failure_code: 'ACCOUNT_CLOSED', reason: 'on the phone', ...more })
  const notFailable = { status: 409, body: { code: 'REFUND_NOT_FAILABLE' } }
  t.match(await fail(ordered.refund_id), notFailable, 'no bank has heard of it')
  const { file } = await exported()
  const before = await hashTables(owner)
  for (const [more, path] of [
    [{ reason: ' ' }, 'reason'],
    [{ failure_code: 'CONSENT_EXPIRED' }, 'failure_code'],
  ] as const)
    t.match(await fail(ordered.refund_id, more), { status: 400, body: { errors: [{ path }] } })
  for (const unknown of ['nonsense', id])
    t.match(await fail(unknown), { status: 404, body: { code: 'REFUND_NOT_FOUND' } })
  t.match(await post(`payouts/${ordered.refund_id}/fail`, { reason: 'x' }), { body: { code: 'PAYOUT_NOT_FOUND' } })
  t.match(await post(`refunds/${ordered.refund_id}/fail?dry_run=true`, { reason: 'x' }), {
    status: 200,
    body: { refund_status: 'FAILED' },
  })
  t.same(await hashTables(owner), before)
  const answers = await Promise.all([1, 2, 3].map(() => fail(ordered.refund_id)))
  t.same(answers.map(({ status }) => status).toSorted(), [200, 409, 409])
  t.match(answers.find(({ status }) => status === 409)?.body, { current: { status: 'FAILED' } })
  t.match(await refundsOf(id), [{ refund_status: 'FAILED', failure: { code: 'ACCOUNT_CLOSED' } }])
  t.equal((await webhookTypesOf(service, id)).at(-1), 'refund.failed')
  const { rows } = await owner.query(
    "select subject_id, reason, after from operator_actions where action = 'refund.fail' and subject_id = $1",
    [ordered.refund_id],
  )
  t.match(rows, [{ subject_id: ordered.refund_id, reason: 'on the phone', after: { failure_code: 'ACCOUNT_CLOSED' } }])
  t.match(await post('statements', { content: statementOf(file.payments) }), { body: { matched_line_count: 0 } })
  t.match(await refund(service, shop, { id }), { status: 202 }, 'it can be ordered again')
  const again = await exported()
  await post('statements', { content: statementOf(again.file.payments) })
  t.match(await fail((await refundsOf(id))[1].refund_id), notFailable, 'what was executed stays so')
  t.same(await differences(), [])
})

/** Ends the connection that writes to a table, as a kill of the process does. */
async function killedAt(table: string, request: () => Promise<{ status: number }>): Promise<number> {
  await owner.query(
    `create function fail_now() returns trigger language plpgsql as $$
     begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$`,
  )
  await owner.query(`create trigger aa_fail before insert on ${table} for each row execute function fail_now()`)
  const { status } = await request()
  await owner.query('drop function fail_now() cascade')
  return status
}

t.test('a crash while an answer or a statement is imported loses nothing, and nothing happens twice', async (t) => {
  const [kept, rejected] = [await payment(), await payment()]
  for (const id of [kept, rejected]) await refund(service, shop, { id })
  const { file } = await exported()
  const { rows } = await owner.query<{ end_to_end_id: string }>(
    'select end_to_end_id from payment_refunds where payment_intent_id = $1',
    [rejected],
  )
  const isRejected = ({ endToEndId }: { endToEndId: string }) => endToEndId === rows[0]?.end_to_end_id
  const answer = { content: answerTo(file.messageId, { [rows[0]?.end_to_end_id ?? '']: 'RJCT AC04' }) }
  const statement = { content: statementOf(file.payments.filter((each) => !isRejected(each))) }
  const before = await hashTables(owner)
  for (const table of ['refund_events', 'webhook_deliveries', 'operator_actions'])
    t.ok((await killedAt(table, () => post('payout-reports', answer))) >= 500, `answer, killed at ${table}`)
  for (const table of ['bank_statement_lines', 'refund_events', 'ledger_entries', 'payment_events'])
    t.ok((await killedAt(table, () => post('statements', statement))) >= 500, `statement, killed at ${table}`)
  t.same(await hashTables(owner), before)
  await Promise.all([1, 2, 3].flatMap(() => [post('payout-reports', answer), post('statements', statement)]))
  t.match(await refundsOf(rejected), [{ refund_status: 'FAILED' }])
  t.match(await refundsOf(kept), [{ refund_status: 'EXECUTED' }])
  t.equal((await webhookTypesOf(service, rejected)).filter((type) => type === 'refund.failed').length, 1)
  t.equal((await webhookTypesOf(service, kept)).filter((type) => type === 'payment.refunded').length, 1)
  t.same(await differences(), [])
})

t.test('a worker asks no bank about it, and neither does one after a kill', async (t) => {
  const id = await payment()
  await refund(service, shop, { id })
  await owner.query(
    `update payment_refunds set created_at = created_at - interval '1 hour' where payment_intent_id = $1`,
    [id],
  )
  for (const _ of [1, 2]) {
    const worker = await startWorkerProcess(t, service)
    await new Promise((done) => setTimeout(done, 500))
    await worker.kill()
    await worker.lost()
  }
  t.match(await refundsOf(id), [{ refund_status: 'PENDING', sent_at: null }])
  t.same((await bookingsOf(service, id)).credits, [])
  t.equal(service.bank.calls.refund, 0)
})
