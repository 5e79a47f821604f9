import t from 'tap'
import type { Test } from 'tap'
import { MERCHANT_ID, fakeAdmin, merchantOf, pageOf } from './admin-harness.ts'

const FEES = {
  merchant_id: MERCHANT_ID,
  fee_percentage: '0.0125',
  fee_flat: '0.20',
  history: [
    {
      fee_percentage: '0.0125',
      fee_flat: '0.20',
      changed_at: '2026-11-21T09:30:00.000Z',
      changed_by: 'ada@pay.example',
      reason: 'contract of 2027',
      before: { fee_percentage: '0.0100', fee_flat: '0.20' },
    },
  ],
}

function platform(t: Test, mode: 'sandbox' | 'live' = 'sandbox') {
  return fakeAdmin(
    t,
    ({ path }) => {
      if (path.includes('/fees')) return { json: FEES }
      return path.includes('?') ? pageOf([merchantOf()]) : { json: { ...merchantOf(), actions: [] } }
    },
    { mode },
  )
}

t.test('get shows fees as people say them, and every change', async (t) => {
  const admin = await platform(t)
  const { code, stdout } = await admin.run(['merchants', 'fees', 'show', 'acme'])
  t.equal(code, 0)
  t.match(stdout, /Percentage +1\.25% of the amount\nFlat +0\.20 for each payment\n/)
  t.match(stdout, /1% \+ 0\.20 +1\.25% \+ 0\.20 +ada@pay\.example +contract of 2027/)
  t.equal(
    (await admin.run(['merchants', 'fees', 'show', 'acme', '-q', 'history[0].before.fee_percentage'])).stdout,
    '0.0100\n',
  )
  t.same(JSON.parse((await admin.run(['merchants', 'fees', 'show', 'acme', '-o', 'json'])).stdout), FEES)
})

t.test('set takes a percentage with its sign, or the fraction that it is', async (t) => {
  const admin = await platform(t)
  for (const [given, sent] of [
    ['1.25%', '0.0125'],
    ['1.25 %', '0.0125'],
    ['1%', '0.0100'],
    ['99.99%', '0.9999'],
    ['0%', '0.0000'],
    ['0.0125', '0.0125'],
    ['0', '0'],
  ] as const) {
    const { code } = await admin.run([
      'merchants',
      'fees',
      'set',
      'acme',
      '--percentage',
      given,
      '--reason',
      'contract',
    ])
    t.equal(code, 0, given)
    t.same(admin.writes().at(-1), {
      method: 'PUT',
      path: `/api/v1/admin/merchants/${MERCHANT_ID}/fees`,
      body: { fee_percentage: sent, reason: 'contract', expected: { fee_percentage: '0.0100', fee_flat: '0.20' } },
    })
  }
  await admin.run(['merchants', 'fees', 'set', 'acme', '--percentage', '2%', '--flat', '0.05', '--reason', 'contract'])
  t.same(admin.writes().at(-1)?.body, {
    fee_percentage: '0.0200',
    fee_flat: '0.05',
    reason: 'contract',
    expected: { fee_percentage: '0.0100', fee_flat: '0.20' },
  })
})

t.test('what could be read in two ways is refused, and a change needs a fee and a reason', async (t) => {
  const admin = await platform(t)
  for (const wrong of ['1.25', '100%', '1.255%', '-1%', '%', '1,25%', 'one'])
    t.match(
      await admin.run(['merchants', 'fees', 'set', 'acme', `--percentage=${wrong}`, '--reason', 'x']),
      { code: 2 },
      wrong,
    )
  t.match(await admin.run(['merchants', 'fees', 'set', 'acme', '--percentage', '1.5', '--reason', 'x']), {
    code: 2,
    stderr: /Try: with its sign: 1\.5%\n$/,
  })
  t.match(await admin.run(['merchants', 'fees', 'set', 'acme', '--reason', 'x']), {
    code: 2,
    stderr: /must have --percentage or --flat/,
  })
  t.equal((await admin.run(['merchants', 'fees', 'set', 'acme', '--flat', '0.20'])).code, 2)
  t.equal((await admin.run(['merchants', 'fees', 'set', 'acme', '--flat', '0.20', '--reason', ' '])).code, 2)
  for (const [flat, said] of [
    ['12,50', /invalid amount "12,50": use a decimal point, such as 12\.50/],
    ['1,000.00', /invalid amount "1,000\.00"\nTry: an amount such as 0\.20/],
  ] as const)
    t.match(await admin.run(['merchants', 'fees', 'set', 'acme', '--flat', flat, '--reason', 'x']), {
      code: 2,
      stderr: said,
    })
  t.match(await admin.run(['merchants', 'fees', 'set', 'acme', '--flat', '0.201', '--reason', 'x', '--dry-run']), {
    code: 2,
    stderr: /--flat: must be/,
  })
  t.match(await admin.run(['merchants', 'fees', 'set', 'acme', '--flat', '0.30', '--reason', 'x', '--dry-run']), {
    code: 0,
  })
  t.same(admin.writes(), [])
})

t.test('in live mode new fees are confirmed as people say them', async (t) => {
  const admin = await platform(t, 'live')
  const words = ['merchants', 'fees', 'set', 'acme', '--percentage', '0.5', '--reason', 'x']
  t.match(await admin.run(words), { code: 2, stderr: /charge Acme 50% and 0\.20 for each payment from now on/ })
  t.equal((await admin.run(words, { typed: 'Acme' })).code, 2)
  t.same(admin.writes(), [])
  t.equal((await admin.run(words, { typed: 'acme' })).code, 0)
  t.equal((await admin.run([...words, '--yes'])).code, 0)
  t.equal(admin.writes().length, 2)
})
