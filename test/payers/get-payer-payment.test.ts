import { randomUUID } from 'node:crypto'
import t from 'tap'
import { insertMerchant } from '../../src/merchants/sql.ts'
import { generateWebhookSecret, webhookSecretContext } from '../../src/signing/secret.ts'
import { authorisedPayment, testService } from '../support/app.ts'
import type { Answer } from '../support/app.ts'
import { OPERATOR, accept, escalate, raise, resolve, submitEvidence } from '../support/disputes.ts'
import { comparable, paymentOf, signIn } from '../support/payers.ts'
import type { Session } from '../support/payers.ts'
import { endConsent, settledPayment } from '../support/payments.ts'

const service = await testService(t)
const merchant = await service.merchant()

const get = (path: string, headers: Session): Promise<Answer> =>
  service.call('GET', `/api/v1/payer/payments${path}`, { headers })
const dispute = (id: string, headers: Session, body: unknown = { reason: 'OTHER' }): Promise<Answer> =>
  service.call('POST', `/api/v1/payer/payments/${id}/dispute`, { headers, body })
const idsOf = ({ body }: Answer): string[] => body.data.map(({ payment_id }: { payment_id: string }) => payment_id)

/** A new payer for one test. */
const payer = (name: string): { email: string } => ({ email: `${name}@payer.example` })

/** Another merchant, under another name. */
async function shop(tradingName: string) {
  const id = randomUUID()
  const clientId = `server-${id.slice(0, 8)}`
  await insertMerchant(service.app.pool, {
    id,
    clientId,
    legalName: `${tradingName} Ltd`,
    tradingName,
    kybStatus: 'APPROVED',
    feePercentage: '0.0100',
    feeFlat: '0.20',
    webhookUrl: null,
    realmSlug: `m-${id.slice(0, 8)}`,
    webhookSigningSecret: service.app.sealer.seal(generateWebhookSecret(), webhookSecretContext(id)),
    serverRole: 'ADMIN',
    createdBy: 'test',
  })
  return { id, clientId, clientSecret: '', realm: '', secret: '' }
}

t.test('a payer sees the last fifty payments to all merchants, the newest first', async (t) => {
  const ada = payer('ada')
  const bakery = await shop('Bread & Butter')
  const ids: string[] = []
  for (let at = 0; at < 53; at += 1)
    ids.unshift(await paymentOf(service, at % 2 === 0 ? merchant : bakery, { payer_email: ada.email }))
  const headers = await signIn(service, ada)
  const listed = await get('', headers)
  t.same(idsOf(listed), ids.slice(0, 50))
  const names = listed.body.data.map(({ merchant_name }: { merchant_name: string }) => merchant_name)
  t.same(new Set(names), new Set(['Acme', 'Bread & Butter']))
})

t.test('a payment has exactly the fields that its payer may see', async (t) => {
  const ada = payer('told')
  const id = await settledPayment(service, merchant, {
    payer_email: ada.email,
    payer_name: 'Ada Lovelace',
    payer_phone: '+447700900001',
    remittance_reference: 'ORDER 1',
    debtor_bank_id: 'mock-albion',
    metadata: { internal: 'margin-17' },
  })
  const headers = await signIn(service, ada)
  const [listed] = (await get('', headers)).body.data
  t.match(listed, {
    payment_id: id,
    status: 'Settled',
    merchant_name: 'Acme',
    gross_amount: '50.00',
    refunded_amount: '0.00',
    currency: 'GBP',
    remittance_reference: 'ORDER 1',
    debtor_bank_id: 'mock-albion',
    bank_name: 'Albion Bank',
    is_recurring: false,
    failure: null,
    dispute: null,
    is_disputable: true,
  })
  const receipt = await get(`/${id}`, headers)
  t.equal(receipt.status, 200)
  t.match(receipt.body, listed)
  const statuses = receipt.body.status_history.map(({ new_status }: { new_status: string }) => new_status)
  t.same(statuses, ['AwaitingAuthorisation', 'Authorised', 'Settled'])
  t.same(receipt.body.refunds, [])
  for (const hidden of ['Lovelace', '7700900001', 'payer.example', 'margin-17', merchant.id, merchant.clientId]) {
    t.notOk(receipt.text.includes(hidden), hidden)
  }
})

t.test('executed refunds are on the receipt, and rejected ones are not', async (t) => {
  const ada = payer('refunds')
  const id = await settledPayment(service, merchant, { payer_email: ada.email })
  for (const amount of ['10.00', '5.50'])
    await service.call('POST', `/api/v1/payments/${id}/refund`, { merchant, body: { amount } })
  await service.owner.query(
    `insert into payment_refunds (id, merchant_id, payment_intent_id, amount, request_fingerprint, raw_payload, resume_at)
     select gen_random_uuid(), merchant_id, payment_intent_id, 1, request_fingerprint, raw_payload, now()
     from payment_refunds where payment_intent_id = $1 limit 1`,
    [id],
  )
  await service.owner.query(
    `update payment_refunds set status = 'FAILED', failure_code = 'TECHNICAL_ERROR' where payment_intent_id = $1 and amount = 1`,
    [id],
  )
  const { body } = await get(`/${id}`, await signIn(service, ada))
  t.equal(body.refunded_amount, '15.50')
  t.same(
    body.refunds.map(({ amount }: { amount: string }) => amount),
    ['10.00', '5.50'],
  )
})

t.test("payers with the same name don't see each other's payments", async (t) => {
  const [one, two] = [payer('sam.one'), payer('sam.two')]
  const ofOne = [
    await settledPayment(service, merchant, { payer_email: one.email, payer_name: 'Sam Smith' }),
    await paymentOf(service, merchant, { payer_email: one.email, payer_name: 'Sam Smith' }),
  ]
  const ofTwo = [await settledPayment(service, merchant, { payer_email: two.email, payer_name: 'Sam Smith' })]
  // A payment of another payer with the same name, another kind of contact and no shared contact.
  const ofPhone = [await paymentOf(service, merchant, { payer_phone: '+447700900002', payer_name: 'Sam Smith' })]
  const listed = async (contact: { email: string } | { phone: string }) =>
    new Set(idsOf(await get('', await signIn(service, contact))))
  t.same(await listed(one), new Set(ofOne))
  t.same(await listed(two), new Set(ofTwo))
  t.same(await listed({ phone: '+447700900002' }), new Set(ofPhone))
})

t.test("another payer's payment is not found by any operation", async (t) => {
  const [ada, eve] = [payer('ada.own'), payer('eve')]
  const id = await settledPayment(service, merchant, { payer_email: ada.email })
  await paymentOf(service, merchant, { payer_email: eve.email })
  const headers = await signIn(service, eve)
  const unknown = comparable(await get(`/${randomUUID()}`, headers))
  t.match(unknown, { status: 404, body: { code: 'PAYMENT_NOT_FOUND' } })
  t.same(comparable(await get(`/${id}`, headers)), unknown)
  t.same(comparable(await get(`/${id.toUpperCase()}`, headers)), unknown)
  t.same(comparable(await dispute(id, headers)), unknown)
  t.same(comparable(await dispute(randomUUID(), headers)), unknown)
  t.same(comparable(await get('/no-id', headers)), unknown)
  const { rows } = await service.owner.query('select from disputes where payment_intent_id = $1', [id])
  t.equal(rows.length, 0)
})

t.test("a payer disputes a payment, and its merchant gets the payer's statement", async (t) => {
  const ada = payer('dispute')
  const id = await settledPayment(service, merchant, { payer_email: ada.email })
  const headers = await signIn(service, ada)
  const body = { reason: 'ITEM_NOT_RECEIVED', payer_statement: 'It never came.' }
  const raised = await dispute(id, headers, body)
  t.equal(raised.status, 201)
  t.match(raised.body, { payment_id: id, status: 'OPEN', ...body })
  const told = await service.call('GET', `/api/v1/portal/disputes/${raised.body.id}`, { merchant })
  t.match(told.body, { opened_by: 'PAYER', ...body })
  t.equal((await dispute(id, headers, body)).body.code, 'DISPUTE_ALREADY_OPEN')
  const during = (await get(`/${id}`, headers)).body
  t.match(during, { is_disputable: false, dispute: { id: raised.body.id, status: 'OPEN', resolution_note: null } })
  await submitEvidence(service, merchant, raised.body.id)
  await escalate(service, raised.body.id)
  await resolve(service, raised.body.id, { status: 'RESOLVED_MERCHANT_FAVOUR', resolution_note: 'It was signed for.' })
  t.match((await get(`/${id}`, headers)).body, {
    is_disputable: true,
    dispute: { status: 'RESOLVED_MERCHANT_FAVOUR', resolution_note: 'It was signed for.' },
  })
  t.notOk((await get(`/${id}`, headers)).text.includes('parcel'), 'nothing of the evidence')
  t.equal((await dispute(id, headers)).status, 201, 'and what is told to be disputable is')
})

t.test('payments shown as disputable can be disputed, and others are rejected', async (t) => {
  const ada = payer('disputable')
  const waiting = await paymentOf(service, merchant, { payer_email: ada.email })
  const authorised = (
    await authorisedPayment(service, merchant, { payer_email: ada.email, scenario: 'success-slow-settle:1h' })
  ).id
  const old = await settledPayment(service, merchant, { payer_email: ada.email })
  const merchants = await settledPayment(service, merchant, { payer_email: ada.email })
  const accepted = await settledPayment(service, merchant, { payer_email: ada.email })
  const often = await settledPayment(service, merchant, { payer_email: ada.email })
  await service.owner.query(`update payment_intents set created_at = created_at - interval '121 days' where id = $1`, [
    old,
  ])
  await raise(service, merchant, merchants)
  await accept(service, merchant, (await raise(service, merchant, accepted)).body.id)
  const headers = await signIn(service, ada)
  const usedUp = await settledPayment(service, merchant, { payer_email: ada.email })
  for (let at = 0; at < 20; at += 1) {
    await accept(service, merchant, (await raise(service, merchant, usedUp)).body.id)
    await accept(service, merchant, (await dispute(often, headers)).body.id)
  }
  for (const id of [waiting, authorised, old, merchants, often, accepted, usedUp]) {
    const { is_disputable: isDisputable } = (await get(`/${id}`, headers)).body
    const { status, body } = await dispute(id, headers)
    t.equal(status, isDisputable ? 201 : 409, body.code ?? 'raised')
    t.equal(isDisputable, [accepted, usedUp].includes(id), 'the merchant uses up its own disputes alone')
  }
})

t.test('a payment whose payer came too late is shown as expired', async (t) => {
  const ada = payer('late')
  const id = await paymentOf(service, merchant, { payer_email: ada.email })
  await endConsent(service, id)
  const { body } = await get(`/${id}`, await signIn(service, ada))
  t.match(body, { status: 'Failed', failure: { code: 'CONSENT_EXPIRED' } })
  t.equal(body.status_history.at(-1).new_status, 'Failed')
})

t.test('a payer of a disabled merchant keeps all rights', async (t) => {
  const ada = payer('disabled')
  const closed = await service.merchant()
  const id = await settledPayment(service, closed, { payer_email: ada.email })
  const off = { is_active: false, reason: 'closed' }
  const disabled = await service.call('PUT', `/api/v1/admin/merchants/${closed.id}/active`, {
    headers: OPERATOR,
    body: off,
  })
  t.equal(disabled.status, 200)
  const headers = await signIn(service, ada)
  t.equal((await get(`/${id}`, headers)).status, 200)
  t.equal((await dispute(id, headers)).status, 201)
})
