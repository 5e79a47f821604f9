import { randomUUID } from 'node:crypto'
import t from 'tap'
import { NO_CUSTOMER } from '../../src/accounts/identify.ts'
import { deleteExpiredOrderKeys } from '../../src/instructions/delete-expired-keys.ts'
import { createOrder } from '../../src/instructions/orders/create-order.ts'
import { ORDER_STATUS_ISO, ORDER_TRANSITIONS } from '../../src/instructions/orders/states.ts'
import { withdrawOrder } from '../../src/instructions/orders/withdraw.ts'
import { terminalStates } from '../../src/lib/machine.ts'
import { OrderStatus, PaymentInitiation } from '../../src/wire/orders.ts'
import { testService } from '../support/app.ts'
import { rawRequest } from '../support/raw-http.ts'
import { addCustomer, balanceOf } from '../support/customers.ts'
import { ELSEWHERE, PAYMENTS, byNumber, executeAll, gbp, order, orderBody, plantOrder } from '../support/orders.ts'
import { countRows } from '../support/rows.ts'

const service = await testService(t)
const { app, owner } = service
const payer = await addCustomer(service, { accounts: [{}, { currency: 'EUR' }, { balance: 5_000n }] })
const stranger = await addCustomer(service, { name: 'Sam Stranger' })

t.test('a payment is ordered, and only its customer can read it', async (t) => {
  const interaction = randomUUID()
  const body = orderBody({
    CreditorAccount: { SchemeName: 'SortCodeAccountNumber', Identification: '20-00-00 55779911', Name: 'Plumber Ltd' },
    RemittanceInformation: { Reference: 'Invoice 12345678901234567890 of May' },
  })
  const made = await service.call('POST', PAYMENTS, {
    headers: { ...payer.headers, 'x-fapi-interaction-id': interaction },
    body,
  })
  const id = made.body.PaymentId
  t.match(made, {
    status: 201,
    headers: { location: `${PAYMENTS}/${id}`, 'x-fapi-interaction-id': interaction, 'cache-control': 'no-store' },
  })
  t.same(made.body, {
    PaymentId: id,
    Status: 'Pending',
    StatusISO: 'PDNG',
    CreationDateTime: made.body.CreationDateTime,
    StatusUpdateDateTime: made.body.CreationDateTime,
    InstructionIdentification: 'INSTR-1',
    EndToEndIdentification: 'E2E-1',
    InstructedAmount: { Amount: '10.00', Currency: 'GBP' },
    DebtorAccountId: payer.account.id,
    CreditorAccount: { ...ELSEWHERE, Name: 'Plumber Ltd' },
    RemittanceInformation: { Reference: 'Invoice 12345678901234567890 of May' },
  })
  t.match(made.body.CreationDateTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  t.same((await service.call('GET', `${PAYMENTS}/${id}`, { headers: payer.headers })).body, made.body)
  t.equal(await balanceOf(service, payer.account.id), 100_000n, 'no money has moved')
  const answers = []
  for (const [unknown, headers] of [
    [id, stranger.headers],
    [randomUUID(), payer.headers],
    ['not-an-id', payer.headers],
  ] as const) {
    const { status, body: error } = await service.call('GET', `${PAYMENTS}/${unknown}`, { headers })
    answers.push({ status, body: { ...error, Id: '' } })
  }
  t.match(answers[0], {
    status: 404,
    body: { Code: '404 NotFound', Errors: [{ ErrorCode: 'UK.OBIE.Resource.NotFound' }] },
  })
  t.same(answers[1], answers[0], 'an unknown one answers as a stranger does')
  t.same(answers[2], answers[0], 'and so does what is no id')
})

t.test('the debtor account is the named one, or the first one in the currency', async (t) => {
  const [first, euros, third] = payer.accounts
  const named = await order(service, payer, { DebtorAccount: byNumber(third?.number ?? '') })
  t.equal(named.body.DebtorAccountId, third?.id)
  const inEuros = await order(service, payer, { InstructedAmount: { Amount: '1.5', Currency: 'EUR' } })
  t.match(inEuros.body, { DebtorAccountId: euros?.id, InstructedAmount: { Amount: '1.50', Currency: 'EUR' } })
  t.equal((await order(service, payer)).body.DebtorAccountId, first?.id)
  const status = (value: string): Promise<unknown> =>
    owner.query('update accounts set status = $2 where id = any($1)', [[first?.id, euros?.id], value])
  await status('Closed')
  t.equal((await order(service, payer)).body.DebtorAccountId, third?.id, 'one that is closed is passed over')
  t.match(await order(service, payer, { InstructedAmount: { Amount: '1.50', Currency: 'EUR' } }), {
    status: 400,
    body: {
      Errors: [{ Path: 'InstructedAmount.Currency', Message: /usable account in EUR: each is blocked or closed/ }],
    },
  })
  await status('Enabled')
  const iban = 'GB82 west 1234 5698 7654 32'
  const { body } = await order(service, payer, { CreditorAccount: { SchemeName: 'IBAN', Identification: iban } })
  t.same(body.CreditorAccount, { SchemeName: 'UK.OBIE.IBAN', Identification: 'GB82WEST12345698765432' })
})

t.test('amounts are exact, in the form of the contract', async (t) => {
  for (const [given, answered] of [
    ['10.00000', '10.00'],
    ['10.00100', undefined],
    ['10.001', undefined],
    ['01.00', '1.00'],
    ['0.01', '0.01'],
    ['0.5', '0.50'],
    ['9999999999999.99', '9999999999999.99'],
    ['9007199254740.993', undefined],
    ['9007199254740.99', '9007199254740.99'],
    ['10000000000000.00', undefined],
    ['1.000000', undefined],
    ['0.00', undefined],
    ['0.00000', undefined],
    ['-1.00', undefined],
    ['+1.00', undefined],
    ['1', undefined],
    ['1.', undefined],
    ['.5', undefined],
    ['1,00', undefined],
    ['1e2.0', undefined],
    [' 1.00', undefined],
    ['١.٠٠', undefined],
    ['', undefined],
    [10.5, undefined],
    [null, undefined],
  ] as const) {
    const { status, body } = await order(service, payer, { InstructedAmount: { Amount: given, Currency: 'GBP' } })
    if (answered !== undefined) t.match({ status, body }, { status: 201, body: gbp(answered) }, `${given}`)
    else
      t.match(
        { status, body },
        {
          status: 400,
          body: {
            Code: '400 BadRequest',
            Errors: [{ ErrorCode: 'UK.OBIE.Field.Invalid', Path: 'InstructedAmount.Amount' }],
          },
        },
        `${given}`,
      )
  }
})

/** The broken fields of a refusal, as `Path ErrorCode`. */
async function faultsOf(body: unknown): Promise<string[]> {
  const answer = await service.call('POST', PAYMENTS, { headers: payer.headers, body })
  if (answer.status !== 400) return [`${answer.status}`]
  return answer.body.Errors.map(
    ({ Path, ErrorCode }: Record<string, string>) => `${Path} ${ErrorCode?.slice(8)}`,
  ).toSorted()
}

t.test('all errors of an order are reported together, each field with its path', async (t) => {
  const before = await countRows(owner)
  t.same(await faultsOf({}), [
    'CreditorAccount Field.Missing',
    'EndToEndIdentification Field.Missing',
    'InstructedAmount Field.Missing',
    'InstructionIdentification Field.Missing',
  ])
  t.same(
    await faultsOf({
      InstructionIdentification: 'x'.repeat(36),
      EndToEndIdentification: '',
      InstructedAmount: { Amount: 1, Currency: 'gbp', Note: 'x' },
      CreditorAccount: { SchemeName: 'UK.OBIE.Paym', Identification: '1', Name: 'n'.repeat(141) },
      DebtorAccount: { SchemeName: 'UK.OBIE.IBAN' },
      RemittanceInformation: { Reference: 'x'.repeat(36), Unstructured: 'x' },
      Risk: {},
    }),
    [
      'CreditorAccount.Name Field.Invalid',
      'CreditorAccount.SchemeName Unsupported.Scheme',
      'DebtorAccount.Identification Field.Missing',
      'EndToEndIdentification Field.Invalid',
      'InstructedAmount.Amount Field.Invalid',
      'InstructedAmount.Currency Field.Invalid',
      'InstructedAmount.Note Field.Unexpected',
      'InstructionIdentification Field.Invalid',
      'RemittanceInformation.Reference Field.Invalid',
      'RemittanceInformation.Unstructured Field.Unexpected',
      'Risk Field.Unexpected',
    ],
  )
  const creditor = (SchemeName: string, Identification: string): unknown =>
    orderBody({ CreditorAccount: { SchemeName, Identification } })
  const amount = (Currency: string): unknown => orderBody({ InstructedAmount: { Amount: '1.00', Currency } })
  const debtor = (number: string): unknown => orderBody({ DebtorAccount: byNumber(number) })
  for (const [body, ...faults] of [
    [creditor('UK.OBIE.IBAN', 'GB83WEST12345698765432'), 'CreditorAccount.Identification Field.Invalid'],
    [creditor('UK.OBIE.IBAN', '20000055779911'), 'CreditorAccount.Identification Field.Invalid'],
    [creditor('UK.OBIE.SortCodeAccountNumber', '2000005577991'), 'CreditorAccount.Identification Field.Invalid'],
    [creditor('uk.obie.iban', 'GB82WEST12345698765432'), 'CreditorAccount.SchemeName Unsupported.Scheme'],
    [creditor('UK.OBIE.UK.OBIE.IBAN', 'GB82WEST12345698765432'), 'CreditorAccount.SchemeName Unsupported.Scheme'],
    [amount('USD'), 'InstructedAmount.Currency Unsupported.Currency'],
    [amount('constructor'), 'InstructedAmount.Currency Field.Invalid'],
    [amount('GB'), 'InstructedAmount.Currency Field.Invalid'],
    [orderBody({ InstructionIdentification: 'two\nlines' }), 'InstructionIdentification Field.Invalid'],
    [orderBody({ EndToEndIdentification: ' ' }), 'EndToEndIdentification Field.Invalid'],
    [debtor(stranger.account.number), 'DebtorAccount.Identification Field.Invalid'],
    [debtor('99999999999999'), 'DebtorAccount.Identification Field.Invalid'],
    [debtor(payer.accounts[1]?.number ?? ''), 'DebtorAccount.Identification Field.Invalid'],
    [orderBody({ CreditorAccount: byNumber(payer.account.number) }), 'CreditorAccount.Identification Field.Invalid'],
    [[], 'undefined Field.Invalid'],
    ['text', 'undefined Field.Invalid'],
    [null, 'undefined Field.Invalid'],
  ] as const)
    t.same(await faultsOf(body), faults, JSON.stringify(body))
  const own = await service.call('POST', PAYMENTS, { headers: payer.headers, body: debtor(stranger.account.number) })
  const none = await service.call('POST', PAYMENTS, { headers: payer.headers, body: debtor('99999999999999') })
  t.same(own.body.Errors, none.body.Errors, "somebody else's account answers as one that is not there")
  const poor = await addCustomer(service, { accounts: [{ currency: 'EUR' }] })
  t.match(await order(service, poor, {}, 'k'), {
    status: 400,
    body: { Errors: [{ Path: 'InstructedAmount.Currency', Message: /you have no account in GBP/ }] },
  })
  const rows = await countRows(owner)
  t.same(
    [rows['public.payment_orders'], rows['public.order_keys']],
    [before['public.payment_orders'], before['public.order_keys']],
  )
})

t.test('a malformed or unauthenticated request orders nothing', async (t) => {
  const before = await countRows(owner)
  const send = (options: Record<string, unknown>) =>
    service.call('POST', PAYMENTS, { headers: payer.headers, ...options })
  const raw = JSON.stringify(orderBody())
  t.match(await send({ raw: '{"InstructionIdentification":' }), {
    status: 400,
    body: { Errors: [{ ErrorCode: 'UK.OBIE.Resource.InvalidFormat' }] },
  })
  t.match(await send({ raw: Buffer.from([0x22, 0xff, 0x22]) }), { status: 400 })
  t.match(await send({ raw, headers: { ...payer.headers, 'content-type': 'text/plain' } }), {
    status: 415,
    body: { Code: '415 UnsupportedMediaType' },
  })
  t.match(await send({ raw: `"${'x'.repeat(102_400)}"` }), { status: 413, body: { Code: '413 PayloadTooLarge' } })
  t.match(await send({ raw, headers: {} }), { status: 401, headers: { 'www-authenticate': 'Bearer' } })
  t.match(await send({ raw, headers: { 'x-customer-id': 'nobody' } }), { status: 401 })
  for (const key of ['k'.repeat(41), ' ', 'ü'])
    t.match(
      await send({ raw, headers: { ...payer.headers, 'x-idempotency-key': Buffer.from(key).toString('latin1') } }),
      { status: 400, body: { Errors: [{ ErrorCode: 'UK.OBIE.Header.Invalid', Path: 'x-idempotency-key' }] } },
      key,
    )
  const twice = await rawRequest(
    app.config.port,
    `POST ${PAYMENTS} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Customer-Id: ${payer.externalId}\r\nContent-Type: application/json\r\nX-Idempotency-Key: a\r\nx-idempotency-key: a\r\nConnection: close\r\nContent-Length: ${raw.length}\r\n\r\n${raw}`,
  )
  t.match(twice.text, /^HTTP\/1.1 400 [^]*"Message":"must be sent once","Path":"x-idempotency-key"/)
  t.match(await send({ raw, headers: { ...payer.headers, 'x-fapi-interaction-id': 'x' } }), {
    status: 400,
    body: { Errors: [{ ErrorCode: 'UK.OBIE.Header.Invalid', Path: 'x-fapi-interaction-id' }] },
  })
  t.same(await countRows(owner), before)
})

t.test('a repeat under the same key returns the existing payment as it is now', async (t) => {
  const customer = await addCustomer(service)
  const key = 'k'.repeat(40)
  const first = await order(service, customer, {}, key)
  t.match(first, { status: 201, body: { Status: 'Pending' } })
  await executeAll(app)
  const repeat = await order(service, customer, {}, key)
  t.match(repeat, {
    status: 201,
    headers: { location: `${PAYMENTS}/${first.body.PaymentId}` },
    body: { PaymentId: first.body.PaymentId, Status: 'AcceptedSettlementCompleted' },
  })
  const before = await countRows(owner)
  t.match(await order(service, customer, gbp('10.01'), key), {
    status: 409,
    body: { Code: '409 Conflict', Errors: [{ ErrorCode: 'UK.OBIE.Rules.ResourceAlreadyExists' }] },
  })
  t.same(await countRows(owner), before, 'and another body under it changes nothing')
  const { body: now } = await service.call('GET', `${PAYMENTS}/${first.body.PaymentId}`, { headers: customer.headers })
  t.same(now, repeat.body)
  t.not(
    (await order(service, stranger, {}, key)).body.PaymentId,
    first.body.PaymentId,
    "another customer's key is another",
  )
  await owner.query(`update order_keys set path = '/elsewhere' where customer_id = $1`, [customer.id])
  t.not((await order(service, customer, {}, key)).body.PaymentId, first.body.PaymentId, 'and so is one of another path')
  const [one, two] = [await order(service, customer), await order(service, customer)]
  t.not(one.body.PaymentId, two.body.PaymentId, 'without a key each request is a payment')
  t.match(await order(service, customer, { CreditorAccount: {} }, 'once'), { status: 400 })
  t.match(await order(service, customer, {}, 'once'), { status: 201 }, 'a refused request takes no key')
})

t.test('a key belongs to one client; a person who is not a customer has none', async (t) => {
  const customer = await addCustomer(service)
  const body = PaymentInitiation.parse(orderBody())
  const by = (clientId: string, customerId = customer.id): Promise<{ id: string }> =>
    createOrder(app, { customerId, clientId, path: PAYMENTS, idempotencyKey: 'shared', body })
  const { id } = await by('app-1')
  t.equal((await by('app-1')).id, id)
  t.not((await by('app-2')).id, id)
  await t.rejects(by('app-1', NO_CUSTOMER), { code: 'VALIDATION_FAILED' })
})

t.test('a key is deleted after 24 hours, and not before', async (t) => {
  const customer = await addCustomer(service)
  const age = (interval: string): Promise<unknown> =>
    owner.query('update order_keys set created_at = now() - $2::interval where customer_id = $1', [
      customer.id,
      interval,
    ])
  const first = await order(service, customer, {}, 'daily')
  await age('23 hours 59 minutes')
  t.equal((await order(service, customer, {}, 'daily')).body.PaymentId, first.body.PaymentId)
  await age('24 hours')
  const second = await order(service, customer, gbp('11.00'), 'daily')
  t.match(second, { status: 201, body: gbp('11.00') })
  t.not(second.body.PaymentId, first.body.PaymentId)
  t.equal((await order(service, customer, gbp('11.00'), 'daily')).body.PaymentId, second.body.PaymentId)
  t.equal((await order(service, customer, {}, 'daily')).status, 409, 'the key is that of the new one now')
  await order(service, customer, {}, 'young')
  await owner.query(`update order_keys set created_at = now() - interval '24 hours' where idempotency_key = 'daily'`)
  t.same(await deleteExpiredOrderKeys(app), { more: false })
  const { rows } = await owner.query('select idempotency_key from order_keys where customer_id = $1', [customer.id])
  t.same(rows, [{ idempotency_key: 'young' }])
})

t.test('fifty concurrent repeats create one payment, which is booked once', async (t) => {
  const customer = await addCustomer(service)
  const twins = await Promise.all(Array.from({ length: 50 }, () => order(service, customer, {}, 'twin')))
  t.same(new Set(twins.map(({ status }) => status)), new Set([201]))
  t.equal(new Set(twins.map(({ body }) => body.PaymentId)).size, 1)
  await executeAll(app)
  t.equal(await balanceOf(service, customer.account.id), 99_000n)
  const { rows } = await owner.query('select count(*)::int as orders from payment_orders where customer_id = $1', [
    customer.id,
  ])
  t.same(rows, [{ orders: 1 }])
})

t.test('the database accepts every transition of the table, and rejects all others', async (t) => {
  const allowed = new Set<string>(ORDER_TRANSITIONS.map(({ from, to }) => `${from} ${to}`))
  const attempt = async (statement: string, values: unknown[]): Promise<string | undefined> => {
    await owner.query('savepoint move')
    try {
      await owner.query(statement, values)
      return undefined
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : String(error)
    } finally {
      await owner.query('rollback to savepoint move')
    }
  }
  const reasonOf = (status: string): string | null => (status === 'Rejected' ? 'AM04' : null)
  await owner.query('begin')
  for (const from of OrderStatus.options) {
    const id = await plantOrder(service, { customer: payer, from: payer.account.id, to: '20000055779911', minor: 1 })
    await owner.query('alter table payment_orders disable trigger guard_move')
    await owner.query('update payment_orders set status = $2, status_reason_code = $3 where id = $1', [
      id,
      from,
      reasonOf(from),
    ])
    await owner.query('alter table payment_orders enable trigger guard_move')
    for (const to of OrderStatus.options.filter((each) => each !== from)) {
      const code = await attempt('update payment_orders set status = $2, status_reason_code = $3 where id = $1', [
        id,
        to,
        reasonOf(to),
      ])
      t.equal(code, allowed.has(`${from} ${to}`) ? undefined : '23514', `${from} -> ${to}`)
    }
  }
  await owner.query('rollback')
  t.same(terminalStates(ORDER_TRANSITIONS).toSorted(), ['AcceptedSettlementCompleted', 'Rejected'])
  t.equal(new Set(Object.values(ORDER_STATUS_ISO)).size, OrderStatus.options.length, 'each has an ISO code of its own')
})

t.test('a payment is withdrawn while it is Pending, and once', async (t) => {
  const customer = await addCustomer(service)
  const withdraw = (id: string): Promise<boolean> => app.pool.transaction((tx) => withdrawOrder(tx, id))
  const { body } = await order(service, customer)
  t.equal(await withdraw(body.PaymentId), true)
  t.equal(await withdraw(body.PaymentId), false)
  t.match((await service.call('GET', `${PAYMENTS}/${body.PaymentId}`, { headers: customer.headers })).body, {
    Status: 'Rejected',
    StatusISO: 'RJCT',
    StatusReasonCode: 'DS02',
    StatusReason: /withdrawn/,
  })
  await executeAll(app)
  t.equal(await balanceOf(service, customer.account.id), 100_000n)
  const { body: executed } = await order(service, customer)
  await executeAll(app)
  t.equal(await withdraw(executed.PaymentId), false)
  const { body: held } = await order(service, customer)
  await owner.query('begin')
  await owner.query('select from payment_orders where id = $1 for no key update', [held.PaymentId])
  t.equal(await withdraw(held.PaymentId), false, 'one that a worker is just taking is not waited for')
  await owner.query('rollback')
  t.equal(await withdraw(randomUUID()), false)
})
