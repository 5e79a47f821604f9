import { createHash } from 'node:crypto'
import t from 'tap'
import { createPayouts } from '../../src/payouts/create-payouts.ts'
import { sendPayouts } from '../../src/payouts/send-payouts.ts'
import { testService, until } from '../support/app.ts'
import type { Answer } from '../support/app.ts'
import { nordicFile, schemaErrors } from '../support/bank-files.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { balancesOf } from '../support/ledger.ts'
import { settledPayment } from '../support/payments.ts'
import { PAYING_IBAN, answerTo, readInstructions, statementOf } from '../support/payout-bank.ts'
import type { ReadFile } from '../support/payout-bank.ts'
import { closedSettlement, payableMerchant, payoutAccount, payoutWebhooksOf, payoutsOf } from '../support/payouts.ts'
import { countRows } from '../support/rows.ts'

const env = {
  SVC_PAYOUT_CONNECTOR: 'file',
  SVC_PAYOUT_NAME: 'Payments Ltd',
  SVC_PAYOUT_ACCOUNTS: 'GBP=20-00-00 12345678,EUR=IE29AIBK93115212345678',
}
const service = await testService(t, { env })
const { app, owner } = service
const headers = await service.operator('OPS')

const FILES = '/api/v1/admin/payout-files'
/** The answer to a whole message, for a reason that does not say that it is a copy. */
const REJECTED = '<GrpSts>RJCT</GrpSts><StsRsnInf><Rsn><Cd>FF01</Cd></Rsn></StsRsnInf>'

async function post(path: string, body?: object): Promise<Answer> {
  return service.call('POST', `/api/v1/admin/${path}`, { headers, ...(body === undefined ? {} : { body }) })
}

/** Creates the payouts that are due, and writes them into a file. */
async function exported(): Promise<{ answer: Answer['body']; file: ReadFile }> {
  await createPayouts(app)
  const { status, body, text } = await post('payout-files')
  if (status !== 200 || body.file === null) throw new Error(text)
  return { answer: body, file: readInstructions(body.file.content) }
}

async function statusesOf(merchant: { id: string }): Promise<string[]> {
  return (await payoutsOf(service, merchant)).map(({ status }) => status)
}

async function typesOf(merchant: { id: string }): Promise<string[]> {
  return (await payoutWebhooksOf(service, merchant)).map(({ type }) => type)
}

async function differences(): Promise<unknown[]> {
  const { body } = await service.call('GET', '/api/v1/admin/reconciliation', { headers })
  // What the settlements of these tests pay for are no payments.
  return body.differences.filter(({ kind }: { kind: string }) => kind !== 'LEDGER_WITHOUT_PAYMENT')
}

t.test('payouts go to the bank in a file, and are paid when its statement has them', async (t) => {
  const [tea, cake] = [await payableMerchant(service), await payableMerchant(service, { amount: '120.5000' })]
  const { answer, file } = await exported()
  t.same(await schemaErrors('pain.001.001.09', answer.file.content), [])
  t.match(answer, { left_out: [], has_more: false, file: { payout_count: 2, control_sum: '169.80' } })
  t.match(file, { count: '2', sum: '169.80', messageId: answer.file.message_id })
  t.match(file.payments, [
    { amount: '49.30', currency: 'GBP', name: 'Acme Ltd', account: /^204531\d{8}$/ },
    { amount: '120.50' },
  ])
  t.equal(answer.file.content_sha256, createHash('sha256').update(answer.file.content).digest('hex'))
  t.same([await statusesOf(tea), await statusesOf(cake)], [['SENT'], ['SENT']])
  await sendPayouts(app)
  t.same(await statusesOf(tea), ['SENT'], 'no API is asked about them')

  const accepted = await post('payout-reports', {
    content: answerTo(file.messageId, Object.fromEntries(file.payments.map(({ endToEndId }) => [endToEndId, 'ACSP']))),
  })
  t.match(accepted, { status: 200, body: { accepted_count: 2, rejected: [], rejected_count: 0 } })
  t.same(await statusesOf(tea), ['SENT'], 'accepted is not paid')

  const imported = await post('statements', { content: statementOf(file.payments) })
  t.match(imported, { status: 200, body: { matched_line_count: 2 } })
  t.match(await payoutsOf(service, tea), [{ status: 'PAID', bank_reference: /^PAID-/ }])
  t.same(await typesOf(tea), ['payout.created', 'payout.paid'])
  for (const merchant of [tea, cake])
    t.match(await balancesOf(service, merchant), {
      GBP: { clearing: '0.0000', merchant_payable: '0.0000', payouts_in_transit: '0.0000', bank: '0.0000' },
    })
  t.same(await differences(), [])
  t.same(
    await brokenInvariants(owner, ['I10 every currency of the ledger sums to zero, and its balances are the recount']),
    [],
  )
})

t.test('a payout that a bank books together with a larger credit is paid, and has not come back', async (t) => {
  const merchant = await payableMerchant(service)
  const { file } = await exported()
  const [{ amount = '', endToEndId = '' } = {}] = file.payments
  const content = nordicFile(
    [
      { amount: '100.00', ref: 'N1' },
      { amount, direction: 'DBIT', ref: 'N2', e2e: endToEndId },
    ],
    { account: PAYING_IBAN, currency: 'GBP' },
  )
  t.match(await post('statements', { content }), { body: { new_line_count: 2, matched_line_count: 1 } })
  t.same(await statusesOf(merchant), ['PAID'])
})

t.test('a payout is paid by its id, also while nothing can be found by its reference', async (t) => {
  const merchant = await payableMerchant(service)
  await settledPayment(service, merchant, { amount: '61.00', remittance_reference: 'INV 61' })
  const { file } = await exported()
  const content = statementOf(file.payments, [{ amount: '61.00', text: 'INV 61', ref: 'INV-61' }])
  await owner.query('begin; lock table payment_consents')
  const failed = await service.call('POST', '/api/v1/admin/statements', { headers, body: { content }, isOnce: true })
  t.equal(failed.status, 503)
  t.same(await statusesOf(merchant), ['PAID'])
  await owner.query('rollback')
  t.match(await post('statements', { content }), { status: 200, body: { new_line_count: 0, matched_line_count: 1 } })
})

t.test('what moves payouts, and waits, keeps no operator waiting', async (t) => {
  /** Whether an operator can act while a request waits to move a payout. Both must succeed. */
  async function waitsAlone(what: string, request: () => Promise<Answer>): Promise<Answer> {
    const other = await service.merchant()
    await owner.query('begin; lock table payout_events in exclusive mode')
    const waiting = request()
    await until(async () => {
      const { rows } = await owner.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rows.length > 0
    })
    const hold = { payout_held: true, reason: 'until the papers are here' }
    const held = await service.call('PUT', `/api/v1/admin/merchants/${other.id}/hold`, { headers, body: hold })
    t.equal(held.status, 200, `${what}: ${held.text}`)
    await owner.query('rollback')
    const answer = await waiting
    t.equal(answer.status, 200, `${what}: ${answer.text}`)
    return answer
  }
  const once = (method: 'POST' | 'PUT', path: string, body: object) =>
    service.call(method, `/api/v1/admin/${path}`, { headers, body, isOnce: true })

  const [named, nameless] = [await payableMerchant(service), await payableMerchant(service, { amount: '7.0100' })]
  await createPayouts(app)
  const { body } = await waitsAlone('a file', () => once('POST', 'payout-files', {}))
  const { payments } = readInstructions(body.file.content)
  const imported = statementOf(payments.filter(({ amount }) => amount !== '7.01'))
  await waitsAlone('an import', () => once('POST', 'statements', { content: imported }))
  const content = statementOf([], [{ amount: '7.01', direction: 'DBIT', text: 'TRANSFER' }])
  const { body: later } = await post('statements', { content })
  const lines = await service.call('GET', `/api/v1/admin/statement-lines?statement_id=${later.statements[0].id}`, {
    headers,
  })
  const [line] = lines.body.data
  const [payout] = await payoutsOf(service, nameless)
  const resolution = { payout_id: payout?.id, reason: 'it is the payout' }
  await waitsAlone('a resolution', () => once('PUT', `statement-lines/${line.id}/resolution`, resolution))
  t.same([await statusesOf(named), await statusesOf(nameless)], [['PAID'], ['PAID']])
})

t.test('a rejected payout comes back to the balance; importing the answer twice changes nothing', async (t) => {
  const [fine, closed] = [await payableMerchant(service), await payableMerchant(service, { amount: '7.0000' })]
  const { file } = await exported()
  const [first, second] = file.payments.map(({ endToEndId }) => endToEndId)
  const content = answerTo(file.messageId, { [first ?? '']: 'PDNG', [second ?? '']: 'RJCT AC04' })
  const before = await countRows(owner)
  t.match(await post('payout-reports?dry_run=true', { content }), { status: 200, body: { rejected: [{}] } })
  t.same(await countRows(owner), before)
  t.match(await post('payout-reports', { content }), {
    status: 200,
    body: {
      rejected: [{ merchant_id: closed.id, amount: '7.00', failure_code: 'ACCOUNT_CLOSED', bank_reason: 'AC04' }],
      pending_count: 1,
      rejected_count: 1,
    },
  })
  t.same([await statusesOf(fine), await statusesOf(closed)], [['SENT'], ['FAILED']])
  t.match(await balancesOf(service, closed), { GBP: { merchant_payable: '7.0000', payouts_in_transit: '0.0000' } })
  t.same(await typesOf(closed), ['payout.created', 'payout.failed'])
  const after = await countRows(owner)
  t.match(await post('payout-reports', { content }), { body: { rejected: [], rejected_count: 1 } })
  t.same(await countRows(owner), after)

  await createPayouts(app)
  t.match(await post('payout-files'), { body: { file: null } }, 'not to the same account again')
  await payoutAccount(service, closed)
  const again = await exported()
  t.match(again.file.payments, [{ amount: '7.00' }])
  t.not(again.file.payments[0]?.endToEndId, second, 'another payout, by another id')
  await post('statements', { content: statementOf([...again.file.payments, ...file.payments.slice(0, 1)]) })
  t.same([await statusesOf(fine), await statusesOf(closed)], [['PAID'], ['FAILED', 'PAID']])
  t.match(
    await post('payout-reports', { content: answerTo(file.messageId, { [first ?? '']: 'RJCT' }) }),
    {
      body: { rejected: [], rejected_count: 0, doubtful_count: 1 },
    },
    'what the statement has stays paid, and the answer is doubtful',
  )
  t.same(await differences(), [])
})

t.test('an answer to the whole message, or to a batch, is one to each payment', async (t) => {
  const [one, other] = [await payableMerchant(service), await payableMerchant(service)]
  const { file } = await exported()
  const copied = '<GrpSts>RJCT</GrpSts><StsRsnInf><Rsn><Cd>DU01</Cd></Rsn></StsRsnInf>'
  t.match(await post('payout-reports', { content: answerTo(file.messageId, {}, copied) }), {
    body: { duplicate_count: 2, rejected: [] },
  })
  t.same(await statusesOf(one), ['SENT'], 'uploaded twice: the first was taken')
  const [first = '', second = ''] = file.payments.map(({ endToEndId }) => endToEndId)
  for (const items of ['RJCT', 'RJCT NARR', 'RJCT AC04'])
    t.match(
      await post('payout-reports', { content: answerTo(file.messageId, { [first]: items, [second]: items }, copied) }),
      { body: { duplicate_count: 2, rejected: [], doubtful_count: 0, needs_review: null } },
      `each payment of the copy is a copy: ${items}`,
    )
  const part = copied.replace('RJCT', 'PART')
  t.match(
    await post('payout-reports', { content: answerTo(file.messageId, { [first]: 'RJCT', [second]: 'PDNG' }, part) }),
    { body: { duplicate_count: 1, rejected: [], pending_count: 1 } },
    'the reason is given once, above',
  )
  const confirmed = { content: answerTo(file.messageId, {}, REJECTED), confirm_rejection: true }
  t.match(await post('payout-reports', confirmed), {
    body: {
      rejected: [{ failure_code: 'BANK_ERROR', bank_reason: 'FF01' }, {}],
      doubtful_count: 0,
      needs_review: null,
    },
  })
  t.same([await statusesOf(one), await statusesOf(other)], [['FAILED'], ['FAILED']])
  t.match(
    await post('payout-reports', { content: confirmed.content }),
    { body: { rejected: [], rejected_count: 2, doubtful_count: 0, needs_review: null } },
    'what has failed is not doubtful again',
  )
})

t.test('a file that the bank rejects as a whole fails only once it is confirmed', async (t) => {
  const [one, other] = [await payableMerchant(service), await payableMerchant(service)]
  const { file } = await exported()
  const [first = '', second = ''] = file.payments.map(({ endToEndId }) => endToEndId)
  const whole = answerTo(file.messageId, {}, REJECTED)
  const batch = answerTo(file.messageId, {}).replace('</OrgnlPmtInfId>', '</OrgnlPmtInfId><PmtInfSts>RJCT</PmtInfSts>')
  const doubtful = {
    rejected: [],
    rejected_count: 0,
    doubtful_count: 2,
    needs_review: new RegExp(`uploaded twice.*${file.messageId}.*svc payouts import <answer> --confirm-rejection`),
  }
  const bare = { [first]: 'RJCT', [second]: 'RJCT' }
  const listed = answerTo(file.messageId, bare, REJECTED)
  const reason = '<StsRsnInf><Rsn><Cd>AC04</Cd></Rsn></StsRsnInf>'
  const listedInBatch = answerTo(file.messageId, bare).replace('</OrgnlPmtInfId>', `</OrgnlPmtInfId>${reason}`)
  for (const content of [whole, batch, listed, listedInBatch])
    t.match(await post('payout-reports', { content }), { status: 200, body: doubtful })
  t.same([await statusesOf(one), await statusesOf(other)], [['SENT'], ['SENT']])
  const { rows } = await owner.query(
    `select after from operator_actions where action = 'payout_report.import' order by ordinal desc limit 1`,
  )
  t.match(rows, [{ after: { message_id: file.messageId, doubtful_count: 2, rejected_payout_ids: [] } }])
  t.match(await post('payout-reports', { content: answerTo(file.messageId, { [second]: 'RJCT AC04' }, REJECTED) }), {
    body: { rejected: [{ failure_code: 'ACCOUNT_CLOSED' }], doubtful_count: 1 },
  })
  t.match(await post('payout-reports', { content: whole, confirm_rejection: true }), {
    body: { rejected: [{ failure_code: 'BANK_ERROR' }], doubtful_count: 0, needs_review: null },
  })
  t.same([await statusesOf(one), await statusesOf(other)], [['FAILED'], ['FAILED']])
})

t.test('payments that are rejected one by one for other reasons than the payee fail once confirmed', async (t) => {
  const [one, other] = [await payableMerchant(service), await payableMerchant(service)]
  const { file } = await exported()
  const [first = '', second = ''] = file.payments.map(({ endToEndId }) => endToEndId)
  const report = (answers: Record<string, string>, more: object = {}) =>
    post('payout-reports', { content: answerTo(file.messageId, answers), ...more })
  const expectDoubt = async (what: string) => {
    for (const [answers, doubtful] of [
      [{ [first]: 'RJCT NARR', [second]: 'RJCT' }, 2],
      [{ [first]: 'RJCT DU01', [second]: 'RJCT NARR' }, 1],
      [{ [first]: 'RJCT AM04', [second]: 'ACSP' }, 1],
      [{ [second]: 'RJCT AM04' }, 1],
      // The first upload has used up the balance or the limit, or the bank stops the repetition.
      ...['AC02', 'AC06', 'AM02', 'AM04', 'AM13', 'AM14', 'AM21', 'FR01'].map(
        (reason) => [{ [first]: `RJCT ${reason}`, [second]: `RJCT ${reason}` }, 2] as const,
      ),
    ] as const)
      t.match(await report(answers), { body: { rejected: [], doubtful_count: doubtful, needs_review: String } }, what)
    t.same([await statusesOf(one), await statusesOf(other)], [['SENT'], ['SENT']], what)
  }
  await expectDoubt('before any acceptance was imported')
  await report({ [first]: 'ACSP', [second]: 'ACSP' })
  await expectDoubt('after one')
  t.match(
    await report({ [first]: 'RJCT AC04', [second]: 'RJCT NARR' }),
    { body: { rejected: [{ bank_reason: 'AC04' }], doubtful_count: 1 } },
    'a reason of the payment itself is believed',
  )
  t.match(await report({ [first]: 'RJCT AC04', [second]: 'RJCT NARR' }, { confirm_rejection: true }), {
    body: { rejected: [{ failure_code: 'BANK_ERROR' }], doubtful_count: 0, needs_review: null },
  })
  t.same([await statusesOf(one), await statusesOf(other)], [['FAILED'], ['FAILED']])
})

t.test('neither the rejection of a file of which a statement has a payment, nor of a batch, is believed', async (t) => {
  const merchant = await service.merchant()
  await payoutAccount(service, merchant, {
    sort_code: '20-20-15',
    account_number: '55555555',
    iban: 'GB33BUKB20201555555555',
  })
  await closedSettlement(service, merchant, { amount: '11.0000' })
  await closedSettlement(service, merchant, { amount: '12.0000', currency: 'EUR' })
  const waiting = await payableMerchant(service)
  const { file } = await exported()
  await post('statements', { content: statementOf(file.payments.filter(({ amount }) => amount === '11.00')) })
  t.match(await post('payout-reports', { content: answerTo(file.messageId, {}, REJECTED) }), {
    body: { rejected: [], doubtful_count: 3 },
  })
  const euros = answerTo(file.messageId, {}).replace(
    'GBP</OrgnlPmtInfId>',
    'EUR</OrgnlPmtInfId><PmtInfSts>RJCT</PmtInfSts>',
  )
  t.match(await post('payout-reports', { content: euros }), { body: { rejected: [], doubtful_count: 1 } })
  t.match(await post('payout-reports', { content: euros, confirm_rejection: true }), {
    body: { rejected: [{ merchant_id: merchant.id, amount: '12.00', currency: 'EUR' }], doubtful_count: 0 },
  })
  t.same(await statusesOf(waiting), ['SENT'])
  await post('statements', { content: statementOf(file.payments.filter(({ amount }) => amount === '49.30')) })
})

t.test('a second export has nothing, and the file is read again by its id with the same bytes', async (t) => {
  await payableMerchant(service)
  const { answer } = await exported()
  await createPayouts(app)
  t.match(await post('payout-files'), { status: 200, body: { file: null, left_out: [], has_more: false } })
  const read = await service.call('GET', `${FILES}/${answer.file.id}`, { headers })
  t.same(read.body, answer.file)
  t.match(await service.call('GET', `${FILES}?limit=1`, { headers }), {
    body: { data: [{ id: answer.file.id, content: undefined }], has_more: true },
  })
  t.match(await service.call('GET', `${FILES}/${answer.file.message_id}`, { headers }), {
    status: 404,
    body: { code: 'PAYOUT_FILE_NOT_FOUND' },
  })
  const { rows } = await owner.query('select content from payout_files where id = $1', [answer.file.id])
  t.match(rows, [{ content: /^v1\./ }], 'sealed at rest')
  const actions = await owner.query('select action from operator_actions where subject_id = $1 order by ordinal', [
    answer.file.id,
  ])
  t.same(actions.rows, [{ action: 'payout_file.create' }, { action: 'payout_file.read' }])
})

t.test('ten exports at once write each payout into one file', async (t) => {
  const merchants = [await payableMerchant(service), await payableMerchant(service)]
  await createPayouts(app)
  const answers = await Promise.all(Array.from({ length: 10 }, () => post('payout-files')))
  t.equal(answers.filter(({ body }) => body.file !== null).length, 1)
  for (const merchant of merchants) t.same(await statusesOf(merchant), ['SENT'])
})

t.test('what a bank says in no file is recorded by an operator, once and audited', async (t) => {
  const merchant = await payableMerchant(service)
  const fail = (id: string, more: object = {}) =>
    post(`payouts/${id}/fail`, { failure_code: 'ACCOUNT_CLOSED', reason: 'told by the bank on the phone', ...more })
  await createPayouts(app)
  const [waiting] = await payoutsOf(service, merchant)
  const id = waiting?.id ?? ''
  const how = new RegExp(`svc payouts fail ${id} --code CANCELLED_BY_PLATFORM`)
  const unsent = { code: 'PAYOUT_NOT_FAILABLE', current: { status: 'CREATED' }, next: how }
  t.match(await fail(id), { status: 409, body: unsent })
  await exported()
  const cancellation = { failure_code: 'CANCELLED_BY_PLATFORM' }
  t.match(
    await fail(id, cancellation),
    { status: 409, body: { code: 'PAYOUT_NOT_FAILABLE', current: { status: 'SENT' } } },
    'what a file has is not cancelled',
  )
  t.match(await fail(id, { failure_code: 'CONSENT_EXPIRED' }), {
    status: 400,
    body: { errors: [{ path: 'failure_code' }] },
  })
  t.match(await fail(id, { reason: undefined }), { status: 400, body: { errors: [{ path: 'reason' }] } })
  t.match(await fail('nonsense'), { status: 404, body: { code: 'PAYOUT_NOT_FOUND' } })
  const answers = await Promise.all(Array.from({ length: 4 }, () => fail(id)))
  t.same(answers.map(({ status }) => status).toSorted(), [200, 409, 409, 409])
  t.match(await payoutsOf(service, merchant), [{ status: 'FAILED', failure_code: 'ACCOUNT_CLOSED' }])
  t.match(await balancesOf(service, merchant), { GBP: { merchant_payable: '49.3000', payouts_in_transit: '0.0000' } })
  t.same(await typesOf(merchant), ['payout.created', 'payout.failed'])
  const { rows } = await owner.query(
    "select subject_id, reason, after from operator_actions where action = 'payout.fail'",
  )
  t.match(rows, [{ subject_id: id, reason: /on the phone/, after: { failure_code: 'ACCOUNT_CLOSED' } }])
  t.same(await differences(), [])

  const byApi = { ...app, config: { ...app.config, payoutConnector: 'mock' as const } }
  const other = await payableMerchant(service)
  await createPayouts(byApi)
  const [sent] = await payoutsOf(service, other)
  t.match(await fail(sent?.id ?? ''), {
    status: 409,
    body: { code: 'PAYOUT_NOT_FAILABLE', error: /mock says itself/, next: /--code CANCELLED_BY_PLATFORM/ },
  })
})

t.test('payouts that wait for a file for three days are a task of operators', async (t) => {
  const merchant = await payableMerchant(service)
  await createPayouts(app)
  const tasks = async () => {
    const { body } = await service.call('GET', '/api/v1/admin/inbox', { headers })
    return body.data.filter(({ kind }: { kind: string }) => kind === 'payouts_waiting')
  }
  t.same(await tasks(), [])
  await owner.query(`update payouts set created_at = now() - interval '4 days' where merchant_id = $1`, [merchant.id])
  t.match(await tasks(), [
    {
      merchant_id: merchant.id,
      count: 1,
      overdue: true,
      summary: /^a payout has waited/,
      command: /--status CREATED$/,
    },
  ])
  await exported()
  t.same(await tasks(), [])
})

t.test('a payout that no file has is cancelled, and the next one goes to the account of then', async (t) => {
  const merchant = await payableMerchant(service)
  await createPayouts(app)
  const other = await payoutAccount(service, merchant)
  const cancel = async (query = ''): Promise<Answer> => {
    const waiting = (await payoutsOf(service, merchant)).at(-1)
    const body = { failure_code: 'CANCELLED_BY_PLATFORM', reason: 'to the new account' }
    return post(`payouts/${waiting?.id}/fail${query}`, body)
  }
  t.match(await cancel('?dry_run=true'), { status: 200, body: { status: 'FAILED' } })
  t.match(await cancel(), { status: 200, body: { status: 'FAILED', failure: { source: 'PLATFORM' } } })
  await createPayouts(app)
  t.match(await payoutsOf(service, merchant), [
    { status: 'FAILED', bank_account_id: merchant.accountId },
    { status: 'CREATED', bank_account_id: other },
  ])
  const [cancelled, taken] = await Promise.all([cancel(), post('payout-files')])
  const isTaken = taken.body.file !== null
  t.equal(cancelled.status, isTaken ? 409 : 200, 'either a file has it or it is cancelled')
  t.same(await statusesOf(merchant), ['FAILED', isTaken ? 'SENT' : 'FAILED'])
  t.same(await differences(), [])
  await createPayouts(app)
  await post('payout-files')
})

t.test('a crash between writing and recording leaves nothing, and the payouts go with the next file', async (t) => {
  const merchant = await payableMerchant(service)
  await createPayouts(app)
  const before = await countRows(owner)
  for (const table of ['payout_files', 'payout_events', 'operator_actions']) {
    await owner.query(
      `create function fail_now() returns trigger language plpgsql as $$
       begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$`,
    )
    await owner.query(`create trigger aa_fail before insert on ${table} for each row execute function fail_now()`)
    t.ok((await post('payout-files')).status >= 500, `killed at ${table}`)
    await owner.query('drop function fail_now() cascade')
    t.same(await countRows(owner), before)
    t.same(await statusesOf(merchant), ['CREATED'])
  }
  const { file } = await exported()
  t.equal(file.payments.length, 1)
})

t.test('a payout whose account number does not open is left out, and keeps no other back', async (t) => {
  const [broken, fine] = [await payableMerchant(service), await payableMerchant(service, { amount: '5.0000' })]
  const seal = (sealed: string) =>
    owner.query(`update merchant_bank_accounts set encrypted_account_number = $2 where id = $1`, [
      broken.accountId,
      sealed,
    ])
  const { rows } = await owner.query('select encrypted_account_number from merchant_bank_accounts where id = $1', [
    broken.accountId,
  ])
  await seal('v1.of.another.key')
  const { answer, file } = await exported()
  t.match(answer.left_out, [{ merchant_id: broken.id, amount: '49.30', reason: 'ACCOUNT_UNREADABLE' }])
  t.match(file.payments, [{ amount: '5.00' }])
  t.same([await statusesOf(broken), await statusesOf(fine)], [['CREATED'], ['SENT']])
  await seal(rows[0].encrypted_account_number)
  const next = await exported()
  t.match(next.file.payments, [{ amount: '49.30' }], 'it goes when the number opens again')
  await post('statements', { content: statementOf([...file.payments, ...next.file.payments]) })
})

t.test('held merchants, disabled accounts and names that no bank reads stay out of the file', async (t) => {
  const [held, disabled, unread] = [
    await payableMerchant(service),
    await payableMerchant(service),
    await service.merchant(),
  ]
  await payoutAccount(service, unread, { account_holder_name: '株式会社' })
  await closedSettlement(service, unread, { amount: '3.0000' })
  await createPayouts(app)
  const hold = (payout_held: boolean): Promise<Answer> =>
    service.call('PUT', `/api/v1/admin/merchants/${held.id}/hold`, { headers, body: { payout_held, reason: 'odd' } })
  await hold(true)
  await service.call('DELETE', `/api/v1/portal/bank-accounts/${disabled.accountId}`, { merchant: disabled })
  t.match(await post('payout-files'), {
    body: { file: null, left_out: [{ merchant_id: unread.id, amount: '3.00', reason: 'NAME_NOT_WRITABLE' }] },
  })
  t.same(
    [await statusesOf(held), await statusesOf(disabled), await statusesOf(unread)],
    [['FAILED'], ['FAILED'], ['CREATED']],
  )
  await hold(false)
  t.match((await exported()).file.payments, [{ amount: '49.30' }])
  t.same(await statusesOf(held), ['FAILED', 'SENT'])
  await service.call('PUT', `/api/v1/admin/merchants/${unread.id}/hold`, { headers, body: { payout_held: true } })
})

t.test('euros go by IBAN; hostile names are written as text', async (t) => {
  const merchant = await service.merchant()
  await payoutAccount(service, merchant, {
    account_holder_name: `</Nm>"O'Neil" & <Söhne>`,
    sort_code: '20-20-15',
    account_number: '55555555',
    iban: 'GB33BUKB20201555555555',
  })
  await closedSettlement(service, merchant, { amount: '10.0000' })
  await closedSettlement(service, merchant, { amount: '20.0000', currency: 'EUR' })
  const { answer, file } = await exported()
  t.same(await schemaErrors('pain.001.001.09', answer.file.content), [])
  t.match(answer.file, { payout_count: 2, control_sum: '30.00' })
  t.same(
    new Set(file.payments.map(({ currency, account, name }) => `${currency} ${account} ${name}`)),
    new Set([`GBP 20201555555555 ./Nm.'O'Neil' + .Sohne.`, `EUR GB33BUKB20201555555555 ./Nm.'O'Neil' + .Sohne.`]),
  )
})

t.test(
  "money that comes back under a payout's id makes it RETURNED, in the same statement or a later one",
  async (t) => {
    const [late, soon] = [await payableMerchant(service), await payableMerchant(service)]
    const { file } = await exported()
    const back = (index: number) => {
      const { amount = '', endToEndId: e2e = '' } = file.payments[index] ?? {}
      return { amount, e2e, ref: `BACK-${index}` }
    }
    await post('statements', { content: statementOf(file.payments, [back(1)]) })
    t.same([await statusesOf(late), await statusesOf(soon)], [['PAID'], ['RETURNED']])
    await post('statements', { content: statementOf([], [back(0)]) })
    t.same(await statusesOf(late), ['RETURNED'])
    t.match(await balancesOf(service, late), { GBP: { merchant_payable: '49.3000', bank: '49.3000' } })
    t.same(await differences(), [])
  },
)

t.test('what comes back for the account waits for another one, and for other reasons is paid again', async (t) => {
  const [closed, other] = [await payableMerchant(service), await payableMerchant(service, { amount: '6.0000' })]
  const { file } = await exported()
  const back = file.payments.map(({ amount, endToEndId: e2e }) => {
    const returned = amount === '49.30' ? 'AC04' : 'MS03'
    return { amount, e2e, ref: `BACK-${returned}`, returned }
  })
  const content = statementOf(file.payments, back)
  t.same(await schemaErrors('camt.053.001.02', content), [])
  await post('statements', { content })
  t.match(await payoutsOf(service, closed), [
    { status: 'RETURNED', failure_code: 'ACCOUNT_CLOSED', retry_at: 'infinity' },
  ])
  t.match(await payoutsOf(service, other), [{ status: 'RETURNED', failure_code: 'BANK_ERROR', retry_at: /Z$/ }])
  await createPayouts(app)
  t.same(await statusesOf(closed), ['RETURNED'], 'not to the same account again')
  await payoutAccount(service, closed)
  const again = await exported()
  t.match(again.file.payments, [{ amount: '49.30' }])
  await post('statements', { content: statementOf(again.file.payments) })
  t.same(await statusesOf(closed), ['RETURNED', 'PAID'])
})

t.test('a line that no rule has matched is a payout by hand', async (t) => {
  const merchant = await payableMerchant(service, { amount: '8.1500' })
  const { file } = await exported()
  const [payout] = await payoutsOf(service, merchant)
  const { body } = await post('statements', {
    content: statementOf([], [{ amount: '8.15', direction: 'DBIT', text: 'TRANSFER' }]),
  })
  const statement = body.statements[0].id
  const lines = await service.call('GET', `/api/v1/admin/statement-lines?statement_id=${statement}`, { headers })
  const resolve = (more: object): Promise<Answer> =>
    service.call('PUT', `/api/v1/admin/statement-lines/${lines.body.data[0].id}/resolution`, {
      headers,
      body: { reason: 'the bank told us', ...more },
    })
  t.match(await resolve({ payout_id: merchant.id }), { status: 404, body: { code: 'PAYOUT_NOT_FOUND' } })
  t.match(await resolve({ payout_id: payout?.id, payment_id: payout?.id }), { status: 400 })
  t.match(await resolve({ payout_id: payout?.id }), {
    status: 200,
    body: { payout_id: payout?.id, matched_by: 'MANUAL', merchant_id: merchant.id },
  })
  t.same(await statusesOf(merchant), ['PAID'])
  t.match(
    await post('statements', { content: statementOf(file.payments) }),
    { body: { matched_line_count: 0 } },
    'only once',
  )
  t.match(
    await differences(),
    [{ kind: 'STATEMENT_DEBIT_KNOWN', found_amount: '8.15', cause: /was paid twice/ }],
    'and a second debit under its id is named at once',
  )
})

t.test('an answer to another file, or a file that is none, changes nothing', async (t) => {
  const merchant = await payableMerchant(service)
  const { file } = await exported()
  const before = await countRows(owner)
  t.match(await post('payout-reports', { content: answerTo('OTHER', {}) }), {
    status: 404,
    body: { code: 'PAYOUT_FILE_NOT_FOUND', error: 'no file of payouts was the message "OTHER"' },
  })
  t.match(await post('payout-reports', { content: answerTo(file.messageId, { SVC1: 'RJCT' }) }), {
    status: 400,
    body: { errors: [{ path: 'content', message: 'the file has no payment "SVC1"' }] },
  })
  t.match(await post('payout-reports', { content: '<!DOCTYPE x []><x/>' }), {
    status: 400,
    body: { errors: [{ path: 'content', message: /document type/ }] },
  })
  t.same(await countRows(owner), before)
  t.same(await statusesOf(merchant), ['SENT'])
})
