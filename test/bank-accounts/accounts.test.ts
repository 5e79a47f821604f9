import { randomInt } from 'node:crypto'
import { Writable } from 'node:stream'
import t from 'tap'
import { makeLog } from '../../src/observe/log.ts'
import { testService } from '../support/app.ts'
import type { TestMerchant, TestService } from '../support/app.ts'
import { dumpDatabase } from '../support/dump.ts'
import { countRows } from '../support/rows.ts'

const PATH = '/api/v1/portal/bank-accounts'
const NUMBERS = { sort_code: '20-45-31', account_number: '73619284', iban: 'GB78ACME20453173619284' }
const BODY = { account_holder_name: 'Acme Ltd', ...NUMBERS }

/** Everything that must be nowhere. */
const PLAIN = ['73619284', '204531', '20-45-31', 'GB78ACME20453173619284']

const service = await testService(t)

function add(merchant: TestMerchant, body: unknown = BODY, on: TestService = service) {
  return on.call('POST', PATH, { merchant, body })
}

function another(): typeof BODY & { iban: string } {
  const { iban: _iban, ...rest } = BODY
  return { ...rest, account_number: String(randomInt(10_000_000, 99_999_999)) } as typeof BODY
}

t.test('an account is added, listed and disabled, always masked', async (t) => {
  const merchant = await service.merchant()
  const added = await add(merchant)
  const masked = {
    account_holder_name: 'Acme Ltd',
    account_number: '****9284',
    sort_code: '****4531',
    iban: '****9284',
    is_active: true,
    disabled_at: null,
  }
  t.match(added, { status: 201, body: masked })
  t.same(Object.keys(added.body).toSorted(), [
    'account_holder_name',
    'account_number',
    'created_at',
    'disabled_at',
    'iban',
    'id',
    'is_active',
    'sort_code',
  ])
  t.match(await service.call('GET', PATH, { merchant }), { status: 200, body: { data: [added.body], has_more: false } })
  const { iban: _iban, ...british } = { ...BODY, account_number: '73619285' }
  t.match(await add(merchant, british), { status: 201, body: { iban: null } })

  const disabled = await service.call('DELETE', `${PATH}/${added.body.id}`, { merchant })
  t.match(disabled, { status: 200, body: { ...masked, is_active: false, disabled_at: /^\d{4}-/ } })
  t.same(await service.call('DELETE', `${PATH}/${added.body.id}`, { merchant }).then(({ body }) => body), disabled.body)
  const { body } = await service.call('GET', PATH, { merchant })
  t.same(
    body.data.map((row: { is_active: boolean }) => row.is_active),
    [true, false],
    'it stays listed, behind the active ones',
  )
})

t.test('the audit trail has each change once, masked', async (t) => {
  const merchant = await service.merchant()
  const { body } = await add(merchant)
  for (let time = 0; time < 2; time += 1) await service.call('DELETE', `${PATH}/${body.id}`, { merchant })
  const { rows } = await service.owner.query(
    'select action, subject_id, before, after from operator_actions where merchant_id = $1 order by ordinal',
    [merchant.id],
  )
  const after = { account_holder_name: 'Acme Ltd', account_number: '****9284', sort_code: '****4531', iban: '****9284' }
  t.same(rows, [
    { action: 'bank_account.add', subject_id: body.id, before: null, after: { ...after, is_active: true } },
    {
      action: 'bank_account.disable',
      subject_id: body.id,
      before: { ...after, is_active: true },
      after: { ...after, is_active: false },
    },
  ])
})

t.test('every invalid field is reported, and nothing is written', async (t) => {
  const merchant = await service.merchant()
  const before = await countRows(service.owner)
  const wrong = {
    account_holder_name: 'Acme',
    sort_code: '73619',
    account_number: '736192',
    iban: 'GB00ACME20453173619284',
  }
  const answer = await add(merchant, wrong)
  t.match(answer, { status: 400, body: { code: 'VALIDATION_FAILED', errors: { length: 3 } } })
  for (const number of Object.values(wrong).slice(1)) t.notOk(answer.text.includes(number))
  for (const body of [
    {},
    { ...BODY, account_holder_name: ' ' },
    { ...BODY, account_holder_name: 'x'.repeat(141) },
    { ...BODY, sort_code: 204531 },
    { ...BODY, iban: null },
    { ...BODY, is_active: false },
    [],
  ])
    t.match(await add(merchant, body), { status: 400, body: { code: 'VALIDATION_FAILED' } }, JSON.stringify(body))
  t.same(await countRows(service.owner), before)
})

t.test('the same account is rejected while it is active, and accepted again once it is disabled', async (t) => {
  const [merchant, other] = [await service.merchant(), await service.merchant()]
  const { body } = await add(merchant)
  const twice = await add(merchant, { ...BODY, account_holder_name: 'Another name', iban: undefined })
  t.match(twice, { status: 400, body: { errors: [{ path: 'account_number', code: 'ALREADY_THERE' }] } })
  t.match(await add(other), { status: 201 }, "another merchant's account is none of its business")
  await service.call('DELETE', `${PATH}/${body.id}`, { merchant })
  t.match(await add(merchant), { status: 201 })
})

t.test('of thirty accounts at once twenty are added, and of ten the same one', async (t) => {
  const [merchant, other] = [await service.merchant(), await service.merchant()]
  const answers = await Promise.all(Array.from({ length: 30 }, () => add(merchant, another())))
  t.equal(answers.filter(({ status }) => status === 201).length, 20)
  for (const { body } of answers.filter(({ status }) => status !== 201))
    t.match(body, { code: 'BANK_ACCOUNT_LIMIT_REACHED', status: 409 })
  t.match(await service.call('GET', PATH, { merchant }), { body: { data: { length: 20 } } })
  const [{ id } = { id: '' }] = answers.flatMap(({ status, body }) => (status === 201 ? [body] : []))
  await service.call('DELETE', `${PATH}/${id}`, { merchant })
  t.match(await add(merchant, another()), { status: 201 }, 'a disabled one does not count')
  const same = await Promise.all(Array.from({ length: 10 }, () => add(other)))
  t.equal(same.filter(({ status }) => status === 201).length, 1)
})

t.test("another merchant's account, an unknown one and no id at all are the same 404", async (t) => {
  const [merchant, other] = [await service.merchant(), await service.merchant()]
  const { body } = await add(merchant)
  const before = await countRows(service.owner)
  const answers = await Promise.all(
    [body.id, '01a1fd03-f879-7eb7-872f-a2b4358c4f6d', 'nothing'].map((id) =>
      service.call('DELETE', `${PATH}/${id}`, { merchant: other }),
    ),
  )
  for (const answer of answers) {
    t.match(answer, { status: 404, body: { code: 'BANK_ACCOUNT_NOT_FOUND' } })
    t.equal(answer.body.error, answers[0]?.body.error)
  }
  t.same((await service.call('GET', PATH, { merchant: other })).body.data, [])
  t.match((await service.call('GET', PATH, { merchant })).body.data, [{ is_active: true }])
  t.same(await countRows(service.owner), before)
})

t.test('no row of the database, read as text, has a digit of them in plain', async (t) => {
  const merchant = await service.merchant()
  await add(merchant)
  const dump = await dumpDatabase(service.owner)
  t.match(dump, /\*{4}9284/, 'the audit trail is in it')
  t.ok(dump.includes(merchant.id))
  for (const plain of [...PLAIN, merchant.secret, service.app.config.encryptionKey]) t.notOk(dump.includes(plain))
})

/** Rows of two merchants, and what the first one's list answers once somebody has been at them. */
async function tampered(statement: string): Promise<{ status: number; text: string }> {
  const [merchant, other] = [await service.merchant(), await service.merchant()]
  await add(merchant, another())
  await add(merchant)
  await add(other, another())
  const { rowCount } = await service.owner.query(
    statement.replaceAll('$mine', merchant.id).replaceAll('$other', other.id),
  )
  if (rowCount === 0) throw new Error('nothing was changed')
  return service.call('GET', PATH, { merchant })
}

const TAMPERINGS: [what: string, statement: string][] = [
  [
    "another merchant's row, with its id",
    `insert into merchant_bank_accounts (id, merchant_id, account_holder_name, encrypted_account_number, encrypted_sort_code)
     select id, '$mine', account_holder_name, encrypted_account_number, encrypted_sort_code
     from merchant_bank_accounts where merchant_id = '$other'`,
  ],
  [
    "another merchant's numbers",
    `update merchant_bank_accounts a set encrypted_account_number = b.encrypted_account_number
     from merchant_bank_accounts b where a.merchant_id = '$mine' and b.merchant_id = '$other'`,
  ],
  [
    "another row's numbers",
    `update merchant_bank_accounts a set encrypted_sort_code = b.encrypted_sort_code
     from merchant_bank_accounts b where a.merchant_id = '$mine' and b.merchant_id = '$mine' and a.id <> b.id`,
  ],
  [
    'the numbers of another column',
    `update merchant_bank_accounts set encrypted_sort_code = encrypted_account_number where merchant_id = '$mine'`,
  ],
  [
    'the last byte of the tag',
    `update merchant_bank_accounts
     set encrypted_account_number = left(encrypted_account_number, -3) || case right(encrypted_account_number, 3) when 'AAA' then 'BBB' else 'AAA' end
     where merchant_id = '$mine'`,
  ],
  [
    'no sealed text',
    `update merchant_bank_accounts set encrypted_account_number = 'v1.73619284' where merchant_id = '$mine'`,
  ],
]

t.test('an altered row cannot be opened: the response is an error without numbers', async (t) => {
  for (const [what, statement] of TAMPERINGS) {
    const answer = await tampered(statement)
    t.match(answer, { status: 500, body: { code: 'INTERNAL_ERROR' } }, what)
    for (const plain of [...PLAIN, 'v1.', 'encrypted_']) t.notOk(answer.text.includes(plain), `${what}: ${plain}`)
  }
})

t.test('no log line of any level has a number in it, whether the request went well or not', async (t) => {
  const lines: string[] = []
  const log = makeLog('trace', new Writable({ write: (chunk, _, done) => (lines.push(String(chunk)), done()) }))
  const own = await testService(t, { overrides: { log } })
  const merchant = await own.merchant()
  await add(merchant, BODY, own)
  await add(merchant, BODY, own)
  await add(merchant, { ...BODY, iban: 'GB49ACME20453173619284' }, own)
  await own.owner.query(`update merchant_bank_accounts set encrypted_sort_code = encrypted_account_number`)
  t.match(await own.call('GET', PATH, { merchant }), { status: 500 })
  const text = lines.join('')
  t.match(text, /cannot be opened/)
  for (const plain of [...PLAIN, 'GB49ACME20453173619284']) t.notOk(text.includes(plain), plain)
})
