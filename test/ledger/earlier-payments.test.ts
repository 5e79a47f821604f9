import t from 'tap'
import { MigrationError } from '../../src/db/migration-errors.ts'
import { migrateUp } from '../../src/db/migrate.ts'
import { testService } from '../support/app.ts'
import { settledPayment } from '../support/payments.ts'

t.test('a database with settled payments from before the ledger is rejected, and says what to do', async (t) => {
  const service = await testService(t)
  const { owner, databaseUrl } = service
  const undo = `
    drop view payout_payees, payout_prospects, ledger_balances, ledger_recount, ledger_sides;
    drop table ledger_entries, ledger_unfolded, ledger_kept_balances cascade;
    drop type ledger_posting, ledger_account, ledger_movement cascade;
    delete from schema_migrations where name >= '0028_ledger'`
  await settledPayment(service, await service.merchant())
  await owner.query(undo)
  const migrating = migrateUp({ databaseUrl, log: () => undefined })
  await t.rejects(migrating, MigrationError)
  await t.rejects(migrating, { message: /0028_ledger: this database has settled payments.*svc sandbox reset/ })
})
