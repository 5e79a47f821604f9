import { randomUUID } from 'node:crypto'
import t from 'tap'
import { collectReturns } from '../../src/payouts/collect-returns.ts'
import type { BankConnector } from '../../src/banks/connector.ts'
import { createPayouts } from '../../src/payouts/create-payouts.ts'
import { listPayees } from '../../src/payouts/create-sql.ts'
import { sendPayouts } from '../../src/payouts/send-payouts.ts'
import { testService } from '../support/app.ts'
import type { TestMerchant } from '../support/app.ts'
import { balancesOf, entriesOf, postFor } from '../support/ledger.ts'
import {
  closedSettlement,
  passPayoutTimes,
  payableMerchant,
  payoutAccount,
  payoutWebhooksOf,
  payoutsOf,
  transfersOf,
} from '../support/payouts.ts'

const service = await testService(t)
const { app, owner } = service
const OPERATOR = { 'x-platform-user': 'olga' }

async function run(): Promise<void> {
  await createPayouts(app)
  await sendPayouts(app)
  await collectReturns(app)
}

async function faults(merchant: TestMerchant, settings: object): Promise<void> {
  const body = { merchant_id: merchant.id, ...settings }
  const set = await service.call('PUT', '/api/v1/sandbox/bank/faults', { headers: OPERATOR, body })
  if (set.status !== 200) throw new Error(set.text)
}

/** What stands in the way of a merchant's first balance, as the merchant reads it (unless it is rejected) and as operators do. */
async function blockOf(merchant: TestMerchant): Promise<(string | null)[]> {
  const own = await service.call('GET', '/api/v1/portal/balances', { merchant })
  const query = `?merchant_id=${merchant.id}`
  const all = await service.call('GET', `/api/v1/admin/balances${query}`, { headers: OPERATOR })
  return [...(own.status === 200 ? [own] : []), all].map(({ body }) => body.data[0].payout_blocked_by)
}

async function statusesOf(merchant: TestMerchant): Promise<string[]> {
  return (await payoutsOf(service, merchant)).map(({ status }) => status)
}

t.test('closed settlements are paid to the merchant, once', async (t) => {
  const merchant = await payableMerchant(service)
  const second = await closedSettlement(service, merchant, { amount: '0.7000' })
  await run()
  await run()
  const [payout, ...others] = await payoutsOf(service, merchant)
  t.same(others, [])
  t.match(payout, { status: 'PAID', amount: '50.0000', bank_account_id: merchant.accountId, bank_reference: /^MB/ })
  t.same(await transfersOf(service, merchant), [5000])
  t.match(await balancesOf(service, merchant), {
    GBP: { clearing: '0.0000', merchant_payable: '0.0000', payouts_in_transit: '0.0000', bank: '0.0000' },
  })
  t.match(await entriesOf(service, payout?.id ?? ''), [
    { movement: 'payout_paid', debit: 'payouts_in_transit', credit: 'bank', amount: '50.0000' },
    { movement: 'payout_sent', debit: 'merchant_payable', credit: 'payouts_in_transit', amount: '50.0000' },
  ])
  t.match(await payoutWebhooksOf(service, merchant), [
    {
      type: 'payout.created',
      data: { object: 'payout', id: payout?.id, status: 'CREATED', previousStatus: null, sequence: 1, test: true },
    },
    {
      type: 'payout.paid',
      data: { status: 'PAID', previousStatus: 'SENT', financials: { amount: '50.00', currency: 'GBP' }, failure: null },
    },
  ])
  const { rows } = await owner.query('select id from settlements where payout_id = $1 order by period_to', [payout?.id])
  t.same(rows, [{ id: merchant.settlementId }, { id: second }])
})

t.test('a failure gives the money back, and the next payout includes it after a time', async (t) => {
  const merchant = await payableMerchant(service)
  await faults(merchant, { fail_payout: '100%' })
  await run()
  await run()
  t.match(await payoutsOf(service, merchant), [{ status: 'FAILED', failure_code: 'BANK_ERROR', amount: '49.3000' }])
  t.match(await balancesOf(service, merchant), { GBP: { merchant_payable: '49.3000', payouts_in_transit: '0.0000' } })
  t.same(await transfersOf(service, merchant), [])
  await closedSettlement(service, merchant, { amount: '10.0000' })
  await run()
  t.same(await statusesOf(merchant), ['FAILED'], 'nothing before the time')
  await faults(merchant, {})
  await passPayoutTimes(service, merchant)
  await run()
  t.match(await payoutsOf(service, merchant), [
    { status: 'FAILED' },
    { status: 'PAID', amount: '59.3000', failure_code: null },
  ])
  t.same(await transfersOf(service, merchant), [5930])
  t.same(
    (await payoutWebhooksOf(service, merchant)).map(({ type }) => type),
    ['payout.created', 'payout.failed', 'payout.created', 'payout.paid'],
  )
})

t.test('each failure in a row waits twice as long, at most a day', async (t) => {
  const merchant = await payableMerchant(service)
  await faults(merchant, { fail_payout: '100%' })
  const minutes: number[] = []
  for (let turn = 0; turn < 9; turn += 1) {
    await run()
    const { rows } = await owner.query(
      `select extract(epoch from retry_at - failed_at)::int / 60 as minutes from payouts
       where merchant_id = $1 order by created_at desc limit 1`,
      [merchant.id],
    )
    minutes.push(rows[0].minutes)
    await passPayoutTimes(service, merchant)
  }
  t.same(minutes, [15, 30, 60, 120, 240, 480, 960, 1440, 1440])
})

t.test('a return takes the money back after it was paid, and waits for another account', async (t) => {
  const merchant = await payableMerchant(service)
  await faults(merchant, { return_payout: '100%' })
  await run()
  await run()
  t.match(await payoutsOf(service, merchant), [{ status: 'RETURNED', failure_code: 'INVALID_CREDITOR_ACCOUNT' }])
  t.match(await balancesOf(service, merchant), { GBP: { merchant_payable: '49.3000', bank: '49.3000' } })
  t.match(await payoutWebhooksOf(service, merchant), [
    { type: 'payout.created' },
    { type: 'payout.paid' },
    {
      type: 'payout.returned',
      data: { status: 'RETURNED', previousStatus: 'PAID', sequence: 3, failure: { isoCode: 'AC03' } },
    },
  ])
  await faults(merchant, {})
  await passPayoutTimes(service, merchant)
  await run()
  t.same(await statusesOf(merchant), ['RETURNED'], 'not to the same account')
  const other = await payoutAccount(service, merchant)
  await run()
  t.match(await payoutsOf(service, merchant), [{ status: 'RETURNED' }, { status: 'PAID', bank_account_id: other }])
})

t.test('an account that this bank does not have is rejected until there is another one', async (t) => {
  const merchant = await service.merchant()
  await payoutAccount(service, merchant, { sort_code: '00-00-75', account_number: '99999999' })
  await closedSettlement(service, merchant)
  await run()
  await passPayoutTimes(service, merchant)
  await run()
  t.match(await payoutsOf(service, merchant), [{ status: 'FAILED', failure_code: 'INVALID_CREDITOR_ACCOUNT' }])
  t.same(await blockOf(merchant), ['BANK_ACCOUNT_REJECTED', 'BANK_ACCOUNT_REJECTED'])
  await payoutAccount(service, merchant)
  t.same(await blockOf(merchant), [null, null])
  await run()
  t.same(await statusesOf(merchant), ['FAILED', 'PAID'])
  t.same(await blockOf(merchant), [null, null])
})

t.test('who is held, suspended, disabled or without an account is skipped, and follows after release', async (t) => {
  const merchant = await service.merchant()
  await closedSettlement(service, merchant)
  await run()
  t.same(await statusesOf(merchant), [], 'without an account')
  t.same(await blockOf(merchant), ['BANK_ACCOUNT_MISSING', 'BANK_ACCOUNT_MISSING'])
  await payoutAccount(service, merchant)
  const stops = [
    [
      "payout_held = true, payout_held_at = now(), payout_held_by = 'olga'",
      'payout_held = false, payout_held_at = null, payout_held_by = null',
      'PAYOUT_HELD',
    ],
    ["kyb_status = 'SUSPENDED'", "kyb_status = 'APPROVED'", 'MERCHANT_NOT_APPROVED'],
    ['is_active = false', 'is_active = true', 'MERCHANT_INACTIVE'],
  ] as const
  const set = (change: string) => owner.query(`update merchants set ${change} where id = $1`, [merchant.id])
  for (const [stop, release, block] of stops) {
    await set(stop)
    await run()
    t.same(await statusesOf(merchant), [], stop)
    t.equal((await blockOf(merchant)).at(-1), block, 'operators see why')
    await set(release)
  }
  await createPayouts(app)
  for (const [stop, release] of stops) {
    await set(stop)
    await sendPayouts(app)
    t.same(await statusesOf(merchant), ['CREATED'], `${stop} before it is sent`)
    await set(release)
  }
  await run()
  t.same(await statusesOf(merchant), ['PAID'])
  t.same(await transfersOf(service, merchant), [4930])
})

t.test('an account that is disabled before the payout is sent gets nothing; the next one does', async (t) => {
  const merchant = await payableMerchant(service)
  await createPayouts(app)
  const other = await payoutAccount(service, merchant)
  await service.call('DELETE', `/api/v1/portal/bank-accounts/${merchant.accountId}`, { merchant })
  await run()
  await run()
  t.match(await payoutsOf(service, merchant), [
    { status: 'FAILED', failure_code: 'CANCELLED_BY_MERCHANT', bank_account_id: merchant.accountId },
    { status: 'PAID', bank_account_id: other },
  ])
  t.same(await transfersOf(service, merchant), [4930])
})

t.test('outside Britain the account needs an IBAN', async (t) => {
  const merchant = await payableMerchant(service, { currency: 'EUR' })
  await run()
  t.same(await payoutsOf(service, merchant), [])
  t.same(await blockOf(merchant), ['BANK_ACCOUNT_MISSING', 'BANK_ACCOUNT_MISSING'])
  const withIban = await payoutAccount(service, merchant, {
    sort_code: '20-45-31',
    account_number: '73619284',
    iban: 'GB78ACME20453173619284',
  })
  await run()
  t.match(await payoutsOf(service, merchant), [{ status: 'PAID', currency: 'EUR', bank_account_id: withIban }])
})

t.test('more than two digits after the point are not paid', async (t) => {
  const merchant = await payableMerchant(service)
  await postFor(service, merchant.id, ['balance_released', '0.0010'])
  await run()
  t.same(await payoutsOf(service, merchant), [])
})

t.test(
  'a payout that cannot be created keeps no other waiting, and neither does one at the head of a page',
  async (t) => {
    const [bad, good] = [await payableMerchant(service), await payableMerchant(service)]
    await owner.query(`
    create function refuse_payout() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
    create trigger refuse_payout before insert on payouts
      for each row when (new.merchant_id = '${bad.id}') execute function refuse_payout();
  `)
    const due = await listPayees(app.pool, 100)
    const [first] = due
    t.same(await listPayees(app.pool, 100, first), due.slice(1), 'a page begins behind the last one')
    await t.rejects(createPayouts(app), { message: /^1 of/ }, 'the job counts as failed')
    t.same(await statusesOf(good), ['CREATED'])
    t.same(await statusesOf(bad), [])
    await owner.query('drop function refuse_payout() cascade')
    t.same(await createPayouts(app), { more: false })
    t.same(await statusesOf(bad), ['CREATED'])
  },
)

t.test('a return that cannot be recorded is read again, and keeps neither later ones nor other banks', async (t) => {
  const merchants = [await payableMerchant(service), await payableMerchant(service), await payableMerchant(service)]
  await run()
  const ids = await Promise.all(merchants.map(async (merchant) => (await payoutsOf(service, merchant))[0]?.id ?? ''))
  const [bad, later, elsewhere] = ids
  const bank = [...app.banks.values()].find(({ payouts }) => payouts !== undefined)
  if (bank?.payouts === undefined) throw new Error('no bank pays')
  const paying = bank.payouts
  /** A bank that has returned a payout on each page. */
  const bankOf = (id: string, pages: readonly (string | undefined)[]): BankConnector => ({
    ...bank,
    id,
    payouts: {
      ...paying,
      returns: async ({ after = '0' }) => {
        const payoutId = pages[Number(after)]
        if (payoutId === undefined) return { returns: [], position: undefined }
        const merchantId = merchants[ids.indexOf(payoutId)]?.id ?? ''
        const returned = { payoutId, merchantId, bankReference: 'R1', failureCode: 'ACCOUNT_CLOSED' } as const
        return { returns: [returned], position: String(Number(after) + 1) }
      },
    },
  })
  const broken: BankConnector = {
    ...bankOf('broken', []),
    payouts: { ...paying, returns: () => Promise.reject(new TypeError('not an answer')) },
  }
  const banks = new Map(
    [bankOf('one', [bad, later]), broken, bankOf('other', [elsewhere])].map((each) => [each.id, each]),
  )
  await owner.query(`
    create function refuse_return() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
    create trigger refuse_return before update on payouts
      for each row when (old.id = '${bad}') execute function refuse_return();
  `)
  const collect = async (): Promise<void> => {
    while ((await collectReturns({ ...app, banks })).more);
  }
  const positions = async () =>
    (
      await owner.query(
        `select connector, position from payout_return_positions where connector in ('one', 'broken', 'other') order by 1`,
      )
    ).rows
  await t.rejects(collect(), { message: /^2 of/ }, 'the job counts as failed')
  t.same(await Promise.all(merchants.map((each) => statusesOf(each))), [['PAID'], ['RETURNED'], ['RETURNED']])
  t.same(await positions(), [{ connector: 'other', position: '1' }], 'it is not read past for good')
  await owner.query('drop function refuse_return() cascade')
  await t.rejects(collect(), { message: /^1 of/ }, 'a bank still answers nonsense')
  t.same(await Promise.all(merchants.map((each) => statusesOf(each))), [['RETURNED'], ['RETURNED'], ['RETURNED']])
  t.same(await positions(), [
    { connector: 'one', position: '2' },
    { connector: 'other', position: '1' },
  ])
})

t.test(
  'a return of a payout that has failed here moves nothing, and is an error that operators see once',
  async (t) => {
    const merchant = await payableMerchant(service)
    await faults(merchant, { fail_payout: '100%' })
    await run()
    const [failed] = await payoutsOf(service, merchant)
    const id = failed?.id ?? ''
    t.equal(failed?.status, 'FAILED')
    const bank = [...app.banks.values()].find(({ payouts }) => payouts !== undefined)
    if (bank?.payouts === undefined) throw new Error('no bank pays')
    const returned = { merchantId: merchant.id, bankReference: 'R9', failureCode: 'ACCOUNT_CLOSED' } as const
    const pages = [id, id, randomUUID()]
    const late: BankConnector = {
      ...bank,
      id: 'late',
      payouts: {
        ...bank.payouts,
        returns: async ({ after = '0' }) => {
          const payoutId = pages[Number(after)]
          if (payoutId === undefined) return { returns: [], position: undefined }
          return { returns: [{ ...returned, payoutId }], position: String(Number(after) + 1) }
        },
      },
    }
    const errors: object[] = []
    const log = Object.assign(Object.create(app.log), { error: (bindings: object) => errors.push(bindings) })
    const balances = await balancesOf(service, merchant)
    while ((await collectReturns({ ...app, log, banks: new Map([[late.id, late]]) })).more);
    t.match(errors, [
      { payout_id: id, merchant_id: merchant.id, bank_reference: 'R9', status: 'FAILED' },
      { payout_id: pages[2], status: 'NONE' },
    ])
    t.equal(errors.length, 2, 'a repeat says nothing new')
    t.same([await statusesOf(merchant), await balancesOf(service, merchant)], [['FAILED'], balances])
    const { body } = await service.call('GET', '/api/v1/admin/inbox?limit=100', { headers: OPERATOR })
    const tasks = body.data.filter(({ kind }: { kind: string }) => kind === 'payout_returned_late')
    t.match(tasks, [{ id, merchant_id: merchant.id, command: `svc explain ${id}` }])
    const story = await service.call('GET', `/api/v1/admin/explain/${id}`, { headers: OPERATOR })
    t.match(story.body.standing, /^failed: .* Its bank returned it at .*, so it had made it\.$/)
    t.equal(tasks.length, 1)
  },
)
