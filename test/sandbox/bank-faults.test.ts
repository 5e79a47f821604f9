import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { SCENARIO_NAMES } from '../../src/banks/scenarios.ts'
import { playDisputes } from '../../src/sandbox/play-disputes.ts'
import { atBank, authorisedPayment, createPayment, testService, until, untilStatus } from '../support/app.ts'
import type { Answer, TestMerchant } from '../support/app.ts'
import { getPage, hiddenFields, postForm } from '../support/forms.ts'
import { bookingsOf, movesOf, webhookTypesOf } from '../support/payments.ts'

const service = await testService(t, { worker: true })
const OPERATOR = { 'x-platform-user': 'olga' }

function setFaults(merchantId: string, faults: Record<string, unknown>): Promise<Answer> {
  const body = { merchant_id: merchantId, ...faults }
  return service.call('PUT', '/api/v1/sandbox/bank/faults', { headers: OPERATOR, body })
}

function readFaults(merchantId: string): Promise<Answer> {
  return service.call('GET', `/api/v1/sandbox/bank/faults?merchant_id=${merchantId}`, { headers: OPERATOR })
}

function advance(id: string, to: string, more: Record<string, unknown> = {}): Promise<Answer> {
  return service.call('POST', `/api/v1/sandbox/payments/${id}/advance`, { headers: OPERATOR, body: { to, ...more } })
}

async function read(merchant: TestMerchant, id: string): Promise<Answer['body']> {
  return (await service.call('GET', `/api/v1/payments/${id}`, { merchant })).body
}

async function disputesOf(merchant: TestMerchant, id: string): Promise<Answer['body'][]> {
  const list = await service.call('GET', `/api/v1/portal/disputes?payment_id=${id}`, { merchant })
  return Promise.all(
    list.body.data.map(async (row: { id: string }) => {
      return (await service.call('GET', `/api/v1/portal/disputes/${row.id}`, { merchant })).body
    }),
  )
}

t.test('fault settings are set, read, replaced and cleared, and recorded in the audit trail', async (t) => {
  const merchant = await service.merchant()
  const none = { latency: null, drop_callback: null, duplicate: null, unavailable: null, seed: null, set_at: null }
  t.same((await readFaults(merchant.id)).body, {
    merchant_id: merchant.id,
    ...none,
    fail_payout: null,
    return_payout: null,
    calls: 0,
    callbacks: 0,
    payouts: 0,
  })
  const wish = { latency: '250ms', drop_callback: '20%', duplicate: '0.5%', seed: 7 }
  const set = await setFaults(merchant.id, wish)
  t.match(set, { status: 200, body: { ...wish, unavailable: null, calls: 0, set_at: /^\d{4}-.*Z$/ } })
  t.same((await readFaults(merchant.id)).body, set.body)
  const again = await setFaults(merchant.id, { unavailable: '100%' })
  t.match(again.body, { latency: null, drop_callback: null, duplicate: null, unavailable: '100%', seed: 1 })
  t.match((await setFaults(merchant.id, { seed: 9 })).body, none, 'a seed alone injects no fault')
  const { rows } = await service.owner.query(
    "select actor_name, before, after from operator_actions where merchant_id = $1 and action = 'sandbox.bank_faults'",
    [merchant.id],
  )
  t.equal(rows.length, 3)
  t.match(rows[1], { actor_name: 'olga', before: { latency: '250ms' }, after: { unavailable: '100%' } })
})

t.test('invalid fault settings are rejected at their field', async (t) => {
  const { id } = await service.merchant()
  await setFaults(id, { latency: '1ms' })
  const wrong: [string, Record<string, unknown>][] = [
    ['latency', { latency: 'soon' }],
    ['latency', { latency: '61s' }],
    ['latency', { latency: 3 }],
    ['drop_callback', { drop_callback: '101%' }],
    ['drop_callback', { drop_callback: 0.2 }],
    ['duplicate', { duplicate: '20' }],
    ['duplicate', { duplicate: '-1%' }],
    ['unavailable', { unavailable: '1.234%' }],
    ['unavailable', { unavailable: '100.5%' }],
    ['seed', { latency: '1s', seed: -1 }],
    ['seed', { latency: '1s', seed: 1.5 }],
    ['drop_callbacks', { drop_callbacks: '20%' }],
  ]
  for (const [path, faults] of wrong) {
    const refused = await setFaults(id, faults)
    t.match(refused, { status: 400, body: { code: 'VALIDATION_FAILED' } }, JSON.stringify(faults))
    t.equal(refused.body.errors[0].path, path)
  }
  t.match((await readFaults(id)).body, { latency: '1ms' }, 'nothing was changed')
  for (const nobody of [randomUUID(), 'nobody']) {
    t.match(await setFaults(nobody, { latency: '1s' }), { status: 404, body: { code: 'MERCHANT_NOT_FOUND' } })
    t.match(await readFaults(nobody), { status: 404, body: { code: 'MERCHANT_NOT_FOUND' } })
  }
})

t.test('with all callbacks a closed browser loses nothing, and without them the payment waits', async (t) => {
  const [merchant, other] = [await service.merchant(), await service.merchant()]
  await setFaults(merchant.id, { drop_callback: '0%', duplicate: '100%' })
  const { body: payment } = await createPayment(service, merchant)
  await atBank(payment.redirect_url, 'approve')
  await untilStatus(service, merchant, payment.payment_id, 'Settled')
  t.same(await movesOf(service, payment.payment_id), ['AwaitingAuthorisation', 'Authorised', 'Settled'])
  t.match((await readFaults(merchant.id)).body, { callbacks: 1 })
  const { body: unheard } = await createPayment(service, other)
  await atBank(unheard.redirect_url, 'approve')
  t.equal((await read(other, unheard.payment_id)).status, 'AwaitingAuthorisation')
  await setFaults(merchant.id, { drop_callback: '100%' })
  const { body: lost } = await createPayment(service, merchant)
  const back = await atBank(lost.redirect_url, 'approve')
  t.equal((await read(merchant, lost.payment_id)).status, 'AwaitingAuthorisation', 'the callback was lost')
  await service.call('POST', `/api/v1/payments/${lost.payment_id}/sca-complete`, { body: back })
  await untilStatus(service, merchant, lost.payment_id, 'Settled')
})

t.test('a bank without answers delays a payment and its refund, and books each once', async (t) => {
  const merchant = await service.merchant()
  const { id } = await authorisedPayment(service, merchant, { scenario: 'success-slow-settle:1h' })
  await setFaults(merchant.id, { unavailable: '50%', seed: 3 })
  t.match(await advance(id, 'Settled'), { status: 200, body: { new_status: 'Settled', reached: true } })
  t.ok((await readFaults(merchant.id)).body.calls >= 1)
  await setFaults(merchant.id, { unavailable: '100%' })
  t.match(await advance(id, 'Refunded'), { status: 200, body: { new_status: 'Settled', reached: false } })
  await setFaults(merchant.id, {})
  t.match(await advance(id, 'Refunded'), { status: 200, body: { new_status: 'Refunded', reached: true } })
  t.same(await bookingsOf(service, id), { debits: ['50.0000'], credits: ['50.0000'] })
})

t.test('it is unknown what a silent bank has received, and the wait for it is short', async (t) => {
  const merchant = await service.merchant()
  const { body: payment } = await createPayment(service, merchant)
  await setFaults(merchant.id, { unavailable: '100%' })
  const silent = await advance(payment.payment_id, 'Authorised')
  t.match(silent, { status: 502, body: { code: 'BANK_UNAVAILABLE', error: /decided at the bank.*may have received/ } })
  t.notMatch(silent.body.error, /nothing has changed/)
  await setFaults(merchant.id, {})
  t.match((await advance(payment.payment_id, 'Authorised')).body, { reached: true, decision: 'approve' })
})

t.test('a payment is led to a status by the steps of its payer and its bank', async (t) => {
  const merchant = await service.merchant()
  const { body: paid } = await createPayment(service, merchant)
  const id = paid.payment_id
  t.same((await advance(id, 'Settled')).body, {
    payment_id: id,
    old_status: 'AwaitingAuthorisation',
    new_status: 'Settled',
    reached: true,
    decision: 'approve',
  })
  t.match((await advance(id, 'Settled')).body, { new_status: 'Settled', reached: true, decision: null })
  t.match((await advance(id, 'Refunded')).body, { old_status: 'Settled', new_status: 'Refunded' })
  t.same(await movesOf(service, id), ['AwaitingAuthorisation', 'Authorised', 'Settled', 'Refunded'])
  t.same(await webhookTypesOf(service, id), [
    'payment.initiated',
    'payment.authorized',
    'payment.settled',
    'payment.refunded',
  ])
  const { body: slow } = await createPayment(service, merchant, { scenario: 'success-slow-settle:2h' })
  t.match((await advance(slow.payment_id, 'Authorised')).body, { new_status: 'Authorised', reached: true })
  t.match((await advance(slow.payment_id, 'Settled')).body, { new_status: 'Settled', reached: true })
  const { body: failed } = await createPayment(service, merchant)
  t.match((await advance(failed.payment_id, 'Failed')).body, { new_status: 'Failed', reached: true })
  t.match((await read(merchant, failed.payment_id)).failure, { code: 'ACCESS_DENIED' })
  const { body: closed } = await createPayment(service, merchant)
  const waits = { new_status: 'AwaitingAuthorisation', reached: false }
  t.match((await advance(closed.payment_id, 'Authorised', { returns: false })).body, waits, 'the payer did not return')
  const first = { new_status: /Authorised|Settled/, reached: false, decision: 'approve' }
  t.match((await advance(closed.payment_id, 'Failed')).body, first, 'the first decision counts')
})

t.test('a scenario that prevents the status says so, and a completed payment does not restart', async (t) => {
  const merchant = await service.merchant()
  const ends: [string, string][] = [
    ['insufficient-funds', 'Failed'],
    ['payer-cancels', 'Failed'],
    ['bank-down', 'Failed'],
    ['never-returns', 'AwaitingAuthorisation'],
  ]
  for (const [scenario, end] of ends) {
    const { body } = await createPayment(service, merchant, { scenario })
    t.match((await advance(body.payment_id, 'Settled')).body, { new_status: end, reached: false }, scenario)
  }
  const { body: failed } = await createPayment(service, merchant)
  await advance(failed.payment_id, 'Failed')
  for (const [to, code] of [
    ['Authorised', 'PAYMENT_NOT_AUTHORISED'],
    ['Settled', 'PAYMENT_NOT_AUTHORISED'],
    ['Refunded', 'PAYMENT_NOT_SETTLED'],
  ] as const)
    t.match(await advance(failed.payment_id, to), { status: 409, body: { code } }, to)
  const { body: settled } = await createPayment(service, merchant)
  await advance(settled.payment_id, 'Settled')
  t.match(await advance(settled.payment_id, 'Failed'), { status: 409, body: { code: 'PAYMENT_NOT_CANCELLABLE' } })
  t.match(await advance(settled.payment_id, 'Authorised'), { status: 409 })
  t.match(await advance(settled.payment_id, 'Initiated'), { status: 400, body: { code: 'VALIDATION_FAILED' } })
  t.match(await advance(randomUUID(), 'Settled'), { status: 404, body: { code: 'PAYMENT_NOT_FOUND' } })
  t.match(await advance('nothing', 'Settled'), { status: 404, body: { code: 'PAYMENT_NOT_FOUND' } })
})

/** How a payment of each scenario ends once its payer approves, where it does not settle. */
const ENDS: Record<string, string> = {
  'payer-cancels': 'ACCESS_DENIED',
  'sca-fails': 'AUTHORISATION_FAILED',
  'insufficient-funds': 'INSUFFICIENT_FUNDS',
  'limit-exceeded': 'LIMIT_EXCEEDED',
  'account-blocked': 'ACCOUNT_BLOCKED',
  'fraud-stop': 'FRAUD_SUSPECTED',
  'bank-timeout': 'BANK_TIMEOUT',
  'bank-down': 'BANK_UNAVAILABLE',
  'authorised-then-rejected': 'BANK_ERROR',
  'settlement-fails': 'SETTLEMENT_FAILED',
}
const PARAMETERS: Record<string, string> = {
  'success-slow-settle:<duration>': 'success-slow-settle:1s',
  'dispute-payer:<reason>': 'dispute-payer:UNAUTHORISED',
}

/** Signs in at the bank's full login with a scenario as the user name, and approves. */
async function approveAs(redirectUrl: string, username: string): Promise<string | undefined> {
  const sca = `${service.url}/dev/mock-bank-sca`
  const { password, code } = service.app.config.mockBankLogin
  const led = await getPage(`${redirectUrl}&sca=full`)
  const first = await getPage(service.url + led.location)
  let page = await postForm(sca, { ...hiddenFields(first.html), username, password })
  for (let tries = 0; tries < 2 && /name="code"/.test(page.html); tries += 1)
    page = await postForm(sca, { ...hiddenFields(page.html), code })
  return (await postForm(sca, { ...hiddenFields(page.html), decision: 'approve' })).location
}

/** Forty payments wait side by side: each looks rarely. */
async function untilSlowly<T>(look: () => Promise<T | false | undefined>): Promise<T> {
  for (let looks = 0; looks < 400; looks += 1) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    await delay(250)
  }
  throw new Error('not reached')
}

t.test(
  'each of the twenty scenarios works the same by its name in the body, in the header and at the login',
  async (t) => {
    const { body: list } = await service.call('GET', '/api/v1/sandbox/bank/scenarios', { headers: OPERATOR })
    t.same(
      list.data.map(({ name }: { name: string }) => name),
      SCENARIO_NAMES,
    )
    t.ok(list.data.every(({ summary }: { summary: string }) => summary.length > 10))
    const merchant = await service.merchant()
    const create = (body: Record<string, unknown>, headers: Record<string, string> = {}): Promise<Answer> =>
      service.call('POST', '/api/v1/payments', {
        merchant,
        headers: { 'x-idempotency-key': randomUUID(), ...headers },
        body: { amount: '50.00', currency: 'GBP', redirect_uri: `${service.url}/payments/return`, ...body },
      })
    const ways: Record<string, (scenario: string) => Promise<string>> = {
      body: async (scenario) => toSettled((await create({ scenario })).body),
      login: async (scenario) => {
        const { body } = await create({})
        const back = await approveAs(body.redirect_url, scenario)
        // The bank that is down hears the second question.
        for (const _again of [1, 2]) if (back !== undefined) await getPage(back)
        return body.payment_id
      },
    }
    async function toSettled({ payment_id }: { payment_id: string }): Promise<string> {
      await advance(payment_id, 'Settled')
      return payment_id
    }
    const tried = SCENARIO_NAMES.map((name) => PARAMETERS[name] ?? name)
    for (const scenario of tried) {
      // A header stands for the body's member: what follows is the same.
      const { status, body } = await create({}, { 'x-sandbox-scenario': scenario })
      const staged = new URL(body.redirect_url).searchParams.get('request') ?? ''
      t.match(
        [status, service.app.mockBank.readRequest(staged)?.scenario],
        [201, scenario],
        `${scenario} by its header`,
      )
    }
    await Promise.all(
      tried.flatMap((scenario) =>
        Object.entries(ways).map(async ([way, pay]) => {
          const id = await pay(scenario)
          const label = `${scenario} by its ${way}`
          const end = await untilSlowly(async () => {
            const payment = await read(merchant, id)
            const isOver = !['AwaitingAuthorisation', 'Authorised'].includes(payment.status)
            return (isOver || scenario === 'never-returns') && payment
          })
          if (scenario === 'never-returns') t.equal(end.status, 'AwaitingAuthorisation', label)
          else if (ENDS[scenario] === undefined) t.match(end.status, /^(Settled|Refunded)$/, label)
          else t.match(end, { status: 'Failed', failure: { code: ENDS[scenario] } }, label)
          const disputes = scenario.startsWith('dispute-')
            ? await untilSlowly(async () => {
                const found = await disputesOf(merchant, id)
                const story = scenario.startsWith('dispute-payer') ? 'OPEN' : 'RESOLVED'
                return found[0]?.status.startsWith(story) && found
              })
            : await disputesOf(merchant, id)
          t.equal(disputes.length, scenario.startsWith('dispute-') ? 1 : 0, `${label}: disputes`)
        }),
      ),
    )
  },
)

async function disputed(merchant: TestMerchant, scenario: string, isThere: (row: Answer['body']) => boolean) {
  const { id } = await authorisedPayment(service, merchant, { scenario })
  const [dispute] = await until(async () => {
    const rows = await disputesOf(merchant, id)
    return rows.some(isThere) && rows
  })
  return { id, dispute }
}

t.test("a payer's dispute stays open; the others are decided as their names say", async (t) => {
  const merchant = await service.merchant()
  const isResolved = ({ status }: { status: string }) => status.startsWith('RESOLVED')
  const [open, won, lost] = await Promise.all([
    disputed(merchant, 'dispute-payer:INCORRECT_AMOUNT', () => true),
    disputed(merchant, 'dispute-won', isResolved),
    disputed(merchant, 'dispute-lost', isResolved),
  ])
  t.match(open.dispute, { status: 'OPEN', opened_by: 'PAYER', reason: 'INCORRECT_AMOUNT' })
  t.match(won.dispute, { status: 'RESOLVED_MERCHANT_FAVOUR', refund_id: null })
  t.same(
    won.dispute.events.map(({ new_status, changed_by }: Record<string, string>) => [new_status, changed_by]),
    [
      ['OPEN', 'PAYER'],
      ['UNDER_REVIEW', 'MERCHANT'],
      ['RESOLVED_MERCHANT_FAVOUR', 'PLATFORM'],
    ],
  )
  t.equal((await read(merchant, won.id)).status, 'Settled')
  t.match(lost.dispute, { status: 'RESOLVED_PAYER_FAVOUR' })
  await untilStatus(service, merchant, lost.id, 'Refunded')
  t.same(await bookingsOf(service, lost.id), { debits: ['50.0000'], credits: ['50.0000'] })
  const types = await webhookTypesOf(service, lost.id)
  for (const type of ['dispute.opened', 'dispute.resolved', 'payment.refunded']) t.ok(types.includes(type), type)
  const { rows } = await service.owner.query(
    "select action, actor_name from operator_actions where merchant_id = $1 and action like 'dispute.%' order by ordinal",
    [merchant.id],
  )
  t.same(rows, Array(2).fill({ action: 'dispute.resolve', actor_name: 'sandbox' }))
  t.equal((await disputesOf(merchant, open.id))[0].status, 'OPEN', 'its dispute stays open')
})

t.test('scripted disputes complete: concurrent runs dispute nothing twice, and never in live mode', async (t) => {
  const quiet = await testService(t)
  const merchant = await quiet.merchant()
  const { id } = await authorisedPayment(quiet, merchant, { scenario: 'dispute-won' })
  const { app } = quiet
  const count = async (): Promise<number> => {
    const { rows } = await quiet.owner.query('select count(*)::int as n from disputes')
    return rows[0].n
  }
  await playDisputes(app)
  t.equal(await count(), 0, 'only settled payments are disputed')
  await quiet.call('POST', `/api/v1/sandbox/payments/${id}/advance`, { body: { to: 'Settled' } })
  await quiet.owner.query('update mock_bank.authorisations set scenario_locked_until = null')
  await playDisputes({ ...app, config: { ...app.config, mode: 'live' } })
  t.equal(await count(), 0)
  await Promise.all(Array.from({ length: 5 }, () => playDisputes(app)))
  await playDisputes(app)
  t.equal(await count(), 1)
  const { rows } = await quiet.owner.query('select status::text from disputes')
  t.same(rows, [{ status: 'RESOLVED_MERCHANT_FAVOUR' }])
})
