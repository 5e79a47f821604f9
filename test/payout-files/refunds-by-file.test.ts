import t from 'tap'
import { schemaErrors } from '../support/bank-files.ts'
import { accept, raise } from '../support/disputes.ts'
import { PAYER_IBAN, fileRefundService } from '../support/file-refunds.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { bookingsOf, refund, webhookTypesOf } from '../support/payments.ts'
import { answerTo, statementOf } from '../support/payout-bank.ts'
import { payableMerchant } from '../support/payouts.ts'
import { createPayouts } from '../../src/payouts/create-payouts.ts'
import { resumeRefunds } from '../../src/payments/refunds/execute-refund.ts'
import { countRows } from '../support/rows.ts'

const service = await fileRefundService(t)
const { app, bank, differences, exported, shop: merchant, owner, payment, post, refundsOf } = service
const headers = await service.operator('OPS')

t.test('a refund goes to the bank in a file beside payouts, and is executed when a statement has it', async (t) => {
  const id = await payment()
  t.match(await refund(service, merchant, { id, body: { amount: '10.00' } }), {
    status: 202,
    body: { refund_status: 'PENDING', status: 'Settled' },
  })
  await owner.query(`update payment_refunds set resume_at = now() where resume_at is not null and status = 'PENDING'`)
  await resumeRefunds(app)
  t.equal(bank.calls.refund, 0, 'no bank is asked')
  t.match(await refundsOf(id), [{ carried_by: 'file', sent_at: null, refund_status: 'PENDING' }])
  await payableMerchant(service)
  await createPayouts(app)
  const { answer, file } = await exported()
  t.same(await schemaErrors('pain.001.001.09', answer.file.content), [])
  t.match(answer, { file: { payout_count: 1, refund_count: 1, control_sum: '59.30' }, left_out_refunds: [] })
  const sent = file.payments.filter(({ amount }) => amount === '10.00')
  t.match(sent, [{ name: 'Zoe Payer', account: '20201555555555', currency: 'GBP' }])
  t.match(await refundsOf(id), [{ sent_at: String, refund_status: 'PENDING' }])
  const told = await service.call('GET', `/api/v1/admin/explain/${id}`, { headers })
  t.equal(told.status, 200, told.text)
  t.match(told.text, /a file took the refund of/)
  t.match(told.text, /goes to the bank in a file/)
  t.match(await post('payout-files'), { body: { file: null } }, 'in one file only')
  const again = await service.call('GET', `/api/v1/admin/payout-files/${answer.file.id}`, { headers })
  t.equal(again.body.content, answer.file.content, 'the same bytes again')
  t.match(await refund(service, merchant, { id, body: { amount: '999.00' } }), { status: 422 }, 'it stays reserved')

  const accepted = answerTo(file.messageId, Object.fromEntries(file.payments.map((each) => [each.endToEndId, 'ACSP'])))
  t.match(await post('payout-reports', { content: accepted }), { body: { accepted_count: 2, rejected_refunds: [] } })
  t.match(await refundsOf(id), [{ refund_status: 'PENDING' }], 'accepted is not executed')
  const before = await bookingsOf(service, id)
  const content = statementOf(file.payments)
  t.match(await post('statements', { content }), { status: 200, body: { matched_line_count: 2 } })
  t.match(await refundsOf(id), [{ refund_status: 'EXECUTED', bank_reference: /^PAID-/ }])
  t.equal((await webhookTypesOf(service, id)).at(-1), 'payment.partially_refunded')
  t.same(await bookingsOf(service, id), before, 'the mock bank has given nothing back')
  const after = await countRows(owner)
  await post('statements', { content })
  t.same(await countRows(owner), after, 'importing twice changes nothing')
  t.match(
    await post('payout-reports', { content: answerTo(file.messageId, { [sent[0]?.endToEndId ?? '']: 'RJCT AC04' }) }),
    { body: { rejected_refunds: [], rejected_count: 1 } },
    'what the statement has stays executed',
  )
  t.same(await differences(), [])
  const ledger = ['I10 every currency of the ledger sums to zero, and its balances are the recount'] as const
  t.same(await brokenInvariants(owner, ledger), [])
})

t.test('a rejected refund fails, its amount is free, and the next is another payment to the bank', async (t) => {
  const id = await payment(PAYER_IBAN)
  await refund(service, merchant, { id })
  const { file } = await exported()
  t.match(file.payments, [{ account: '20201555555555' }])
  const endToEndId = file.payments[0]?.endToEndId ?? ''
  const content = answerTo(file.messageId, { [endToEndId]: 'RJCT AC04' })
  t.match(await post('payout-reports', { content }), {
    status: 200,
    body: { rejected_refunds: [{ payment_id: id, failure_code: 'ACCOUNT_CLOSED', bank_reason: 'AC04' }] },
  })
  const after = await countRows(owner)
  t.match(await post('payout-reports', { content }), { body: { rejected_refunds: [], rejected_count: 1 } })
  t.same(await countRows(owner), after)
  t.match(await refundsOf(id), [{ refund_status: 'FAILED', failure: { code: 'ACCOUNT_CLOSED' } }])
  t.equal((await webhookTypesOf(service, id)).at(-1), 'refund.failed')
  t.match(await refund(service, merchant, { id }), { status: 202 })
  const next = await exported()
  t.not(next.file.payments[0]?.endToEndId, endToEndId)
  await post('statements', { content: statementOf(next.file.payments) })
  t.match(await service.call('GET', `/api/v1/payments/${id}`, { merchant }), { body: { status: 'Refunded' } })
  t.equal((await webhookTypesOf(service, id)).at(-1), 'payment.refunded')
  t.same(await differences(), [])
})

t.test("a dispute's refund goes the same way", async (t) => {
  const id = await payment()
  const dispute = (await raise(service, merchant, id)).body
  t.match(await accept(service, merchant, dispute.id, { body: { refund: true } }), { status: 200 })
  const { body: explained } = await service.call('GET', `/api/v1/admin/explain/${dispute.id}`, { headers })
  t.match(explained.standing, /; the refund of 50\.00 GBP goes to the bank in a file, and is executed when a bank/)
  const { file } = await exported()
  t.equal(file.payments.length, 1)
  await post('statements', { content: statementOf(file.payments) })
  const { rows } = await owner.query(
    `select r.status::text as status, e.movement::text as movement
     from payment_refunds r join ledger_entries e on e.merchant_id = r.merchant_id and e.subject_id = r.id
     where r.payment_intent_id = $1`,
    [id],
  )
  t.same(rows, [{ status: 'EXECUTED', movement: 'dispute_refunded' }])
})

t.test("without the payer's account nothing is reserved", async (t) => {
  const id = await payment({ debtor_account_scheme: null, debtor_identification: null })
  const before = await countRows(owner)
  t.match(await refund(service, merchant, { id }), { status: 409, body: { code: 'REFUND_ACCOUNT_UNKNOWN' } })
  t.same(await countRows(owner), before)
})

t.test('ten exports at once, and a crash while one is written, leave each refund in one file', async (t) => {
  const id = await payment()
  await refund(service, merchant, { id })
  const before = await countRows(owner)
  for (const table of ['payout_files', 'operator_actions']) {
    await owner.query(
      `create function fail_now() returns trigger language plpgsql as $$
       begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$`,
    )
    await owner.query(`create trigger aa_fail before insert on ${table} for each row execute function fail_now()`)
    t.ok((await post('payout-files')).status >= 500, `killed at ${table}`)
    await owner.query('drop function fail_now() cascade')
    t.same(await countRows(owner), before)
    t.match(await refundsOf(id), [{ sent_at: null }])
  }
  const answers = await Promise.all(Array.from({ length: 10 }, () => post('payout-files')))
  t.equal(answers.filter(({ body }) => body.file !== null).length, 1)
})

t.test('reconciliation names a refund that no statement has, and one executed without a line', async (t) => {
  const lost = await payment()
  await refund(service, merchant, { id: lost })
  await exported()
  const [sent] = await refundsOf(lost)
  t.same(await differences(), [], 'a bank needs days')
  const tasks = async () => {
    const { body } = await service.call('GET', '/api/v1/admin/inbox', { headers })
    return body.data.filter(({ kind }: { kind: string }) => kind === 'refunds_unanswered')
  }
  t.same(await tasks(), [])
  await owner.query(`update payment_refunds set sent_at = now() - interval '4 days' where id = $1`, [sent.refund_id])
  t.match(await tasks(), [{ id: merchant.id, merchant_id: merchant.id, count: 1, overdue: true, command: /missing/ }])
  await owner.query(`update payment_refunds set sent_at = now() - interval '11 days' where id = $1`, [sent.refund_id])
  t.match(await differences(), [{ kind: 'FILE_REFUND', subject: sent.refund_id }])
  await owner.query(`update payment_refunds set sent_at = now(), status = 'EXECUTED' where id = $1`, [sent.refund_id])
  const kinds = (await differences()).map(({ kind }) => kind)
  t.ok(kinds.includes('FILE_REFUND'))
})
