import { randomUUID } from 'node:crypto'
import t from 'tap'
import { listMandatesOfPayer } from '../../src/consents/list-consents.ts'
import { canonicalJson } from '../../src/lib/canonical-json.ts'
import { CreatePayment } from '../../src/wire/new-payment.ts'
import { atBank, createPayment, paymentBody, testService } from '../support/app.ts'
import { completeSca } from '../support/payments.ts'
import { authorisedMandate, endMandate, mandateBody, payUnder, readMandate } from '../support/mandates.ts'

const service = await testService(t)
const { app, owner } = service

function daysFromNow(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString()
}

/** The fingerprint by which the service recognises a repeat. */
function fingerprintOf(body: Record<string, unknown>): Promise<string> {
  const text = canonicalJson({ ...CreatePayment.parse(body), amount: '50.0000' })
  return app.lookupHash('payment request', text)
}

t.test('a mandate is returned as it was sent, with its payments', async (t) => {
  const merchant = await service.merchant()
  const control_parameters = {
    max_amount_per_payment: 99.5,
    periodic_limits: [{ period: 'MONTH', max_amount: '300.00', note: 'ours' }],
    extra: { kept: ['as', 'it', 'is', 1.5, null] },
  }
  const validTo = new Date(Date.now() + 30 * 86_400_000).toISOString()
  const payer = { payer_name: 'Ada', debtor_bank_id: 'mock-fern', remittance_reference: 'Gym' }
  const { consentId, paymentId } = await authorisedMandate(service, merchant, {
    control_parameters,
    valid_to: validTo,
    ...payer,
  })
  await payUnder(service, merchant, { consentId })
  const { status, body } = await readMandate(service, merchant, consentId)
  t.equal(status, 200)
  t.match(body, {
    consent_id: consentId,
    consent_type: 'VARIABLE_RECURRING',
    status: 'AUTHORISED',
    currency: 'GBP',
    max_amount_per_payment: '99.50',
    allowances: [{ period: 'MONTH', max_amount: '300.00', used_amount: '60.00', remaining_amount: '240.00' }],
    first_payment_id: paymentId,
    payment_count: 2,
    valid_to: validTo,
    expires_at: validTo,
    ...payer,
  })
  t.strictSame(body.control_parameters, control_parameters)
})

t.test('the caps of a mandate are unused until its payer authorises it', async (t) => {
  const merchant = await service.merchant()
  const control_parameters = {
    max_amount_per_payment: '50.00',
    periodic_limits: [{ period: 'MONTH', max_amount: '50.00' }],
  }
  const setUp = async () => (await createPayment(service, merchant, mandateBody({ control_parameters }))).body
  const used = async (consentId: string) => {
    const { body } = await readMandate(service, merchant, consentId)
    const [{ used_amount, remaining_amount }] = body.allowances
    return [body.status, used_amount, remaining_amount]
  }
  const waiting = await setUp()
  t.same(await used(waiting.consent_id), ['AWAITING_AUTHORISATION', '0.00', '50.00'])
  const listed = await service.call('GET', '/api/v1/portal/consents', { merchant })
  t.match(listed.body.data, [{ allowances: [{ used_amount: '0.00', remaining_amount: '50.00' }] }])
  await owner.query(`update payment_consents set expires_at = now() where id = $1`, [waiting.consent_id])
  t.same(await used(waiting.consent_id), ['EXPIRED', '0.00', '50.00'], 'by the clock, before the job')
  const denied = await setUp()
  await completeSca(service, denied.payment_id, await atBank(denied.redirect_url, 'cancel'))
  t.same(await used(denied.consent_id), ['REJECTED', '0.00', '50.00'])
  const { consentId } = await authorisedMandate(service, merchant, { control_parameters })
  t.same(await used(consentId), ['AUTHORISED', '50.00', '0.00'])
  await endMandate(service, merchant, consentId)
  t.same(await used(consentId), ['REVOKED', '50.00', '0.00'], 'what was used stays used')
})

t.test('a mandate is valid for a year by default, else as long as requested', async (t) => {
  const merchant = await service.merchant()
  const days = (from: string, to: string) => Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000)
  const { consentId } = await authorisedMandate(service, merchant)
  const { body } = await readMandate(service, merchant, consentId)
  t.ok([365, 366].includes(days(body.created_at, body.valid_to)))
  const obie = {
    MaximumIndividualAmount: { Amount: '60.00', Currency: 'GBP' },
    ValidToDateTime: new Date(Date.now() + 86_400_000).toISOString(),
  }
  const made = await createPayment(service, merchant, mandateBody({ control_parameters: obie }))
  t.match((await readMandate(service, merchant, made.body.consent_id)).body, {
    status: 'AWAITING_AUTHORISATION',
    valid_to: obie.ValidToDateTime,
    max_amount_per_payment: '60.00',
  })
  const soon = new Date(Date.now() + 60_000).toISOString()
  const short = await createPayment(service, merchant, mandateBody({ valid_to: soon }))
  t.ok(short.body.expires_at <= soon, 'nobody authorises what is over')
  const refused = async (changes: Record<string, unknown>) => {
    const answer = await createPayment(service, merchant, mandateBody(changes))
    return [answer.status, answer.body.errors?.map(({ path }: { path: string }) => path)]
  }
  t.same(await refused({ valid_to: new Date().toISOString() }), [400, ['valid_to']])
  t.same(await refused({ valid_to: '2099-01-01T00:00:00Z' }), [400, ['valid_to']])
  t.same(await refused({ valid_to: soon, control_parameters: obie }), [400, ['valid_to']])
  t.same(await refused({ control_parameters: undefined }), [400, ['control_parameters']])
  t.same(await refused({ control_parameters: {} }), [400, ['control_parameters.max_amount_per_payment']])
  const deep = JSON.parse(`${'['.repeat(20)}${']'.repeat(20)}`)
  t.same(await refused({ control_parameters: { max_amount_per_payment: 1, deep } }), [400, ['control_parameters']])
  t.match(await refused({ control_parameters: { max_amount_per_payment: 1, n: '\u0000' } }), [400])
  t.same(await refused({ consent_type: 'SINGLE_IMMEDIATE' }), [400, ['control_parameters']])
  t.same(await refused({ consent_type: undefined, valid_to: soon }), [400, ['control_parameters', 'valid_to']])
})

t.test("a repeat of the request that set up a mandate is answered after the mandate's end", async (t) => {
  const merchant = await service.merchant()
  const key = randomUUID()
  const first = await createPayment(service, merchant, mandateBody({ valid_to: daysFromNow(30) }), key)
  t.equal(first.status, 201, first.text)
  // As if the request had been made two days ago, for a day.
  const valid_to = daysFromNow(-1)
  await owner.query(
    `update payment_consents set created_at = $2, valid_to = $3, expires_at = least(expires_at, $3) where id = $1`,
    [first.body.consent_id, daysFromNow(-2), valid_to],
  )
  await owner.query('update payment_intents set request_fingerprint = $2 where id = $1', [
    first.body.payment_id,
    await fingerprintOf(paymentBody(mandateBody({ valid_to }))),
  ])
  t.match(await createPayment(service, merchant, mandateBody({ valid_to }), key), {
    status: 200,
    body: { payment_id: first.body.payment_id },
  })
  t.match(await createPayment(service, merchant, mandateBody({ valid_to })), { status: 400 })
})

t.test("mandates are listed in pages, by status, without other merchants' mandates and single payments", async (t) => {
  const [merchant, stranger] = [await service.merchant(), await service.merchant()]
  await createPayment(service, merchant)
  await authorisedMandate(service, stranger)
  const made: string[] = []
  for (let index = 0; index < 3; index += 1) made.unshift((await authorisedMandate(service, merchant)).consentId)
  const list = async (query: string) =>
    (await service.call('GET', `/api/v1/portal/consents${query}`, { merchant })).body
  const ids = (page: { data: { consent_id: string }[] }) => page.data.map(({ consent_id }) => consent_id)
  const first = await list('?limit=2')
  t.same([ids(first), first.has_more], [made.slice(0, 2), true])
  const second = await list(`?limit=2&cursor=${first.next_cursor}`)
  t.same([ids(second), second.has_more, second.next_cursor], [made.slice(2), false, null])
  await endMandate(service, merchant, made[0] ?? '')
  t.same(ids(await list('?status=REVOKED')), made.slice(0, 1))
  t.same(ids(await list('?status=AUTHORISED')), made.slice(1))
  t.same(ids(await list('?status=EXPIRED')), [])
  await owner.query(`update payment_consents set expires_at = now() where id = $1`, [made[1]])
  t.same(ids(await list('?status=EXPIRED')), made.slice(1, 2), 'by the clock, before the job')
  const wrong = await service.call('GET', '/api/v1/portal/consents?cursor=x', { merchant })
  t.match(wrong, { status: 400, body: { errors: [{ path: 'cursor' }] } })
})

t.test('only mandates of the merchant are found', async (t) => {
  const [merchant, stranger] = [await service.merchant(), await service.merchant()]
  const { consentId } = await authorisedMandate(service, merchant)
  const single = await createPayment(service, merchant)
  for (const [who, id] of [
    [stranger, consentId],
    [merchant, single.body.consent_id],
    [merchant, randomUUID()],
    [merchant, 'x'],
  ] as const)
    t.match(await readMandate(service, who, id), { status: 404, body: { code: 'CONSENT_NOT_FOUND' } })
})

t.test("a payer's active mandates with all merchants are found by the contact", async (t) => {
  const [one, two] = [await service.merchant(), await service.merchant()]
  const email = `${randomUUID()}@payer.example`
  const first = await authorisedMandate(service, one, { payer_email: email })
  const second = await authorisedMandate(service, two, { payer_email: email })
  const ended = await authorisedMandate(service, two, { payer_email: email })
  await endMandate(service, two, ended.consentId)
  await authorisedMandate(service, two, { payer_email: `other-${email}` })
  await createPayment(service, one, mandateBody({ payer_email: email }))
  const contact = { type: 'EMAIL', hash: await app.lookupHash('EMAIL', email) } as const
  const found = await listMandatesOfPayer(app, { contact, limit: 10 })
  t.same(
    found.map(({ id, merchant_id, merchant_name }) => [id, merchant_id, merchant_name]),
    [
      [second.consentId, two.id, 'Acme'],
      [first.consentId, one.id, 'Acme'],
    ],
  )
  t.same(await listMandatesOfPayer(app, { contact: { ...contact, type: 'PHONE' }, limit: 10 }), [])
})
