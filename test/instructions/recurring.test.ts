import { randomUUID } from 'node:crypto'
import t from 'tap'
import { canonicalJson } from '../../src/lib/canonical-json.ts'
import { sha256Hex } from '../../src/lib/hmac.ts'
import { RECURRING_TRANSITIONS } from '../../src/instructions/recurring/states.ts'
import { runRecurring } from '../../src/instructions/recurring/run.ts'
import { RecurringStatus } from '../../src/wire/recurring.ts'
import { testService } from '../support/app.ts'
import type { Answer } from '../support/app.ts'
import { addCustomer } from '../support/customers.ts'
import { ELSEWHERE, byNumber } from '../support/orders.ts'
import { DAY_MS, RECURRING, inMs, makeDue, orderRecurring, ordersOf, recurringBody } from '../support/recurring.ts'

const service = await testService(t, { env: { SVC_BANK_HOLIDAYS: '2030-06-04,-2030-08-26' } })
const { owner, app } = service
const grace = await addCustomer(service, { accounts: [{}, { currency: 'GBP' }] })
const other = await addCustomer(service, { name: 'Olaf Other', accounts: [{}, { currency: 'EUR' }] })

function get(id: string, customer = grace): Promise<Answer> {
  return service.call('GET', `${RECURRING}/${id}`, { headers: customer.headers })
}

function cancel(id: string, customer = grace): Promise<Answer> {
  return service.call('DELETE', `${RECURRING}/${id}`, { headers: customer.headers })
}

async function count(): Promise<number> {
  const { rows } = await owner.query('select count(*)::int as count from recurring_payments')
  return rows[0]?.count
}

/** What an answer blames, as `path code`. */
function blamed({ body }: Answer): string[] {
  return body.Errors.map(({ Path = '', ErrorCode }: { Path?: string; ErrorCode: string }) => `${Path} ${ErrorCode}`)
}

t.test('a recurring payment is set up: 201, the order, and its first run', async (t) => {
  const FirstPaymentDateTime = '2030-11-29T09:30:15.123456+01:00'
  const created = await orderRecurring(service, grace, {
    Frequency: 'IntrvlMnthDay:01:-01',
    FirstPaymentDateTime,
    NextPaymentDateTime: '2030-12-24T23:00:00Z',
    FinalPaymentDateTime: '2031-06-30T00:00:00Z',
    CreditorAccount: { SchemeName: 'IBAN', Identification: 'gb33 bukb 2020 1555 5555 55', Name: 'Landlord' },
    DebtorAccount: byNumber(grace.accounts[1]?.number ?? ''),
    RemittanceInformation: { Reference: 'RENT' },
  })
  t.equal(created.status, 201)
  const { RecurringPaymentId, CreationDateTime, StatusUpdateDateTime, ...rest } = created.body
  t.equal(created.headers['location'], `${RECURRING}/${RecurringPaymentId}`)
  t.equal(CreationDateTime, StatusUpdateDateTime)
  t.same(rest, {
    Status: 'InitiationCompleted',
    Frequency: 'IntrvlMnthDay:01:-01',
    FirstPaymentDateTime: '2030-11-29T08:30:15.123Z',
    NextPaymentDateTime: '2030-12-24T23:00:00.000Z',
    FinalPaymentDateTime: '2031-06-30T00:00:00.000Z',
    InstructedAmount: { Amount: '10.00', Currency: 'GBP' },
    DebtorAccountId: grace.accounts[1]?.id,
    CreditorAccount: { SchemeName: 'UK.OBIE.IBAN', Identification: 'GB33BUKB20201555555555', Name: 'Landlord' },
    RemittanceInformation: { Reference: 'RENT' },
    NextRunDateTime: '2030-11-29T08:30:15.123Z',
    NumberOfPayments: 0,
  })
  const read = await get(RecurringPaymentId)
  t.equal(read.status, 200)
  t.same(read.body, created.body)
  t.equal(
    (await orderRecurring(service, grace)).body.DebtorAccountId,
    grace.account.id,
    'the first account pays unasked',
  )
})

t.test('invalid orders are rejected by field and code, and nothing is stored', async (t) => {
  const before = await count()
  const lately = inMs(-75_000)
  const first = { FirstPaymentDateTime: '2030-12-01T09:00:00Z' }
  const FIELD = 'UK.OBIE.Field'
  const frequencies: [text: unknown, code: string][] = [
    ...['QtrDay:ENGLISH', 'IntrvlDay:02', 'WkInMnthDay:01:05'].map((text): [string, string] => [
      text,
      'UK.OBIE.Unsupported.Frequency',
    ]),
    ...['evryday', '', 'Weekly', 'IntrvlWkDay:10:01', 'IntrvlMnthDay:07:01', 'IntrvlMnthDay:01:32', 7].map(
      (text): [unknown, string] => [text, `${FIELD}.Invalid`],
    ),
  ]
  const refused: [changes: Record<string, unknown>, ...blamed: string[]][] = [
    ...frequencies.map(([Frequency, code]): [Record<string, unknown>, string] => [{ Frequency }, `Frequency ${code}`]),
    [{ Frequency: undefined }, `Frequency ${FIELD}.Missing`],
    [{ FirstPaymentDateTime: undefined }, `FirstPaymentDateTime ${FIELD}.Missing`],
    [{ FirstPaymentDateTime: lately }, `FirstPaymentDateTime ${FIELD}.InvalidDate`],
    [{ FirstPaymentDateTime: '0000-01-01T00:00:00Z' }, `FirstPaymentDateTime ${FIELD}.InvalidDate`],
    [{ FirstPaymentDateTime: '2030-02-30T09:00:00Z' }, `FirstPaymentDateTime ${FIELD}.InvalidDate`],
    [{ FirstPaymentDateTime: '2030-12-01T09:00:00' }, `FirstPaymentDateTime ${FIELD}.InvalidDate`],
    [{ FirstPaymentDateTime: '9999-12-31T23:30:00-01:00' }, `FirstPaymentDateTime ${FIELD}.InvalidDate`],
    [{ ...first, FinalPaymentDateTime: '2030-12-01T08:59:59Z' }, `FinalPaymentDateTime ${FIELD}.InvalidDate`],
    [{ ...first, FinalPaymentDateTime: '9999-12-31T23:30:00-01:00' }, `FinalPaymentDateTime ${FIELD}.InvalidDate`],
    [{ ...first, NextPaymentDateTime: '2030-12-01T08:59:59Z' }, `NextPaymentDateTime ${FIELD}.InvalidDate`],
    [
      { ...first, NextPaymentDateTime: '2030-12-03T00:00:00Z', FinalPaymentDateTime: '2030-12-02T23:59:59Z' },
      `NextPaymentDateTime ${FIELD}.InvalidDate`,
    ],
    [
      // A Saturday and the Sunday after it.
      {
        Frequency: 'EvryWorkgDay',
        FirstPaymentDateTime: '2030-11-30T09:00:00Z',
        FinalPaymentDateTime: '2030-12-01T09:00:00Z',
      },
      `FinalPaymentDateTime ${FIELD}.InvalidDate`,
    ],
    [{ InstructedAmount: { Amount: '0.00', Currency: 'GBP' } }, `InstructedAmount.Amount ${FIELD}.Invalid`],
    [{ InstructedAmount: { Amount: '1.001', Currency: 'GBP' } }, `InstructedAmount.Amount ${FIELD}.Invalid`],
    [
      { InstructedAmount: { Amount: '1.00', Currency: 'USD' } },
      'InstructedAmount.Currency UK.OBIE.Unsupported.Currency',
    ],
    [{ InstructedAmount: { Amount: '1.00', Currency: 'EUR' } }, `InstructedAmount.Currency ${FIELD}.Invalid`],
    [
      { CreditorAccount: { SchemeName: 'UK.OBIE.PAN', Identification: '1' } },
      'CreditorAccount.SchemeName UK.OBIE.Unsupported.Scheme',
    ],
    [{ CreditorAccount: byNumber(grace.account.number) }, `CreditorAccount.Identification ${FIELD}.Invalid`],
    [{ DebtorAccount: byNumber(other.account.number) }, `DebtorAccount.Identification ${FIELD}.Invalid`],
    [{ DebtorAccount: ELSEWHERE }, `DebtorAccount.Identification ${FIELD}.Invalid`],
    [{ Status: 'Cancelled' }, `Status ${FIELD}.Unexpected`],
    [
      {
        Frequency: 'QtrDay:RECEIVED',
        FirstPaymentDateTime: lately,
        NextPaymentDateTime: '2020-01-02T00:00:00Z',
        FinalPaymentDateTime: '2020-01-01T00:00:00Z',
        DebtorAccount: ELSEWHERE,
      },
      'Frequency UK.OBIE.Unsupported.Frequency',
      `FirstPaymentDateTime ${FIELD}.InvalidDate`,
      `NextPaymentDateTime ${FIELD}.InvalidDate`,
      `FinalPaymentDateTime ${FIELD}.InvalidDate`,
      `DebtorAccount.Identification ${FIELD}.Invalid`,
    ],
    // What the schema refuses keeps no other rule from being told, and is told once.
    [
      {
        Frequency: 'QtrDay:ENGLISH',
        FirstPaymentDateTime: '2020-01-01T00:00:00Z',
        NextPaymentDateTime: '2018-01-01',
        FinalPaymentDateTime: '2019-01-01T00:00:00Z',
      },
      `NextPaymentDateTime ${FIELD}.InvalidDate`,
      'Frequency UK.OBIE.Unsupported.Frequency',
      `FirstPaymentDateTime ${FIELD}.InvalidDate`,
      `FinalPaymentDateTime ${FIELD}.InvalidDate`,
    ],
    [
      { Frequency: 'Weekly', InstructedAmount: { Amount: '0.00', Currency: 'GBP' }, FirstPaymentDateTime: undefined },
      `FirstPaymentDateTime ${FIELD}.Missing`,
      `InstructedAmount.Amount ${FIELD}.Invalid`,
      `Frequency ${FIELD}.Invalid`,
    ],
    [
      { Status: 'Cancelled', ...first, NextPaymentDateTime: '2029-12-01T00:00:00Z' },
      `Status ${FIELD}.Unexpected`,
      `NextPaymentDateTime ${FIELD}.InvalidDate`,
    ],
  ]
  for (const [changes, ...expected] of refused) {
    const answer = await orderRecurring(service, grace, changes)
    t.equal(answer.status, 400, JSON.stringify(changes))
    t.same(blamed(answer), expected, JSON.stringify(changes))
  }
  const [theirs, nobodys] = await Promise.all(
    [byNumber(other.account.number), byNumber('99999999999999')].map((DebtorAccount) =>
      orderRecurring(service, grace, { DebtorAccount }),
    ),
  )
  t.same(
    { ...theirs?.body, Id: '' },
    { ...nobodys?.body, Id: '' },
    "another's account is answered as one that is not there",
  )
  t.equal(await count(), before)
  for (const [ms, status] of [
    [-50_000, 201],
    [-75_000, 400],
  ] as const) {
    const { status: answered, body } = await orderRecurring(service, grace, { FirstPaymentDateTime: inMs(ms) })
    t.equal(answered, status, 'a request may be a minute on its way, and no longer')
    if (status === 400) t.match(body.Errors, [{ Message: /^is in the past: send a future time; it is now 20/ }])
  }
  t.equal(
    (await orderRecurring(service, grace, { ...first, FinalPaymentDateTime: first.FirstPaymentDateTime })).status,
    201,
    'a single payment is taken',
  )
})

t.test('a key creates one recurring payment; each customer has keys of its own', async (t) => {
  const before = await count()
  const body = recurringBody()
  const key = randomUUID()
  const twins = await Promise.all(Array.from({ length: 20 }, () => orderRecurring(service, grace, body, key)))
  const id = twins[0]?.body.RecurringPaymentId
  t.same([...new Set(twins.map(({ status, body: made }) => `${status} ${made.RecurringPaymentId}`))], [`201 ${id}`])
  const reused = await orderRecurring(service, grace, { ...body, Frequency: 'EvryWorkgDay' }, key)
  t.equal(reused.status, 409)
  t.same(blamed(reused), [' UK.OBIE.Rules.ResourceAlreadyExists'])
  t.equal((await get(id)).body.Frequency, 'EvryDay', 'the first one is as it was')
  t.not((await orderRecurring(service, other, body, key)).body.RecurringPaymentId, id)
  t.equal(await count(), before + 2)

  t.same(blamed(await orderRecurring(service, grace, body, 'k'.repeat(41))), [
    'x-idempotency-key UK.OBIE.Header.Invalid',
  ])
  t.same(
    blamed(await orderRecurring(service, grace, { FirstPaymentDateTime: inMs(-DAY_MS) }, 'k'.repeat(41))),
    ['x-idempotency-key UK.OBIE.Header.Invalid', 'FirstPaymentDateTime UK.OBIE.Field.InvalidDate'],
    'and the body is told of with it',
  )
  const fresh = randomUUID()
  t.equal((await orderRecurring(service, grace, { Frequency: 'x' }, fresh)).status, 400)
  t.equal((await orderRecurring(service, grace, {}, fresh)).status, 201, 'a refused order takes no key')

  // As if the first request had come two days ago, when its start was still to come.
  const late = recurringBody({ FirstPaymentDateTime: inMs(-2 * DAY_MS) })
  await owner.query('update order_keys set request_fingerprint = $1 where idempotency_key = $2 and customer_id = $3', [
    sha256Hex(canonicalJson(late)),
    key,
    grace.id,
  ])
  const repeat = await orderRecurring(service, grace, late, key)
  t.same([repeat.status, repeat.body.RecurringPaymentId], [201, id], 'a repeat is answered when its start has passed')
  await cancel(id)
  t.equal((await orderRecurring(service, grace, late, key)).body.Status, 'Cancelled', 'and tells the state of today')
})

t.test("another customer's recurring payment gets the same error as an unknown id, and is not changed", async (t) => {
  const { RecurringPaymentId: id } = (await orderRecurring(service, grace)).body
  for (const ask of [get, cancel]) {
    const answers = await Promise.all([id, randomUUID(), id.slice(1), "'"].map((each) => ask(each, other)))
    t.same([...new Set(answers.map(({ status }) => status))], [404])
    t.same(new Set(answers.map(({ body }) => JSON.stringify({ ...body, Id: '' }))).size, 1)
    t.same(
      answers.flatMap(blamed),
      Array.from({ length: 4 }, () => ' UK.OBIE.Resource.NotFound'),
    )
  }
  t.equal((await get(id)).body.Status, 'InitiationCompleted')
})

t.test("the list has pages, the newest first, with only the caller's own", async (t) => {
  const lone = await addCustomer(service)
  const list = (search = '') => service.call('GET', `${RECURRING}${search}`, { headers: lone.headers })
  const empty = await list()
  t.equal(empty.status, 200)
  t.same(empty.body.Data, [])
  const ids: string[] = []
  for (let index = 0; index < 26; index += 1) ids.unshift((await orderRecurring(service, lone)).body.RecurringPaymentId)
  const idsOf = (answer: Answer) =>
    answer.body.Data.map(({ RecurringPaymentId }: { RecurringPaymentId: string }) => RecurringPaymentId)
  t.same(idsOf(await list()), ids)
  const [one, two, three] = [
    await list('?pageSize=25'),
    await list('?pageSize=25&page=2'),
    await list('?pageSize=25&page=3'),
  ]
  t.same([...idsOf(one), ...idsOf(two)], ids)
  t.same(idsOf(three), [])
  t.match(two.body, { Meta: { TotalPages: 2 }, Links: { Prev: `${app.publicUrl}${RECURRING}?page=1&pageSize=25` } })
  t.same(one.body.Data[0], (await get(ids[0] ?? '', lone)).body)
  t.same(blamed(await list('?pageSize=24')), ['pageSize UK.OBIE.Field.Invalid'])
})

t.test('DELETE cancels a recurring payment, once: no run follows', async (t) => {
  const { RecurringPaymentId: id } = (await orderRecurring(service, grace, { FirstPaymentDateTime: inMs(0) })).body
  const cancelled = await cancel(id)
  t.same([cancelled.status, cancelled.text], [204, ''])
  const { body } = await get(id)
  t.equal(body.Status, 'Cancelled')
  t.ok(body.StatusUpdateDateTime > body.CreationDateTime)
  t.notOk('NextRunDateTime' in body)
  const again = await cancel(id)
  t.equal(again.status, 409)
  t.same(blamed(again), [' UK.OBIE.Rules.ResourceAlreadyExists'])
  t.match(again.body.Message, /cancelled already/)
  await runRecurring(app)
  t.same(await ordersOf(service, [id]), [])
  t.same((await get(id)).body, body)
})

t.test('the database accepts every transition of the table and rejects all others; so does DELETE', async (t) => {
  const allowed = new Set(RECURRING_TRANSITIONS.map(({ from, to }) => `${from} ${to}`))
  const { RecurringPaymentId: template } = (await orderRecurring(service, grace)).body
  const plant = async (status: string) => {
    const id = randomUUID()
    await owner.query(
      `insert into recurring_payments (id, customer_id, frequency, first_payment_at, debtor_account_id,
         creditor_scheme_name, creditor_identification, amount_minor, currency, status)
       select $1, customer_id, frequency, first_payment_at, debtor_account_id, creditor_scheme_name,
         creditor_identification, amount_minor, currency, $2 from recurring_payments where id = $3`,
      [id, status, template],
    )
    return id
  }
  for (const from of RecurringStatus.options) {
    for (const to of RecurringStatus.options) {
      const id = await plant(from)
      const code = await owner.query('update recurring_payments set status = $1 where id = $2', [to, id]).then(
        () => undefined,
        (error: { code?: string }) => error.code,
      )
      t.equal(code, from === to || allowed.has(`${from} ${to}`) ? undefined : '23514', `${from} -> ${to}`)
    }
    const answer = await cancel(await plant(from))
    t.equal(answer.status, from === 'InitiationCompleted' ? 204 : 409, `DELETE of ${from}`)
  }
  await t.rejects(
    owner.query(`update recurring_payments set status = 'Cancelled' where id = $1`, [template]),
    { code: '23514' },
    'what is cancelled has no run left',
  )
})

/** The stored times of the runs that follow each other, the first included. */
async function timesOf(changes: Record<string, unknown>, runs: number): Promise<string[]> {
  const { body } = await orderRecurring(service, grace, changes)
  const times: string[] = [body.NextRunDateTime]
  while (times.length < runs) {
    await makeDue(service, [body.RecurringPaymentId])
    await runRecurring(app)
    times.push((await get(body.RecurringPaymentId)).body.NextRunDateTime)
  }
  return times.map((time) => time.replace(/:00\.000Z$/, ''))
}

t.test("runs keep London's time over the changes of March and October", async (t) => {
  const from = (FirstPaymentDateTime: string) => timesOf({ FirstPaymentDateTime }, 3)
  t.same(await from('2030-03-30T09:30:00Z'), ['2030-03-30T09:30', '2030-03-31T08:30', '2030-04-01T08:30'])
  t.same(await from('2030-10-26T09:30:00+01:00'), ['2030-10-26T08:30', '2030-10-27T09:30', '2030-10-28T09:30'])
  t.same(
    await from('2030-03-30T01:30:00Z'),
    ['2030-03-30T01:30', '2030-03-31T01:30', '2030-04-01T00:30'],
    'a time that is skipped is put forward by its hour',
  )
  t.same(
    await from('2030-10-26T00:30:00Z'),
    ['2030-10-26T00:30', '2030-10-27T00:30', '2030-10-28T01:30'],
    'of a time that comes twice it is the first',
  )
})

t.test('every working day leaves out weekends and the holidays, as they are configured', async (t) => {
  const from = async (day: string, runs = 2) => {
    const times = await timesOf({ Frequency: 'EvryWorkgDay', FirstPaymentDateTime: `${day}T12:00:00Z` }, runs)
    return times.map((time) => time.slice(5, 10)).join(' ')
  }
  t.equal(await from('2030-05-24', 3), '05-24 05-28 05-29', 'a weekend and the Spring bank holiday')
  t.equal(await from('2030-06-03'), '06-03 06-05', 'a day that was added')
  t.equal(await from('2030-06-04'), '06-05 06-06', 'and that it was to begin on')
  t.equal(await from('2030-08-23'), '08-23 08-26', 'a holiday that was taken away')
})
