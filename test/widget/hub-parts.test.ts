import t from 'tap'
import { makeFormat } from '../../widget/hub/format.ts'
import { hashOf, routeOf, tokenIn } from '../../widget/hub/routes.ts'
import type { Route } from '../../widget/hub/routes.ts'

const ID = '0192f0c1-2d3e-7a4b-8c5d-6e7f80910203'

t.test('every view has a hash, and every hash a view', async (t) => {
  const routes: Route[] = [
    { name: 'payments' },
    { name: 'payment', id: ID },
    { name: 'dispute', id: ID },
    { name: 'permissions' },
    { name: 'cancel', id: ID },
    { name: 'new-link' },
  ]
  t.same(
    routes.map((route) => routeOf(hashOf(route))),
    routes,
  )
  for (const hash of [
    '',
    '#',
    '#payment',
    '#payment=',
    '#payment=../x',
    `#payment=${ID}x`,
    '#__proto__',
    '#toString=1',
  ])
    t.same(routeOf(hash), { name: 'payments' }, hash)
})

t.test("a link's token is accepted unchanged or rejected", async (t) => {
  t.equal(tokenIn('#token=aB-_9'), 'aB-_9')
  t.equal(tokenIn('#payments'), undefined)
  t.equal(tokenIn(''), undefined)
  for (const hash of ['#token=', '#token=a b', '#token=%41', '#token=a\nb', `#token=${'a'.repeat(257)}`])
    t.equal(tokenIn(hash), '', JSON.stringify(hash))
})

t.test('amounts keep every decimal and every digit', async (t) => {
  const { money } = makeFormat('en-GB')
  t.equal(money('50.00', 'GBP'), '£50.00')
  t.equal(money('0.7125', 'GBP'), '£0.7125')
  t.equal(money('9007199254740993.01', 'GBP'), '£9,007,199,254,740,993.01')
  t.equal(money('1234', 'JPY'), 'JP¥1,234')
})

t.test("dates are written in the page's language", async (t) => {
  t.equal(makeFormat('en-GB').month('2026-11-21T12:00:00.000Z'), 'November 2026')
  t.equal(makeFormat('de-AT').month('2026-01-21T12:00:00.000Z'), 'Jänner 2026')
})
