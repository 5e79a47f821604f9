import t from 'tap'
import { testService } from '../../support/app.ts'
import { getPage, postForm } from '../../support/forms.ts'

const service = await testService(t, { env: { SVC_RATE_LIMITS: 'true' } })

t.test('too many requests for pages get a page that asks to wait', async (t) => {
  for (const path of ['/checkout?token=x', '/payments/return?state=x']) {
    const answers = await Promise.all(Array.from({ length: 120 }, () => getPage(service.url + path)))
    const busy = answers.filter(({ status }) => status === 429)
    t.ok(busy.length > 0, path)
    t.match(busy[0]?.headers, { 'retry-after': /^\d+$/, 'cache-control': 'no-store' })
    t.match(busy[0]?.html, /<h1>One moment, please<\/h1>/)
    t.match(busy[0]?.html, /<main data-poll="\d+">/)
  }
})

t.test('a form that comes too often is not sent again by itself', async (t) => {
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => postForm(`${service.url}/checkout`, { token: 'x', bank: 'x', key: 'x' })),
  )
  const busy = answers.filter(({ status }) => status === 429)
  t.ok(busy.length > 0)
  t.notMatch(busy[0]?.html, /data-poll/)
  t.match(busy[0]?.html, /Go back, and try again/)
})

t.test('pages and operations have one allowance between them', async (t) => {
  const fresh = await testService(t, { env: { SVC_RATE_LIMITS: 'true' } })
  const started = performance.now()
  const headers = { 'x-payment-state': 'guess' }
  const statuses = await Promise.all([
    ...Array.from({ length: 60 }, async () => (await getPage(`${fresh.url}/payments/return?state=x`)).status),
    ...Array.from({ length: 60 }, async () => {
      return (await fresh.call('GET', `/api/v1/payments/${fresh.app.ids.uuid()}`, { headers })).status
    }),
  ])
  const earned = 40 + 20 * ((performance.now() - started) / 1_000)
  const heard = statuses.filter((status) => status !== 429).length
  t.ok(heard <= earned, `${heard} of ${earned}`)
})
