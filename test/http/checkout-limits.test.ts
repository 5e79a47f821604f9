import { randomUUID } from 'node:crypto'
import t from 'tap'
import { makeSharedRates } from '../../src/db/shared-rates.ts'
import { makeRateLimits, rateOf } from '../../src/http/rate-limit.ts'
import { makeNetworkHashes } from '../../src/lib/network-hash.ts'
import type { Operation } from '../../src/wire/operation.ts'
import { getCheckout } from '../../src/wire/checkout.ts'
import { listPayerPayments, requestLink, verifyLink } from '../../src/wire/payer.ts'
import { createPayment, getPayment } from '../../src/wire/payments.ts'
import { askAgain, createPayment as createByMerchant, testService } from '../support/app.ts'
import { plainToken, readCheckout, startPayment } from '../support/checkout.ts'

/** Limits on a clock of the test's own. */
function clocked(rateLimits = true) {
  let now = 0
  const limits = makeRateLimits({
    config: { rateLimits } as never,
    rates: makeSharedRates({ wake: {} as never, now: () => now }),
    networks: makeNetworkHashes('', 'test'),
  })
  const tries = (operation: Operation, clientAddress: string | undefined, count: number): number => {
    let passed = 0
    for (let each = 0; each < count; each += 1) {
      try {
        limits.network(rateOf(operation), clientAddress)
        passed += 1
      } catch (error) {
        if ((error as { code?: string }).code !== 'RATE_LIMITED') throw error
      }
    }
    return passed
  }
  return {
    limits,
    tries,
    pass: (seconds: number) => {
      now += seconds
    },
  }
}

t.test('a network may send 40 requests at once and 20 a second after that', async (t) => {
  const { tries, pass } = clocked()
  t.equal(tries(getPayment, '192.0.2.1', 100), 40)
  pass(1)
  t.equal(tries(getPayment, '192.0.2.1', 100), 20)
  t.equal(tries(getCheckout, '192.0.2.1', 1), 0, 'whatever it asks')
  t.equal(tries(listPayerPayments, '192.0.2.1', 1), 0)
  pass(3_600)
  t.equal(tries(getPayment, '192.0.2.1', 100), 40, 'an hour saves up no more than the burst')
})

t.test('new payments have a count of their own', async (t) => {
  const { tries, pass } = clocked()
  t.equal(tries(getPayment, '192.0.2.1', 100), 40)
  t.equal(tries(createPayment, '192.0.2.1', 100), 10)
  pass(1)
  t.equal(tries(createPayment, '192.0.2.1', 100), 2)
})

t.test('sign-ins have a lower rate of their own', async (t) => {
  const { tries, pass } = clocked()
  t.equal(tries(requestLink, '192.0.2.1', 20), 10)
  t.equal(tries(verifyLink, '192.0.2.1', 1), 0, 'one for both')
  t.equal(tries(getPayment, '192.0.2.1', 100), 40, 'and nothing else has it')
  pass(1)
  t.equal(tries(verifyLink, '192.0.2.1', 20), 2)
})

t.test('other networks are not limited; a /64 of IPv6 is one network', async (t) => {
  const { tries } = clocked()
  t.equal(tries(createPayment, '192.0.2.1', 20), 10)
  t.equal(tries(createPayment, '192.0.2.2', 20), 10)
  t.equal(tries(createPayment, '::ffff:192.0.2.2', 1), 0, 'the same in another form')
  t.equal(tries(createPayment, '2001:db8:1:1::1', 20), 10)
  t.equal(tries(createPayment, '2001:db8:1:1:ffff::2', 1), 0)
  t.equal(tries(createPayment, '2001:db8:1:2::1', 20), 10)
  t.equal(tries(createPayment, '2001:db8:2:1::1', 20), 10)
  t.equal(tries(createPayment, undefined, 20), 10, 'what has no address is one too')
  t.equal(tries(createPayment, 'nonsense', 1), 0)
})

t.test('who holds a whole /48 has no more than four networks in it', async (t) => {
  const { tries } = clocked()
  let passed = 0
  for (let line = 0; line < 256; line += 1) passed += tries(createPayment, `2001:db8:7:${line.toString(16)}::1`, 12)
  t.equal(passed, 40)
  t.equal(tries(createPayment, '2001:db8:8:1::1', 20), 10)
})

t.test('it is off where the configuration wants no limits', async (t) => {
  t.equal(clocked(false).tries(createPayment, '192.0.2.1', 1_000), 1_000)
})

t.test(
  'over HTTP: 429 with Retry-After, by the address that the proxy names, whatever the credential is',
  async (t) => {
    const service = await testService(t, { env: { SVC_RATE_LIMITS: 'true', SVC_TRUST_PROXY: 'true' } })
    const merchant = await service.merchant()
    const token = plainToken(service, merchant)
    const start = (from: string, credential: string) =>
      service.call('POST', '/api/v1/payments', {
        headers: { 'x-checkout-token': credential, 'x-idempotency-key': randomUUID(), 'x-forwarded-for': from },
        body: {},
      })
    // Sent all at once, they can't earn more than a few: most of them are refused whatever the machine does.
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => start('192.0.2.1', `${token.slice(0, -8)}AAAAAAAA`)),
    )
    const limited = answers.filter(({ status }) => status === 429)
    t.ok(limited.length > 0, `${limited.length} of 200`)
    t.match(limited[0], { headers: { 'retry-after': '1' }, body: { code: 'RATE_LIMITED', next: String } })
    t.ok(answers.filter(({ status }) => status === 401).length >= 10, 'guesses are counted too')
    t.match(await start('192.0.2.99', token), { status: 201 }, 'others start their payments')
    t.match(await start('192.0.2.1, 192.0.2.98', token), { status: 201 }, 'what stands before the last hop is no proof')

    const { body } = await startPayment(service, plainToken(service, merchant))
    const ask = (headers: Record<string, string>) =>
      askAgain(() =>
        service.call('GET', `/api/v1/payments/${body.payment_id}`, {
          headers: { 'x-forwarded-for': '192.0.2.7', ...headers },
        }),
      )
    const guesses = await Promise.all(
      Array.from({ length: 600 }, (_, index) => ask({ 'x-payment-state': `guess-${index}` })),
    )
    t.ok(guesses.some(({ status }) => status === 429))
    t.ok(guesses.every(({ status }) => status === 429 || status === 404))
    t.match(await service.call('GET', '/api/v1/payer/payments', { headers: { authorization: 'Bearer x' } }), {
      status: 401,
    })
  },
)

t.test('merchants are not slowed down by it', async (t) => {
  const service = await testService(t, { env: { SVC_RATE_LIMITS: 'true' } })
  const merchant = await service.merchant()
  const made = await Promise.all(Array.from({ length: 30 }, () => createByMerchant(service, merchant)))
  t.ok(made.every(({ status }) => status === 201))
  t.match(await readCheckout(service, plainToken(service, merchant)), { status: 200 })
})
