import t from 'tap'
import { paymentBody, serviceToken, testService } from '../support/app.ts'
import type { TestService } from '../support/app.ts'
import { liveEnv } from '../support/live.ts'
import { noAnswer, steeredBank } from '../support/steered-bank.ts'
import type { SteeredBank } from '../support/steered-bank.ts'

function bankCalled(id: string): SteeredBank {
  return steeredBank('remote', 'file', id)
}

/** Creates payments as the server of a new, approved merchant. */
async function payer(service: TestService) {
  const { realm, clientId, clientSecret } = await service.merchant()
  const token = await serviceToken(service.url, { realm, clientId, secret: clientSecret })
  let key = 0
  return (changes: object) =>
    service.call('POST', '/api/v1/payments', {
      headers: { authorization: `Bearer ${token}`, 'x-idempotency-key': `k${(key += 1)}` },
      body: { ...paymentBody(), redirect_uri: 'https://shop.example/back', ...changes },
    })
}

t.test('live mode without a bank takes no payment, and says so in readiness and lists', async (t) => {
  const live = await testService(t, { env: await liveEnv() })
  const pay = await payer(live)
  for (const changes of [{}, { debtor_bank_id: 'mock-albion' }, { debtor_bank_id: 'anything' }])
    t.match(await pay(changes), {
      status: 503,
      body: { code: 'BANK_NOT_CONFIGURED', next: /SVC_BANK_PROFILES/ },
    })
  const { rows } = await live.owner.query('select count(*)::int as count from payment_intents')
  t.same(rows, [{ count: 0 }])
  t.same((await live.call('GET', '/api/v1/banks')).body, { data: [] })
  t.match(await live.call('GET', '/readyz'), { status: 200, body: { status: 'ready', banks: 'none' } })
})

const LOGO = '<svg xmlns="http://www.w3.org/2000/svg"><path style="fill:#00395d" d="M0 0h8v8z"/></svg>'

t.test('live mode pays with the banks that are configured, and with no other', async (t) => {
  const [first, second] = [bankCalled('first-bank'), bankCalled('second-bank')]
  const live = await testService(t, {
    env: await liveEnv(),
    overrides: {
      configuredBanks: [first, second].map(({ connector }) => ({
        connector,
        name: `The ${connector.id}`,
        ...(connector.id === 'second-bank' && { logo: LOGO }),
      })),
    },
  })
  for (const bank of [first, second]) bank.behind(live.app.mockBank)
  t.match((await live.call('GET', '/api/v1/banks')).body, {
    data: [
      { id: 'first-bank', name: 'The first-bank', logo: '/widget/banks/first-bank.svg' },
      { id: 'second-bank', name: 'The second-bank' },
    ],
  })
  const mark = await live.call('GET', '/widget/banks/first-bank.svg')
  t.match(mark, {
    status: 200,
    headers: {
      'content-type': 'image/svg+xml',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
    },
  })
  t.match(mark.text, />T<\/text>/, 'the initial of its name on a colour')
  const logo = await live.call('GET', '/widget/banks/second-bank.svg')
  t.equal(logo.text, LOGO, 'or its own logo, which may have styles and nothing else')
  t.equal(logo.headers['content-security-policy'], "default-src 'none'; style-src 'unsafe-inline'; sandbox")
  t.equal((await live.call('GET', '/widget/banks/third-bank.svg')).status, 404)
  t.match((await live.call('GET', '/readyz')).body, { banks: 'configured' })
  const pay = await payer(live)
  t.match(await pay({ debtor_bank_id: 'second-bank' }), { status: 201, body: { status: 'AwaitingAuthorisation' } })
  t.same([first.calls.stage, second.calls.stage], [0, 1])
  const { rows } = await live.owner.query('select bank_connector from payment_intents')
  t.same(rows, [{ bank_connector: 'second-bank' }])
  t.match(await pay({}), { status: 400, body: { errors: [{ path: 'debtor_bank_id', code: 'REQUIRED' }] } })
  for (const debtor_bank_id of ['mock-albion', 'third-bank', '__proto__'])
    t.match(await pay({ debtor_bank_id }), {
      status: 400,
      body: { errors: [{ path: 'debtor_bank_id', code: 'UNKNOWN_BANK' }] },
    })
})

t.test('a repeat is answered whatever banks there are by now', async (t) => {
  const [first, second] = [bankCalled('first-bank'), bankCalled('second-bank')]
  const isThere = { first: true, second: false, registered: true }
  const live = await testService(t, {
    env: await liveEnv(),
    overrides: {
      configuredBanks: [
        {
          connector: first.connector,
          name: 'First',
          isConfigured: () => isThere.first,
          isRegistered: () => isThere.registered,
        },
        { connector: second.connector, name: 'Second', isConfigured: () => isThere.second },
      ],
    },
  })
  for (const bank of [first, second]) bank.behind(live.app.mockBank)
  const { realm, clientId, clientSecret } = await live.merchant()
  const token = await serviceToken(live.url, { realm, clientId, secret: clientSecret })
  const pay = (key: string, changes: object = {}) =>
    live.call('POST', '/api/v1/payments', {
      headers: { authorization: `Bearer ${token}`, 'x-idempotency-key': key },
      body: { ...paymentBody(), redirect_uri: 'https://shop.example/back', ...changes },
    })
  const created = await pay('answered')
  t.match(created, { status: 201, body: { status: 'AwaitingAuthorisation' } })
  first.steer('stage', noAnswer)
  t.equal((await pay('not answered')).status, 502)
  first.steer('stage', undefined)

  for (const [now, refusal] of [
    [
      { first: true, second: true, registered: true },
      { status: 400, body: { errors: [{ code: 'REQUIRED' }] } },
    ],
    [
      { first: true, second: false, registered: false },
      { status: 503, body: { code: 'BANK_NOT_CONFIGURED' } },
    ],
    [
      { first: false, second: false, registered: true },
      { status: 503, body: { code: 'BANK_NOT_CONFIGURED' } },
    ],
  ] as const) {
    Object.assign(isThere, now)
    const repeat = await pay('answered')
    t.same([repeat.status, repeat.text], [200, created.text], JSON.stringify(now))
    t.match(await pay('answered', { amount: '51.00' }), { status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } })
    t.match(await pay(`new ${JSON.stringify(now)}`), refusal)
  }
  t.match(await pay('not answered'), { status: 200, body: { status: 'AwaitingAuthorisation' } }, 'at its own bank')
  t.equal(second.calls.stage, 0)
  const { rows } = await live.owner.query('select count(*)::int as count from payment_intents')
  t.same(rows, [{ count: 2 }])
})

t.test('the only bank needs no name', async (t) => {
  const only = bankCalled('only-bank')
  const live = await testService(t, {
    env: await liveEnv(),
    overrides: { configuredBanks: [{ connector: only.connector, name: 'Only' }] },
  })
  only.behind(live.app.mockBank)
  const pay = await payer(live)
  t.match(await pay({}), { status: 201 })
  t.equal(only.calls.stage, 1)
})

t.test('a sandbox can have a real bank beside the mock bank', async (t) => {
  const real = bankCalled('real-bank')
  const service = await testService(t, {
    overrides: { configuredBanks: [{ connector: real.connector, name: 'Real' }] },
  })
  real.behind(service.app.mockBank)
  const merchant = await service.merchant()
  const { data } = (await service.call('GET', '/api/v1/banks')).body
  t.equal(data.length, 17)
  const paidAt = async (changes: object) => {
    const { body, status, text } = await service.call('POST', '/api/v1/payments', {
      merchant,
      headers: { 'x-idempotency-key': JSON.stringify(changes) },
      body: { ...paymentBody(), ...changes },
    })
    if (status !== 201) return text
    const { rows } = await service.owner.query('select bank_connector from payment_intents where id = $1', [
      body.payment_id,
    ])
    return rows[0]?.bank_connector ?? body.status
  }
  t.equal(await paidAt({}), 'mock')
  t.equal(await paidAt({ debtor_bank_id: 'mock-fern' }), 'mock')
  t.equal(await paidAt({ debtor_bank_id: 'some bank' }), 'mock')
  t.equal(await paidAt({ debtor_bank_id: 'real-bank' }), 'real-bank')
  t.equal(real.calls.stage, 1)
})

t.test('a dry run asks no real bank', async (t) => {
  const real = bankCalled('real-bank')
  const service = await testService(t, {
    overrides: { configuredBanks: [{ connector: real.connector, name: 'Real' }] },
  })
  real.behind(service.app.mockBank)
  const merchant = await service.merchant()
  const { status, body } = await service.call('POST', '/api/v1/payments?dry_run=true', {
    merchant,
    headers: { 'x-idempotency-key': 'dry' },
    body: { ...paymentBody(), debtor_bank_id: 'real-bank' },
  })
  t.match([status, body.status, body.redirect_url], [201, 'Initiated', null])
  t.equal(real.calls.stage, 0)
})
