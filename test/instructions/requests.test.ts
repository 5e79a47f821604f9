import t from 'tap'
import type { Test } from 'tap'
import { createRequest } from '../../src/instructions/requests/create-request.ts'
import { insertRequest } from '../../src/instructions/requests/sql.ts'
import { dayText, londonTimeText, parseDay } from '../../src/lib/london-time.ts'
import { testService } from '../support/app.ts'
import type { Answer } from '../support/app.ts'
import { addCustomer } from '../support/customers.ts'
import type { TestCustomer } from '../support/customers.ts'
import { asking, dayFromNow, offerBody, requestBody, sent } from '../support/payment-requests.ts'
import type { Path } from '../support/payment-requests.ts'

const service = await testService(t)
const { app, owner } = service
const { create, get, decide } = asking(service)

const payee = await addCustomer(service, { name: 'Ada Payee' })
const payer = await addCustomer(service, { name: 'Bob Payer', mobile: '+447700900123', proxy: 'Bob.Pays_1' })
const stranger = await addCustomer(service, { name: 'Eve' })
const today = await dayFromNow(service, 0)
const soon = await dayFromNow(service, 10)

const mailsTo = async (recipient: string): Promise<{ id: string; subject: string; kind: string }[]> => {
  const { body } = await service.call('GET', `/api/v1/sandbox/mails?recipient=${encodeURIComponent(recipient)}`, {
    headers: await service.operator(),
  })
  return body.data
}
const bodyOf = async (id: string): Promise<string> =>
  (await service.call('GET', `/api/v1/sandbox/mails/${id}`, { headers: await service.operator() })).body.body

/** The refusals of an answer, as [code, path, message]. */
const refusals = ({ body }: Answer): [string, string | undefined, string][] =>
  body.Errors.map((each: { ErrorCode: string; Path?: string; Message: string }) => [
    each.ErrorCode,
    each.Path,
    each.Message,
  ])

t.test('a request to pay reaches its payer: in the list, and by mail', async (t) => {
  const made = await create(payee, 'request-to-pay', requestBody(payer.email, { DueDate: soon }))
  t.equal(made.status, 201)
  const id = made.body.RequestToPayId
  t.equal(made.headers['location'], `/open-banking/v1/request-to-pay/${id}`)
  t.match(made.body, {
    Status: 'Sent',
    Direction: 'Outgoing',
    PayeeName: 'Ada Payee',
    PayerIdentifier: payer.email,
    AmountRequested: { Amount: '12.50', Currency: 'GBP' },
    DueDate: soon,
    Reference: 'INV 1',
  })
  t.notOk('PaymentId' in made.body || 'StatusReasonCode' in made.body)
  const seen = await get(payer, 'request-to-pay', `/${id}`)
  t.same(seen.body, { ...made.body, Direction: 'Incoming' })
  for (const [who, direction] of [
    [payee, 'Outgoing'],
    [payer, 'Incoming'],
  ] as const) {
    const { body } = await get(who, 'request-to-pay', '')
    t.match(body, { Data: [{ RequestToPayId: id, Direction: direction }], Meta: { TotalPages: 1 } })
    t.same((await get(who, 'offer-to-pay', '')).body.Data, [], 'and not among the offers')
  }
  t.match((await get(stranger, 'request-to-pay', '')).body, { Data: [], Meta: { TotalPages: 1 } })
  const [mail] = await mailsTo(payer.email)
  t.match(mail, { kind: 'request-to-pay', subject: 'You have received a request to pay: 12.50 GBP' })
  const text = await bodyOf(String(mail?.id))
  t.match(text, '“Ada Payee” asks you for 12.50 GBP.\nThe account is in the name of “Ada Payee”.')
  const ends = dayText(parseDay(soon))
  t.match(ends, /^(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day \d{1,2} [A-Z][a-z]+ 20\d\d$/)
  t.match(text, `You may accept it until the end of ${ends} in London:`)
  t.ok(
    text.split('\n').every((line) => line.length <= 80),
    'no terminal breaks a line',
  )
  t.match(text, `\nsvc ob request-to-pay accept ${id}\n`)
  t.match(text, `\nsvc ob request-to-pay reject ${id}\n`)
  t.match(text, 'Reference: “INV 1”')
  t.notMatch(text, new RegExp(`${payee.account.number}|${payee.email}`), "nothing of the maker's but the name")
  t.same(await mailsTo(payee.email), [], 'the maker gets none')
})

t.test('an offer to pay reaches its payee, and is valid for thirty days', async (t) => {
  const made = await create(payer, 'offer-to-pay', offerBody(payee.email, { Reference: undefined }))
  t.equal(made.status, 201)
  const { OfferToPayId: id, CreationDateTime, ExpirationDateTime } = made.body
  t.match(made.body, { Status: 'Sent', Direction: 'Outgoing', AmountOffered: { Amount: '12.50', Currency: 'GBP' } })
  t.notOk('Reference' in made.body || 'DueDate' in made.body)
  t.equal(Date.parse(ExpirationDateTime) - Date.parse(CreationDateTime), 30 * 86_400_000)
  t.same((await get(payee, 'offer-to-pay', `/${id}`)).body, { ...made.body, Direction: 'Incoming' })
  const [mail] = await mailsTo(payee.email)
  t.match(mail, { kind: 'offer-to-pay', subject: 'You have received an offer to pay: 12.50 GBP' })
  const text = await bodyOf(String(mail?.id))
  t.match(text, `“Ada Payer” offers you 12.50 GBP.\nThe account is in the name of “Bob Payer”.`)
  t.match(text, `You may accept it until ${londonTimeText(new Date(ExpirationDateTime))} in London:`)
  t.match(text, `\nsvc ob offer-to-pay accept ${id}\n`)
  t.notMatch(text, 'Reference')
})

t.test('a customer is found by e-mail address, mobile number or proxy id only', async (t) => {
  const ask = (to: string): Promise<Answer> =>
    create(payee, 'request-to-pay', requestBody(to, { DueDate: soon, Reference: undefined }))
  for (const to of [payer.email.toUpperCase(), '+447700900123', '+44 7700 900-123', 'Bob.Pays_1']) {
    const { status, body } = await ask(to)
    t.match({ status, body }, { status: 201, body: { PayerIdentifier: to } }, to)
    t.equal((await get(payer, 'request-to-pay', `/${body.RequestToPayId}`)).status, 200, to)
  }
  const UNKNOWN = 'UK.OBIE.Unsupported.AccountIdentifier'
  const INVALID = 'UK.OBIE.Field.Invalid'
  for (const [to, code, reason] of [
    ['nobody@example.org', UNKNOWN, /^NRCH: /],
    ['+447700900999', UNKNOWN, /^NRCH: /],
    ['bob.pays_1', UNKNOWN, /^BE23: /],
    // What is no mobile number is a proxy id, and none that is known.
    ['447700900123', UNKNOWN, /^BE23: /],
    ['p'.repeat(64), UNKNOWN, /^BE23: /],
    ['p'.repeat(65), INVALID, /must be an e-mail address/],
    ['+0123456789', INVALID, /must be an e-mail address/],
    ['+44770090012345678', INVALID, /must be an e-mail address/],
    ['+44 7700 900123 ', INVALID, /must be an e-mail address/],
    ['Bob Payer', INVALID, /must be an e-mail address/],
    [`${payer.email}, ${payee.email}`, INVALID, /must be an e-mail address/],
    [`Bob <${payer.email}>`, INVALID, /must be an e-mail address/],
    [`${payer.email}\n`, INVALID, /must be an e-mail address/],
    ['@', INVALID, /must be an e-mail address/],
    [payee.email, INVALID, /your own/],
  ] as const) {
    const answer = await ask(to)
    t.equal(answer.status, 400, to)
    t.match(refusals(answer), [[code, 'PayerIdentifier', reason]], to)
  }
  const offer = await create(payee, 'offer-to-pay', offerBody('nobody@example.org'))
  t.match(refusals(offer), [[UNKNOWN, 'PayeeIdentifier', /^NRCH/]], 'an offer names its own field')
})

t.test('all errors are reported together', async (t) => {
  const wrong = await create(
    payee,
    'request-to-pay',
    requestBody('nobody@example.org', { DueDate: '2020-02-29', AmountRequested: { Amount: '1.00', Currency: 'EUR' } }),
  )
  t.match(refusals(wrong), [
    ['UK.OBIE.Field.Invalid', 'AmountRequested.Currency', /you have no account in EUR/],
    ['UK.OBIE.Field.InvalidDate', 'DueDate', /IEDT/],
  ])
  t.same(
    (await create(payee, 'request-to-pay', requestBody(payer.email, { DueDate: '2020-02-29' }))).body.Errors,
    (await create(payee, 'request-to-pay', requestBody('nobody@example.org', { DueDate: '2020-02-29' }))).body.Errors,
    'nobody is looked up for what is refused anyway',
  )
  const offer = await create(
    payer,
    'offer-to-pay',
    offerBody('x y', { AmountOffered: { Amount: '1.00', Currency: 'EUR' } }),
  )
  t.match(refusals(offer), [
    ['UK.OBIE.Field.Invalid', 'AmountOffered.Currency', /EUR/],
    ['UK.OBIE.Field.Invalid', 'PayeeIdentifier', /must be/],
  ])
  const malformed = { PayeeName: '', AmountRequested: { Amount: '0.00', Currency: 'GBP' } }
  const ask = async (changes: Record<string, unknown>, by = payee): Promise<string[]> => {
    const answer = await create(by, 'request-to-pay', requestBody('not ok!', { ...malformed, ...changes }))
    t.equal(answer.status, 400)
    return refusals(answer).map(([code, path]) => `${path} ${code.replace('UK.OBIE.Field.', '')}`)
  }
  const [name, amount, identifier] = ['PayeeName Invalid', 'AmountRequested.Amount Invalid', 'PayerIdentifier Invalid']
  t.same(await ask({ DueDate: '2026-11-31' }), [name, amount, 'DueDate InvalidDate', identifier])
  t.same(await ask({ DueDate: '2020-11-30' }), [name, amount, identifier, 'DueDate InvalidDate'])
  t.same(await ask({ PayerIdentifier: 7, DueDate: undefined }), [
    name,
    'PayerIdentifier Invalid',
    amount,
    'DueDate Missing',
  ])
  t.same(await ask({ PayerIdentifier: 'nobody', DueDate: soon }), [name, amount], 'nobody is looked up for it')
  t.match(refusals(await create(payer, 'offer-to-pay', offerBody('x y', { PayerName: '' }))), [
    ['UK.OBIE.Field.Invalid', 'PayerName', /./],
    ['UK.OBIE.Field.Invalid', 'PayeeIdentifier', /must be/],
  ])
})

t.test("a DueDate lies between today and 366 days ahead, by London's calendar", async (t) => {
  const due = (DueDate: string): Promise<Answer> =>
    create(payee, 'request-to-pay', requestBody(payer.email, { DueDate }))
  for (const [day, reason] of [
    [await dayFromNow(service, -1), 'IEDT'],
    ['0000-01-01', 'IEDT'],
    ['0001-01-01', 'IEDT'],
    [await dayFromNow(service, 367), 'EDTL'],
    ['9999-12-31', 'EDTL'],
  ] as const) {
    const answer = await due(day)
    t.equal(answer.status, 400, day)
    t.match(refusals(answer), [['UK.OBIE.Field.InvalidDate', 'DueDate', new RegExp(`^${reason}: `)]], day)
  }
  for (const day of ['2027-02-29', '1.12.2026', `${soon}T10:00:00Z`, '+02026-12-01']) {
    t.match(refusals(await due(day)), [['UK.OBIE.Field.InvalidDate', 'DueDate', /must be a day/]], day)
  }
  t.equal((await due(today)).status, 201)
  t.equal((await due(await dayFromNow(service, 366))).status, 201)
})

t.test('a request ends with its day in London, also on the days of 23 and 25 hours', async (t) => {
  for (const [dueDate, end] of [
    ['2026-03-28', '2026-03-29T00:00:00.000Z'],
    ['2026-03-29', '2026-03-29T23:00:00.000Z'],
    ['2026-10-24', '2026-10-24T23:00:00.000Z'],
    ['2026-10-25', '2026-10-26T00:00:00.000Z'],
    ['2026-12-31', '2027-01-01T00:00:00.000Z'],
    ['2028-02-29', '2028-03-01T00:00:00.000Z'],
  ] as const) {
    const id = app.ids.uuid()
    await app.pool.transaction((tx) =>
      insertRequest(tx, {
        id,
        customerId: stranger.id,
        counterpartyId: payer.id,
        kind: 'RequestToPay',
        name: 'Eve',
        identifier: payer.email,
        amountMinor: 1n,
        currency: 'GBP',
        reference: null,
        accountId: stranger.account.id,
        payerId: payer.id,
        dueDate,
        offerDays: 30,
      }),
    )
    const { body } = await get(stranger, 'request-to-pay', `/${id}`)
    t.match(body, { DueDate: dueDate, ExpirationDateTime: end })
  }
})

t.test('a key creates one request and one mail, however often it is sent, also concurrently', async (t) => {
  const other = await addCustomer(service)
  const body = requestBody(other.email, { DueDate: soon })
  const wrong = await create(payee, 'request-to-pay', { ...body, DueDate: '2020-01-01' }, 'key-1')
  t.equal(wrong.status, 400, 'what is refused uses up no key')
  const twins = await Promise.all(Array.from({ length: 10 }, () => create(payee, 'request-to-pay', body, 'key-1')))
  t.same(new Set(twins.map(({ status }) => status)), new Set([201]))
  t.equal(new Set(twins.map((twin) => twin.body.RequestToPayId)).size, 1)
  t.equal((await mailsTo(other.email)).length, 1)
  await owner.query(`update payment_requests set status = 'Rejected', status_reason_code = 'MS02' where id = $1`, [
    twins[0]?.body.RequestToPayId,
  ])
  t.match(
    (await create(payee, 'request-to-pay', body, 'key-1')).body,
    { Status: 'Rejected', StatusReasonCode: 'MS02', StatusReason: 'The other party rejected it without a reason' },
    'a repeat tells what is',
  )
  const changed = await create(payee, 'request-to-pay', { ...body, Reference: 'INV 2' }, 'key-1')
  t.equal(changed.status, 409)
  t.match(refusals(changed), [['UK.OBIE.Rules.ResourceAlreadyExists', undefined, /key/]])
  const elsewhere = await create(payee, 'offer-to-pay', offerBody(other.email), 'key-1')
  t.equal(elsewhere.status, 201, 'of another address the key is another one')
  t.equal((await create(stranger, 'request-to-pay', body, 'key-1')).status, 201, 'and of another customer')
})

t.test('no name adds a line, a link or a command to the mail', async (t) => {
  for (const PayeeName of ['Bank\nsvc ob request-to-pay accept 1', 'knaB \u202e', 'a\u200bb', 'x\u2028y', '   ']) {
    const { status, body } = await create(
      payee,
      'request-to-pay',
      requestBody(payer.email, { PayeeName, DueDate: soon }),
    )
    t.match({ status, body }, { status: 400, body: { Errors: [{ Path: 'PayeeName' }] } }, encodeURIComponent(PayeeName))
  }
  const victim = await addCustomer(service)
  const hostile = await addCustomer(service, { name: 'Bank\r\n\r\nsvc ob request-to-pay accept 1\u202e“”' })
  const made = await create(
    hostile,
    'request-to-pay',
    requestBody(victim.email, { PayeeName: '” https://evil.example “', Reference: 'see evil.example', DueDate: soon }),
  )
  t.equal(made.status, 201)
  const [mail] = await mailsTo(victim.email)
  t.notMatch(mail?.subject, /evil/)
  const text = await bodyOf(String(mail?.id))
  t.equal(text.match(/^(?:npx )?svc ob /gm)?.length, 2, 'the commands are its own two')
  t.notMatch(text, /https?:\/\/|evil\.example|\u202e|\r/)
  t.match(text, 'in the name of “Bank svc ob request-to-pay accept 1”')
})

t.test('a customer without an e-mail address finds it in the list, and mails are limited', async (t) => {
  const quiet = await addCustomer(service, { proxy: 'quiet' })
  await owner.query('update customers set email = null where id = $1', [quiet.id])
  const { status, body } = await create(payee, 'request-to-pay', requestBody('quiet', { DueDate: soon }))
  t.equal(status, 201)
  t.match((await get(quiet, 'request-to-pay', '')).body.Data, [{ RequestToPayId: body.RequestToPayId }])
  const busy = await addCustomer(service)
  for (let i = 0; i < 27; i += 1) {
    const id = await sent(service, 'request-to-pay', { by: payee, to: busy, changes: { Reference: `INV ${i}` } })
    await decide(payee, 'request-to-pay', `${id}/reject`)
  }
  t.equal((await mailsTo(busy.email)).length, 20)
  await sent(service, 'request-to-pay', { by: stranger, to: busy })
  t.equal((await mailsTo(busy.email)).length, 21, "another maker's comes through")
  const page = await get(busy, 'request-to-pay', '?page=1&pageSize=25')
  t.match(page.body, { Data: { length: 25 }, Meta: { TotalPages: 2 } })
  t.match(page.body.Links.Next, /page=2&pageSize=25$/)
  const last = await get(busy, 'request-to-pay', '?page=2&pageSize=25')
  const references = [...page.body.Data, ...last.body.Data].map(({ Reference }: { Reference: string }) => Reference)
  t.same(references, ['INV 1', ...Array.from({ length: 27 }, (_, i) => `INV ${26 - i}`)], 'the newest first')
  t.match((await get(busy, 'request-to-pay', '?page=100000000&pageSize=1000')).body, { Data: [] })
})

t.test('twenty lookups within the hour may fail, across all processes; then all are rejected', async (t) => {
  const [searcher, other] = [await addCustomer(service), await addCustomer(service)]
  const limited = { ...app, config: { ...app.config, rateLimits: true } }
  const ask = (by: TestCustomer, identifier: string, dueDate = soon): Promise<unknown> =>
    createRequest(limited, {
      kind: 'RequestToPay',
      customerId: by.id,
      clientId: '',
      idempotencyKey: undefined,
      body: {},
      name: 'X',
      identifier,
      amount: { Amount: '1.00', Currency: 'GBP' },
      dueDate,
      reference: undefined,
    })
  for (let i = 0; i < 19; i += 1) await t.rejects(ask(searcher, `nobody-${i}`), { code: 'VALIDATION_FAILED' })
  await t.rejects(ask(searcher, 'x', '2020-01-01'), { code: 'VALIDATION_FAILED' }, 'which was no look-up')
  await ask(searcher, payer.email)
  await t.rejects(ask(searcher, 'nobody-20'), { errors: [{ path: 'PayerIdentifier', message: /BE23/ }] })
  for (const identifier of ['nobody', payer.email]) {
    await t.rejects(ask(searcher, identifier), { code: 'RATE_LIMITED', next: 'try again in 60 minutes' })
  }
  await t.rejects(ask(other, 'nobody'), { code: 'VALIDATION_FAILED' }, 'another customer is')
  await owner.query(`update failed_look_ups set created_at = created_at - interval '1 hour'`)
  await ask(searcher, payer.email)
  await t.rejects(ask(searcher, 'nobody'), { code: 'VALIDATION_FAILED' })
  const { rows } = await owner.query('select count(*)::int from failed_look_ups where customer_id = $1', [searcher.id])
  t.same(rows, [{ count: 1 }], 'the old ones are forgotten')
})

t.test('ten may be open to the same customer, and a hundred in all, of both kinds together', async (t) => {
  const maker = await addCustomer(service)
  const [crowd, other] = [await addCustomer(service), await addCustomer(service)]
  const ask = (to: TestCustomer): Promise<Answer> =>
    create(maker, 'request-to-pay', requestBody(to.email, { DueDate: soon }))
  for (let i = 0; i < 9; i += 1)
    await sent(service, i % 2 ? 'request-to-pay' : 'offer-to-pay', { by: maker, to: crowd })
  const key = requestBody(crowd.email, { DueDate: soon })
  const tenth = await create(maker, 'request-to-pay', key, 'tenth')
  t.equal(tenth.status, 201)
  const eleventh = await ask(crowd)
  t.match(eleventh, { status: 429, headers: { 'retry-after': '3600' } })
  t.match(refusals(eleventh), [['UK.OBIE.Rules.FailsControlParameters', undefined, /^10 of your .* withdraw/]])
  t.same((await create(maker, 'request-to-pay', key, 'tenth')).body, tenth.body, 'a repeat makes none')
  t.equal((await ask(other)).status, 201)
  t.equal((await create(other, 'request-to-pay', requestBody(crowd.email, { DueDate: soon }))).status, 201)
  const back = await decide(maker, 'request-to-pay', `${tenth.body.RequestToPayId}/reject`)
  t.match(back, { status: 200, body: { Status: 'Rejected', StatusReasonCode: 'DS02', Direction: 'Outgoing' } })
  t.equal((await ask(crowd)).status, 201)
  await owner.query(
    `insert into payment_requests (id, customer_id, counterparty_id, kind, name, identifier, amount_minor, currency,
       expires_at, account_id, payer_id)
     select gen_random_uuid(), $1, $2, 'OfferToPay', 'n', 'i', 1, 'GBP', now() + interval '1 day', $3, $1
     from generate_series(1, 88)`,
    [maker.id, stranger.id, maker.account.id],
  )
  t.equal((await ask(other)).status, 201, 'the hundredth')
  t.match(refusals(await ask(other)), [['UK.OBIE.Rules.FailsControlParameters', undefined, /^100 of your/]])
  t.match(refusals(await create(maker, 'offer-to-pay', offerBody('nobody'))), [[/FailsControl/, undefined, /^100/]])
  const page = await get(maker, 'offer-to-pay', '?pageSize=40&page=3')
  t.match(page.body, { Data: { length: 13 }, Meta: { TotalPages: 3 } })
})

t.test("a closed or blocked account can't request or offer money", async (t) => {
  const maker = await addCustomer(service, {
    accounts: [{ status: 'Closed' }, {}, { currency: 'EUR', status: 'Blocked' }],
  })
  const id = await sent(service, 'request-to-pay', { by: maker, to: payer })
  const { rows } = await owner.query('select account_id from payment_requests where id = $1', [id])
  t.equal(rows[0]?.account_id, maker.accounts[1]?.id)
  const AmountOffered = { Amount: '1.00', Currency: 'EUR' }
  const refused = await create(maker, 'offer-to-pay', offerBody(payer.email, { AmountOffered }))
  t.match(refusals(refused), [
    ['UK.OBIE.Field.Invalid', 'AmountOffered.Currency', /usable account in EUR: .* blocked or closed/],
  ])
})

t.test('other customers get the same error as for an unknown id', async (t) => {
  const headers = { 'x-fapi-interaction-id': '5f4e6f0a-0b5e-4b0e-9c5e-0d6a4b1c2d3e' }
  for (const [path, elsewhere, by, to] of [
    ['request-to-pay', 'offer-to-pay', payee, payer],
    ['offer-to-pay', 'request-to-pay', payer, payee],
  ] as const) {
    const id = await sent(service, path, { by, to })
    const unknown = await get(stranger, path, `/${app.ids.uuid()}`, headers)
    t.match(unknown, { status: 404, body: { Errors: [{ ErrorCode: 'UK.OBIE.Resource.NotFound', Message: /IRNR/ }] } })
    const answers = [
      await get(stranger, path, `/${id}`, headers),
      await get(stranger, path, '/nonsense', headers),
      await get(stranger, path, '/%00', headers),
      await decide(stranger, path, `${id}/accept`, { headers }),
      await decide(stranger, path, `${id}/reject`, { headers }),
      await decide(stranger, path, `${id}/accept`, { headers, body: { AccountId: to.account.id } }),
      await decide(to, path, 'nonsense/accept', { headers }),
    ]
    for (const answer of answers) t.equal(answer.text, unknown.text)
    const swapped = await get(to, elsewhere, `/${app.ids.uuid()}`, headers)
    for (const answer of [
      await get(to, elsewhere, `/${id}`, headers),
      await decide(to, elsewhere, `${id}/accept`, { headers }),
      await decide(to, elsewhere, `${id}/reject`, { headers }),
    ]) {
      t.equal(answer.text, swapped.text, 'nor is one kind there under the address of the other')
    }
    await refusesItsMaker(t, { path, id, by, to })
  }
})

type Case = { path: Path; id: string; by: typeof payee; to: typeof payee }

async function refusesItsMaker(t: Test, { path, id, by, to }: Case): Promise<void> {
  const answer = await decide(by, path, `${id}/accept`)
  t.equal(answer.status, 409)
  t.match(refusals(answer), [
    ['UK.OBIE.Rules.ResourceAlreadyExists', undefined, /you made this .* can accept it; you can withdraw it/],
  ])
  t.match((await get(to, path, `/${id}`)).body, { Status: 'Sent' }, 'and nothing has happened')
}
