import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createPayouts } from '../../src/payouts/create-payouts.ts'
import { sendPayouts } from '../../src/payouts/send-payouts.ts'
import { testService } from '../support/app.ts'
import type { Answer, TestMerchant } from '../support/app.ts'
import { closedSettlement, payableMerchant, payoutAccount, payoutsOf } from '../support/payouts.ts'

const service = await testService(t)
const { app, owner } = service
const OPERATOR = { 'x-platform-user': 'olga' }
const LIST = '/api/v1/portal/payouts'

async function run(): Promise<void> {
  await createPayouts(app)
  await sendPayouts(app)
}

function asOperator(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer> {
  return service.call(method, `/api/v1/admin/payouts${path}`, { headers: OPERATOR, body })
}

function retry(id: string, query = ''): Promise<Answer> {
  return asOperator('POST', `/${id}/retry${query}`, { reason: 'the bank has repaired it' })
}

async function failNext(merchant: TestMerchant, share: string | undefined): Promise<void> {
  const body = { merchant_id: merchant.id, ...(share === undefined ? {} : { fail_payout: share }) }
  await service.call('PUT', '/api/v1/sandbox/bank/faults', { headers: OPERATOR, body })
}

t.test('a merchant reads its payouts, and no other', async (t) => {
  const merchant = await payableMerchant(service)
  await run()
  const second = await closedSettlement(service, merchant, { amount: '5.0000' })
  await run()
  const all = await service.call('GET', LIST, { merchant })
  t.match(all, { status: 200, body: { has_more: false, next_cursor: null } })
  const [newest, oldest] = all.body.data
  t.strictSame(oldest, {
    payout_id: oldest.payout_id,
    merchant_id: merchant.id,
    currency: 'GBP',
    amount: '49.30',
    debt_deducted: '0.00',
    status: 'PAID',
    bank_account_id: merchant.accountId,
    connector: 'mock',
    end_to_end_id: oldest.end_to_end_id,
    bank_reference: oldest.bank_reference,
    failure: null,
    attempt_count: 1,
    next_attempt_at: null,
    retry_at: null,
    created_at: oldest.created_at,
    sent_at: oldest.sent_at,
    paid_at: oldest.paid_at,
    failed_at: null,
    returned_at: null,
  })
  t.match(oldest.end_to_end_id, /^SVC[0-9a-f]{32}$/)
  t.match(await service.call('GET', `${LIST}/${newest.payout_id}`, { merchant }), {
    status: 200,
    body: {
      ...newest,
      settlement_ids: [second],
      status_history: [
        { previous_status: null, new_status: 'CREATED', changed_by: 'BATCH_JOB' },
        { previous_status: 'CREATED', new_status: 'SENT' },
        { previous_status: 'SENT', new_status: 'PAID' },
      ],
    },
  })
  const page = await service.call('GET', `${LIST}?limit=1`, { merchant })
  t.match(page.body, { data: [newest], has_more: true })
  t.match((await service.call('GET', `${LIST}?limit=1&cursor=${page.body.next_cursor}`, { merchant })).body, {
    data: [oldest],
    has_more: false,
  })
  for (const [query, count] of [
    ['status=PAID', 2],
    ['status=FAILED', 0],
    ['currency=EUR', 0],
    [`from=${newest.created_at}`, 1],
    [`to=${newest.created_at}`, 1],
  ] as const)
    t.equal((await service.call('GET', `${LIST}?${query}`, { merchant })).body.data.length, count, query)

  const other = await service.merchant()
  t.match((await service.call('GET', LIST, { merchant: other })).body, { data: [] })
  for (const id of [newest.payout_id, randomUUID(), 'nonsense'])
    t.match(await service.call('GET', `${LIST}/${id}`, { merchant: other }), {
      status: 404,
      body: { code: 'PAYOUT_NOT_FOUND' },
    })
  t.match((await asOperator('GET', `?merchant_id=${merchant.id}`)).body, { data: [newest, oldest] })
  t.match((await asOperator('GET', `/${newest.payout_id}`)).body, { ...newest, trading_name: 'Acme' })
  t.match((await asOperator('GET', '?merchant_id=nonsense')).body, { data: [] })
  t.match(await asOperator('GET', `/${newest.payout_id}`), { status: 200, body: { settlement_ids: [second] } })
  const settlement = await service.call('GET', `/api/v1/portal/settlements/${second}`, { merchant })
  t.match(settlement.body, { status: 'PAID_OUT', payout_id: newest.payout_id })
  const open = await closedSettlement(service, merchant)
  const closed = await service.call('GET', '/api/v1/portal/settlements?status=CLOSED', { merchant })
  t.match(closed.body.data, [{ settlement_id: open, payout_id: null }])
})

t.test('what is wrong in a request is named', async (t) => {
  const merchant = await service.merchant()
  for (const [query, path] of [
    ['status=SOON', 'status'],
    ['currency=pounds', 'currency'],
    ['from=yesterday', 'from'],
    ['cursor=xx', 'cursor'],
    ['limit=0', 'limit'],
  ])
    t.match(await service.call('GET', `${LIST}?${query}`, { merchant }), {
      status: 400,
      body: { code: 'VALIDATION_FAILED', errors: [{ path }] },
    })
  t.match(await asOperator('POST', `/${randomUUID()}/retry`, {}), {
    status: 400,
    body: { errors: [{ path: 'reason' }] },
  })
  t.match(await retry('nonsense'), { status: 404, body: { code: 'PAYOUT_NOT_FOUND' } })
  t.match(await retry(randomUUID()), { status: 404, body: { code: 'PAYOUT_NOT_FOUND' } })
})

t.test('an operator retries a failed payout at once, which is audited; a dry run changes nothing', async (t) => {
  const merchant = await payableMerchant(service)
  await failNext(merchant, '100%')
  await run()
  await failNext(merchant, undefined)
  const [failed] = await payoutsOf(service, merchant)
  const id = failed?.id ?? ''
  t.match(await retry(id, '?dry_run=true'), { status: 200, body: { status: 'CREATED', amount: '49.30' } })
  t.equal((await payoutsOf(service, merchant)).length, 1)
  const retried = await retry(id)
  t.match(retried, { status: 200, body: { status: 'CREATED', amount: '49.30' } })
  t.not(retried.body.payout_id, id)
  const { rows } = await owner.query(
    "select subject_id, actor_name, reason, after from operator_actions where action = 'payout.retry'",
  )
  t.match(rows, [
    { subject_id: id, actor_name: 'olga', reason: /repaired/, after: { payout_id: retried.body.payout_id } },
  ])
  await run()
  t.match(await payoutsOf(service, merchant), [{ status: 'FAILED' }, { status: 'PAID' }])
  t.match(await retry(id), { status: 409, body: { code: 'PAYOUT_NOT_RETRYABLE', current: { status: 'FAILED' } } })
  t.match(await retry(retried.body.payout_id), { status: 409, body: { current: { status: 'PAID' } } })
})

t.test('a retry says why there is none', async (t) => {
  const merchant = await service.merchant()
  await payoutAccount(service, merchant, { sort_code: '00-00-75', account_number: '99999999' })
  await closedSettlement(service, merchant)
  await run()
  const [failed] = await payoutsOf(service, merchant)
  const id = failed?.id ?? ''
  const set = (change: string) => owner.query(`update merchants set ${change} where id = $1`, [merchant.id])
  await set("payout_held = true, payout_held_at = now(), payout_held_by = 'olga'")
  t.match(await retry(id), { status: 403, body: { code: 'PAYOUT_HELD' } })
  await set('payout_held = false, payout_held_at = null, payout_held_by = null')
  await set("kyb_status = 'SUSPENDED'")
  t.match(await retry(id), { status: 403, body: { code: 'MERCHANT_NOT_APPROVED' } })
  await set("kyb_status = 'APPROVED', is_active = false")
  t.match(await retry(id), { status: 403, body: { code: 'MERCHANT_INACTIVE' } })
  await set('is_active = true')
  const accounts = await service.call('GET', '/api/v1/portal/bank-accounts', { merchant })
  await service.call('DELETE', `/api/v1/portal/bank-accounts/${accounts.body.data[0].id}`, { merchant })
  t.match(await retry(id), { status: 409, body: { code: 'PAYOUT_NOT_RETRYABLE' } })
  t.equal((await payoutsOf(service, merchant)).length, 1)
})

t.test('a payout that goes by file waits for it, and is not retried', async (t) => {
  const byFile = { ...app, config: { ...app.config, payoutConnector: 'file' as const } }
  const merchant = await payableMerchant(service)
  await createPayouts(byFile)
  await run()
  const [payout] = await payoutsOf(service, merchant)
  t.match(payout, { status: 'CREATED', attempt_count: 0 })
  t.match(await retry(payout?.id ?? ''), { status: 409, body: { error: /by file/ } })
})
