import t from 'tap'
import { makeAdminConnection } from '../../src/db/connection.ts'
import { keepBalances } from '../../src/ledger/keep-balances.ts'
import { testService } from '../support/app.ts'
import { postFor } from '../support/ledger.ts'
import { until } from '../support/until.ts'

// A request that waits for a lock does so for longer than everything else here takes.
const service = await testService(t, { env: { SVC_DATABASE_TIMEOUT_FACTOR: '10' } })
const { app, owner } = service
const operator = await service.operator()

for (const query of ['', '?dry_run=true']) {
  const how = query === '' ? 'are closed' : 'are closed in a dry run'
  t.test(`while the lines of one currency ${how}, nothing waits for the currency before it`, async (t) => {
    const [merchant, other] = [await service.merchant(), await service.merchant()]
    await postFor(service, merchant.id, ['payment_settled', '3.00', 'EUR'], ['payment_settled', '5.00'])
    await keepBalances(app)
    // Stands for a million lines.
    const blocker = await makeAdminConnection({ databaseUrl: service.databaseUrl })
    t.teardown(() => blocker.end())
    await blocker.query('begin')
    await blocker.query(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [`settlement ${merchant.id} GBP`])
    const closing = service.call('POST', `/api/v1/portal/settlements${query}`, { merchant, body: {}, isOnce: true })
    await until('closing waits', async () => {
      const { rowCount } = await owner.query(
        `select from pg_locks l join pg_database d on d.oid = l.database
         where d.datname = current_database() and l.locktype = 'advisory' and not l.granted`,
      )
      return rowCount === 1
    })
    const answers = { isClosed: false }
    void closing.then(() => (answers.isClosed = true))
    const hold = await service.call('PUT', `/api/v1/admin/merchants/${other.id}/hold`, {
      headers: operator,
      body: { payout_held: true, reason: 'a test' },
      isOnce: true,
    })
    t.equal(hold.status, 200, 'an operator can act')
    await postFor(service, merchant.id, ['payment_settled', '2.00', 'EUR'])
    await postFor(service, other.id, ['payment_settled', '7.00'])
    await keepBalances(app)
    const unfolded = await owner.query('select from ledger_unfolded where merchant_id = any ($1)', [
      [merchant.id, other.id],
    ])
    t.equal(unfolded.rowCount, 0, 'balances are kept for all')
    t.equal(answers.isClosed, false, 'closing still waits')
    await blocker.query('rollback')
    const { body } = await closing
    t.match(body.settlements, [
      { currency: 'EUR', gross_amount: '3.00' },
      { currency: 'GBP', gross_amount: '5.00' },
    ])
  })
}
