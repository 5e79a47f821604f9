import t from 'tap'
import { keepBalances } from '../../src/ledger/keep-balances.ts'
import { confirmRefunds } from '../../src/statements/confirm-refunds.ts'
import type { RefundLine } from '../../src/statements/record.ts'
import type { Answer } from '../support/app.ts'
import { fileRefundService } from '../support/file-refunds.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { balancesOf, entriesOf } from '../support/ledger.ts'
import { refund, webhookTypesOf } from '../support/payments.ts'
import { statementOf } from '../support/payout-bank.ts'
import type { Instructed } from '../support/payout-bank.ts'
import { countRows, hashTables } from '../support/rows.ts'
import { until } from '../support/until.ts'

const service = await fileRefundService(t, { SVC_IDENTITY: 'embedded' })
const { app, differences, exported, owner, payment, post, refundsOf, shop } = service
const headers = await service.operator('OPS')
const byOwner = await service.operator('OWNER')

/** Credits a line as an OWNER: who imports statements may not. */
const credit = (line: string, body: object, query = ''): Promise<Answer> =>
  service.call('POST', `/api/v1/admin/statement-lines/${line}/credit${query}`, { headers: byOwner, body })

/** A refund of 20.00 that a file took to the bank. */
async function sentRefund(): Promise<{ id: string; refundId: string; sent: Instructed }> {
  const id = await payment()
  const { body } = await refund(service, shop, { id, body: { amount: '20.00' } })
  const { file } = await exported()
  const [sent] = file.payments
  if (sent === undefined) throw new Error('the file is empty')
  return { id, refundId: body.refund_id, sent }
}

const cameBack = ({ endToEndId, amount }: Instructed, more: object = {}) =>
  ({ amount, direction: 'CRDT', e2e: endToEndId, ...more }) as const

async function linesOf(id: string): Promise<Answer['body'][]> {
  return (await service.call('GET', `/api/v1/admin/statement-lines?payment_id=${id}`, { headers })).body.data
}

async function returnLineOf(id: string): Promise<string> {
  return (await linesOf(id)).find(({ direction }) => direction === 'CREDIT').id
}

async function tasks(of = byOwner): Promise<Answer['body'][]> {
  const { body } = await service.call('GET', '/api/v1/admin/inbox', { headers: of })
  return body.data.filter(({ kind }: { kind: string }) => kind === 'refund_returned')
}

t.test('a refund that comes back is matched, a task and a difference, until it is credited', async (t) => {
  const { id, refundId, sent } = await sentRefund()
  await post('statements', { content: statementOf([sent]) })
  const webhooks = await webhookTypesOf(service, id)
  const content = statementOf([], [cameBack(sent)])
  t.match(await post('statements', { content }), {
    body: { matched_line_count: 1, unmatched_line_count: 0, returned_refund_count: 1 },
  })
  t.match(await post('statements', { content }), { body: { matched_line_count: 0, returned_refund_count: 0 } })
  t.match(await linesOf(id), [
    { direction: 'CREDIT', refund_id: refundId, matched_by: 'END_TO_END_ID' },
    { direction: 'DEBIT', refund_id: refundId },
  ])
  t.match(await refundsOf(id), [{ refund_status: 'EXECUTED', bank_reference: /^PAID-/ }], 'its status is final')
  t.same(await webhookTypesOf(service, id), webhooks)
  const line = await returnLineOf(id)
  t.match(await differences(), [
    { kind: 'REFUND_RETURN', subject: line, payment_id: id, expected_amount: '20.00', found_amount: null },
  ])
  t.match(await tasks(), [{ id: line, merchant_id: shop.id, command: `svc statements credit ${line}` }])
  t.match(
    await tasks(headers),
    [{ id: line, command: `svc reconcile --merchant ${shop.realm}`, summary: /an OWNER adds it/ }],
    'who may not credit it is offered something else',
  )
  const untouched = await countRows(owner)
  t.match(await post(`statement-lines/${line}/credit`, { reason: 'closed' }), {
    status: 403,
    body: { code: 'FORBIDDEN_ROLE' },
  })
  t.same(await countRows(owner), untouched)
  const missing = `unmatched-movements?from=2026-01-01&to=2100-01-01`
  const { body: open } = await service.call('GET', `/api/v1/admin/${missing}`, { headers })
  t.notOk(open.data.some((each: { refund_id: string }) => each.refund_id === refundId))

  const before = await balancesOf(service, shop)
  const dry = await hashTables(owner)
  t.match(await credit(line, { reason: 'closed' }, '?dry_run=true'), { status: 201 })
  t.same(await hashTables(owner), dry)
  const answers = await Promise.all([1, 2, 3].map(() => credit(line, { reason: 'the account is closed' })))
  const [made] = answers.filter(({ status }) => status === 201)
  t.equal(answers.filter(({ status }) => status === 409).length, 2)
  const { correction_id: correction } = made?.body ?? {}
  t.match(made?.body, { merchant_id: shop.id, amount: '20.00', booked_against: 'BANK', reference: /came back/ })
  t.match(answers.find(({ status }) => status === 409)?.body, {
    code: 'REFUND_NOT_CREDITABLE',
    current: { correction_id: correction },
  })
  t.match(await entriesOf(service, correction), [{ debit: 'bank', credit: 'clearing', amount: '20.0000' }])
  const pence = ({ GBP }: typeof before): number => Math.round(Number(GBP?.['clearing']) * 100)
  const after = await balancesOf(service, shop)
  t.equal(pence(after) - pence(before), 2000)
  const { rows } = await owner.query('select action, actor_role, reason from operator_actions where subject_id = $1', [
    correction,
  ])
  t.match(rows, [{ action: 'balance.correct', reason: 'the account is closed' }])
  t.same([await differences(), await tasks()], [[], []])
  const told = await service.call('GET', `/api/v1/admin/explain/${id}`, { headers })
  t.match(told.text, /the bank returned the refund of 20\.00 GBP/)
  const own = await service.call('GET', `/api/v1/portal/explain/${id}`, { merchant: shop })
  t.match(own.text, /the bank returned the refund/)
  await keepBalances(app)
  await service.call('POST', '/api/v1/portal/settlements', { merchant: shop, body: {} })
  t.same(await differences(), [])
  const ledger = ['I10 every currency of the ledger sums to zero, and its balances are the recount'] as const
  t.same(await brokenInvariants(owner, ledger), [])
})

t.test('the same where one statement has both, or only the return', async (t) => {
  const both = await sentRefund()
  t.match(await post('statements', { content: statementOf([both.sent], [cameBack(both.sent)]) }), {
    body: { matched_line_count: 2, returned_refund_count: 1 },
  })
  t.match(await refundsOf(both.id), [{ refund_status: 'EXECUTED', bank_reference: /^PAID-/ }])
  const alone = await sentRefund()
  await post('statements', { content: statementOf([], [cameBack(alone.sent)]) })
  t.match(await refundsOf(alone.id), [{ refund_status: 'EXECUTED' }], 'what came back was executed')
  for (const { id } of [both, alone])
    t.match(await credit(await returnLineOf(id), { reason: 'closed' }), { status: 201 })
  t.match(await differences(), [{ kind: 'FILE_REFUND', subject: alone.refundId }], 'its debit is missing')
  await post('statements', { content: statementOf([alone.sent]) })
  t.same(await differences(), [])
})

t.test('the money of a refund that was paid twice is no return', async (t) => {
  const { id, refundId, sent } = await sentRefund()
  const left = { ...cameBack(sent), direction: 'DBIT' as const }
  const lines = [{ ...left, ref: 'FIRST' }, { ...left, ref: 'TWICE' }, cameBack(sent, { ref: 'ONE-BACK' })]
  t.match(await post('statements', { content: statementOf([], lines) }), {
    body: { matched_line_count: 1, unmatched_line_count: 2, returned_refund_count: 0 },
  })
  t.match(await refundsOf(id), [{ refund_status: 'EXECUTED' }])
  t.same(await tasks(), [])
  const { body } = await service.call('GET', '/api/v1/admin/reconciliation', { headers })
  const known = body.differences.filter(({ kind }: { kind: string }) => kind.endsWith('_KNOWN'))
  t.match(known, [
    { kind: 'STATEMENT_DEBIT_KNOWN', payment_id: id, cause: /came back: correct nothing; svc statements resolve/ },
    {
      kind: 'STATEMENT_CREDIT_KNOWN',
      payment_id: id,
      cause: new RegExp(`^refund ${refundId} left 2 times, and this is`),
    },
  ])
  for (const { subject } of known)
    await service.call('PUT', `/api/v1/admin/statement-lines/${subject}/resolution`, {
      headers,
      body: { reason: 'paid twice, and once back' },
    })
  t.same(await differences(), [])
})

t.test(
  'a refund that failed here and that the bank has made is taken from the balance, and can come back',
  async (t) => {
    const { id, refundId, sent } = await sentRefund()
    await post(`refunds/${refundId}/fail`, { failure_code: 'BANK_ERROR', reason: 'so says the bank' })
    const left = { ...cameBack(sent), direction: 'DBIT' as const, ref: 'MADE' }
    const known = async () => {
      const { body } = await service.call('GET', '/api/v1/admin/reconciliation', { headers })
      return body.differences.filter(({ payment_id }: { payment_id: string }) => payment_id === id)
    }
    const resolve = async () => {
      const { body } = await service.call('GET', '/api/v1/admin/statement-lines?state=unmatched', { headers })
      for (const { id: line } of body.data)
        await service.call('PUT', `/api/v1/admin/statement-lines/${line}/resolution`, {
          headers,
          body: { reason: 'so' },
        })
    }
    await post('statements', { content: statementOf([], [left]) })
    const cause = new RegExp(
      `^the bank has made refund ${refundId} although it failed here: take it .* ${shop.id} --amount=-20.00 `,
    )
    t.match(await known(), [{ kind: 'STATEMENT_LINE_OF_FAILED', cause }])
    await resolve()
    await post('statements', { content: statementOf([], [cameBack(sent, { ref: 'BACK-AGAIN' })]) })
    t.match(await known(), [
      { kind: 'STATEMENT_CREDIT_KNOWN', cause: /add it again if its debit was taken .*=20\.00 / },
    ])
    await resolve()
    t.same(await known(), [])
  },
)

t.test('a line is not matched with a refund that fails while it is matched', async (t) => {
  const { id, refundId, sent } = await sentRefund()
  await owner.query('begin')
  await owner.query('update payment_intents set refund_reserved_amount = 0 where id = $1', [id])
  await owner.query(`update payment_refunds set status = 'FAILED', failure_code = 'BANK_ERROR' where id = $1`, [
    refundId,
  ])
  const imported = post('statements', { content: statementOf([sent]) })
  await until('the import waits for the payment', async () => {
    const { rows } = await owner.query(
      'select from pg_locks where transactionid = pg_current_xact_id()::xid and not granted',
    )
    return rows.length > 0
  })
  await owner.query('commit')
  t.match(await imported, { status: 200, body: { matched_line_count: 0, unmatched_line_count: 1 } })
  t.match(await refundsOf(id), [{ refund_status: 'FAILED' }])
  const { body } = await service.call('GET', '/api/v1/admin/reconciliation', { headers })
  const found = body.differences.filter(({ payment_id }: { payment_id: string }) => payment_id === id)
  t.match(found, [{ kind: 'STATEMENT_LINE_OF_FAILED', cause: new RegExp(`has made refund ${refundId} although`) }])
  t.match(
    await service.call('PUT', `/api/v1/admin/statement-lines/${found[0].subject}/resolution`, {
      headers,
      body: { reason: 'taken from the balance' },
    }),
    { status: 200 },
  )
})

t.test('a return without its id is named by hand', async (t) => {
  const { id, refundId, sent } = await sentRefund()
  await post('statements', { content: statementOf([sent], [cameBack(sent, { e2e: 'NOTPROVIDED', reversal: true })]) })
  const { body } = await service.call('GET', '/api/v1/admin/statement-lines?state=unmatched', { headers })
  const [line] = body.data
  const path = `/api/v1/admin/statement-lines/${line.id}`
  t.match(await credit(line.id, { reason: 'x' }), {
    status: 409,
    body: { code: 'REFUND_NOT_CREDITABLE', error: /not a refund that has come back/ },
  })
  const named = { payment_id: id, refund_id: refundId, reason: 'so the bank says' }
  t.match(await service.call('PUT', `${path}/resolution`, { headers, body: named }), {
    status: 200,
    body: { matched_by: 'MANUAL', refund_id: refundId },
  })
  t.match(await credit(line.id, { reason: 'closed' }), { status: 201 })
  t.same(await differences(), [])
})

t.test('what is wrong is rejected, and changes nothing', async (t) => {
  const { id, sent } = await sentRefund()
  await post('statements', { content: statementOf([sent], [cameBack(sent)]) })
  const [debit] = (await linesOf(id)).filter(({ direction }) => direction === 'DEBIT')
  const line = await returnLineOf(id)
  const before = await countRows(owner)
  t.match(await credit(debit.id, { reason: 'x' }), {
    body: { code: 'REFUND_NOT_CREDITABLE' },
  })
  for (const unknown of ['nothing', '01a1fd03-f879-7eb7-872f-a2b4358c4f6d'])
    t.match(await credit(unknown, { reason: 'x' }), { status: 404 })
  for (const body of [{}, { reason: ' ' }, { reason: 'x', amount: '5.00' }])
    t.match(await credit(line, body), { status: 400, body: { code: 'VALIDATION_FAILED' } })
  const asMerchant = await service.call('POST', `/api/v1/admin/statement-lines/${line}/credit`, {
    merchant: shop,
    body: { reason: 'x' },
  })
  t.match(asMerchant, { status: 403, body: { code: 'WRONG_REALM' } })
  t.same(await countRows(owner), before)
  const other = await service.merchant()
  const own = await service.call('GET', '/api/v1/portal/reconciliation', { merchant: other })
  t.match(own, { body: { differences: [] } }, 'the difference is of its merchant')
})

// The last one: its lines are in no statement, which the reconciliation would report in the tests after it.
t.test('a refund bears the name of its debit, whichever line is matched first', async (t) => {
  const { id, refundId } = await sentRefund()
  const line = { merchant_id: shop.id, refund_id: refundId }
  const lines: RefundLine[] = [
    { ...line, direction: 'CREDIT', bank_reference: 'of the return' },
    { ...line, direction: 'DEBIT', bank_reference: 'of the debit' },
  ]
  await app.pool.transaction((tx) => confirmRefunds(app, tx, lines))
  t.match(await refundsOf(id), [{ refund_status: 'EXECUTED', bank_reference: 'of the debit' }])
})
