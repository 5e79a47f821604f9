import t from 'tap'
import type { Test } from 'tap'
import { MERCHANT_ID, fakeAdmin, merchantOf, pageOf } from './admin-harness.ts'

const LIMITS = { merchant_id: MERCHANT_ID, currencies: ['GBP', 'EUR'], payment_amount_max: '500.00' }
const SEEN = { currencies: ['GBP', 'EUR'], payment_amount_max: '1000000.00' }

function platform(t: Test, mode: 'sandbox' | 'live' = 'sandbox') {
  return fakeAdmin(
    t,
    ({ path }) => {
      if (path.includes('/limits')) return { json: LIMITS }
      return path.includes('?') ? pageOf([merchantOf()]) : { json: { ...merchantOf(), actions: [] } }
    },
    { mode },
  )
}

t.test('show prints the limits, and so does the merchant', async (t) => {
  const admin = await platform(t)
  const { code, stdout } = await admin.run(['merchants', 'limits', 'show', 'acme'])
  t.equal(code, 0)
  t.match(stdout, /Currencies +GBP, EUR\nLargest payment +500\.00\n/)
  t.match((await admin.run(['merchants', 'show', 'acme'])).stdout, /Payments +up to 1000000\.00 in GBP or EUR\n/)
})

t.test('set sends what was given, with the limits as they were seen', async (t) => {
  const admin = await platform(t)
  const set = (...words: string[]) =>
    admin.run(['merchants', 'limits', 'set', 'acme', '--reason', 'new shop', ...words])
  t.equal((await set('--currencies', 'gbp, eur', '--max-payment', '500')).code, 0)
  t.same(admin.writes().at(-1), {
    method: 'PUT',
    path: `/api/v1/admin/merchants/${MERCHANT_ID}/limits`,
    body: { currencies: ['GBP', 'EUR'], payment_amount_max: '500', reason: 'new shop', expected: SEEN },
  })
  t.equal((await set('--max-payment', '500')).code, 0)
  t.same(admin.writes().at(-1)?.body, { payment_amount_max: '500', reason: 'new shop', expected: SEEN })
  const written = admin.writes().length
  for (const [flag, value] of [
    ['--currencies', 'pounds'],
    ['--currencies', ','],
    ['--max-payment', '5,00'],
  ] as const)
    t.match(await set(flag, value), { code: 2, stderr: new RegExp(flag) }, value)
  t.equal(admin.writes().length, written)
})

t.test('in live mode new limits are confirmed as people say them', async (t) => {
  const admin = await platform(t, 'live')
  const words = ['merchants', 'limits', 'set', 'acme', '--max-payment', '500', '--reason', 'x', '--dry-run']
  t.match(await admin.run(words), { code: 0, stdout: /up to 500 in GBP or EUR/ })
})
