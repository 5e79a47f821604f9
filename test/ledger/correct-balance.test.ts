import t from 'tap'
import { keepBalances } from '../../src/ledger/keep-balances.ts'
import { testService } from '../support/app.ts'
import type { Answer, TestMerchant } from '../support/app.ts'
import { balancesOf, entriesOf } from '../support/ledger.ts'

const service = await testService(t)
const { app, owner } = service
const headers = await service.operator('OWNER')

function correct(merchant: Pick<TestMerchant, 'id'>, body: object, key?: string): Promise<Answer> {
  return service.call('POST', `/api/v1/admin/merchants/${merchant.id}/corrections`, {
    headers: { ...headers, ...(key === undefined ? {} : { 'x-idempotency-key': key }) },
    body: { amount: '5.00', currency: 'GBP', booked_against: 'FEES', reason: 'agreed on the phone', ...body },
  })
}

async function differences(merchant: TestMerchant): Promise<Record<string, unknown>[]> {
  const { body } = await service.call('GET', `/api/v1/admin/reconciliation?merchant_id=${merchant.id}`, { headers })
  return body.differences
}

t.test('a correction moves money between clearing and fees or bank, with its reason in the audit trail', async (t) => {
  const merchant = await service.merchant()
  const { status, body } = await correct(merchant, { amount: '0.3579', reference: 'a fee of May' })
  t.equal(status, 201)
  t.match(body, { merchant_id: merchant.id, amount: '0.3579', booked_against: 'FEES', reference: 'a fee of May' })
  t.same(await entriesOf(service, body.correction_id), [
    { movement: 'correction', debit: 'fees_earned', credit: 'clearing', amount: '0.3579', currency: 'GBP' },
  ])
  const taken = (await correct(merchant, { amount: '-12.5', booked_against: 'BANK' })).body
  t.match(taken, { amount: '-12.50', booked_against: 'BANK', reference: null })
  t.match(await entriesOf(service, taken.correction_id), [{ debit: 'clearing', credit: 'bank', amount: '12.5000' }])
  t.match(await balancesOf(service, merchant), {
    GBP: { clearing: '-12.1421', bank: '-12.5000', fees_earned: '-0.3579' },
  })
  const { rows } = await owner.query(
    `select action, actor_role, reason, after from operator_actions where subject_id = $1`,
    [taken.correction_id],
  )
  const after = { amount: '-12.5000', currency: 'GBP', booked_against: 'bank', reference: null }
  t.match(rows, [{ action: 'balance.correct', actor_role: 'OWNER', reason: 'agreed on the phone', after }])
  t.same(await differences(merchant), [])
})

t.test('the merchant reads it as a line of its settlement', async (t) => {
  const merchant = await service.merchant()
  await correct(merchant, { amount: '7.00', reference: 'goodwill' })
  await keepBalances(app)
  const { body } = await service.call('POST', '/api/v1/portal/settlements', { merchant, body: {} })
  const [settlement] = body.settlements
  t.match(settlement, { corrected_amount: '7.00', payable_amount: '7.00' })
  const lines = await service.call('GET', `/api/v1/portal/settlements/${settlement.settlement_id}/lines`, { merchant })
  t.match(lines.body.data, [{ kind: 'CORRECTION', amount: '7.00', remittance_reference: 'goodwill', payment_id: null }])
  t.same(await differences(merchant), [])
})

t.test('a repetition with the same key is the same correction, also at once; another body is rejected', async (t) => {
  const merchant = await service.merchant()
  const answers = await Promise.all(Array.from({ length: 5 }, () => correct(merchant, {}, 'key-1')))
  t.equal(new Set(answers.map(({ body }) => body.correction_id)).size, 1)
  t.match(await balancesOf(service, merchant), { GBP: { clearing: '5.0000' } })
  t.match(await correct(merchant, { amount: '6.00' }, 'key-1'), {
    status: 422,
    body: { code: 'IDEMPOTENCY_KEY_REUSED' },
  })
  t.equal((await correct(await service.merchant(), {}, 'key-1')).status, 201, 'keys are those of a merchant')
})

t.test('what is wrong is named, and changes nothing', async (t) => {
  const merchant = await service.merchant()
  const WRONG: [body: object, path: string][] = [
    [{ amount: '0.00' }, 'amount'],
    [{ amount: '+5.00' }, 'amount'],
    [{ amount: '--5.00' }, 'amount'],
    [{ amount: 5 }, 'amount'],
    [{ amount: '1000000.01' }, 'amount'],
    [{ amount: '0.001', booked_against: 'BANK' }, 'amount'],
    [{ currency: 'USD' }, 'currency'],
    [{ booked_against: 'ROUNDING' }, 'booked_against'],
    [{ reason: ' ' }, 'reason'],
    [{ reason: undefined }, 'reason'],
    [{ reference: 'x'.repeat(141) }, 'reference'],
  ]
  for (const [body, path] of WRONG)
    t.match(await correct(merchant, body), { status: 400, body: { errors: [{ path }] } }, JSON.stringify(body))
  t.match((await correct(merchant, { amount: '-12,50' })).body.errors, [
    { path: 'amount', message: 'invalid amount "-12,50": use a decimal point, such as -12.50' },
  ])
  t.match(await correct({ id: 'acme' }, {}), { status: 404, body: { code: 'MERCHANT_NOT_FOUND' } })
  t.same(await balancesOf(service, merchant), {})
})

t.test(
  'a correction without an action of an operator is named, though ledger, settlement and payout agree on it',
  async (t) => {
    const merchant = await service.merchant()
    await owner.query('begin')
    // As whoever has the service's own login can.
    await owner.query('set local role svc_runtime')
    const { rows } = await owner.query(
      `select post_ledger(array[row($1, 'correction', id, 'bank', 'clearing', 100, 'GBP')::ledger_posting]), id
     from gen_random_uuid() id`,
      [merchant.id],
    )
    await owner.query('commit')
    const forged = {
      kind: 'CORRECTION_WITHOUT_ACTION',
      subject: rows[0].id,
      expected_amount: null,
      found_amount: '100.00',
    }
    t.match(await differences(merchant), [forged])
    await keepBalances(app)
    await service.call('POST', '/api/v1/portal/settlements', { merchant, body: {} })
    t.match(await differences(merchant), [forged], 'also after it is settled')
  },
)

t.test('a correction that was changed by hand is named, with both amounts', async (t) => {
  const merchant = await service.merchant()
  const { correction_id: subject } = (await correct(merchant, {})).body
  await t.rejects(owner.query('update corrections set amount = 1'), { code: '42501' })
  await owner.query('begin')
  await owner.query('set local session_replication_role = replica')
  await owner.query('update corrections set amount = 500 where id = $1', [subject])
  await owner.query('commit')
  t.match(await differences(merchant), [
    { kind: 'CORRECTION_LEDGER', subject, expected_amount: '500.00', found_amount: '5.00' },
  ])
})
