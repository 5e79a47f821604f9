import t from 'tap'
import type { Explanation } from '../../src/wire/explain.ts'
import { testService } from '../support/app.ts'
import type { TestMerchant, TestService } from '../support/app.ts'

async function own(service: TestService, merchant: TestMerchant): Promise<Explanation> {
  return (await service.call('GET', `/api/v1/portal/explain/${merchant.id}`, { merchant })).body
}

async function operators(service: TestService, merchant: TestMerchant): Promise<Explanation> {
  const headers = await service.operator()
  return (await service.call('GET', `/api/v1/admin/explain/${merchant.id}`, { headers })).body
}

t.test('a pending merchant sees why it waits, and an operator sees the commands', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant({ kybStatus: 'PENDING' })
  const mine = await own(service, merchant)
  t.match(mine, {
    kind: 'merchant',
    status: 'PENDING',
    standing: /^waits for an operator's approval; until then it creates no payments; it has no webhook endpoint/,
    next: [
      { on: 'approval', to: 'APPROVED', by: 'an operator', how: null },
      { on: 'rejection', to: 'SUSPENDED', by: 'an operator', how: null },
    ],
  })
  t.match((await operators(service, merchant)).next, [
    { how: `svc kyb approve ${merchant.realm} --reason "..."` },
    { how: `svc kyb refuse ${merchant.realm} --reason "..."` },
  ])
})

t.test('held, disabled, rejected and suspended merchants differ, each with its remedy', async (t) => {
  const service = await testService(t)
  const headers = await service.operator()
  const put = (merchant: TestMerchant, path: string, body: object) =>
    service.call('PUT', `/api/v1/admin/merchants/${merchant.id}/${path}`, { headers, body })
  const merchant = await service.merchant({ webhookUrl: 'https://shop.example/hook' })
  t.equal((await own(service, merchant)).standing, 'approved: it can create payments.')
  await put(merchant, 'hold', { payout_held: true, reason: 'under investigation' })
  await put(merchant, 'active', { is_active: false, reason: 'court order' })
  const explanation = await operators(service, merchant)
  t.match(
    explanation.standing,
    /^approved; its payouts are held since .*: it creates no payments while they are; it is disabled/,
  )
  t.match(explanation.also, [
    { what: 'release its payouts', how: `svc hold release ${merchant.realm} --reason "..."` },
    { what: 'enable it', how: `svc merchants enable ${merchant.realm} --reason "..."` },
  ])
  t.match(
    explanation.timeline.map(({ text, by }) => [text, by]),
    [
      ['the merchant was registered', null],
      ['an operator held payouts: under investigation', 'ada'],
      ['an operator disabled the merchant: court order', 'ada'],
    ],
  )
  const mine = await own(service, merchant)
  t.notMatch(JSON.stringify(mine), /\bada\b|investigation|court/)
  t.match(mine.also, [{ how: null }, { how: null }])
  await put(merchant, 'kyb', { kyb_status: 'SUSPENDED' })
  t.match((await own(service, merchant)).standing, /^suspended: it creates no payments/)
  const refused = await service.merchant({ kybStatus: 'PENDING' })
  await put(refused, 'kyb', { kyb_status: 'SUSPENDED' })
  t.match((await own(service, refused)).standing, /^rejected: it creates no payments/)
  t.match((await operators(service, refused)).next, [{ on: 'reinstatement', to: 'APPROVED' }])
})

t.test('actions on the endpoint, the branding and the sandbox clock have phrases', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const put = (path: string, body: object) => service.call('PUT', `/api/v1/portal/${path}`, { merchant, body })
  const webhookUrl = 'http://127.0.0.1:9/hook'
  for (const body of [
    { webhook_url: webhookUrl },
    { paused: true },
    { paused: false },
    { webhook_url: `${webhookUrl}/2` },
    { webhook_url: null },
  ])
    t.equal((await put('webhook-endpoint', body)).status, 200)
  t.equal((await put('branding', { font: 'serif' })).status, 200)
  await service.call('POST', '/api/v1/sandbox/clock/advance', { body: { merchant_id: merchant.id, by: '11h' } })
  t.same((await own(service, merchant)).timeline.map(({ text }) => text).slice(1), [
    'the merchant set the webhook endpoint',
    'the merchant paused the webhook endpoint',
    'the merchant resumed the webhook endpoint',
    'the merchant changed the webhook endpoint',
    'the merchant removed the webhook endpoint',
    'the merchant changed the branding',
    'an operator advanced the sandbox clock by 11 hours',
  ])
})
