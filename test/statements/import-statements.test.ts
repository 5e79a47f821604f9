import { createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import { askAgain, testService } from '../support/app.ts'
import type { Answer } from '../support/app.ts'
import { britishFile, dutchFile, germanFile } from '../support/bank-files.ts'
import type { SampleLine } from '../support/bank-files.ts'
import { refund, settledPayment, tally } from '../support/payments.ts'
import { countRows } from '../support/rows.ts'
import { until } from '../support/until.ts'

const service = await testService(t)
const { owner } = service
const merchant = await service.merchant()
const headers = await service.operator('OPS')
const PATH = '/api/v1/admin/statements'
const LINES = '/api/v1/admin/statement-lines'
const today = new Date().toISOString().slice(0, 10)

const send = (content: string, more: object = {}): Promise<Answer> =>
  service.call('POST', PATH, { headers, body: { content, ...more } })

/** Each test has its own account, so that lines of one are not those of another. */
let accounts = 0
function statement(lines: readonly SampleLine[]): { content: string; account: string } {
  accounts += 1
  const account = `GB${String(10 + accounts)}BUKB2020155555${String(1000 + accounts)}`
  return { account, content: britishFile(lines, { account, id: `S-${accounts}` }) }
}

async function linesOf(answer: Answer): Promise<Answer['body'][]> {
  const { body } = await service.call('GET', `${LINES}?statement_id=${answer.body.statements[0].id}`, { headers })
  return body.data.toSorted((one: { bank_reference: string }, other: { bank_reference: string }) =>
    one.bank_reference < other.bank_reference ? -1 : 1,
  )
}

async function e2eOf(paymentId: string): Promise<string> {
  const { rows } = await owner.query('select end_to_end_id from payment_intents where id = $1', [paymentId])
  return rows[0].end_to_end_id
}

const line = (amount: string, ref: string, more: Partial<SampleLine> = {}): SampleLine => ({ amount, ref, ...more })

t.test('lines are matched by the whole end-to-end id, its first 31 or 18 characters, or the reference', async (t) => {
  const [whole, cut31, cut18, inText, byReference] = await Promise.all(
    ['11.00', '12.00', '13.00', '14.00', '15.00'].map((amount) =>
      settledPayment(service, merchant, { amount, remittance_reference: `INV-${amount}` }),
    ),
  )
  const { content } = statement([
    line('11.00', 'a', { e2e: await e2eOf(whole ?? '') }),
    line('12.00', 'b', { e2e: (await e2eOf(cut31 ?? '')).slice(0, 31) }),
    line('13.00', 'c', { e2e: (await e2eOf(cut18 ?? '')).slice(0, 18) }),
    line('14.00', 'd', { text: (await e2eOf(inText ?? '')).slice(0, 18) }),
    line('15.00', 'e', { text: 'inv 15.00' }),
    line('15.00', 'f', { text: 'something else' }),
    line('11.01', 'g', { e2e: await e2eOf(whole ?? '') }),
    line('12.00', 'h', { direction: 'DBIT', text: 'INV-12.00' }),
  ])
  const before = await countRows(owner)
  t.match(await service.call('POST', `${PATH}?dry_run=true`, { headers, body: { content } }), {
    status: 200,
    body: { new_line_count: 8, matched_line_count: 5 },
  })
  t.same(await countRows(owner), before, 'a dry run keeps nothing')
  const answer = await send(content)
  t.match(answer, {
    status: 200,
    body: {
      statements: [
        { format: 'camt.053', opening_amount: '-100.00', closing_amount: '250.50', currency: 'GBP', line_count: 8 },
      ],
      new_line_count: 8,
      known_line_count: 0,
      matched_line_count: 5,
    },
  })
  t.match(await linesOf(answer), [
    { bank_reference: 'a', payment_id: whole, merchant_id: merchant.id, matched_by: 'END_TO_END_ID', booked_on: today },
    { payment_id: cut31, matched_by: 'END_TO_END_ID_31' },
    { payment_id: cut18, matched_by: 'END_TO_END_ID_18' },
    { payment_id: inText, matched_by: 'END_TO_END_ID_18' },
    { payment_id: byReference, matched_by: 'REFERENCE' },
    { bank_reference: 'f', payment_id: null, matched_by: null },
    { bank_reference: 'g', matched_by: null, amount: '11.01' },
    { bank_reference: 'h', matched_by: null, direction: 'DEBIT' },
  ])
})

t.test("a line with the whole id of one payment is no other payment's by its reference", async (t) => {
  const same = { amount: '41.00', remittance_reference: 'RENT 41' }
  const one = await settledPayment(service, merchant, same)
  const named = { e2e: await e2eOf(one), text: 'RENT 41' }
  t.match(await linesOf(await send(statement([line('41.00', 'a', named)]).content)), [{ payment_id: one }])
  const other = await settledPayment(service, merchant, same)
  t.match(await linesOf(await send(statement([line('41.00', 'b', named)]).content)), [{ payment_id: null }])
  const third = await send(statement([line('41.00', 'c', { text: 'RENT 41' })]).content)
  t.match(await linesOf(third), [{ payment_id: other, matched_by: 'REFERENCE' }])
})

t.test('the same file again changes nothing, and a notification of the same entries neither', async (t) => {
  const paymentId = await settledPayment(service, merchant, { amount: '21.00' })
  const { content, account } = statement([
    line('21.00', 'a', { e2e: await e2eOf(paymentId) }),
    line('3.00', 'b'),
    line('3.00', 'b'),
  ])
  const first = await send(content)
  t.match(
    first.body,
    { new_line_count: 3, known_line_count: 0, matched_line_count: 1 },
    'two lines that are alike are two',
  )
  const before = await countRows(owner)
  const again = await send(content)
  t.match(again.body, {
    new_line_count: 0,
    known_line_count: 3,
    matched_line_count: 0,
    statements: first.body.statements,
  })
  t.same(await countRows(owner), before)
  const overlap = await send(britishFile([line('3.00', 'b'), line('4.00', 'c')], { account, id: 'S-NEXT' }))
  t.match(overlap.body, { new_line_count: 1, known_line_count: 1 })
  const notice = await send(germanFile([{ amount: '9.00', ref: 'n1', text: 'x' }], { account }))
  t.match(notice.body, { new_line_count: 1 })
  const told = await send(germanFile([{ amount: '9.00', ref: 'n1', text: 'y' }], { account, id: 'NOTE-2' }))
  t.match(told.body, { new_line_count: 0, known_line_count: 1 }, 'by the name that the bank gave it')
})

t.test('the same CSV text of another account, or read otherwise, is another file', async (t) => {
  const content = 'Date,Out,In\n03/02/2026,1.00,\n'
  const columns = { date: 'Date', debit: 'Out', credit: 'In' }
  const csv = { account: '20-20-15 00000077', currency: 'GBP', date_format: 'DD/MM/YYYY', columns }
  t.match(await send(content, { csv }), { status: 200, body: { new_line_count: 1, known_line_count: 0 } })
  for (const [name, more] of [
    ['account', { account: '20-20-15 00000078' }],
    ['date format', { date_format: 'MM/DD/YYYY' }],
    ['columns', { columns: { ...columns, debit: 'In', credit: 'Out' } }],
    ['currency', { currency: 'EUR' }],
  ] as const)
    t.match((await send(content, { csv: { ...csv, ...more } })).body, { new_line_count: 1, known_line_count: 0 }, name)
  const alike = { ...csv, account: '202015-00000077', columns: { credit: 'In', debit: 'Out', date: 'Date' } }
  t.match((await send(content, { csv: alike })).body, { new_line_count: 0, known_line_count: 1 })
  const { rows } = await owner.query(
    `select count(*)::int, after->>'file_sha256' as hash from operator_actions
     where action = 'statement.import' and after->>'account' like '202015000000%' group by 2`,
  )
  t.same(
    rows,
    [{ count: 5, hash: createHash('sha256').update(content).digest('hex') }],
    'the audit trail has the content',
  )
})

t.test('lines that are alike on two pages are two, unless the bank names them', async (t) => {
  const [cash, fee] = [
    { amount: '20.00', text: 'Cash' },
    { amount: '0.30', ref: 'FEE-1' },
  ]
  const content = dutchFile([
    [cash, fee],
    [cash, fee],
  ])
  t.match((await send(content)).body, { new_line_count: 3, known_line_count: 1 })
  t.match((await send(content)).body, { new_line_count: 0, known_line_count: 4 })
  t.match((await send(`${content} `)).body, { new_line_count: 0, known_line_count: 4 }, 'in another file too')
  const onePage = dutchFile([[cash, cash], []])
  t.match((await send(onePage)).body, { new_line_count: 0, known_line_count: 2 }, 'and on one page')
})

t.test('twenty imports of the same file at once keep it once', async (t) => {
  const { content } = statement([line('1.00', 'a'), line('2.00', 'b')])
  const answers = await Promise.all(Array.from({ length: 20 }, () => askAgain(() => send(content))))
  t.same(new Set(answers.map(({ status }) => status)), new Set([200]))
  t.equal(
    answers.reduce((total, { body }) => total + body.new_line_count, 0),
    2,
  )
})

t.test("what could be several is nobody's, until someone says", async (t) => {
  const same = { amount: '31.00', remittance_reference: 'RENT' }
  const [one, other] = [await settledPayment(service, merchant, same), await settledPayment(service, merchant, same)]
  const answer = await send(statement([line('31.00', 'a', { text: 'RENT' })]).content)
  t.match(answer.body, { matched_line_count: 0 })
  const [found] = await linesOf(answer)
  const resolve = (body: object): Promise<Answer> =>
    service.call('PUT', `${LINES}/${found.id}/resolution`, { headers, body })
  t.match(await resolve({ payment_id: one }), { status: 400, body: { errors: [{ path: 'reason' }] } })
  t.match(await resolve({ refund_id: one, reason: 'x' }), { status: 400, body: { errors: [{ path: 'payment_id' }] } })
  t.match(await resolve({ payment_id: found.id, reason: 'x' }), { status: 404, body: { code: 'PAYMENT_NOT_FOUND' } })
  const wrong = await settledPayment(service, merchant, { amount: '31.01' })
  t.match(await resolve({ payment_id: wrong, reason: 'x' }), {
    status: 400,
    body: {
      errors: [
        {
          path: 'payment_id',
          code: 'MISMATCH',
          message: 'is a credit of 31.01 GBP, and the line a credit of 31.00 GBP',
        },
      ],
    },
  })
  t.match(await resolve({ payment_id: other, reason: 'the payer told us' }), {
    status: 200,
    body: { payment_id: other, matched_by: 'MANUAL', resolution_reason: 'the payer told us', matched_at: String },
  })
  t.match(await resolve({ payment_id: one, reason: 'no' }), {
    status: 409,
    body: { code: 'STATEMENT_LINE_MATCHED', current: { matched_by: 'MANUAL', payment_id: other } },
  })
  const { rows } = await owner.query(
    `select action, reason, merchant_id, after from operator_actions where subject_id = $1`,
    [found.id],
  )
  t.match(rows, [
    {
      action: 'statement_line.resolve',
      reason: 'the payer told us',
      merchant_id: merchant.id,
      after: { payment_id: other },
    },
  ])
  const second = await send(statement([line('31.00', 'b', { text: 'RENT' })]).content)
  t.match(
    await linesOf(second),
    [{ payment_id: one, matched_by: 'REFERENCE' }],
    'once only one is left, it is that one',
  )
  const fee = await send(statement([line('0.35', 'c', { direction: 'DBIT', text: 'BANK FEE' })]).content)
  const [feeLine] = await linesOf(fee)
  t.match(
    await service.call('PUT', `${LINES}/${feeLine.id}/resolution`, { headers, body: { reason: "the bank's fee" } }),
    {
      status: 200,
      body: { payment_id: null, merchant_id: null, matched_by: 'MANUAL' },
    },
  )
  t.match(await service.call('PUT', `${LINES}/nothing/resolution`, { headers, body: { reason: 'x' } }), {
    status: 404,
    body: { code: 'STATEMENT_LINE_NOT_FOUND' },
  })
})

/** The answers of requests that run at once, each of which has read the lines before one of them is changed. */
async function atOnce(requests: readonly (() => Promise<Answer>)[]): Promise<Answer[]> {
  await owner.query('begin; lock table bank_statement_lines in share mode')
  const answers: Promise<Answer>[] = []
  for (const request of requests) {
    answers.push(request())
    await until('the request waits', async () => {
      const { rowCount } = await owner.query(
        `select from pg_locks
         where not granted and database = (select oid from pg_database where datname = current_database())`,
      )
      return rowCount === answers.length
    })
  }
  await owner.query('commit')
  return Promise.all(answers)
}

t.test('a line is resolved, or matched, once by those who do so at once', async (t) => {
  const resolve = (id: string, body: object) => () =>
    service.call('PUT', `${LINES}/${id}/resolution`, { headers, body: { reason: 'we know', ...body } })
  const e2e = `SVC${'36'.repeat(16)}`
  const { content } = statement([line('36.00', 'a', { e2e }), line('36.00', 'b'), line('36.00', 'c')])
  const [later, one, other] = await linesOf(await send(content))
  const payment_id = await settledPayment(service, merchant, { amount: '36.00' })
  t.match(await atOnce([resolve(one.id, { payment_id }), resolve(other.id, { payment_id })]), [
    { status: 200, body: { payment_id } },
    {
      status: 400,
      body: { errors: [{ path: 'payment_id', code: 'ALREADY_THERE', message: `is the line ${one.id} already` }] },
    },
  ])
  const matched = await settledPayment(service, merchant, { amount: '36.00' })
  await owner.query('update payment_intents set end_to_end_id = $2 where id = $1', [matched, e2e])
  t.match(await atOnce([() => send(content), resolve(later.id, {})]), [
    { status: 200, body: { matched_line_count: 1 } },
    { status: 409, body: { code: 'STATEMENT_LINE_MATCHED', current: { payment_id: matched } } },
  ])
})

t.test('refunds are debits; what came twice, or never, is listed', async (t) => {
  const [paid, twice, never] = await Promise.all(
    ['41.00', '42.00', '43.00'].map((amount) => settledPayment(service, merchant, { amount })),
  )
  t.equal((await refund(service, merchant, { id: paid ?? '', body: { amount: '5.00' } })).status, 200)
  t.equal((await refund(service, merchant, { id: paid ?? '', body: { amount: '5.00' } })).status, 200)
  const [e2e, e2eTwice] = [await e2eOf(paid ?? ''), await e2eOf(twice ?? '')]
  const answer = await send(
    statement([
      line('41.00', 'a', { e2e }),
      line('5.00', 'b', { e2e, direction: 'DBIT' }),
      line('5.00', 'c', { e2e, direction: 'DBIT' }),
      line('5.00', 'd', { e2e, direction: 'DBIT' }),
      line('42.00', 'e', { e2e: e2eTwice }),
      line('42.00', 'f', { e2e: e2eTwice }),
      line('42.00', 'g', { e2e: e2eTwice, direction: 'DBIT', reversal: true }),
    ]).content,
  )
  t.match(answer.body, { matched_line_count: 4 })
  const lines = await linesOf(answer)
  t.same(tally(lines.map(({ amount, direction, matched_by }) => `${direction} ${amount} ${matched_by}`)), {
    'CREDIT 41.00 END_TO_END_ID': 1,
    'DEBIT 5.00 END_TO_END_ID': 2,
    'DEBIT 5.00 null': 1,
    'CREDIT 42.00 END_TO_END_ID': 1,
    'CREDIT 42.00 null': 1,
    'DEBIT 42.00 null': 1,
  })
  t.equal(new Set(lines.map(({ refund_id }) => refund_id)).size, 3, 'each refund once')
  const missing = async (): Promise<string[]> => {
    const query = `from=${today}&to=${today}&limit=100`
    const { body } = await service.call('GET', `/api/v1/admin/unmatched-movements?${query}`, { headers })
    return body.data.map(({ payment_id }: { payment_id: string }) => payment_id)
  }
  const open = await missing()
  t.ok(open.includes(never ?? '') && !open.includes(paid ?? '') && !open.includes(twice ?? ''))
  const csv = await service.call('GET', `/api/v1/admin/unmatched-movements?from=${today}&to=${today}`, {
    headers: { ...headers, accept: 'text/csv' },
  })
  t.match(csv.text, /^kind,merchant_id,payment_id,.*\r\n/)
  await owner.query(`update payment_intents set created_at = '2025-07-01T23:30:00Z' where id = $1`, [never])
  for (const [day, isOn] of [
    ['2025-07-01', false],
    ['2025-07-02', true],
  ]) {
    const { body } = await service.call('GET', `/api/v1/admin/unmatched-movements?from=${day}&to=${day}`, { headers })
    t.equal(body.data.length, isOn ? 1 : 0, `half an hour after midnight in London is not ${day}`)
  }
  t.match(await service.call('GET', `${LINES}?state=unmatched&limit=1`, { headers }), {
    body: { data: [{ matched_by: null }], has_more: true, next_cursor: String },
  })
  t.match(await service.call('GET', `${LINES}?payment_id=${paid}&from=${today}&to=${today}`, { headers }), {
    body: { data: [{}, {}, {}] },
  })
  t.match(await service.call('GET', `${PATH}?limit=2`, { headers }), { body: { data: [{ format: 'camt.053' }, {}] } })
})

t.test('pages of lines and movements follow one another without a gap', async (t) => {
  for (const path of [
    `${LINES}?limit=2`,
    `/api/v1/admin/unmatched-movements?from=${today}&to=${today}&limit=1`,
    `${PATH}?limit=2`,
  ]) {
    const whole = (await service.call('GET', path.replace(/limit=\d+/, 'limit=100'), { headers })).body.data
    const got: unknown[] = []
    let cursor: string | null = null
    do {
      const { body } = await service.call('GET', `${path}${cursor === null ? '' : `&cursor=${cursor}`}`, { headers })
      got.push(...body.data)
      cursor = body.next_cursor
    } while (cursor !== null)
    t.same(got, whole, path)
  }
})

t.test("a file that can't be read is refused with its place, and nothing is kept", async (t) => {
  const before = await countRows(owner)
  const { content } = statement([line('1.00', 'a'), line('x', 'b')])
  t.match(await send(content), {
    status: 400,
    body: {
      code: 'VALIDATION_FAILED',
      errors: [{ path: 'content', message: /statement "S-\d+", entry 2: "x" is not a valid amount/ }],
    },
  })
  t.match(await send('Date,Amount\n2026-11-22,1.00\n'), {
    status: 400,
    body: { errors: [{ path: 'csv', code: 'REQUIRED' }] },
  })
  const csv = { account: '20-20-15 1', currency: 'GBP', columns: { date: 'Date', amount: 'Amount' } }
  t.match(await send(content, { csv }), { status: 400, body: { errors: [{ path: 'csv' }] } })
  t.match(await send('Date,Amount\n', { csv: { ...csv, columns: { date: 'Date' } } }), {
    status: 400,
    body: { errors: [{ path: 'csv.columns', message: 'must have amount, or both credit and debit' }] },
  })
  const huge = await service
    .call('POST', PATH, {
      headers: { ...headers, 'content-type': 'application/json', 'content-length': String(200 * 1024 * 1024) },
      raw: '{',
    })
    .catch((error: unknown) => error)
  t.match(huge instanceof Error ? { status: 413 } : huge, { status: 413 })
  t.match(
    await service.call('POST', PATH, { headers, body: { content: randomBytes(9 * 1024 * 1024).toString('hex') } }),
    {
      status: 413,
      body: { code: 'BODY_TOO_LARGE' },
    },
  )
  t.match(await send(Buffer.alloc(11 * 1024 * 1024, 'x').toString()), {
    status: 400,
    body: { errors: [{ path: 'content' }] },
  })
  t.same(await countRows(owner), before)
  t.match(await send('Date,Amount\n2026-11-22,1.00\n', { csv }), { status: 200, body: { new_line_count: 1 } })
})

t.test('a line is never changed in what the bank said, nor removed, by the service', async (t) => {
  const { rows } = await owner.query('select has_table_privilege($1, $2, $3) as may', [
    'svc_runtime',
    'bank_statement_lines',
    'DELETE',
  ])
  t.match(rows, [{ may: false }])
  const { rows: columns } = await owner.query(
    `select column_name from information_schema.column_privileges
     where grantee = 'svc_runtime' and table_name = 'bank_statement_lines' and privilege_type = 'UPDATE' order by 1`,
  )
  t.same(
    columns.map(({ column_name }) => column_name),
    ['matched_at', 'matched_by', 'merchant_id', 'payment_id', 'payout_id', 'refund_id', 'resolution_reason'],
  )
})
