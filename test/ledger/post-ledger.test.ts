import { randomUUID } from 'node:crypto'
import t from 'tap'
import pg from 'pg'
import { LEDGER_ACCOUNTS, MOVEMENTS } from '../../src/ledger/movements.ts'
import type { Movement, Posting } from '../../src/ledger/movements.ts'
import { keepBalances } from '../../src/ledger/keep-balances.ts'
import { postMovements } from '../../src/ledger/sql.ts'
import { makePgConnection } from '../../src/db/connection.ts'
import { testService } from '../support/app.ts'
import type { TestMerchant } from '../support/app.ts'
import { brokenInvariants } from '../support/invariants.ts'
import type { Invariant } from '../support/invariants.ts'
import { times } from '../support/payments.ts'
import { balancesOf, entriesOf } from '../support/ledger.ts'

const service = await testService(t)
const { app, owner } = service
const merchant = await service.merchant()

const OWN: readonly Invariant[] = [
  'I10 every currency of the ledger sums to zero, and its balances are the recount',
  'LEDGER_HASH',
]

function posting(changes: Partial<Posting> = {}): Posting {
  const plain = { merchantId: merchant.id, movement: 'payment_settled' as const, subjectId: randomUUID() }
  return { ...plain, amount: '50.0000', currency: 'GBP', ...changes } as Posting
}

function post(...postings: Posting[]): Promise<number> {
  return app.pool.transaction((tx) => postMovements(tx, postings))
}

/** Posts an item as text of its own making, as no code of ours would. */
function postRaw(changes: Record<string, unknown>): Promise<unknown> {
  const item = {
    merchant_id: merchant.id,
    movement: 'correction',
    subject_id: randomUUID(),
    debit: 'clearing',
    credit: 'bank',
    amount: '1.00',
    currency: 'GBP',
    ...changes,
  }
  return owner.query(
    'select post_ledger(array(select i from json_populate_recordset(null::ledger_posting, $1::json) i))',
    [JSON.stringify([item])],
  )
}

t.test('each movement debits and credits the accounts of its row, and no others', async (t) => {
  for (const [movement, sides] of Object.entries(MOVEMENTS) as [Movement, (typeof MOVEMENTS)[Movement]][]) {
    const fresh = await service.merchant()
    const { debit, credit } = sides ?? { debit: 'fees_earned', credit: 'clearing' }
    await post(posting({ merchantId: fresh.id, movement, debit, credit } as Partial<Posting>))
    const expected: Record<string, string> = { bank: '0.0000' }
    for (const account of LEDGER_ACCOUNTS) {
      const amount = account === debit ? '50.0000' : account === credit ? '-50.0000' : '0.0000'
      const flipped = amount.startsWith('-') ? amount.slice(1) : amount === '0.0000' ? amount : `-${amount}`
      expected[account] = account === 'bank' ? amount : flipped
    }
    t.same(await balancesOf(service, fresh), { GBP: expected }, movement)
    for (const other of LEDGER_ACCOUNTS.filter((account) => account !== credit)) {
      await t.rejects(postRaw({ movement, debit, credit: other }), { code: '23514' }, `${movement} to ${other}`)
    }
  }
})

t.test(
  'an unbalanced entry, an unknown account, merchant, movement or currency, and a wrong amount are rejected',
  async (t) => {
    const WRONG: [changes: Record<string, unknown>, code: string][] = [
      [{ credit: null }, '23502'],
      [{ debit: null }, '23502'],
      [{ credit: 'clearing' }, '23514'],
      [{ credit: 'petty_cash' }, '22P02'],
      [{ movement: 'gift' }, '22P02'],
      [{ merchant_id: randomUUID() }, '23000'],
      [{ currency: 'gbp' }, '23514'],
      [{ currency: 'POUNDS' }, '22001'],
      [{ amount: '0' }, '23514'],
      [{ amount: '-1' }, '23514'],
      [{ amount: '0.00001' }, '23502'],
      [{ amount: 'NaN' }, '23514'],
      [{ amount: null }, '23502'],
      [{ subject_id: null }, '23502'],
    ]
    const before = await owner.query('select count(*) from ledger_entries')
    for (const [changes, code] of WRONG) await t.rejects(postRaw(changes), { code }, JSON.stringify(changes))
    t.same((await owner.query('select count(*) from ledger_entries')).rows, before.rows)
  },
)

t.test('the role of the service can post and read, and write nothing', async (t) => {
  const client = new pg.Client({ connectionString: service.databaseUrl })
  await client.connect()
  t.teardown(() => client.end())
  await client.query('set role svc_runtime')
  const DENIED = [
    `insert into ledger_entries (merchant_id, movement, subject_id, debit, credit, amount, currency, entry_hash)
     values ('${merchant.id}', 'payment_settled', '${randomUUID()}', 'bank', 'clearing', 1, 'GBP', repeat('0', 64))`,
    'update ledger_entries set amount = 1',
    'delete from ledger_entries',
    'truncate ledger_entries',
    'update ledger_kept_balances set bank = 0',
    'insert into ledger_unfolded select * from ledger_unfolded',
    'delete from ledger_unfolded',
    `select setval('ledger_entries_ordinal_seq', 1)`,
  ]
  for (const statement of DENIED) await t.rejects(client.query(statement), { code: '42501' }, statement)
  await t.resolves(
    client.query('select * from ledger_entries, ledger_balances, ledger_recount, ledger_kept_balances limit 1'),
  )
})

t.test('entries are never changed or removed, not even by the owner of the table', async (t) => {
  await post(posting())
  for (const statement of [
    'update ledger_entries set amount = 1',
    'delete from ledger_entries',
    'truncate ledger_entries',
  ])
    await t.rejects(owner.query(statement), { code: '42501', message: /append-only/ }, statement)
})

t.test('kept balances cannot be made unbalanced', async (t) => {
  await post(posting())
  await keepBalances(app)
  await t.rejects(owner.query('update ledger_kept_balances set bank = bank + 1'), { code: '23514' })
})

t.test('a movement is posted once, also by callers at the same time, and not otherwise', async (t) => {
  const once = posting()
  t.equal(await post(once), 1)
  t.equal(await post(once), 0)
  t.equal(await post(once, once), 0)
  const fresh = posting()
  const counts = await times(12, () => post(fresh, posting()))
  t.equal(
    counts.reduce((sum, count) => sum + count, 0),
    13,
  )
  t.equal((await entriesOf(service, fresh.subjectId)).length, 1)
  for (const changes of [{ amount: '50.0001' }, { currency: 'EUR' }])
    await t.rejects(post({ ...once, ...changes }), { code: '23000' })
  const correction = { movement: 'correction', debit: 'clearing', credit: 'bank' } as const
  const corrected = posting(correction)
  t.equal(await post(corrected), 1)
  await t.rejects(post({ ...corrected, credit: 'fees_earned' } as Posting), { code: '23000' })
})

t.test('what is rolled back is not in the ledger', async (t) => {
  const lost = posting()
  const before = await balancesOf(service, merchant)
  await t.rejects(
    app.pool.transaction(async (tx) => {
      await postMovements(tx, [lost])
      throw new Error('no')
    }),
  )
  t.same(await entriesOf(service, lost.subjectId), [])
  t.same(await balancesOf(service, merchant), before)
})

t.test('postings of a merchant do not wait for each other, nor for the job that keeps balances', async (t) => {
  const connect = () => makePgConnection({ databaseUrl: service.databaseUrl, onError: () => undefined })
  const [one, two] = [await connect(), await connect()]
  t.teardown(() => Promise.all([one.end(), two.end()]))
  const insert = (client: pg.Client, each: Posting) =>
    client.query(
      `select post_ledger(array[row($1, 'payment_settled', $2, 'bank', 'clearing', 5, 'GBP')::ledger_posting])`,
      [each.merchantId, each.subjectId],
    )
  await one.query('begin')
  await insert(one, posting())
  await two.query(`set lock_timeout = '1s'`)
  await insert(two, posting())
  await two.query('select fold_ledger(100)')
  await one.query('commit')
  t.same(await brokenInvariants(owner, OWN), [])
})

t.test('while many post and the job folds, balances are the recount at every moment', async (t) => {
  const shops: TestMerchant[] = []
  for (let n = 0; n < 3; n += 1) shops.push(await service.merchant())
  let isPosting = true
  const folding = (async () => {
    while (isPosting) await keepBalances(app)
  })()
  const checking = (async () => {
    while (isPosting) t.same(await brokenInvariants(owner, OWN), [])
  })()
  // As many at once as a busy machine serves in time.
  for (let first = 0; first < 60; first += 6)
    await times(6, (index) => {
      const n = first + index
      return post(
        ...shops.map(({ id }) => posting({ merchantId: id, amount: `${n + 1}.0001` })),
        posting({ merchantId: shops[n % 3]?.id ?? '', movement: 'fee_taken', amount: '0.3300' }),
      )
    })
  isPosting = false
  await Promise.all([folding, checking])
  await keepBalances(app)
  const { rows } = await owner.query('select count(*)::int as left from ledger_unfolded')
  t.equal(rows[0].left, 0)
  t.same(await brokenInvariants(owner, OWN), [])
  t.match(await balancesOf(service, shops[0]!), { GBP: { bank: '1830.0060' } })
})
